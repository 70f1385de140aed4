extension JPEGDecoder {
  /// Reads EXIF, XMP and the colour profile from the segments up to the first scan.
  public func metadata(
    of bytes: UnsafeRawBufferPointer,
    _ info: ImageInfo,
    limits: DecodeLimits,
  ) throws(ImageError) -> ImageMetadata {
    var metadata = unsafe JPEGMetadata.read(ByteReader(bytes), limit: limits.metadataByteCount)
    metadata.colorProfile = info.colorProfile
    return metadata
  }
}
