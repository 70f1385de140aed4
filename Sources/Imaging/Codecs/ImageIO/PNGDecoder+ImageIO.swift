import VitrineRuntime

extension PNGDecoder {
  /// Opens a still picture of the size in its header.
  ///
  /// The bytes are those of the file, or of one frame of it. Of an animation ImageIO sees one still picture at a time,
  /// and never one that is cut.
  static func openPicture(
    _ bytes: UnsafeRawBufferPointer,
    _ request: RowRequest,
    width: Int,
    height: Int,
  ) throws(ImageError) -> any RowSource {
    let format = request.info.format
    let reader = unsafe ByteReader(bytes)
    let isWhole = PNGHeader.chunks(reader).contains { $0.type == PNGHeader.Chunk.IEND && $0.isWhole }
    guard !isWhole else {
      guard format == .apng, PNGHeader.isAnimated(reader) else {
        return try unsafe ImageIORows.open(bytes, request, width: width, height: height)
      }
      return try unsafe PNGAnimation.still(of: reader).withFileBytes { (still) throws(ImageError) in
        try unsafe ImageIORows.open(still, request, width: width, height: height)
      }
    }
    let lack = ImageError(.truncated, format: format, "truncated: the file ends before its last row")
    // ImageIO does not tell how many rows it has of a file that is not interlaced.
    guard format == .png, try PNGHeader(reader).isInterlaced else { throw lack }
    return try ImageIORows.open(
      unsafe ImageIOSource(prefix: bytes),
      request,
      at: 0,
      width: width,
      height: height,
      damage: lack,
    )
  }

  /// Returns the profile, as ImageIO reads it.
  static func profile(
    of bytes: UnsafeRawBufferPointer,
    _ format: ImageFormat,
    _ limits: DecodeLimits,
  ) throws(ImageError) -> ColorProfile? {
    let reader = unsafe ByteReader(bytes)
    // A file of one pixel: the chunk alone, which may be all that has arrived of the file.
    guard let chunk = PNGHeader.chunks(reader).first(where: { $0.type == PNGHeader.Chunk.iCCP && $0.isWhole }) else {
      return nil
    }
    let profile = try unsafe onePixel(with: chunk).withFileBytes { (file) throws(ImageError) in
      unsafe ImageIOSource(file)?.profile(at: 0)
    }
    return profile.flatMap { $0.data.count <= limits.metadataByteCount ? $0 : nil }
  }

  /// Inflates a chunk of XMP with ImageIO.
  static func inflated(_ chunk: PNGHeader.Chunk, _ limits: DecodeLimits) -> Data? {
    let packet = try? unsafe onePixel(with: chunk).withFileBytes { (file) throws(ImageError) in
      unsafe ImageIOSource(file)?.xmp(at: 0)
    }
    return (packet ?? nil).flatMap { $0.count <= limits.metadataByteCount ? $0 : nil }
  }

  /// Returns a file of one pixel with a chunk of another.
  private static func onePixel(with chunk: PNGHeader.Chunk) -> [UInt8] {
    // RGB of 8 bits, since a profile of colours does not suit gray.
    let header: [UInt8] = [0, 0, 0, 1, 0, 0, 0, 1, 8, 2, 0, 0, 0]
    // A zlib stream (RFC 1950) of one stored block: no filter, one black pixel.
    let pixel: [UInt8] = [0x78, 0x01, 0x01, 4, 0, 0xFB, 0xFF, 0, 0, 0, 0, 0, 4, 0, 1]
    typealias Chunk = PNGHeader.Chunk
    var file = PNGHeader.signature
    // The readers live within the closures.
    unsafe header.withUnsafeBytes { unsafe file += PNGChecksum.chunk(Chunk.IHDR, [ByteReader($0)]) }
    file += PNGChecksum.chunk(chunk.type, [chunk.body])
    unsafe pixel.withUnsafeBytes { unsafe file += PNGChecksum.chunk(Chunk.IDAT, [ByteReader($0)]) }
    return file + PNGChecksum.chunk(Chunk.IEND, [])
  }
}

extension PNGAnimation {
  /// Returns an animation's default picture as a file of its own.
  static func still(of bytes: ByteReader) -> [UInt8] {
    typealias Chunk = PNGHeader.Chunk
    var file = PNGHeader.signature
    for chunk in PNGHeader.chunks(bytes) where ![Chunk.acTL, Chunk.fcTL, Chunk.fdAT].contains(chunk.type) {
      file += PNGChecksum.chunk(chunk.type, [chunk.body])
    }
    return file
  }
}
