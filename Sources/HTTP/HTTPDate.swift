import VitrineRuntime

/// A parser of HTTP's dates (RFC 9110 5.6.7), for which FoundationEssentials has no style.
package enum HTTPDate {
  /// Parses a date in any of the three formats.
  ///
  /// - Parameters:
  ///   - text: The value of a field.
  ///   - now: The time that determines the century of a two-digit year.
  /// - Returns: The date, or `nil` if the text is not a date.
  package static func parse(_ text: String, now: Date) -> Date? {
    // The formats: "Sun, 06 Nov 1994 08:49:37 GMT", "Sunday, 06-Nov-94 08:49:37 GMT", "Sun Nov  6 08:49:37 1994"
    let words = text.split { $0 == " " || $0 == "," || $0 == "-" }
    switch words.count {
    // Some servers deviate from the formats; their dates count all the same.
    case 6 where words[5].equalsIgnoringCase("GMT"):
      return year(words[3], now).flatMap { date(day: words[1], month: words[2], year: $0, time: words[4]) }
    case 5 where words[4].utf8.count == 4:
      return year(words[4], now).flatMap { date(day: words[2], month: words[1], year: $0, time: words[3]) }
    default:
      return nil
    }
  }

  /// Parses a date in a format of the RFC, for fields where any other text has a meaning, such as `Expires`.
  ///
  /// The parameters and the result are as in ``parse(_:now:)``.
  package static func parseStrictly(_ text: String, now: Date) -> Date? {
    let (digit, letter) = (UInt8(ascii: "0"), UInt8(ascii: "a"))
    let shape = String(decoding: text.utf8.map { $0.isDigit ? digit : $0.isLetter ? letter : $0 }, as: UTF8.self)
    let name = shape.prefix { $0 == "a" }
    switch shape.dropFirst(name.count) {
    case ", 00 aaa 0000 00:00:00 aaa" where name.count == 3, ", 00-aaa-00 00:00:00 aaa" where name.count > 3,
      " aaa 00 00:00:00 0000" where name.count == 3, " aaa  0 00:00:00 0000" where name.count == 3:
      return parse(text, now: now)
    default:
      return nil
    }
  }

  private static func number(_ text: Substring, _ range: ClosedRange<Int>) -> Int? {
    text.digits.flatMap { range.contains($0) ? $0 : nil }
  }

  /// Parses a year.
  ///
  /// Two digits mean the latest matching year that is at most 50 years ahead, as the RFC requires.
  private static func year(_ text: Substring, _ now: Date) -> Int? {
    guard text.utf8.count == 2 else { return text.utf8.count == 4 ? number(text, 0...9999) : nil }
    let thisYear = 1970 + Int(Int32(clamping: now.timeIntervalSince1970 / 31_556_952))
    guard let year = number(text, 0...99).map({ thisYear - thisYear % 100 + $0 }) else { return nil }
    return year > thisYear + 50 ? year - 100 : year
  }

  private static func date(day: Substring, month: Substring, year: Int, time: Substring) -> Date? {
    let names = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]
    let parts = time.split(separator: ":", omittingEmptySubsequences: false)
    guard parts.count == 3, let hour = number(parts[0], 0...23), let minute = number(parts[1], 0...59),
      // Second 60 is a leap second.
      let second = number(parts[2], 0...60), let index = names.firstIndex(where: { month.equalsIgnoringCase($0) }),
      let day = number(day, 1...31)
    else { return nil }
    var moment = unsafe tm()
    unsafe (moment.tm_year, moment.tm_mon, moment.tm_mday) = (Int32(year - 1900), Int32(index), Int32(day))
    unsafe (moment.tm_hour, moment.tm_min, moment.tm_sec) = (Int32(hour), Int32(minute), Int32(second))
    // `moment` outlives the call.
    return unsafe Date(timeIntervalSince1970: Double(timegm(&moment)))
  }
}
