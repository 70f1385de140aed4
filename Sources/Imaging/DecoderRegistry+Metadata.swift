public import VitrineRuntime

extension DecoderRegistry {
  /// Reads what a file says beside its pixels, without decoding one: EXIF, XMP and the colour profile.
  ///
  /// JPEG, PNG, WebP and GIF have them; of other formats there is the profile, where the header's ``ImageInfo`` has one.
  /// What is larger than ``DecodeLimits/metadataByteCount`` is left out. Blocks for the time of that reading.
  ///
  /// - Throws: ``ImageError``, as ``info(of:limits:)``.
  public func metadata(of data: Data, limits: DecodeLimits = DecodeLimits()) throws(ImageError) -> ImageMetadata {
    // The bytes are only read while the closure runs.
    try unsafe data.withImageBytes { (bytes) throws(ImageError) in
      try unsafe find(bytes, limits) { (decoder, info) throws(ImageError) in
        try unsafe decoder.metadata(of: bytes, info, limits: limits)
      }
    }
  }

  /// Reads how long each frame is shown, in seconds: as many as ``ImageInfo/frameCount``, 0 for a still image.
  ///
  /// 0.01 s and less become 0.1 s, as in browsers. Blocks for the time of that reading; complexity O(bytes).
  ///
  /// - Throws: ``ImageError``, as ``info(of:limits:)``.
  public func frameDelays(of data: Data, limits: DecodeLimits = DecodeLimits()) throws(ImageError) -> [Double] {
    // The bytes are only read while the closure runs.
    try unsafe data.withImageBytes { (bytes) throws(ImageError) in
      try unsafe find(bytes, limits) { (decoder, info) throws(ImageError) -> [Double]? in
        guard info.frameCount > 1 || info.duration > 0 else { return [0] }
        let delays = try unsafe decoder.frameDelays(of: bytes, info).prefix(info.frameCount)
        // A damaged file may announce frames without saying how long.
        return delays + [Double](repeating: FrameDelay.shown(0), count: info.frameCount - delays.count)
      }
    }
  }
}
