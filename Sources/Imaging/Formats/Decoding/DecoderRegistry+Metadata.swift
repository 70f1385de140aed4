public import VitrineRuntime

extension DecoderRegistry {
  /// Reads a file's metadata without decoding a pixel: EXIF, XMP, IPTC and the colour profile.
  ///
  /// JPEG and TIFF have all four; PNG, WebP and GIF have no IPTC. For other formats the result has the profile, if the
  /// header's ``ImageInfo`` has one. Metadata larger than ``DecodeLimits/metadataByteCount`` is left out, and so are the notes
  /// of makers in TIFF and raw files. Blocks until done.
  ///
  /// - Throws: ``ImageError``, as ``info(of:limits:)``.
  public func metadata(of data: Data, limits: DecodeLimits = DecodeLimits()) throws(ImageError) -> ImageMetadata {
    try metadata(of: .data(data), limits: limits)
  }

  /// As ``metadata(of:limits:)``.
  package func metadata(of bytes: ImageBytes, limits: DecodeLimits) throws(ImageError) -> ImageMetadata {
    try find(bytes, limits) { (image) throws(ImageError) in
      switch image {
      case .local(let image): try image.metadata(image.header, limits)
      case .remote(let image): try image.answer(DecodeQuestion(.metadata, limits)).metadata
      }
    }
  }

  /// Reads the duration of each frame, in seconds: ``ImageInfo/frameCount`` values, 0 for a still image.
  ///
  /// Durations of 0.01 s and less become 0.1 s, as in browsers, and none is longer than a million seconds. Blocks until
  /// done. Complexity: O(bytes).
  ///
  /// - Throws: ``ImageError``, as ``info(of:limits:)``.
  public func frameDelays(of data: Data, limits: DecodeLimits = DecodeLimits()) throws(ImageError) -> [Double] {
    try frameDelays(of: data, limits, known: nil)
  }

  /// As ``frameDelays(of:limits:)``; `known` are the facts of the image, if a decoder has been asked for them.
  func frameDelays(of data: Data, _ limits: DecodeLimits, known: ImageInfo?) throws(ImageError) -> [Double] {
    let (info, delays) = try find(data, limits) { (image) throws(ImageError) -> (ImageInfo, [Double])? in
      switch image {
      case .local(let image):
        let info = known ?? image.header
        return (info, try image.frameDelays(info))
      case .remote(let image):
        let header = known == nil ? try image.answer(DecodeQuestion(.info, limits)).info : known
        guard let info = header else { return nil }
        guard info.isTimed else { return (info, []) }
        return try image.answer(DecodeQuestion(.frameDelays, limits)).frameDelays.map { (info, $0) }
      }
    }
    return info.isTimed ? FrameDelay.shown(delays, count: info.frameCount) : [0]
  }
}
