import VitrineRuntime

extension PNGDecoder {
  /// Opens a still picture of the size in its header.
  ///
  /// The bytes are the file's, or one frame's. Of an animation ImageIO sees one still picture at a time,
  /// and never one that is cut.
  static func openPicture(
    _ reader: ByteReader,
    _ request: RowRequest,
    width: Int,
    height: Int,
  ) throws(ImageError) -> any RowSource {
    let format = request.info.format
    if PNGHeader.isAnimated(reader) {
      guard let still = PNGAnimation.still(of: reader) else {
        throw ImageError(.truncated, format: format, "truncated: the file ends before its last row")
      }
      return try unsafe still.withImageBytes { (still) throws(ImageError) in
        try unsafe ImageIORows.open(still, request, width: width, height: height)
      }
    }
    if PNGHeader.chunks(reader).contains(where: { $0.type == PNGHeader.Chunk.IEND && $0.isWhole }) {
      return try unsafe reader.withUnsafeBytes { (bytes) throws(ImageError) in
        try unsafe ImageIORows.open(bytes, request, width: width, height: height)
      }
    }
    let lack = ImageError(.truncated, format: format, "truncated: the file ends before its last row")
    // ImageIO does not tell how many rows it has of a file that is not interlaced.
    guard format == .png, try PNGHeader(reader).isInterlaced else { throw lack }
    return try ImageIORows.open(
      unsafe reader.withUnsafeBytes { unsafe ImageIOSource(prefix: $0) },
      request,
      at: 0,
      width: width,
      height: height,
      damage: lack,
    )
  }

  /// Returns the profile, as ImageIO reads it.
  static func profile(
    of reader: ByteReader,
    _ format: ImageFormat,
    _ limits: DecodeLimits,
  ) throws(ImageError) -> ColorProfile? {
    // A file of one pixel: the chunk alone, which may be all that has arrived of the file.
    guard let chunk = PNGHeader.chunks(reader).first(where: { $0.type == PNGHeader.Chunk.iCCP && $0.isWhole }) else {
      return nil
    }
    return try unsafe onePixel(with: chunk).withImageBytes { (file) throws(ImageError) in
      unsafe ImageIOSource(file)?.profile(at: 0, byteLimit: limits.metadataByteCount)
    }
  }

  /// Inflates a chunk of XMP with ImageIO.
  static func inflated(_ chunk: PNGHeader.Chunk, _ limits: DecodeLimits) -> Data? {
    let packet = try? unsafe onePixel(with: chunk).withImageBytes { (file) throws(ImageError) in
      unsafe ImageIOSource(file)?.xmp(at: 0, byteLimit: limits.metadataByteCount)
    }
    return packet ?? nil
  }

  /// Returns a file of one pixel with a chunk of another.
  private static func onePixel(with chunk: PNGHeader.Chunk) -> [UInt8] {
    // RGB of 8 bits, since a profile of colours does not suit gray.
    let header: [UInt8] = [0, 0, 0, 1, 0, 0, 0, 1, 8, 2, 0, 0, 0]
    // A zlib stream (RFC 1950) of one stored block: no filter, one black pixel.
    let pixel: [UInt8] = [0x78, 0x01, 0x01, 4, 0, 0xFB, 0xFF, 0, 0, 0, 0, 0, 4, 0, 1]
    typealias Chunk = PNGHeader.Chunk
    var file = PNGHeader.signature + header.reading { PNGChecksum.chunk(Chunk.IHDR, [$0]) }
    file += PNGChecksum.chunk(chunk.type, [chunk.body])
    file += pixel.reading { PNGChecksum.chunk(Chunk.IDAT, [$0]) }
    return file + PNGChecksum.chunk(Chunk.IEND, [])
  }
}

extension PNGAnimation {
  /// Returns an animation's default picture as a file of its own; `nil` if the file ends before the end of the picture.
  static func still(of bytes: ByteReader) -> [UInt8]? {
    typealias Chunk = PNGHeader.Chunk
    var file = PNGHeader.signature
    var hasPicture = false
    for chunk in PNGHeader.chunks(bytes) {
      // The first other chunk after the picture's shows that the picture is whole.
      if hasPicture, chunk.type != Chunk.IDAT { return file + PNGChecksum.chunk(Chunk.IEND, []) }
      guard chunk.isWhole else { return nil }
      guard chunk.type != Chunk.acTL, chunk.type != Chunk.fcTL else { continue }
      hasPicture = chunk.type == Chunk.IDAT
      file += PNGChecksum.chunk(chunk.type, [chunk.body], checksum: chunk.checksum)
    }
    return nil
  }
}
