import VitrineHTTP
import VitrineImaging
import VitrineRuntime

/// The parts that the heads of finished and of encoded images share: numbers in words of eight bytes, then lines of
/// text, which end with the fields of `Vary`.
extension HeadWriter {
  /// Appends the dates of a validity; the cache stores its expiry.
  mutating func append(datesOf validity: Validity) {
    let dates = [
      validity.confirmed, validity.usableOnErrorUntil, validity.usableWhileRevalidatingUntil,
      validity.usableOnServerErrorUntil, validity.modified,
    ]
    for date in dates { append(seconds: date?.timeIntervalSince1970 ?? .nan) }
  }

  /// Appends the lines of a format, further lines, and the fields of `Vary`, none of which can have a line break.
  mutating func append(_ format: ImageFormat, _ lines: [String], _ validity: Validity) {
    let fields = validity.variation.map { "\($0.name):\($0.value)" }
    append(lines: [format.name, format.mediaType, format.fileExtension] + lines + fields)
  }
}

extension HeadReader {
  /// Reads the dates of a validity, of which earlier versions stored fewer; the cache has its expiry.
  mutating func validity(dateCount: Int = 5, isPrivate: Bool) -> Validity? {
    var dates = [Date?](repeating: nil, count: 5)
    for index in 0..<dateCount {
      guard let seconds = seconds() else { return nil }
      dates[index] = seconds.isNaN ? nil : Date(timeIntervalSince1970: seconds)
    }
    return Validity(
      expires: nil,
      confirmed: dates[0],
      usableOnErrorUntil: dates[1],
      usableOnServerErrorUntil: dates[3],
      usableWhileRevalidatingUntil: dates[2],
      isKept: true,
      isPrivate: isPrivate,
      modified: dates[4],
    )
  }

  /// Reads the lines of a format, `lineCount` further lines, and the fields of `Vary`, up to the end.
  mutating func text(lineCount: Int = 0) -> (format: ImageFormat, lines: [String], variation: HTTPFields)? {
    guard let all = lines(), all.count >= 3 + lineCount, let variation = HTTPFields(lines: all[(3 + lineCount)...])
    else { return nil }
    let lines = all[..<(3 + lineCount)].map { String($0) }
    let format = ImageFormat(name: lines[0], mediaType: lines[1], fileExtension: lines[2])
    return (format, Array(lines[3...]), variation)
  }
}

extension Validity {
  /// Returns the validity with this end of freshness, which the cache stores and may renew.
  func ending(at expires: Date?) -> Validity {
    var validity = self
    validity.expires = expires
    return validity
  }
}
