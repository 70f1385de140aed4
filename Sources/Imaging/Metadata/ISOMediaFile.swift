/// The boxes of an ISO base media file (ISO/IEC 14496-12), the container of HEIF and AVIF.
package enum ISOMediaFile {
  /// Returns `true` if a top-level box is longer than the data, or if the box that describes the picture is missing.
  ///
  /// Complexity: O(top-level boxes).
  package static func isTruncated(_ file: ByteReader) -> Bool {
    let (boxes, isWhole) = topBoxes(file)
    return !isWhole || !(boxes.contains("meta") || boxes.contains("moov"))
  }

  /// Returns `true` if there are tracks and no items.
  ///
  /// Complexity: O(top-level boxes).
  package static func hasOnlySequences(_ file: ByteReader) -> Bool {
    let boxes = topBoxes(file).types
    return boxes.contains("moov") && !boxes.contains("meta")
  }

  private static func topBoxes(_ file: ByteReader) -> (types: [String], isWhole: Bool) {
    var offset = 0
    var types: [String] = []
    while offset < file.count {
      guard let size = file.bigEndian32(at: offset), let type = file.ascii(at: offset + 4, count: 4) else {
        return (types, false)
      }
      types.append(type)
      var length = Int(size)
      if length == 0 { return (types, true) }  // up to the end of the file
      if length == 1 {
        guard let high = file.bigEndian32(at: offset + 8), high < 1 << 30, let low = file.bigEndian32(at: offset + 12)
        else { return (types, false) }
        length = Int(high) << 32 | Int(low)
      }
      guard length >= 8 else { return (types, true) }
      guard length <= file.count - offset else { return (types, false) }
      offset += length
    }
    return (types, true)
  }
}
