import VitrineCaching
import VitrineHTTP
import VitrineImaging
import VitrineRuntime

// The making of an image: decoding, resampling, processing.
extension ImageLoad {
  // MARK: Decoding

  /// Decodes bytes; stored bytes that are no image are fetched again, once, and the response replaces them.
  ///
  /// It ends the load, or leaves it waiting for other bytes.
  func decode(_ bytes: FetchedBytes, replacing stored: FetchedBytes?, playing animation: ArrivingAnimation?) {
    guard request.requiresExactPixels else { return decode(bytes, in: nil, replacing: stored, playing: animation) }
    goOn { [self] () throws(LoadError) in
      decode(bytes, in: try await takePlace(.decode), replacing: stored, playing: animation)
    }
  }

  private func decode(
    _ bytes: FetchedBytes,
    in place: MakingPlace?,
    replacing stored: FetchedBytes?,
    playing animation: ArrivingAnimation?,
  ) {
    if let image = bytes.image {
      stage?.note("made from its beginning", .number(image.byteCount))
      // Nothing replaces the stored bytes where a beginning suffices.
      stored?.commit?.reject()
      return end(.success(ImageResponse(image, from: .network)))
    }
    reportCount(bytes.origin, bytes.byteCount)
    let onEnd = { @Sendable [self] (result: Result<ImageResponse, LoadError>) in
      switch result {
      case .success(let image): end(.success(handing(place, to: image)))
      case .failure(let error): failed(error, of: bytes, replacing: stored)
      }
    }
    // Decoding a tiny image costs less than waking a thread.
    if isTiny(bytes.data) {
      stage?.enter("work")
      return onEnd(Result { () throws(LoadError) in try make(of: bytes) })
    }
    let body = { @Sendable [self] (item, work) throws(LoadError) in
      try make(of: bytes, playing: animation, item, work)
    }
    work.enqueue(stage, on: queue(of: .decode, in: place), full: { overloaded(.decode) }, body, onEnd: onEnd)
  }

  private func failed(_ error: LoadError, of bytes: FetchedBytes, replacing stored: FetchedBytes?) {
    guard error.isOfBytes else { return end(.failure(error)) }
    let isStored = bytes.origin == .disk || bytes.origin == .revalidated
    guard stored == nil, isStored, request.cachePolicy != .cacheOnly else {
      (stored ?? bytes).commit?.reject()
      return end(.failure(error))
    }
    var reload = request
    reload.cachePolicy = .reload
    arrive(context.bytesLoad(reload, record: record), replacing: bytes)
  }

  /// Decodes bytes on the calling thread, and has bytes and image stored.
  private func make(
    of bytes: FetchedBytes,
    playing animation: ArrivingAnimation? = nil,
    _ item: WorkItem? = nil,
    _ queued: QueuedWork<ImageResponse>? = nil,
  ) throws(LoadError) -> ImageResponse {
    let options = context.decodeOptions(of: request)
    var container = try decode(bytes.content, options, animation, item, queued)
    if request.keepsEncodedData { container.encodedData = bytes.data }
    let image = LoadedImage(container, of: bytes, DecodeParameters(of: container.info, options))
    // The bytes first, since this drops what was made from others. Damaged ones are asked for again.
    bytes.commit?.accept(keeps: container.damage == nil && context.keepsOriginal(of: request))
    context.cacheWriter.keep(made(image), from: bytes.origin)
    return ImageResponse(image, from: bytes)
  }

  /// Decodes on the calling thread, within the memory of all decodes.
  private func decode(
    _ bytes: ImageBytes,
    _ options: DecodeOptions,
    _ animation: ArrivingAnimation?,
    _ item: WorkItem?,
    _ queued: QueuedWork<ImageResponse>?,
  ) throws(LoadError) -> ImageContainer {
    let share = MemoryShare(of: context.decodeBudget)
    var options = options
    if let item { options.isCancelled = { item.isCancelled } }
    let decoders = { [request, context] in context.decoders.decoders(for: request, of: bytes.beginning) }
    var job = DecodeJob(memoryShare: share, cores: context.decodeCores)
    job.arriving = animation
    do throws(ImageError) {
      return try context.decodeWatch.run(item, share) {
        decoders().format(of: bytes.beginning)
      } onStuck: { [source] error in
        _ = BorrowedThread.run { queued?.end(.failure(LoadError(error, .decode, source))) }
      } _: { [job] () throws(ImageError) in
        try decoders().decode(bytes, options, job)
      }
    } catch {
      throw LoadError(error, .decode, source)
    }
  }

