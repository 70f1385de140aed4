import VitrineHTTP
import VitrineImaging
import VitrineRuntime

// How an image is made where none is at hand: decoded, resampled, processed.
extension ImageJob {
  // MARK: Decoding

  /// Makes the image of bytes that have just come.
  func make(of bytes: FetchedBytes, _ turn: inout Turn) {
    guard step == 0 else { return process(context.imageJob(request, step: step - 1, .bytes(bytes), &turn), &turn) }
    enter(.decode, &turn)
    decode(bytes, &turn)
  }

  /// Makes the image of its bytes, wherever they are, with all processors.
  func makeAnew(_ turn: inout Turn) {
    guard step > 0 else { return fetch(&turn) }
    process(context.imageJob(request, step: step - 1, .anew(knownOriginal), &turn), &turn)
  }

  func fetch(again: Bool = false, _ turn: inout Turn) {
    if !again { enter(.decode, &turn) }
    var request = request
    if again { request.cachePolicy = .reload }
    let job = context.fetchJob(request, original: again ? .unknown : knownOriginal, record: record, &turn)
    wait(for: job, &turn) { job, result, turn in
      job.stopFollowing(&turn)
      switch result {
      case .success(let bytes): job.decode(bytes, &turn)
      case .failure(let error):
        if let undecodable = job.undecodable { turn.afterwards { undecodable.reject() } }
        job.fail(error, &turn)
      }
    }
    // A job that is over has nothing to look at.
    guard isRunning, let fetch = job as? FetchJob, fetch.isRunning else { return }
    fetching = fetch
    if isWatched { followForPreviews(&turn) }
    if request.stopsEarly, !context.storage(of: request).keepsEveryOriginal { follow(for: .beginning, &turn) }
  }

  /// Begins to look at what arrives for a purpose; once for each.
  private func follow(for purpose: ArrivalFeed.Purpose, _ turn: inout Turn) {
    guard let fetching, !arrivals.contains(where: { $0.purpose == purpose }) else { return }
    let arrival = ArrivalFeed(purpose, for: self)
    arrivals.append(arrival)
    fetching.add(arrival, &turn)
  }

  /// Has previews made of what arrives, if the request has any.
  func followForPreviews(_ turn: inout Turn) {
    guard request.previews.limit > 0, request.processors.allSatisfy(\.processesPreviews) else { return }
    follow(for: .previews, &turn)
  }

  /// Looks no more at what arrives.
  func stopFollowing(_ turn: inout Turn) {
    for arrival in arrivals { turn.afterwards { arrival.stop() } }
    arrivals = []
    if let fetching = fetching.take() { turn.keep(fetching) }
  }

  private func decode(_ bytes: FetchedBytes, _ turn: inout Turn) {
    if let old = self.bytes { turn.release(old) }
    self.bytes = bytes
    if bytes.origin == .network { fetchedByteCount = bytes.data.count }
    let (options, keepsOriginal) = (context.decodeOptions(of: request), context.keepsOriginal(of: request))
    work(.decode, bytes: bytes.data.count, tiny: mayBeTiny(bytes) ? bytes.data : nil, &turn) { [self] isCancelled in
      var options = options
      options.isCancelled = isCancelled
      let decoders = context.decoders.decoders(for: request, of: bytes.data)
      var container = try decoders.decode(bytes.data, options)
      if request.keepsEncodedData { container.encodedData = bytes.data }
      let image = LoadedImage(container, of: bytes, Rendition(of: container.info, options))
      // The bytes first: what is made of others goes.
      bytes.answer?.accept(keeps: keepsOriginal)
      context.settlement.keep(made(image), from: bytes.origin)
      return ImageResponse(image, from: bytes)
    } end: { job, result, turn in
      job.decoded(result, &turn)
    }
  }

  /// Whether decoding costs less than waking a thread for it, as far as the length tells; not where a user's code takes part.
  private func mayBeTiny(_ bytes: FetchedBytes) -> Bool {
    bytes.data.count <= 1024 && context.decoders.own != nil && context.configuration.decodesTinyImagesInline
      && !context.decodeQueue.isSuspended
  }

