import VitrineRuntime

extension WebPDecoder {
  /// Reads EXIF, XMP and the colour profile from the file's chunks.
  public func metadata(
    of bytes: UnsafeRawBufferPointer,
    _ info: ImageInfo,
    limits: DecodeLimits,
  ) throws(ImageError) -> ImageMetadata {
    var metadata = ImageMetadata()
    metadata.colorProfile = info.colorProfile
    unsafe WebPHeader.forEachChunk(ByteReader(bytes)) { type, body in
      guard body.count > 0, body.count <= limits.metadataByteCount else { return }
      if type == "EXIF", metadata.exif == nil { metadata.exif = Data(EXIF.block(body).copy()) }
      if type == "XMP ", metadata.xmp == nil { metadata.xmp = Data(body.copy()) }
    }
    return metadata
  }
}