  /// Returns true if the header confirms that an image of few bytes is tiny; false with custom or remote decoders.
  private func isTiny(_ data: Data) -> Bool {
    guard data.count <= 1024, context.configuration.decodesTinyImagesInline,
      let info = try? context.decoders.own?.info(of: data)
    else { return false }
    return info.width * info.height <= 4096 && !info.isVector
  }

  // MARK: Places

  /// Takes a place, if the image is made to be encoded.
  func takePlace(_ stage: LoadError.Stage) async throws(LoadError) -> MakingPlace? {
    guard request.requiresExactPixels else { return nil }
    self.stage?.enter("queue")
    let outcome = Deferred<MakingPlace?>()
    let entry = context.places.enter(request.lane) { [context] place in
      Task(executorPreference: context.stepper) { _ = outcome.resolve(place) }
    }
    switch entry {
    case .place(let place): return place
    case .full: throw overloaded(stage)
    case .waiting(let number):
      let place = await outcome.value(orCancelled: nil) { [context, lane = request.lane] in
        context.places.leave(lane, number)
      }
      guard let place else { throw .cancelled }
      return place
    }
  }

  /// Returns the image, with its place until it is encoded.
  private func handing(_ place: MakingPlace?, to image: ImageResponse) -> ImageResponse {
    var image = image
    place?.offer(image.image.byteCount)
    // A caller may hold an image that is not encoded for as long as it likes.
    image.place = request.requiresExactPixels ? place : nil
    return image
  }

  // MARK: Resampling and processing

  func resample(_ larger: LargerVariant) async throws(LoadError) -> ImageResponse {
    stages?.enter(.resample)
    return try await perform(.process) { [self] item throws(LoadError) in
      var container = larger.image.container
      let size = (container.info.width, container.info.height)
      let subjects = container.subjects.showing(larger.plan, of: size)
      do throws(ImageError) {
        container.bitmap = try container.bitmap.resampled(
          larger.plan,
          of: size,
          filter: larger.parameters.filter,
          usesLinearLight: larger.parameters.usesLinearLight,
          limits: context.configuration.decodeLimits,
          isCancelled: { item.isCancelled },
        )
      } catch {
        throw LoadError(error, .process, source)
      }
      container.subjects = subjects
      let smaller = larger.image.replacing(container, larger.parameters, isLossy: true)
      context.cacheWriter.keep(made(smaller), from: .memory)
      return ImageResponse(smaller, from: .memory)
    }
  }

  /// Runs the load's last processor on the result of another load.
  func process(_ load: SharedLoad<ImageResponse>) async throws(LoadError) -> ImageResponse {
    let processor = request.processors[step - 1]
    stages?.enter(.process)
    stage?.note("processor", .text(processor.identifier))
    let previews = ProcessedPreviews(processor, context, work) { [self] in processingContext($0) }
    var input = try await work.value(
      of: load,
      in: context.images,
      stage,
      limit: .partials,
      partial: { previews.add($0) },
    )
    reportCount(input.origin, input.byteCount)
    var place = input.place
    if request.requiresExactPixels, place?.take() != true {
      // Another load has the picture's place, and makes something else of it. A load that waits for a place holds none.
      (place, input.place) = (nil, nil)
      place = try await takePlace(.process)
    }
    let image = try await perform(.process, in: place) { [self, input, place] item throws(LoadError) in
      let container: ImageContainer
      do throws(ImageError) {
        container = try processor.process(input.container, processingContext(item))
      } catch {
        guard !error.isCancellation else { throw LoadError(error, .process, source) }
        // The error of a user's processor says more than the code does.
        throw LoadError(.processingFailed, .process, source, error.detail, cause: error.cause ?? error)
      }
      let image = input.loaded.replacing(container, nil)
      place?.hold(container.bitmap.byteCount)
      context.cacheWriter.keep(made(image), from: input.origin)
      return input.replacing(image)
    }
    return handing(place, to: image)
  }

