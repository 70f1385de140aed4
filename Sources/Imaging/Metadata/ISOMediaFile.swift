/// The boxes of an ISO base media file (ISO/IEC 14496-12), which HEIF and AVIF are.
package enum ISOMediaFile {
  /// Whether a box at the top says that it is longer than what is left of the data, or what describes the picture is missing.
  ///
  /// Complexity: O(boxes at the top).
  package static func isTruncated(_ file: ByteReader) -> Bool {
    let (boxes, isWhole) = topBoxes(file)
    return !isWhole || !(boxes.contains("meta") || boxes.contains("moov"))
  }

  /// Whether there are tracks and no items.
  ///
  /// Complexity: O(boxes at the top).
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
