public import VitrineRuntime

/// A date and time as a camera's clock showed it, usually without a time zone.
public struct EXIFDate: Sendable, Hashable {
  /// The year, from 1.
  public let year: Int
  /// The month, from 1 to 12.
  public let month: Int
  /// The day of the month, from 1.
  public let day: Int
  /// The hour, from 0 to 23.
  public let hour: Int
  /// The minute, from 0 to 59.
  public let minute: Int
  /// The second with its fraction, from 0 to below 61.
  public let second: Double
  /// The clock's offset from UTC in seconds, positive to the east; `nil` if the file does not say.
  public let secondsFromUTC: Int?

  /// The date; `nil` if the file does not give the clock's offset from UTC.
  public var date: Date? { secondsFromUTC.map { date(secondsFromUTC: $0) } }

  /// Returns the date, given the clock's offset from UTC in seconds.
  public func date(secondsFromUTC: Int) -> Date {
    // Days since 1970-01-01 of the proleptic Gregorian calendar, in years that begin in March.
    let march = month > 2 ? year : year - 1
    let era = (march >= 0 ? march : march - 399) / 400
    let ofEra = march - era * 400
    let ofYear = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1
    let days = era * 146_097 + ofEra * 365 + ofEra / 4 - ofEra / 100 + ofYear - 719_468
    return Date(timeIntervalSince1970: Double(days * 86_400 + hour * 3600 + minute * 60 - secondsFromUTC) + second)
  }

  /// The tags of dates, which are in two directories.
  struct Texts {
    var modified: String?
    var modifiedFraction: String?
    var modifiedOffset: String?
    var original: String?
    var originalFraction: String?
    var originalOffset: String?
  }

  /// Reads `2024:12:31 23:59:59`, `125` for 0.125 s, and `+05:30`.
  init?(_ text: String?, _ fraction: String?, _ offset: String?) {
    guard let text else { return nil }
    let parts = text.split { !$0.isASCII || !$0.isNumber }.prefix(6).map { Int($0) ?? -1 }
    guard parts.count == 6, (1...9999).contains(parts[0]), (1...12).contains(parts[1]), (1...31).contains(parts[2]),
      (0...23).contains(parts[3]), (0...59).contains(parts[4]), (0...60).contains(parts[5])
    else { return nil }
    (year, month, day, hour, minute) = (parts[0], parts[1], parts[2], parts[3], parts[4])
    second = Double(parts[5]) + (fraction.flatMap(Self.fraction) ?? 0)
    secondsFromUTC = offset.flatMap(Self.offset)
  }

  /// Reads `2024-12-31T23:59:59.125+05:30`, the form of XMP (ISO 16684-1, 8.2.1.1); seconds and offset may be missing.
  ///
  /// Returns `nil` for a date without a time, which EXIF cannot hold.
  init?(iso text: String) {
    let parts = text.split(separator: "T", maxSplits: 1)
    guard parts.count == 2, parts[0].split(separator: "-").count == 3 else { return nil }
    let clock = parts[1].prefix { $0.isASCII && ($0.isNumber || $0 == ":" || $0 == ".") }
    let offset = parts[1].dropFirst(clock.count)
    let pieces = clock.split(separator: ".", maxSplits: 1)
    guard let time = pieces.first else { return nil }
    let isShort = time.split(separator: ":").count == 2
    self.init(
      "\(parts[0]) \(time)\(isShort ? ":00" : "")",
      pieces.count == 2 ? String(pieces[1]) : nil,
      offset.isEmpty ? nil : String(offset),
    )
  }

  /// The texts of EXIF that are read as this date; fractions of a second to a billionth.
  var texts: (time: String, fraction: String?, offset: String?) {
    func digits(_ value: Int, _ count: Int = 2) -> String {
      let text = String(value)
      return String(repeating: "0", count: max(count - text.count, 0)) + text
    }
    let date = "\(digits(year, 4)):\(digits(month)):\(digits(day))"
    let time = "\(date) \(digits(hour)):\(digits(minute)):\(digits(Int(second)))"
    let billionths = min(Int(((second - second.rounded(.down)) * 1e9).rounded()), 999_999_999)
    var fraction = digits(billionths, 9)
    while fraction.hasSuffix("0") { fraction.removeLast() }
    let offset = secondsFromUTC.map { seconds in
      let minutes = abs(seconds) / 60
      return "\(seconds < 0 ? "-" : "+")\(digits(minutes / 60)):\(digits(minutes % 60))"
    }
    return (time, fraction.isEmpty ? nil : fraction, offset)
  }

  private static func fraction(_ text: String) -> Double? {
    let digits = text.prefix { $0.isASCII && $0.isNumber }.prefix(15)
    return digits.isEmpty ? nil : Double("0.\(digits)")
  }

  private static func offset(_ text: String) -> Int? {
    if text == "Z" { return 0 }
    let digits = text.dropFirst().split(separator: ":").map { Int($0) ?? -1 }
    guard let sign = text.first, sign == "+" || sign == "-", digits.count == 2, (0...14).contains(digits[0]),
      (0...59).contains(digits[1])
    else { return nil }
    return (digits[0] * 3600 + digits[1] * 60) * (sign == "-" ? -1 : 1)
  }
}
