package import VitrineRuntime

extension ImageInfo {
  /// Returns the brightest of the picture with the gain map in its file, as a multiple of white; `nil` if there is none.
  ///
  /// Reads headers alone.
  package func gainMapHeadroom(in file: Data) -> Double? {
    file.reading { EmbeddedGainMap($0, self) }?.formula.headroom
  }
}

extension DecoderRegistry {
  /// Decodes the gain map of a picture, for the part that was decoded and at its own scale.
  ///
  /// - Parameters:
  ///   - data: The encoded picture.
  ///   - image: The decoded picture.
  ///   - options: The options of its decode.
  ///   - job: The circumstances.
  /// - Returns: The map; `nil` if there is none, or if it or the picture is damaged.
  /// - Throws: ``ImageError``: `.cancelled`, `.outOfTime`, `.overLimit`. What the picture has taken of the limits is
  ///   counted.
  func gainMap(
    of data: Data,
    for image: ImageContainer,
    _ options: DecodeOptions,
    _ job: DecodeJob,
  ) throws(ImageError) -> GainMap? {
    guard options.frame == 0, image.damage == nil, let map = data.reading({ EmbeddedGainMap($0, image.info) }) else {
      return nil
    }
    do throws(ImageError) {
      let plan = try options.plan(for: image.info)
      return try decode(map, image.info, plan, options.remaining(after: image), job)
    } catch {
      guard error.code == .overLimit || error.code == .cancelled || error.code == .outOfTime else { return nil }
      throw error.prefixed("gain map")
    }
  }

  private func decode(
    _ map: EmbeddedGainMap,
    _ picture: ImageInfo,
    _ plan: SamplingPlan,
    _ options: DecodeOptions,
    _ job: DecodeJob,
  ) throws(ImageError) -> GainMap {
    let header = try info(of: map.data, limits: options.limits)
    let (width, height) = map.orientation.applied(width: header.width, height: header.height)
    let scale = (x: Double(width) / Double(picture.width), y: Double(height) / Double(picture.height))
    // All of the map, in as many pixels as the part needs.
    var own = DecodeOptions()
    (own.quality, own.limits, own.isCancelled) = (options.quality, options.limits, options.isCancelled)
    let sides = map.orientation.swapsAxes ? (x: plan.scales.y, y: plan.scales.x) : plan.scales
    own.size = TargetSize(
      width: max(1, (Double(header.width) * sides.x).rounded(.up)),
      height: max(1, (Double(header.height) * sides.y).rounded(.up)),
      mode: .exact,
      anchor: .center,
      enlarges: false,
    )
    let context = ProcessingContext(limits: options.limits, isCancelled: options.isCancelled)
    var bitmap = try decode(map.data, own, job).bitmap.declared(.opaque)
    if let levels = map.levels { bitmap = try bitmap.mapped(levels, context) }
    return try GainMap(bitmap, map.formula).showing(
      plan,
      of: (picture.width, picture.height),
      scale: scale,
      orientation: map.orientation,
      context,
    )
  }
}

extension DecodeOptions {
  /// The options for a picture beside an image, which has taken its part of the limits.
  fileprivate func remaining(after image: ImageContainer) -> DecodeOptions {
    var other = self
    let (bytes, pixels) = (image.bitmap.byteCount, image.info.width.multipliedSaturating(by: image.info.height))
    other.limits.memoryByteCount = max(0, limits.memoryByteCount - bytes)
    other.limits.outputByteCount = max(0, limits.outputByteCount - bytes)
    // A map far larger than its picture shows no more, and only takes time.
    let most = max(1 << 20, pixels.multipliedSaturating(by: 4))
    other.limits.pixelCount = min(most, max(0, limits.pixelCount - pixels))
    other.limits.heldPixelCount = max(0, limits.heldPixelCount - (image.info.streamsRows ? 0 : pixels))
    return other
  }
}

extension Bitmap {
  /// Returns a bitmap with another byte for each of red, green and blue.
  fileprivate func mapped(_ levels: [UInt8], _ context: ProcessingContext) throws(ImageError) -> Bitmap {
    try withElements { (pixels) throws(ImageError) in
      try Bitmap.rows(width: width, height: height, alpha: .opaque, colorSpace: colorSpace, context) { y, row in
        for place in 0..<4 * width { row[place] = place % 4 == 3 ? 255 : levels[Int(pixels[y * 4 * width + place])] }
      }
    }
  }
}
