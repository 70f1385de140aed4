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
    // The bytes are only read while the closure runs: row sources do not outlive it.
    try unsafe data.withImageBytes { (bytes) throws(ImageError) in
      try unsafe find(
        bytes,
        limits,
        remote: { (decoder, format) throws(ImageError) in
          try unsafe decoder.answer(DecodeQuestion(.embeddedThumbnail, limits), about: .bytes(bytes), of: format).image
        },
      ) { (decoder, header) throws(ImageError) -> ImageContainer?? in
        guard let file = try unsafe decoder.metadata(of: bytes, header, limits: limits).exifThumbnail else {
          return .some(nil)
        }
        return try decodeThumbnail(file, of: header, limits)
      }
    }
  }

  /// Decodes the file of a thumbnail; the image's header decides how both are stored.
  private func decodeThumbnail(
    _ file: Data,
    of header: ImageInfo,
    _ limits: DecodeLimits,
  ) throws(ImageError) -> ImageContainer {
    let control = DecodeControl(isCancelled: nil, timeLimit: limits.timeLimit)
    // As in `embeddedThumbnail`.
    return try unsafe file.withImageBytes { (bytes) throws(ImageError) in
      try unsafe find(bytes, limits, remote: Self.decline) { (decoder, own) throws(ImageError) -> ImageContainer? in
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
        try limits.check(memory: unsafe decoder.memory(of: bytes, request).codec, of: own)
        guard let source = try unsafe decoder.open(bytes, request) else { return nil }
        let result = try Renderer(info: info, plan: plan, control: control).render(source, acceptsPartial: false)
        return ImageContainer(result.bitmap, info: info)
      }
    }
  }

  /// Declines, since a remote decoder decodes a thumbnail only together with its image.
  private static func decline<R>(_ decoder: any RemoteDecoder, _ format: ImageFormat) throws(ImageError) -> R? { nil }

  /// Renders `plan` from the embedded thumbnail of a still image; returns `nil` if there is none that is large
  /// enough.
  func renderThumbnail(
    of bytes: UnsafeRawBufferPointer,
    _ decoder: any ImageDecoder,
    _ info: ImageInfo,
    _ plan: SamplingPlan,
    _ options: DecodeOptions,
    _ control: DecodeControl,
  ) throws(ImageError) -> ImageContainer? {
    guard let file = try unsafe thumbnail(of: bytes, decoder, info, plan, options) else { return nil }
    let whole = options.request(for: info, plan, control)
    guard try unsafe showsSame(file, as: bytes, decoder, whole) else { return nil }
    do throws(ImageError) {
      return try unsafe file.withImageBytes { (bytes) throws(ImageError) in
        try unsafe find(bytes, options.limits, remote: Self.decline) {
          (decoder, own) throws(ImageError) -> ImageContainer? in
          let request = RowRequest(
            info: own,
            frame: 0,
            minimumScale: 1,
            scales: (1, 1),
            limits: options.limits,
            control: control,
          )
          try options.limits.check(memory: unsafe decoder.memory(of: bytes, request).codec, of: own)
          guard let source = try unsafe decoder.open(bytes, request) else { return nil }
          // The renderer takes it for the image itself, downsampled by its decoder.
          let result = try options.renderer(for: info, plan, control).render(source, acceptsPartial: false)
          return ImageContainer(result.bitmap, info: info)
        }
      }
    } catch {
      // A damaged thumbnail says nothing about the image.
      guard error.code == .cancelled || error.code == .outOfTime else { return nil }
      throw error
    }
  }
}

extension DecoderRegistry {
  /// Returns the file of a still image's embedded thumbnail, if it is large enough for `plan`.
  private func thumbnail(
    of bytes: UnsafeRawBufferPointer,
    _ decoder: any ImageDecoder,
    _ info: ImageInfo,
    _ plan: SamplingPlan,
    _ options: DecodeOptions,
  ) throws(ImageError) -> Data? {
    // No thumbnail within 64 KB of EXIF is larger, so it is not searched for.
    guard info.frameCount == 1, max(plan.scales.x * Double(info.width), plan.scales.y * Double(info.height)) <= 1024
    else { return nil }
    let metadata = try unsafe decoder.metadata(of: bytes, info, limits: options.limits)
    guard metadata.fields.agree(with: info), let file = metadata.exifThumbnail,
      let own = try? self.info(of: file, limits: options.limits), own.stands(for: info, at: plan)
    else { return nil }
    return file
  }

  /// Returns `true` if ``decode(_:_:)`` would decode the embedded thumbnail; `beginning` is the start of the file.
  func usesThumbnail(in beginning: Data, _ options: DecodeOptions) -> Bool {
    // The bytes are only read while the closure runs. Unreadable data has no thumbnail.
    let uses = try? unsafe beginning.withImageBytes { (bytes) throws(ImageError) in
      try unsafe find(
        bytes,
        options.limits,
        remote: { (decoder, format) throws(ImageError) in
          try unsafe decoder.answer(DecodeQuestion(.usesThumbnail, options), about: .bytes(bytes), of: format)
            .usesThumbnail
        },
      ) { (decoder, info) throws(ImageError) -> Bool? in
        try unsafe thumbnail(of: bytes, decoder, info, options.plan(for: info), options) != nil
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
  /// Returns `true` if the camera's size is that of the image.
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
