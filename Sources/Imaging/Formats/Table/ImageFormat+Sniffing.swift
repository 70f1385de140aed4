public import VitrineRuntime

extension ImageFormat {
  /// Returns the format of an encoded image by its first bytes; `nil` if it is not known.
  ///
  /// For all formats but two, 32 bytes are enough. APNG differs from PNG by an `acTL` chunk before the first `IDAT`,
  /// so `data` must contain that chunk. SVG is an XML document whose root is `svg`, so `data` must reach that; it may be
  /// compressed (gzip, RFC 1952), and then must begin within the first 256 KiB of the text.
  ///
  /// Complexity: O(number of chunks) for PNG, O(bytes before the root) for SVG, O(1) for all others.
  public static func sniff(_ data: Data) -> ImageFormat? {
    // The bytes are only read while the closure runs.
    unsafe data.withUnsafeBytes { unsafe sniff(ByteReader($0)) }
  }

  static func sniff(_ bytes: ByteReader) -> ImageFormat? { all.first { $0.row.signature(bytes) } }

  /// Returns `true` if a file with this beginning shows one picture and no animation.
  ///
  /// Four kilobytes suffice for most files; if they do not, the answer is `false`.
  package static func isStill(beginning: Data) -> Bool {
    // The bytes are only read while the closure runs.
    unsafe beginning.withUnsafeBytes { bytes in
      let reader = unsafe ByteReader(bytes)
      guard let row = sniff(reader)?.row else { return false }
      return row.isStill?(reader) ?? (row.motion == .never)
    }
  }

  /// Describes bytes that are not an image, for a message; returns `nil` if they are unknown.
  static func describeOther(_ bytes: ByteReader) -> String? {
    let start = bytes.textStart(limit: 512).lowercased()
    if start.hasPrefix("<!doctype html") || start.hasPrefix("<html") || start.contains("<html") {
      return "an HTML page"
    }
    if bytes.starts(with: "%PDF-") { return "a PDF document" }
    if start.hasPrefix("{") || start.hasPrefix("[") { return "JSON or plain text" }
    if start.hasPrefix("<?xml") { return "an XML document" }
    if bytes.matches("ftyp", at: 4) { return "a video or other ISO media file" }
    if bytes.starts(with: Gzip.signature) { return "gzip-compressed data" }
    if bytes.starts(with: [0x50, 0x4B, 3, 4]) { return "a ZIP archive" }
    return nil
  }
}
