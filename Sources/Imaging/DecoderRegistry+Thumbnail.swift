public import VitrineRuntime

extension DecoderRegistry {
  /// Decodes the small picture that cameras put beside the large one in EXIF, upright and in the colours of the large one.
  ///
  /// It is most often 160x120 pixels, whatever the shape of the large one, and may show what the picture was before a
  /// program changed it: ``decode(_:_:)`` uses it for ``DecodeQuality/fast`` alone, where it is large enough and has the
  /// picture's shape. Blocks for some 0.3 ms.
  ///
  /// - Returns: `nil` where there is none.
  /// - Throws: ``ImageError``, as ``info(of:limits:)``, and what is wrong with the small picture.
  public func embeddedThumbnail(
    of data: Data,
    limits: DecodeLimits = DecodeLimits(),
  ) throws(ImageError) -> ImageContainer? {
    let control = DecodeControl(isCancelled: nil, timeLimit: limits.timeLimit)
    let header = try info(of: data, limits: limits)
    guard let file = try metadata(of: data, limits: limits).exifThumbnail else { return nil }
    // The bytes are only read while the closure runs: row sources do not outlive it.
    return try unsafe file.withImageBytes { (bytes) throws(ImageError) in
      try unsafe find(bytes, limits) { (decoder, own) throws(ImageError) -> ImageContainer? in
        // The large picture says how both are stored.
        var info = ImageInfo(
          format: own.format,
          storedWidth: own.storedWidth,
          storedHeight: own.storedHeight,
          orientation: header.orientation,
        )
        info.colorProfile = header.colorProfile
        let plan = SamplingPlan(width: info.width, height: info.height)
        try limits.check(output: plan, of: info)
        let request = RowRequest(
          info: own,
          frame: 0,
          minimumScale: 1,
          scales: (1, 1),
          limits: limits,
          control: control,
        )
        guard let source = try unsafe decoder.open(bytes, request) else { return nil }
        let result = try Renderer(info: info, plan: plan, control: control).render(source, acceptsPartial: false)
        return ImageContainer(result.bitmap, info: info)
      }
    }
  }

  /// What `plan` gives of a still image whose embedded thumbnail is large enough; `nil` where there is none that would do.
  func renderThumbnail(
    of bytes: UnsafeRawBufferPointer,
    _ decoder: any ImageDecoder,
    _ info: ImageInfo,
    _ plan: SamplingPlan,
    _ options: DecodeOptions,
    _ control: DecodeControl,
  ) throws(ImageError) -> ImageContainer? {
    guard let file = try unsafe thumbnail(of: bytes, decoder, info, plan, options) else { return nil }
    do throws(ImageError) {
      return try unsafe file.withImageBytes { (bytes) throws(ImageError) in
        try unsafe find(bytes, options.limits) { (decoder, own) throws(ImageError) -> ImageContainer? in
          let request = RowRequest(
            info: own,
            frame: 0,
            minimumScale: 1,
            scales: (1, 1),
            limits: options.limits,
            control: control,
          )
          guard let source = try unsafe decoder.open(bytes, request) else { return nil }
          // To the renderer it is the large picture, shrunk by its decoder.
          let result = try options.renderer(for: info, plan, control).render(source, acceptsPartial: false)
          return ImageContainer(result.bitmap, info: info)
        }
      }
    } catch {
      // A spoiled thumbnail says nothing of the picture.
      guard error.code == .cancelled || error.code == .outOfTime else { return nil }
      throw error
    }
  }
}

extension DecoderRegistry {
  /// The file of a still image's embedded thumbnail, if it is large enough for `plan`.
  private func thumbnail(
    of bytes: UnsafeRawBufferPointer,
    _ decoder: any ImageDecoder,
    _ info: ImageInfo,
    _ plan: SamplingPlan,
    _ options: DecodeOptions,
  ) throws(ImageError) -> Data? {
    // No thumbnail in 64 KB of EXIF is larger, so it need not be looked for.
    guard info.frameCount == 1, max(plan.scales.x * Double(info.width), plan.scales.y * Double(info.height)) <= 1024
    else { return nil }
    let metadata = try unsafe decoder.metadata(of: bytes, info, limits: options.limits)
    guard metadata.fields.agree(with: info), let file = metadata.exifThumbnail,
      let own = try? self.info(of: file, limits: options.limits), own.stands(for: info, at: plan)
    else { return nil }
    return file
  }

  /// Whether ``decode(_:_:)`` would make the image of a thumbnail, which is among the first bytes of the file.
  func usesThumbnail(in beginning: Data, _ options: DecodeOptions) -> Bool {
    // The bytes are only read while the closure runs. What cannot be read has none.
    let uses = try? unsafe beginning.withImageBytes { (bytes) throws(ImageError) in
      try unsafe find(bytes, options.limits) { (decoder, info) throws(ImageError) -> Bool? in
        try unsafe thumbnail(of: bytes, decoder, info, options.plan(for: info), options) != nil
      }
    }
    return uses ?? false
  }
}

extension ImageInfo {
  /// Whether a thumbnail, of which this is the header, has the pixels that `plan` needs and the shape of the image.
  ///
  /// Cameras put black bars around pictures of another shape than 4:3; a program that crops may leave the old one there.
  fileprivate func stands(for image: ImageInfo, at plan: SamplingPlan) -> Bool {
    let (width, height) = image.orientation.applied(width: storedWidth, height: storedHeight)
    let (scaleX, scaleY) = (Double(width) / Double(image.width), Double(height) / Double(image.height))
    guard scaleX <= 1, scaleY <= 1, scaleX >= plan.scales.x, scaleY >= plan.scales.y else { return false }
    // The shorter side is a whole number of pixels.
    let most = 0.01 * max(scaleX, scaleY)
    return abs(scaleX - scaleY) <= most
  }
}

extension EXIFFields {
  /// Whether the size that the camera wrote is that of the image; if not, a program has cropped it since.
  fileprivate func agree(with image: ImageInfo) -> Bool {
    guard let pixelWidth, let pixelHeight, pixelWidth > 0, pixelHeight > 0 else { return true }
    let size = [image.storedWidth, image.storedHeight]
    // Some programs that turn a picture turn its size with it.
    return size == [pixelWidth, pixelHeight] || size == [pixelHeight, pixelWidth]
  }
}

extension ImageMetadata {
  /// The file of the thumbnail in EXIF.
  fileprivate var exifThumbnail: Data? {
    // The bytes are only read while the closure runs.
    unsafe exif?.withUnsafeBytes { bytes in
      unsafe EXIF.thumbnail(ByteReader(bytes)).map { Data($0.copy()) }
    }
  }
}
