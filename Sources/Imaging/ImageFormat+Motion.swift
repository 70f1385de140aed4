package import VitrineRuntime

extension ImageFormat {
  /// Returns `true` if a file with this beginning shows one picture and no animation.
  ///
  /// Four kilobytes tell that of most files; if they do not, the answer is `false`.
  package static func isStill(beginning: Data) -> Bool {
    // The bytes are only read while the closure runs.
    unsafe beginning.withUnsafeBytes { unsafe isStill(ByteReader($0)) }
  }

  private static func isStill(_ bytes: ByteReader) -> Bool {
    switch sniff(bytes) {
    case .jpeg, .heic, .bmp, .qoi, .svg, .jpeg2000: true
    // What would make it move precedes the first `IDAT`.
    case .png: PNGHeader.chunks(bytes).contains { $0.type == PNGHeader.Chunk.IDAT }
    // RFC 9649, 2.5 to 2.7: the bit for an animation is in the flags of an extended file.
    case .webp:
      bytes.matches("VP8 ", at: 12) || bytes.matches("VP8L", at: 12)
        || bytes.matches("VP8X", at: 12) && bytes.byte(at: 20).map { $0 & 2 == 0 } ?? false
    default: false
    }
  }
}
