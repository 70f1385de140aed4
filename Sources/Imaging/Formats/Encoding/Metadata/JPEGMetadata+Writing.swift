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

  /// Returns a file whose EXIF and XMP describe an upright picture of a size, and that picture alone, as ``MetadataPolicy/keep``
  /// has it; all else stays as it is.
  static func updated(_ file: Data, width: Int, height: Int, limit: Int) -> Data {
    let (places, metadata) = file.reading { bytes in
      let own = segments(bytes).filter { segment in
        segment.number == 1
          && (EXIF.isMarked(segment.body) || segment.body.starts(with: xmpName)
            || segment.body.starts(with: extensionName))
      }
      // The marker and the length are before the body.
      return (own.map { $0.offset - 4..<$0.offset + $0.body.count }, read(bytes, limit: limit))
    }
    guard let first = places.first?.lowerBound else { return file }
    var result = file
    for range in places.reversed() { result.removeSubrange(range) }
    let written = MetadataPolicy.keep.written(metadata, width: width, height: height)
    return adding(segments(of: written).map { (1, $0) }, to: result, at: first)
  }

  /// Returns the bodies of APP1 with the metadata of an input, as much as fits.
  static func segments(of input: EncoderInput) -> [Data] {
    segments(of: WrittenMetadata(exif: input.exif, xmp: input.xmp))
  }

  private static func segments(of metadata: WrittenMetadata) -> [Data] {
    let written = metadata.fitting(segmentLimit)
    return [written.exif.map { Data("Exif\0\0".utf8) + $0 }, written.xmp.map { Data(xmpName) + $0 }].compactMap { $0 }
  }
}
