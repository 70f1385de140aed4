public import VitrineRuntime

extension DecoderRegistry {
  /// Decodes an image upright, at the requested size, using no more pixels than that size needs.
  ///
  /// Blocks until done, so do not call it on the main thread. Peak memory is the result and a few rows, for formats
  /// and sizes whose rows can stream.
  ///
  /// - Throws: ``ImageError`` of any code but `.notEncodable`.
  public func decode(_ data: Data, _ options: DecodeOptions = DecodeOptions()) throws(ImageError) -> ImageContainer {
    try decode(.data(data), options, DecodeJob())
  }

  /// As ``decode(_:_:)``, within the memory and on the cores of a job.
  package func decode(
    _ data: Data,
    _ options: DecodeOptions,
    _ job: DecodeJob,
  ) throws(ImageError) -> ImageContainer {
    try decode(.data(data), options, job)
  }

  /// As ``decode(_:_:)``, within the memory and on the cores of a job.
  ///
  /// A file that is lent to a process is read here, too, for an animation and for pixels brighter than white, which need
  /// several questions.
  package func decode(
    _ bytes: ImageBytes,
    _ options: DecodeOptions,
    _ job: DecodeJob,
  ) throws(ImageError) -> ImageContainer {
    if !options.animates, options.dynamicRange == .standard, case .file(let file) = bytes, lends(file) {
      return try picture(of: bytes, DecodeQuestion(.image, options, job))
    }
    let data = try bytes.whole(limit: options.limits.memoryByteCount)
    if options.animates, let image = try animation(of: data, options, job) { return image }
    var image = try picture(of: .data(data), DecodeQuestion(.image, options, job))
    // A worker leaves them to its program, which reads them of any file.
    if job.host == nil { image.readSubjects(in: data, options) }
    if options.dynamicRange == .high {
      // The picture is held while another is decoded.
      job.memoryShare?.setBase(image.bitmap.byteCount)
      defer { job.memoryShare?.setBase(0) }
      // A worker leaves the map to its program, which asks about it as about any file.
      if image.gainMap == nil, job.host == nil { image.gainMap = try gainMap(of: data, for: image, options, job) }
      image.highRange = try highRange(of: data, options, job)
    }
    return image
  }

  /// Decodes the picture of an image, or of a frame in a session.
  func picture(of bytes: ImageBytes, _ question: DecodeQuestion) throws(ImageError) -> ImageContainer {
    try pixels(of: bytes, question) { $0.image ?? nil }
  }

  /// Decodes an image to gray levels: upright, at the requested size, in a quarter of the memory.
  ///
  /// Rows stream from the decoder to the result, as in ``decode(_:_:)``. Colours become luma (ITU-R BT.709-6, item
  /// 3.2) on the way. ``ImageInfo/colorModel`` tells whether the image itself was gray. Blocks until done.
  ///
  /// - Parameters:
  ///   - data: The encoded image.
  ///   - options: The options for decoding; ``DecodeLimits/outputByteCount`` counts one byte a pixel.
  ///   - job: The memory and the cores. Defaults to the machine's cores.
  ///   - background: The level behind transparent and missing pixels. Defaults to white.
  /// - Returns: The levels, and the facts of the header.
  /// - Throws: ``ImageError`` of any code but `.notEncodable`.
  package func decodeGray(
    _ data: Data,
    _ options: DecodeOptions = DecodeOptions(),
    _ job: DecodeJob = DecodeJob(),
    over background: UInt8 = 255,
  ) throws(ImageError) -> DecodedGrayImage {
    var question = DecodeQuestion(.gray(over: background), options, job)
    question.options.colorSpace = .sRGB
    return try pixels(of: .data(data), question) { $0.gray }
  }

  /// Decodes the pixels that a question is about, here or elsewhere; `output` takes them from the answer.
  private func pixels<Output>(
    of bytes: ImageBytes,
    _ question: DecodeQuestion,
    _ output: (DecodeAnswer) -> Output?,
  ) throws(ImageError) -> Output {
    var question = question
    let core = question.job.takeCore()
    defer { core.leave() }
    try question.job.begin(question.options)
    return try find(bytes, question.options.limits) { [question] (image) throws(ImageError) in
      switch image {
      case .local(let image): try pixels(of: image, question).flatMap(output)
      case .remote(let image): output(try image.answer(question))
      }
    }
  }

  /// Decodes pixels in this process, step by step; returns `nil` if the decoder declines.
  private func pixels(of image: LocalImage, _ question: DecodeQuestion) throws(ImageError) -> DecodeAnswer? {
    var (options, job) = (question.options, question.job)
    // Header, limits, plan.
    let info = try image.info(ofFrame: options.frame, options.limits)
    let plan = try options.plan(for: info)
    if question.allowsShortcut, let thumbnail = try renderThumbnail(of: image, info, plan, options, job) {
      return .image(thumbnail)
    }
    // Cores, memory.
    job.borrowCores(for: info)
    try job.admit(image, info, plan, options)
    // Rows, which are cropped, resampled, converted and turned upright as they come.
    guard let rows = try image.open(options.request(for: info, plan, job)) else { return nil }
    let renderer = options.renderer(for: info, plan, job)
    guard case .gray(let background) = question.kind else {
      let result = try renderer.render(rows, acceptsPartial: options.acceptsPartial)
      // A part of the image may be all missing, but an image without a row is none.
      if let damage = result.damage, result.shown == 0, options.region == nil { throw damage }
      var image = ImageContainer(result.bitmap, info: info, damage: result.damage)
      image.gainMap = result.gainMap
      return .image(image)
    }
    let result = try renderer.renderGray(rows, over: background, acceptsPartial: options.acceptsPartial)
    return .gray(DecodedGrayImage(bitmap: result.bitmap, info: info, damage: result.damage))
  }

  /// Decodes pixels brighter than white; returns `nil` if there are none, or no decoder can.
  private func highRange(
    of data: Data,
    _ options: DecodeOptions,
    _ job: DecodeJob,
  ) throws(ImageError) -> HighRangeBitmap? {
    try find(data, options.limits) { (image) throws(ImageError) -> HighRangeBitmap?? in
      guard case .local(let image) = image, image.decoder is any HighRangeDecoding else { return .some(nil) }
      var job = job
      let info = try image.info(ofFrame: options.frame, options.limits)
      let plan = try options.plan(for: info)
      // The decoder's picture and the result, beside the bitmap that is there.
      let count = 20 * plan.width * plan.height
      try options.limits.check(memory: count, of: info)
      try job.begin(options)
      try job.hold(count, output: count, of: info)
      return .some(try image.highRange(info, frame: options.frame, plan))
    }
  }
}

extension ImageContainer {
  /// Sets the subjects that a file names, as far as the part is decoded.
  package mutating func readSubjects(in file: Data, _ options: DecodeOptions) {
    let found = file.reading { SubjectRegion.all(in: $0, info) }
    guard !found.isEmpty, let plan = try? options.plan(for: info) else { return }
    subjects = found.showing(plan, of: (info.width, info.height))
  }
}

extension Bitmap {
  /// Decodes an image with the standard decoders, as ``DecoderRegistry/decode(_:_:)`` does.
  ///
  /// Blocks until done.
  ///
  /// - Parameters:
  ///   - data: The encoded image.
  ///   - size: The requested size. Defaults to `nil`: the image's own size.
  /// - Throws: ``ImageError`` of any code but `.notEncodable`.
  public init(decoding data: Data, size: TargetSize? = nil) throws(ImageError) {
    self = try DecoderRegistry.standard.decode(data, DecodeOptions(size: size)).bitmap
  }
}
