/// A box of an ISO base media file (ISO/IEC 14496-12, 4.2).
struct ISOMediaBox {
  let type: String
  /// The place of the content in the bytes that were searched, and its end.
  let start: Int
  let end: Int

  /// Returns the boxes of a part, up to the first that is longer than the part.
  ///
  /// Complexity: O(boxes), as they are asked for.
  static func all(
    in bytes: ByteReader,
    from start: Int = 0,
    to end: Int = .max,
  ) -> some Sequence<ISOMediaBox> {
    let end = min(end, bytes.count)
    return sequence(state: start) { place -> ISOMediaBox? in
      guard let size = bytes.bigEndian32(at: place), let type = bytes.ascii(at: place + 4, count: 4) else { return nil }
      var (length, header) = (Int(size), 8)
      if length == 0 { length = end - place }
      if length == 1 {
        guard let high = bytes.bigEndian32(at: place + 8), high < 1 << 30, let low = bytes.bigEndian32(at: place + 12)
        else { return nil }
        (length, header) = (Int(high) << 32 | Int(low), 16)
      }
      guard length >= header, length <= end - place else { return nil }
      defer { place += length }
      return ISOMediaBox(type: type, start: place + header, end: place + length)
    }
  }
}
