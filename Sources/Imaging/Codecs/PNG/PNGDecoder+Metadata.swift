import VitrineRuntime

extension PNGDecoder {
  /// Reads EXIF, XMP and the colour profile from the file's chunks.
  public func metadata(
    of bytes: UnsafeRawBufferPointer,
    _ info: ImageInfo,
    limits: DecodeLimits,
  ) throws(ImageError) -> ImageMetadata {
    var metadata = ImageMetadata()
    metadata.colorProfile = info.colorProfile
    for chunk in unsafe PNGHeader.chunks(ByteReader(bytes)) where chunk.isWhole {
      let body = chunk.body
      if chunk.type == PNGHeader.Chunk.eXIf, metadata.exif == nil, body.count <= limits.metadataByteCount {
        metadata.exif = Data(EXIF.block(body).copy())
      } else if chunk.type == PNGHeader.Chunk.iTXt, metadata.xmp == nil, body.starts(with: Self.xmpKeyword) {
        metadata.xmp = Self.text(chunk, limits)
      }
    }
    return metadata
  }

  private static let xmpKeyword = Array("XML:com.adobe.xmp\0".utf8)

  /// Returns the text after keyword, compression, language and translated keyword.
  private static func text(_ chunk: PNGHeader.Chunk, _ limits: DecodeLimits) -> Data? {
    let body = chunk.body
    guard let isCompressed = body.byte(at: xmpKeyword.count) else { return nil }
    if isCompressed != 0 { return inflated(chunk, limits) }
    var start = xmpKeyword.count + 2
    for _ in 0..<2 {
      while let byte = body.byte(at: start), byte != 0 { start += 1 }
      start += 1
    }
    let text = body.slice(start, body.count)
    return text.count > 0 && text.count <= limits.metadataByteCount ? Data(text.copy()) : nil
  }
}
