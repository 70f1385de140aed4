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
          try unsafe decoder.answer(DecodeQuestion(.metadata, limits), about: .bytes(bytes), of: format).metadata
        },
      ) { (decoder, info) throws(ImageError) in
        try unsafe decoder.metadata(of: bytes, info, limits: limits)
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
    // The bytes are only read while the closure runs.
    let (info, delays) = try unsafe data.withImageBytes { (bytes) throws(ImageError) in
      try unsafe find(
        bytes,
        limits,
        remote: { (decoder, format) throws(ImageError) -> (ImageInfo, [Double])? in
          func ask(_ kind: DecodeQuestion.Kind) throws(ImageError) -> DecodeAnswer {
            try unsafe decoder.answer(DecodeQuestion(kind, limits), about: .bytes(bytes), of: format)
          }
          let header = known == nil ? try ask(.info).info : known
          guard let info = header else { return nil }
          guard info.isTimed else { return (info, []) }
          return try ask(.frameDelays).frameDelays.map { (info, $0) }
        },
      ) { (decoder, header) throws(ImageError) -> (ImageInfo, [Double])? in
        let info = known ?? header
        return (info, info.isTimed ? try unsafe decoder.frameDelays(of: bytes, info) : [])
      }
    }
    return info.isTimed ? FrameDelay.shown(delays, count: info.frameCount) : [0]
  }
}

extension ImageInfo {
  /// True if the frames have durations.
  fileprivate var isTimed: Bool { frameCount > 1 || duration > 0 }
}
