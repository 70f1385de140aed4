package import VitrineRuntime

/// The circumstances of one decode, none of which changes a pixel: memory, cores, and the program that it works for.
package struct DecodeJob: Sendable {
  /// The share of a budget of memory that several decodes have in common; `nil` for none.
  package var memoryShare: MemoryShare?
  /// The cores that several decodes have in common.
  ///
  /// Defaults to the machine's cores.
  package var cores: CoreBudget
  /// The program on whose behalf this process decodes; `nil` for its own.
  package var host: (any DecodeHost)?
  /// The animation that has played while the file arrived, and that goes on if the file is the same.
  package var arriving: ArrivingAnimation?
  /// The maximum number of threads, this one included.
  ///
  /// Defaults to 1.
  package var threadCount = 1
  /// The share that the running decode has of ``cores``.
  package private(set) var coreShare: CoreShare?
  /// The check of the running decode for cancellation and time.
  private(set) var control = DecodeControl(isCancelled: nil, timeLimit: nil)

  package init(
    memoryShare: MemoryShare? = nil,
    cores: CoreBudget = .machine,
    host: (any DecodeHost)? = nil,
  ) {
    (self.memoryShare, self.cores, self.host) = (memoryShare, cores, host)
  }

  /// Starts the time of a decode.
  ///
  /// - Throws: ``ImageError``: `.cancelled`.
  mutating func begin(_ options: DecodeOptions) throws(ImageError) {
    control = DecodeControl(isCancelled: options.isCancelled, timeLimit: options.limits.timeLimit)
    try control.check()
  }

  /// Takes a core; the caller gives it back.
  mutating func takeCore() -> CoreShare {
    let share = cores.enter()
    coreShare = share
    return share
  }

  /// Borrows idle cores, if the codec of an image can use them.
  mutating func borrowCores(for info: ImageInfo) {
    let limit = DecodeThreads.limit(for: info)
    threadCount = limit > 1 ? coreShare?.extend(to: limit) ?? 1 : 1
  }

  /// Checks the memory of a decode against the limit, and waits for it.
  ///
  /// Threads for which there is no memory are given up.
  mutating func admit(
    _ image: LocalImage,
    _ info: ImageInfo,
    _ plan: SamplingPlan,
    _ options: DecodeOptions,
  ) throws(ImageError) {
    let memory = try image.memory(options.request(for: info, plan, self))
    let output = plan.width * plan.height * options.bytesPerPixel
    let isWhole =
      plan.width == info.width && plan.height == info.height && info.orientation == .up && options.bytesPerPixel == 4
      && plan.crop.width == Double(info.width) && plan.crop.height == Double(info.height)
    var total = memory.total(output: output, decodesInPlace: isWhole)
      .addingSaturating(host?.holdsInput ?? true ? image.byteCount : 0)
      .addingSaturating(4 * (info.colorProfile?.data.count ?? 0))
      // The result with 16 bits a component, and its gains, a quarter as many.
      .addingSaturating(
        info.highRangeColors == nil
          ? 0 : (plan.width * plan.height).multipliedSaturating(by: options.dynamicRange == .high ? 12 : 8)
      )
    let threads = total.addingSaturating((threadCount - 1) * DecodeThreads.byteCount)
    if threads <= options.limits.memoryByteCount { total = threads } else { threadCount = 1 }
    try options.limits.check(memory: total, of: info)
    try hold(total, output: output, of: info)
  }

  /// Waits for memory, and for the program that this process works for; the time of the decode begins after the wait.
  ///
  /// - Parameters:
  ///   - count: The bytes that the decode holds.
  ///   - output: The bytes of the pixels of the result, which are among them.
  ///   - info: The facts of the image.
  /// - Throws: ``ImageError``: `.cancelled`, `.outOfTime`.
  mutating func hold(_ count: Int, output: Int, of info: ImageInfo) throws(ImageError) {
    var hasWaited = try memoryShare?.hold(count, control) ?? false
    if let host, try host.permit(info, memory: count, output: output) { hasWaited = true }
    if hasWaited { control = control.restarted() }
  }
}

extension DecodeOptions {
  /// Returns the request to a decoder.
  func request(for info: ImageInfo, _ plan: SamplingPlan, _ job: DecodeJob) -> RowRequest {
    RowRequest(
      info: info,
      frame: frame,
      // Most decoders average encoded values, not light.
      minimumScale: usesLinearLight ? 1 : min(1, plan.scale * quality.oversampling),
      // At a smaller scale, or for the best quality, the light of blocks is not good enough.
      lightScale: usesLinearLight && quality != .best ? min(1, plan.scale * DecodeQuality.balanced.oversampling) : 1,
      // If only a region of a drawing is requested, the drawing is drawn whole, at no more than its nominal size.
      scales: drawnPart?.scales(of: info)
        ?? (region == nil ? plan.scales : (min(1, plan.scales.x), min(1, plan.scales.y))),
      drawnPart: info.isVector ? drawnPart?.region : nil,
      region: region.map { _ in plan.needed(of: info) },
      colorSpace: colorSpace,
      limits: limits,
      threadCount: job.threadCount,
      control: job.control,
    )
  }

  /// Returns the renderer of the decoder's rows.
  func renderer(for info: ImageInfo, _ plan: SamplingPlan, _ job: DecodeJob) -> Renderer {
    Renderer(
      info: info.showing(drawnPart),
      plan: plan,
      control: job.control,
      resampling: resampling,
      colorSpace: colorSpace,
      measuresPeak: region == nil && info.frameCount == 1,
      makesGainMap: dynamicRange == .high && info.frameCount == 1,
      storage: { [host = job.host] in host?.storage(byteCount: $0) },
    )
  }
}
