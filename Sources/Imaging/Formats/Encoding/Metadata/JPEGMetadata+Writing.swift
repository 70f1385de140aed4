import VitrineRuntime

extension JPEGMetadata {
  /// The most bytes that a segment holds, without its length.
  private static let segmentLimit = 65_533

  /// Returns the bodies of APP1 with the metadata of an input, as much as fits.
  static func segments(of input: EncoderInput) -> [Data] {
    let written = WrittenMetadata(exif: input.exif, xmp: input.xmp).fitting(segmentLimit)
    return [written.exif.map { Data("Exif\0\0".utf8) + $0 }, written.xmp.map { Data(xmpName) + $0 }].compactMap { $0 }
  }
}
