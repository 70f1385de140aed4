import VitrineRuntime

extension JPEGMetadata {
  /// The most bytes that a segment holds, without its length.
  static let segmentLimit = 65_533

  /// Returns a file with more segments APP0 to APP15.
  ///
  /// - Parameters:
  ///   - segments: Their numbers and bodies, each of at most 65,533 bytes.
  ///   - file: The file.
  ///   - place: Where they begin. Defaults to 2: before all others.
  /// - Returns: The file.
  static func adding(_ segments: [(number: Int, body: Data)], to file: Data, at place: Int = 2) -> Data {
    var whole = Data(file.prefix(place))
    for segment in segments {
      let length = segment.body.count + 2
      whole += [0xFF, UInt8(0xE0 + segment.number), UInt8(length >> 8), UInt8(length & 0xFF)]
      whole += segment.body
    }
    return whole + file.dropFirst(place)
  }

  /// Returns the bodies of APP1 with the metadata of an input, as much as fits.
  static func segments(of input: EncoderInput) -> [Data] {
    let written = WrittenMetadata(exif: input.exif, xmp: input.xmp).fitting(segmentLimit)
    return [written.exif.map { Data("Exif\0\0".utf8) + $0 }, written.xmp.map { Data(xmpName) + $0 }].compactMap { $0 }
  }
}
