import VitrineHTTP
import VitrineImaging
import VitrineRuntime

// The making of an image: decoding, resampling, processing.
extension ImageJob {
  // MARK: Decoding

  /// Makes the image from bytes that have just come.
  func make(of bytes: FetchedBytes, _ turn: inout Turn) {
    guard step == 0 else { return process(context.imageJob(request, step: step - 1, .bytes(bytes), &turn), &turn) }
    enter(.decode, &turn)
    decode(bytes, &turn)
  }

  /// Makes the image from its bytes, wherever they are, with all processors.
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
    // A finished job has nothing to inspect.
    guard isRunning, let fetch = job as? FetchJob, fetch.isRunning else { return }
    fetching = fetch
    if isWatched { followForPreviews(&turn) }
    if request.stopsEarly, !context.storage(of: request).keepsEveryOriginal { follow(for: .beginning, &turn) }
  }

  /// Starts to inspect arriving bytes, once for each purpose.
  private func follow(for purpose: ArrivalFeed.Purpose, _ turn: inout Turn) {
    guard let fetching, !arrivals.contains(where: { $0.purpose == purpose }) else { return }
    let arrival = ArrivalFeed(purpose, for: self)
    arrivals.append(arrival)
    fetching.add(arrival, &turn)
  }

  /// Starts previews, if the request has any.
  func followForPreviews(_ turn: inout Turn) {
    guard request.previews.limit > 0, request.processors.allSatisfy(\.processesPreviews) else { return }
    follow(for: .previews, &turn)
  }

  /// Stops inspecting arriving bytes.
  func stopFollowing(_ turn: inout Turn) {
    for arrival in arrivals { turn.afterwards { arrival.stop() } }
    arrivals = []
    if let fetching = fetching.take() { turn.keep(fetching) }
  }

  private func decode(_ bytes: FetchedBytes, _ turn: inout Turn) {
    if let old = self.bytes { turn.release(old) }
    self.bytes = bytes
    if bytes.origin == .network { fetchedByteCount = bytes.data.count }
    guard place == nil else { return begin(bytes, &turn) }
    takePlace(.decode, &turn) { $0.begin(bytes, &$1) }
  }

  /// Takes a place, if the image is made to be encoded, and goes on.
  private func takePlace(
    _ stage: LoadError.Stage,
    _ turn: inout Turn,
    _ begin: @escaping @Sendable (ImageJob, inout Turn) -> Void,
  ) {
    guard request.isExact else { return begin(self, &turn) }
    self.stage?.enter("queue", at: turn.uptime)
    let entry = context.places.enter(request.lane) { [self, context] place in
      Task(executorPreference: context.stepper) {
        context.turn { turn in
          guard self.isRunning, self.waiting != nil else { return }
          (self.place, self.waiting) = (place, nil)
          begin(self, &turn)
        }
      }
    }
    switch entry {
    case .place(let place):
      self.place = place
      begin(self, &turn)
    case .waiting(let number): waiting = number
    case .full: conclude(.failure(overloaded(stage)), &turn)
    }
  }

  private func begin(_ bytes: FetchedBytes, _ turn: inout Turn) {
    let (options, keepsOriginal) = (context.decodeOptions(of: request), context.keepsOriginal(of: request))
    work(.decode, tiny: mayBeTiny(bytes) ? bytes.data : nil, &turn) { [self] item in
      var container = try decode(bytes.data, options, item)
      if request.keepsEncodedData { container.encodedData = bytes.data }
      let image = LoadedImage(container, of: bytes, Rendition(of: container.info, options))
      // The bytes first, since this drops what was made from others.
      bytes.answer?.accept(keeps: keepsOriginal)
      context.settlement.keep(made(image), from: bytes.origin)
      return ImageResponse(image, from: bytes)
    } end: { job, result, turn in
      job.decoded(result, &turn)
    }
  }

  /// Decodes on the calling thread, within the memory of all decodes.
  private func decode(_ data: Data, _ options: DecodeOptions, _ item: WorkItem?) throws(ImageError) -> ImageContainer {
    let share = MemoryShare(of: context.decodeBudget)
    var options = options
    options.isCancelled = { item?.isCancelled ?? false }
    options.memoryShare = share
    let decoders = context.decoders
    return try context.decodeWatch.run(item, share) {
      decoders.decoders(for: request, of: data).format(of: data)
    } onStuck: { [self] error in
      context.turn(isOnLoaderThread: true) { turn in
        guard isRunning else { return }
        self.item = nil
        decoded(.failure(LoadError(error, .decode, source)), &turn)
      }
    } _: { () throws(ImageError) in
      try decoders.decoders(for: request, of: data).decode(data, options)
    }
  }

  /// True if the byte count suggests that decoding costs less than waking a thread.
  ///
  /// Never true with custom or remote decoders.
  private func mayBeTiny(_ bytes: FetchedBytes) -> Bool {
    bytes.data.count <= 1024 && context.decoders.own != nil && context.configuration.decodesTinyImagesInline
  }

  /// True if the header confirms it; must not be called within a turn.
  private func isTiny(_ data: Data) -> Bool {
    guard let info = try? context.decoders.own?.info(of: data) else { return false }
    return info.width * info.height <= 4096 && !info.isVector
  }

  private func decoded(_ result: Result<ImageResponse, LoadError>, _ turn: inout Turn) {
    guard case .failure(let error) = result, !error.isCancellation, !error.isOfDecoder, let bytes else {
      return conclude(result, &turn)
    }
    // Cached bytes that are no image are fetched again, once; the response replaces them.
    if undecodable == nil, request.cachePolicy != .cacheOnly, bytes.origin == .disk || bytes.origin == .revalidated {
      undecodable = bytes.answer
      return fetch(again: true, &turn)
    }
    if let answer = undecodable ?? bytes.answer { turn.afterwards { answer.reject() } }
    fail(error, &turn)
  }

  /// Finishes with an image made from the beginning of its bytes.
  func finish(early image: LoadedImage, _ turn: inout Turn) {
    guard isRunning, !arrivals.isEmpty else { return }
    stopFollowing(&turn)
    stage?.note("made from its beginning", .number(image.byteCount), at: turn.uptime)
    // Nothing replaces the stored bytes that are no image.
    if let undecodable { turn.afterwards { undecodable.reject() } }
    // The last subscriber to leave stops the download, whose beginning is kept.
    leave(&turn)
    conclude(.success(ImageResponse(image, from: .network)), &turn)
  }

  // MARK: Resampling and processing

  func resample(_ larger: LargerVariant, _ turn: inout Turn) {
    enter(.resample, &turn)
    work(.process, &turn) { [self] item in
      var container = larger.image.container
      container.bitmap = try container.bitmap.resampled(
        larger.plan,
        of: (container.info.width, container.info.height),
        filter: larger.rendition.filter,
        usesLinearLight: larger.rendition.usesLinearLight,
        limits: context.configuration.decodeLimits,
        isCancelled: { item?.isCancelled ?? false },
      )
      let smaller = larger.image.replacing(container, larger.rendition, isApproximate: true)
      context.settlement.keep(made(smaller), from: .memory)
      return ImageResponse(smaller, from: .memory)
    }
  }

  /// Runs the job's last processor on the result of another job.
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
    if let place = input.place, place.take() {
      self.place = place
      return begin(input, processor, &turn)
    }
    // Another job has the picture's place, and makes something else of it. A job that waits for a place holds none.
    var input = input
    if let place = input.place.take() { turn.keep(place) }
    takePlace(.process, &turn) { [input] in $0.begin(input, processor, &$1) }
  }

  private func begin(_ input: ImageResponse, _ processor: ImageProcessor, _ turn: inout Turn) {
    work(.process, &turn) { [self, place] item in
      let container: ImageContainer
      do throws(ImageError) {
        container = try processor.process(input.container, processingContext(item))
      } catch {
        guard !error.isCancellation else { throw error }
        // The error of a user's processor says more than the code does.
        throw LoadError(.processingFailed, .process, source, error.detail, cause: error.cause ?? error)
      }
      let image = input.loaded.replacing(container, nil)
      place?.hold(container.bitmap.byteCount)
      context.settlement.keep(made(image), from: input.origin)
      return input.replacing(image)
    }
  }

  /// Returns the circumstances of a processor that runs for the job.
  private func processingContext(_ item: WorkItem?) -> ProcessingContext {
    ProcessingContext(
      scale: request.scale,
      limits: context.configuration.decodeLimits,
      isCancelled: { item?.isCancelled ?? false },
    )
  }

  /// Processes a preview like the image; one at a time, and none if the queue is full.
  private func process(preview: ImageResponse, _ processor: ImageProcessor, _ turn: inout Turn) {
    guard processor.processesPreviews, !isProcessingPreview else { return }
    isProcessingPreview = true
    do throws(WorkQueueError) {
      try context.processQueue.enqueue(priority: priority) { [self, context] item in
        // A failed preview is dropped; the image reports the error.
        let processed = try? processor.process(preview.container, processingContext(item))
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

  /// Waits for a job and passes its progress on; calls `receive` with its result and `part` with values before that.
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
    // A job that ends at once may have begun the next wait already.
    if job.isRunning { dependency = subscription }
  }

  /// Runs work on the queue of a stage and passes the result to `end`, which by default finishes the job.
  ///
  /// If the header of the bytes `tiny` confirms that they are, the work runs on this thread, after the turn.
  func work<Output: Sendable>(
    _ stage: LoadError.Stage,
    tiny: Data? = nil,
    _ turn: inout Turn,
    _ body: @escaping @Sendable (WorkItem?) throws -> Output,
    end: @escaping @Sendable (ImageJob, Result<Output, LoadError>, inout Turn) -> Void,
  ) {
    let trace = self.stage
    @Sendable
    func perform(_ item: WorkItem?, isOnLoaderThread: Bool = false) {
      trace?.enter("work")
      let result: Result<Output, LoadError>
      do {
        result = .success(try body(item))
      } catch {
        result = .failure(LoadError(error, stage, source))
      }
      context.turn(isOnLoaderThread: isOnLoaderThread) { turn in
        guard isRunning else { return }
        self.item = nil
        end(self, result, &turn)
      }
    }
    guard let tiny else { return enqueue(stage, &turn) { perform($0) } }
    turn.afterwards { [self, isOnLoaderThread = turn.isOnLoaderThread] in
      if isTiny(tiny) { return perform(nil, isOnLoaderThread: isOnLoaderThread) }
      context.turn { enqueue(stage, &$0) { perform($0) } }
    }
  }

  private func work(
    _ stage: LoadError.Stage,
    _ turn: inout Turn,
    _ body: @escaping @Sendable (WorkItem?) throws -> ImageResponse,
  ) {
    work(stage, &turn, body) { $0.conclude($1, &$2) }
  }

  private func overloaded(_ stage: LoadError.Stage) -> LoadError {
    let work = stage == .decode ? "decoded" : "processed"
    return LoadError(.overloaded, stage, source, "too many images are waiting to be \(work)")
  }

  private func enqueue(
    _ stage: LoadError.Stage,
    _ turn: inout Turn,
    _ work: @escaping @Sendable (WorkItem) -> Void,
  ) {
    guard isRunning else { return }
    self.stage?.enter("queue", at: turn.uptime)
    let isDecoding = stage == .decode
    do throws(WorkQueueError) {
      item = try (isDecoding ? context.decodeQueue : context.processQueue)
        .enqueue(priority: priority, work)
    } catch {
      conclude(.failure(overloaded(stage)), &turn)
    }
  }
}

extension LoadError {
  /// True for a failure that says nothing about the bytes: too little time, or a process that crashed.
  fileprivate var isOfDecoder: Bool {
    let code = (cause as? ImageError)?.code
    return code == .outOfTime || code == .decoderFailed
  }

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
