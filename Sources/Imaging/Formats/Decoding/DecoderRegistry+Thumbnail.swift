public import VitrineRuntime

extension DecoderRegistry {
  /// Decodes the thumbnail that cameras embed in EXIF, upright and in the colours of the image itself.
  ///
  /// It usually has 160x120 pixels, whatever the shape of the image, and may predate an edit of the image. So
  /// ``decode(_:_:)`` uses it only for ``DecodeQuality/fast``, if it is large enough and has the image's shape.
  /// Blocks for about 0.3 ms.
  ///
  /// - Returns: The thumbnail; `nil` if there is none.
  /// - Throws: ``ImageError``, as ``info(of:limits:)``, and for damage in the thumbnail.
  public func embeddedThumbnail(
    of data: Data,
    limits: DecodeLimits = DecodeLimits(),
  ) throws(ImageError) -> ImageContainer? {
    try find(data, limits) { (image) throws(ImageError) -> ImageContainer?? in
      switch image {
      case .remote(let image): return try image.answer(DecodeQuestion(.embeddedThumbnail, limits)).image
      case .local(let image):
        guard let file = try image.metadata(image.header, limits).exifThumbnail else { return .some(nil) }
        let control = DecodeControl(isCancelled: nil, timeLimit: limits.timeLimit)
        return try renderThumbnail(file, limits, control) { (own) throws(ImageError) in
          // The image's header says how both are stored.
          var info = ImageInfo(
            format: own.format,
            storedWidth: own.storedWidth,
            storedHeight: own.storedHeight,
            orientation: image.header.orientation,
          )
          info.colorProfile = image.header.colorProfile
          let plan = SamplingPlan(width: info.width, height: info.height)
          try limits.check(output: plan, of: info)
          return Renderer(info: info, plan: plan, control: control)
        }
      }
    }
  }

  /// Renders `plan` from the embedded thumbnail of a still image; returns `nil` if there is none that is large
  /// enough.
  func renderThumbnail(
    of image: LocalImage,
    _ info: ImageInfo,
    _ plan: SamplingPlan,
    _ options: DecodeOptions,
    _ job: DecodeJob,
  ) throws(ImageError) -> ImageContainer? {
    guard let file = try thumbnail(of: image, info, plan, options.limits),
      try showsSame(file, as: image, options.request(for: info, plan, job))
    else { return nil }
    do throws(ImageError) {
      // The renderer takes it for the image itself, downsampled by its decoder.
      let renderer = options.renderer(for: info, plan, job)
      return try renderThumbnail(file, options.limits, job.control) { (_) throws(ImageError) in renderer }
    } catch {
      // A damaged thumbnail says nothing about the image.
      guard error.code == .cancelled || error.code == .outOfTime else { return nil }
      throw error
    }
  }

  /// Renders the file of a thumbnail, with a renderer for its header.
  private func renderThumbnail(
    _ file: Data,
    _ limits: DecodeLimits,
    _ control: DecodeControl,
    _ renderer: (ImageInfo) throws(ImageError) -> Renderer,
  ) throws(ImageError) -> ImageContainer {
    try find(file, limits) { (image) throws(ImageError) -> ImageContainer? in
      // A decoder elsewhere decodes a thumbnail only together with its image.
      guard case .local(let image) = image else { return nil }
      let renderer = try renderer(image.header)
      let request = RowRequest(info: image.header, minimumScale: 1, limits: limits, control: control)
      try limits.check(memory: image.memory(request).codec, of: image.header)
      guard let rows = try image.open(request) else { return nil }
      return ImageContainer(try renderer.render(rows, acceptsPartial: false).bitmap, info: renderer.info)
    }
  }

  /// Returns the file of a still image's embedded thumbnail, if it is large enough for `plan`.
  private func thumbnail(
    of image: LocalImage,
    _ info: ImageInfo,
    _ plan: SamplingPlan,
    _ limits: DecodeLimits,
  ) throws(ImageError) -> Data? {
    // No thumbnail within 64 KB of EXIF is larger, so it is not searched for.
    guard info.frameCount == 1, max(plan.scales.x * Double(info.width), plan.scales.y * Double(info.height)) <= 1024
    else { return nil }
    let metadata = try image.metadata(info, limits)
    guard metadata.fields.agree(with: info), let file = metadata.exifThumbnail,
      let own = try? self.info(of: file, limits: limits), own.stands(for: info, at: plan)
    else { return nil }
    return file
  }

  /// Returns `true` if ``decode(_:_:)`` would decode the embedded thumbnail; `beginning` is the start of the file.
  func usesThumbnail(in beginning: Data, _ options: DecodeOptions) -> Bool {
    // Unreadable data has no thumbnail.
    let uses = try? find(beginning, options.limits) { (image) throws(ImageError) -> Bool? in
      switch image {
      case .local(let image):
        try thumbnail(of: image, image.header, options.plan(for: image.header), options.limits) != nil
      case .remote(let image): try image.answer(DecodeQuestion(.usesThumbnail, options)).usesThumbnail
      }
    }
    return uses ?? false
  }
}

extension ImageInfo {
  /// Returns `true` if a thumbnail with this header has enough pixels for `plan` and the shape of the image.
  ///
  /// Cameras add black bars around pictures of another shape than 4:3, and a program that crops may keep the old
  /// thumbnail.
  fileprivate func stands(for image: ImageInfo, at plan: SamplingPlan) -> Bool {
    let (width, height) = image.orientation.applied(width: storedWidth, height: storedHeight)
    let (scaleX, scaleY) = (Double(width) / Double(image.width), Double(height) / Double(image.height))
    guard scaleX <= 1, scaleY <= 1, scaleX >= plan.scales.x, scaleY >= plan.scales.y else { return false }
    // The shorter side is rounded to a whole number of pixels.
    let most = 0.01 * max(scaleX, scaleY)
    return abs(scaleX - scaleY) <= most
  }
}

extension EXIFFields {
  /// Returns `true` if the camera's size is the image's.
  ///
  /// If not, a program has cropped the image since.
  fileprivate func agree(with image: ImageInfo) -> Bool {
    guard let pixelWidth, let pixelHeight, pixelWidth > 0, pixelHeight > 0 else { return true }
    let size = [image.storedWidth, image.storedHeight]
    // Some programs that rotate a picture swap its size too.
    return size == [pixelWidth, pixelHeight] || size == [pixelHeight, pixelWidth]
  }
}

extension ImageMetadata {
  /// The thumbnail's file within EXIF.
  fileprivate var exifThumbnail: Data? {
    // The bytes are only read while the closure runs.
    unsafe exif?.withUnsafeBytes { bytes in
      unsafe EXIF.thumbnail(ByteReader(bytes)).map { Data($0.copy()) }
    }
  }
}
