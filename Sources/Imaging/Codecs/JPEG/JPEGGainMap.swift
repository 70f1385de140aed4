import VitrineRuntime

/// Writes a JPEG with a gain map: the file of the picture, which readers that know no map show, and behind it the file of
/// the map (CIPA DC-007, "Multi-Picture Format"; ISO 21496-1, annex D).
///
/// Both files have two forms of the numbers: the form of ISO 21496-1, and an older one.
enum JPEGGainMap {
  /// Encodes a picture, with its map if there is one.
  ///
  /// - Parameters:
  ///   - input: The picture.
  ///   - encode: Encodes a picture without a map; the second argument is true for the map itself.
  /// - Returns: The file.
  /// - Throws: The error of `encode`; ``ImageError`` `.notEncodable` if the numbers of the map make no sense.
  static func encode(
    _ input: EncoderInput,
    _ encode: (EncoderInput, Bool) throws(ImageError) -> Data,
  ) throws(ImageError) -> Data {
    guard let map = input.gainMap else { return try encode(input, false) }
    guard map.formula.isValid else {
      throw ImageError(.notEncodable, format: .jpeg, GainMapFormula.isInvalid)
    }
    var picture = input
    (picture.gainMap, picture.xmp) = (nil, nil)
    // The map gets the profile of the colour space whose gains it has.
    let gains = EncoderInput(map.bitmap.declared(map.formula.colorSpace), isCancelled: input.isCancelled)
    let space = input.bitmap.colorSpace
    let second = adding(
      [
        (1, JPEGMetadata.xmpName + map.formula.xmp),
        (2, GainMapFormula.segmentName + map.formula.iso(base: space)),
      ],
      to: try encode(gains, true),
    )
    var xmp = GainMapFormula.xmp(ofPictureBefore: second.count, adding: input.xmp)
    if JPEGMetadata.xmpName.count + xmp.count > JPEGMetadata.segmentLimit {
      xmp = GainMapFormula.xmp(ofPictureBefore: second.count, adding: nil)
    }
    let others: [(Int, [UInt8])] = [
      (1, JPEGMetadata.xmpName + xmp), (2, GainMapFormula.segmentName + GainMapFormula.segmentVersions),
    ]
    var first = adding(others + [(2, index(0, 0, second.count))], to: try encode(picture, false))
    let place = first.reading { file in
      JPEGMetadata.segments(file).first { $0.number == 2 && $0.body.starts(with: "MPF\0") }?.offset
    }
    guard let place else { throw ImageError(.notEncodable, format: .jpeg, "the encoder wrote no JPEG") }
    let body = index(first.count, first.count - place - 4, second.count)
    first.replaceSubrange(first.startIndex + place..<first.startIndex + place + body.count, with: body)
    return first + second
  }

  /// Returns a file with more segments behind JFIF and EXIF, which come first.
  private static func adding(_ segments: [(Int, [UInt8])], to file: Data) -> Data {
    var place = 2
    file.reading { file in
      for segment in JPEGMetadata.segments(file) {
        guard segment.number == 0 || segment.number == 1 && EXIF.isMarked(segment.body) else { break }
        place = segment.offset + segment.body.count
      }
    }
    return JPEGMetadata.adding(segments.map { ($0.0, Data($0.1)) }, to: file, at: place)
  }

  /// Returns the segment that lists both pictures (CIPA DC-007, 5.2.3).
  ///
  /// - Parameters:
  ///   - first: The bytes of the picture.
  ///   - offset: The place of the map behind the byte order of this segment.
  ///   - second: The bytes of the map.
  /// - Returns: The body of the segment.
  private static func index(_ first: Int, _ offset: Int, _ second: Int) -> [UInt8] {
    var bytes = Array("MPF\0MM\0*".utf8)
    func add16(_ values: Int...) {
      for value in values { bytes += [UInt8(truncatingIfNeeded: value >> 8), UInt8(truncatingIfNeeded: value)] }
    }
    func add32(_ values: Int...) { for value in values { add16(value >> 16, value) } }
    add32(8)
    add16(3)
    // The version, the number of pictures, and the place of the list, which follows this directory.
    add16(0xB000, 7)
    add32(4)
    bytes += Array("0100".utf8)
    add16(0xB001, 4)
    add32(1, 2)
    add16(0xB002, 7)
    add32(32, 50)
    add32(0)
    // The first picture is the primary one.
    add32(0x0003_0000, first, 0, 0)
    add32(0, second, offset, 0)
    return bytes
  }
}
