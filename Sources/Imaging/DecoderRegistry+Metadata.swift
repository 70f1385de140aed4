public import VitrineRuntime

extension DecoderRegistry {
  /// Reads a file's metadata without decoding a pixel: EXIF, XMP and the colour profile.
  ///
  /// JPEG, PNG, WebP and GIF have all three. For other formats the result has the profile, if the header's
  /// ``ImageInfo`` has one. Metadata larger than ``DecodeLimits/metadataByteCount`` is left out. Blocks until done.
  ///
  /// - Throws: ``ImageError``, as ``info(of:limits:)``.
  public func metadata(of data: Data, limits: DecodeLimits = DecodeLimits()) throws(ImageError) -> ImageMetadata {
    // The bytes are only read while the closure runs.
    try unsafe data.withImageBytes { (bytes) throws(ImageError) in
      try unsafe find(
        bytes,
        limits,
        remote: { (decoder, format) throws(ImageError) in
          try unsafe decoder.answer(DecodeQuestion(.metadata, limits), about: bytes, of: format).metadata
        },
      ) { (decoder, info) throws(ImageError) in
        try unsafe decoder.metadata(of: bytes, info, limits: limits)
      }
    }
  }

  /// Reads the duration of each frame, in seconds: ``ImageInfo/frameCount`` values, 0 for a still image.
  ///
  /// Durations of 0.01 s and less become 0.1 s, as in browsers. Blocks until done. Complexity: O(bytes).
  ///
  /// - Throws: ``ImageError``, as ``info(of:limits:)``.
  public func frameDelays(of data: Data, limits: DecodeLimits = DecodeLimits()) throws(ImageError) -> [Double] {
    // The bytes are only read while the closure runs.
    try unsafe data.withImageBytes { (bytes) throws(ImageError) in
      try unsafe find(
        bytes,
        limits,
        remote: { (decoder, format) throws(ImageError) in
          try unsafe decoder.answer(DecodeQuestion(.frameDelays, limits), about: bytes, of: format).frameDelays
        },
      ) { (decoder, info) throws(ImageError) -> [Double]? in
        guard info.frameCount > 1 || info.duration > 0 else { return [0] }
        let delays = try unsafe decoder.frameDelays(of: bytes, info).prefix(info.frameCount)
        // A damaged file may declare frames without a duration.
        return delays + [Double](repeating: FrameDelay.shown(0), count: info.frameCount - delays.count)
      }
    }
  }
}
