import VitrineRuntime

extension ColorProfile {
  /// The profile's own description (ICC.1:2022, 9.2.41 `profileDescriptionTag`), such as `Display P3`; `nil` if the
  /// profile is damaged or has none.
  public var name: String? {
    data.reading(Self.name)
  }

  private static func name(_ profile: ByteReader) -> String? {
    guard profile.matches("acsp", at: 36) else { return nil }
    return tag("desc", profile).flatMap(description)
  }

  private static func description(_ tag: ByteReader) -> String? {
    var text: String?
    if tag.starts(with: "desc"), let count = tag.bigEndian32(at: 8), count > 0 {
      // Version 2: ASCII that ends in a zero.
      text = tag.slice(12, Int(count) - 1).textStart(limit: 1024)
    } else if tag.starts(with: "mluc"), let count = tag.bigEndian32(at: 8), count > 0 {
      // Version 4: UTF-16, big-endian, in several languages; English is preferred.
      let records = (0..<Int(min(count, 100))).map { 16 + $0 * 12 }
      let record = records.first { tag.matches("en", at: $0) } ?? 16
      guard let length = tag.bigEndian32(at: record + 4), let offset = tag.bigEndian32(at: record + 8) else {
        return nil
      }
      let string = tag.slice(Int(offset), Int(length))
      let units = stride(from: 0, to: string.count - 1, by: 2).compactMap { string.bigEndian16(at: $0) }
      text = String(decoding: units, as: UTF16.self)
    }
    guard let text else { return nil }
    let name = text.prefix { $0 != "\0" }
    return name.isEmpty ? nil : String(name)
  }
}
