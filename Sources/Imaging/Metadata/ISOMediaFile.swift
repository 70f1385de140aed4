/// The boxes of an ISO base media file (ISO/IEC 14496-12), which HEIF and AVIF are.
package enum ISOMediaFile {
  /// Whether a box at the top says that it is longer than what is left of the data, or none holds the coded picture yet.
  ///
  /// Complexity: O(boxes at the top).
  package static func isTruncated(_ file: ByteReader) -> Bool {
    var offset = 0
    var hasMetadata = false
    while offset < file.count {
      guard let size = file.bigEndian32(at: offset), let type = file.ascii(at: offset + 4, count: 4) else {
        return true
      }
      if type == "meta" || type == "moov" { hasMetadata = true }
      var length = Int(size)
      if length == 0 { return !hasMetadata }  // up to the end of the file
      if length == 1 {
        guard let high = file.bigEndian32(at: offset + 8), let low = file.bigEndian32(at: offset + 12) else {
          return true
        }
        guard high < 1 << 30 else { return true }
        length = Int(high) << 32 | Int(low)
      }
      guard length >= 8 else { return false }
      guard length <= file.count - offset else { return true }
      offset += length
    }
    return !hasMetadata
  }
}