  /// Whether it does, as the header tells; not to be asked within a turn.
  private func isTiny(_ data: Data) -> Bool {
    guard let info = try? context.decoders.own?.info(of: data) else { return false }
    return info.width * info.height <= 4096 && !info.isVector
  }

  private func decoded(_ result: Result<ImageResponse, LoadError>, _ turn: inout Turn) {
    guard case .failure(let error) = result, !error.isCancellation, let bytes else { return conclude(result, &turn) }
    // What the cache had is no image: the server is asked once. What it says takes the place of what was stored.
    if undecodable == nil, request.cachePolicy != .cacheOnly, bytes.origin == .disk || bytes.origin == .revalidated {
      undecodable = bytes.answer
      return fetch(again: true, &turn)
    }
    if let answer = undecodable ?? bytes.answer { turn.afterwards { answer.reject() } }
    fail(error, &turn)
  }

  /// Ends with an image that was made of the beginning of its bytes.
  func finish(early image: LoadedImage, _ turn: inout Turn) {
    guard isRunning, !arrivals.isEmpty else { return }
    stopFollowing(&turn)
    stage?.note("made of its beginning", .number(image.byteCount), at: turn.uptime)
    // Nothing takes the place of what was stored and is no image.
    if let undecodable { turn.afterwards { undecodable.reject() } }
    // The last one to leave stops the download, and what has come of it is kept.
    leave(&turn)
    conclude(.success(ImageResponse(image, from: .network)), &turn)
  }

  // MARK: Resampling and processing

  func resample(_ larger: LargerVariant, _ turn: inout Turn) {
    enter(.resample, &turn)
    work(.process, &turn) { [self] isCancelled in
      var container = larger.image.container
      container.bitmap = try container.bitmap.resampled(
        larger.plan,
        of: (container.info.width, container.info.height),
        filter: larger.rendition.filter,
        usesLinearLight: larger.rendition.usesLinearLight,
        limits: context.configuration.decodeLimits,
        isCancelled: isCancelled,
      )
      let smaller = larger.image.replacing(container, larger.rendition)
      context.settlement.keep(made(smaller), from: .memory)
      return ImageResponse(smaller, from: .memory)
    }
  }

  /// Runs the last processor of the job on what another job gives.
  func process(_ input: Job<ImageResponse>, _ turn: inout Turn) {
    let processor = request.processors[step - 1]
    enter(.process, &turn)
    stage?.note("processor", .text(processor.identifier), at: turn.uptime)
    wait(for: input, &turn) { job, result, turn in
      switch result {
      case .success(let image): job.process(image, processor, &turn)
      case .failure(let error): job.fail(error, &turn)
      }
    } part: { job, preview, turn in
      job.process(preview: preview, processor, &turn)
    }
  }

  private func process(_ input: ImageResponse, _ processor: ImageProcessor, _ turn: inout Turn) {
    if input.origin == .network { fetchedByteCount = input.byteCount }
    work(.process, &turn) { [self] _ in
      let container: ImageContainer
      do {
        container = try processor.process(input.container)
      } catch {
        throw LoadError(.processingFailed, .process, source, "\(processor.identifier): \(error)", cause: error)
      }
      let image = input.loaded.replacing(container, nil)
      context.settlement.keep(made(image), from: input.origin)
      return input.replacing(image)
    }
  }

  /// Processes a preview as the image will be; one at a time, and none where too much is waiting.
  private func process(preview: ImageResponse, _ processor: ImageProcessor, _ turn: inout Turn) {
    guard processor.processesPreviews, !isProcessingPreview else { return }
    isProcessingPreview = true
    do throws(WorkQueueError) {
      try context.processQueue.enqueue(priority: priority) { [self, context] _ in
        // A preview that fails is none; what is wrong the image says.
        let processed = try? processor.process(preview.container)
        context.turn { turn in
          isProcessingPreview = false
          guard let processed else { return }
          send(partial: preview.replacing(processed), &turn)
        }
      }
    } catch {
      isProcessingPreview = false
    }
  }

