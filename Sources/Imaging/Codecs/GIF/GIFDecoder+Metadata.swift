extension GIFDecoder {
  /// Reads XMP, the only metadata of GIF, from the file's blocks.
  public func metadata(
    of bytes: UnsafeRawBufferPointer,
    _ info: ImageInfo,
    limits: DecodeLimits,
  ) throws(ImageError) -> ImageMetadata {
    var metadata = ImageMetadata()
    metadata.xmp = unsafe GIFHeader.xmp(ByteReader(bytes), limit: limits.metadataByteCount)
    return metadata
  }
}