  /// Returns the circumstances of a processor that runs for the load.
  private func processingContext(_ item: WorkItem) -> ProcessingContext {
    ProcessingContext(
      scale: request.scale,
      limits: context.configuration.decodeLimits,
      isCancelled: { item.isCancelled },
    )
  }

  /// Has the number of bytes that have come from the server be the load's progress.
  private func reportCount(_ origin: ImageResponse.Origin, _ count: Int) {
    if origin == .network { work.note(WorkProgress(count, of: count)) }
  }

  func perform<Output: Sendable>(
    _ stage: LoadError.Stage,
    in place: MakingPlace? = nil,
    _ body: @escaping @Sendable (WorkItem) throws(LoadError) -> Output,
  ) async throws(LoadError) -> Output {
    try await work.perform(self.stage, on: queue(of: stage, in: place), full: { overloaded(stage) }, body)
  }

  private func queue(
    of stage: LoadError.Stage,
    in place: MakingPlace?,
  ) -> (Priority, @escaping @Sendable (WorkItem) -> Void) throws(WorkQueueError) -> WorkItem {
    let queue = context.queue(stage == .decode ? context.decodeQueue : context.processQueue, for: place)
    return { priority, work throws(WorkQueueError) in try queue.enqueue(priority: priority, work) }
  }

  private func overloaded(_ stage: LoadError.Stage) -> LoadError {
    let work = stage == .decode ? "decoded" : "processed"
    return LoadError(.overloaded, stage, source, "too many images are waiting to be \(work)")
  }
}

/// The processing of previews like their image: one at a time, and none if the queue is full.
private final class ProcessedPreviews: Sendable {
  private let processor: ImageProcessor
  private let context: LoadContext
  private let work: SharedLoad<ImageResponse>.Handle
  private let circumstances: @Sendable (WorkItem) -> ProcessingContext
  private let isBusy = Lock(false)

  init(
    _ processor: ImageProcessor,
    _ context: LoadContext,
    _ work: SharedLoad<ImageResponse>.Handle,
    _ circumstances: @escaping @Sendable (WorkItem) -> ProcessingContext,
  ) {
    (self.processor, self.context, self.work, self.circumstances) = (processor, context, work, circumstances)
  }

  func add(_ preview: ImageResponse) {
    let isFree = isBusy.withLock { isBusy in
      defer { isBusy = true }
      return !isBusy
    }
    guard processor.processesPreviews, isFree else { return }
    let isEnqueued = try? context.processQueue.enqueue(priority: work.priority) { [self] item in
      // A failed preview is dropped; the image reports the error.
      let processed = try? processor.process(preview.container, circumstances(item))
      isBusy.withLock { $0 = false }
      if let processed { work.send(partial: preview.replacing(processed)) }
    }
    if isEnqueued == nil { isBusy.withLock { $0 = false } }
  }
}

extension LoadError {
  /// True for a failure of a decoder that says something about the bytes; false for a full queue.
  var isOfBytes: Bool { (cause as? ImageError)?.isOfBytes ?? false }

  /// Creates a ``LoadError`` from an error that the work of a stage threw.
  init(_ error: any Error, _ stage: Stage, _ source: String) {
    switch error {
    case let error as LoadError: self = error
    case let error as ImageError where error.isCancellation: self.init(.cancelled, stage, source, "cancelled")
    default:
      let detail = (error as? ImageError)?.detail ?? "\(error)"
      self.init(stage == .decode ? .undecodable : .processingFailed, stage, source, detail, cause: error)
    }
  }
}