  // MARK: Waiting and working

  /// Waits for a job, passes its progress on, and gives `receive` its end, `part` what comes before that.
  func wait<Input>(
    for job: Job<Input>,
    _ turn: inout Turn,
    _ receive: @escaping (ImageJob, Result<Input, LoadError>, inout Turn) -> Void,
    part: ((ImageJob, Input, inout Turn) -> Void)? = nil,
  ) {
    stage?.enter("wait", at: turn.uptime)
    leave(&turn)
    let subscription = job.subscribe(priority: priority, isWatching: isWatched, for: stage, &turn) {
      [self] event, turn in
      guard isRunning else { return }
      switch event {
      case .progress(let completed, let total): send(progress: completed, of: total, &turn)
      case .partial(let value): part?(self, value, &turn)
      case .finished(let result):
        dependency = nil
        receive(self, result, &turn)
      }
    }
    // One that ends at once may have had the next waited for before it is noted down.
    if job.isRunning { dependency = subscription }
  }

  /// Does work on the queue of a stage and gives `end` what came of it, which by default ends the job.
  ///
  /// An image of the bytes `tiny` is made on this thread once the turn is over, if their header says that it is tiny, too.
  func work<Output: Sendable>(
    _ stage: LoadError.Stage,
    bytes: Int = 0,
    tiny: Data? = nil,
    _ turn: inout Turn,
    _ body: @escaping @Sendable (_ isCancelled: @escaping @Sendable () -> Bool) throws -> Output,
    end: @escaping @Sendable (ImageJob, Result<Output, LoadError>, inout Turn) -> Void,
  ) {
    let trace = self.stage
    @Sendable
    func perform(_ item: WorkItem?, isOnLoaderThread: Bool = false) {
      trace?.enter("work")
      let result: Result<Output, LoadError>
      do {
        result = .success(try body { item?.isCancelled ?? false })
      } catch {
        result = .failure(LoadError(error, stage, source))
      }
      context.turn(isOnLoaderThread: isOnLoaderThread) { turn in
        guard isRunning else { return }
        self.item = nil
        end(self, result, &turn)
      }
    }
    guard let tiny else { return enqueue(stage, bytes, &turn) { perform($0) } }
    turn.afterwards { [self, isOnLoaderThread = turn.isOnLoaderThread] in
      if isTiny(tiny) { return perform(nil, isOnLoaderThread: isOnLoaderThread) }
      context.turn { enqueue(stage, bytes, &$0) { perform($0) } }
    }
  }

  private func work(
    _ stage: LoadError.Stage,
    _ turn: inout Turn,
    _ body: @escaping @Sendable (_ isCancelled: @escaping @Sendable () -> Bool) throws -> ImageResponse,
  ) {
    work(stage, &turn, body) { $0.conclude($1, &$2) }
  }

  private func enqueue(
    _ stage: LoadError.Stage,
    _ bytes: Int,
    _ turn: inout Turn,
    _ work: @escaping @Sendable (WorkItem) -> Void,
  ) {
    guard isRunning else { return }
    self.stage?.enter("queue", at: turn.uptime)
    let isDecoding = stage == .decode
    do throws(WorkQueueError) {
      item = try (isDecoding ? context.decodeQueue : context.processQueue)
        .enqueue(priority: priority, bytes: bytes, work)
    } catch {
      let detail = "too much is waiting to be \(isDecoding ? "decoded" : "processed")"
      conclude(.failure(LoadError(.overloaded, stage, source, detail)), &turn)
    }
  }
}

extension LoadError {
  /// What the work of a stage has failed with.
  fileprivate init(_ error: any Error, _ stage: Stage, _ source: String) {
    switch error {
    case let error as LoadError: self = error
    case let error as ImageError where error.isCancellation: self.init(.cancelled, stage, source, "cancelled")
    default:
      let detail = (error as? ImageError)?.detail ?? "\(error)"
      self.init(stage == .decode ? .undecodable : .processingFailed, stage, source, detail, cause: error)
    }
  }
}
