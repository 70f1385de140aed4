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
    decode(bytes, inPlaceOf: nil, &turn)
  }

  /// Makes the image of its bytes, wherever they are, with all processors; `known` may stand in for an error.
  func makeAnew(inPlaceOf known: LoadedImage?, _ turn: inout Turn) {
    guard step > 0 else { return fetch(inPlaceOf: known, &turn) }
    process(context.imageJob(request, step: step - 1, .anew(knownOriginal), &turn), inPlaceOf: known, &turn)
  }

  func fetch(again: Bool = false, inPlaceOf known: LoadedImage? = nil, _ turn: inout Turn) {
    if !again { enter(.decode, &turn) }
    var request = request
    if again { request.policy = .reload }
    let job = context.fetchJob(request, original: again ? .unknown : knownOriginal, &turn)
    wait(for: job, &turn) { job, result, turn in
      job.arrival?.stop(&turn)
      job.arrival = nil
      switch result {
      case .success(let bytes): job.decode(bytes, inPlaceOf: known, &turn)
      case .failure(let error):
        if let undecodable = job.undecodable { turn.afterwards { undecodable.reject() } }
        job.fail(error, inPlaceOf: known, &turn)
      }
    }
    // A job that has not begun, or is over, has nothing to look at.
    guard isRunning, let fetch = job as? FetchJob, fetch.isRunning else { return }
    arrival = ArrivalFollower(fetch, self)
    if isWatched { arrival?.beginPreviews(&turn) }
    if request.stopsEarly, !context.storage(of: request).keepsEveryOriginal { arrival?.beginEarly(&turn) }
  }

  private func decode(_ bytes: FetchedBytes, inPlaceOf known: LoadedImage?, _ turn: inout Turn) {
    let (request, context, ask, record, step) = (request, context, ask, record, step)
    let (options, trace) = (context.decodeOptions(of: request), stage)
    let keepsOriginal = context.keepsOriginal(of: request)
    let undecodable = undecodable
    work(on: context.decodeQueue, bytes: bytes.data.count, isTiny: isTiny(bytes), &turn) { isCancelled in
      trace?.enter("work")
      var options = options
      options.isCancelled = isCancelled
      do throws(ImageError) {
        let decoders = context.decoders.decoders(for: request, of: bytes.data)
        var container = try decoders.decode(bytes.data, options)
        if request.keepsEncodedData { container.encodedData = bytes.data }
        let image = LoadedImage(container, of: bytes, Rendition(of: container.info, options))
        // Nothing takes the place of what was stored and is no image.
        if !keepsOriginal { undecodable?.reject() }
        // The bytes first: what is made of others goes.
        bytes.answer?.accept(keeps: keepsOriginal)
        context.settlement.keep(
          Settlement.Made(image: image, request: request, step: step, ask: ask, record: record),
          from: bytes.origin,
        )
        return .success(
          ImageResponse(image, from: bytes.origin, isStale: bytes.isStale, isRevalidationDue: bytes.isRevalidationDue)
        )
      } catch {
        return .failure(
          error.isCancellation
            ? LoadError(.cancelled, .decode, request.name, "cancelled")
            : LoadError(.undecodable, .decode, request.name, error.detail, cause: error)
        )
      }
    } refused: { [source] in
      Self.overloaded(.decode, source, "decoded")
    } end: { job, result, turn in
      job.decoded(result, of: bytes, inPlaceOf: known, &turn)
    }
  }

  /// Says, after the turn, whether decoding costs less than waking a thread for it; `nil` where a user's code takes part.
  private func isTiny(_ bytes: FetchedBytes) -> (@Sendable () -> Bool)? {
    guard bytes.data.count <= 1024, let own = context.decoders.own, context.configuration.decodesTinyImagesInline,
      !context.decodeQueue.isSuspended
    else { return nil }
    return {
      guard let info = try? own.info(of: bytes.data) else { return false }
      return info.width * info.height <= 4096 && !info.isVector
    }
  }

  private func decoded(
    _ result: Result<ImageResponse, LoadError>,
    of bytes: FetchedBytes,
    inPlaceOf known: LoadedImage?,
    _ turn: inout Turn,
  ) {
    switch result {
    case .success: break
    case .failure(let error) where error.isCancellation: break
    case .failure(let error):
      // What the cache had is no image: the server is asked once. What it says takes the place of what was stored.
      if undecodable == nil, request.policy != .cacheOnly, bytes.origin == .disk || bytes.origin == .revalidated {
        undecodable = bytes.answer
        return fetch(again: true, inPlaceOf: known, &turn)
      }
      if let answer = undecodable ?? bytes.answer { turn.afterwards { answer.reject() } }
      return fail(error, inPlaceOf: known, &turn)
    }
    conclude(result, &turn)
  }

  /// Ends with an image that was made of the beginning of its bytes.
  func finish(early image: LoadedImage, _ turn: inout Turn) {
    guard isRunning, let arrival else { return }
    arrival.stop(&turn)
    self.arrival = nil
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
    let (source, limits, trace, settlement) = (source, context.configuration.limits, stage, context.settlement)
    let (request, ask, record) = (request, ask, record)
    work(on: context.processQueue, &turn) { isCancelled in
      trace?.enter("work")
      do throws(ImageError) {
        let image = larger.image
        var container = image.container
        container.bitmap = try container.bitmap.resampled(
          larger.plan,
          of: (image.info.width, image.info.height),
          filter: larger.rendition.filter,
          linearLight: larger.rendition.linearLight,
          limits: limits,
          isCancelled: isCancelled,
        )
        let smaller = image.replacing(container, larger.rendition)
        settlement.keep(
          Settlement.Made(image: smaller, request: request, step: 0, ask: ask, record: record),
          from: .memory,
        )
        return .success(ImageResponse(smaller, from: .memory))
      } catch {
        return .failure(
          error.isCancellation
            ? LoadError(.cancelled, .process, source, "cancelled")
            : LoadError(.processingFailed, .process, source, error.detail, cause: error)
        )
      }
    } refused: { [source] in
      Self.overloaded(.process, source, "processed")
    }
  }

  /// Runs the last processor of the job on what another job gives.
  func process(_ input: Job<ImageResponse>, inPlaceOf known: LoadedImage? = nil, _ turn: inout Turn) {
    let processor = request.processors[step - 1]
    enter(.process, &turn)
    stage?.note("processor", .text(processor.identifier), at: turn.uptime)
    wait(for: input, &turn) { job, result, turn in
      switch result {
      case .success(let image): job.process(image, processor, &turn)
      case .failure(let error): job.fail(error, inPlaceOf: known, &turn)
      }
    } part: { job, preview, turn in
      job.process(preview: preview, processor, &turn)
    }
  }

  private func process(_ input: ImageResponse, _ processor: ImageProcessor, _ turn: inout Turn) {
    let (request, step, ask, record) = (request, step, ask, record)
    let (trace, settlement) = (stage, context.settlement)
    work(on: context.processQueue, &turn) { _ in
      trace?.enter("work")
      do {
        let image = input.loaded.replacing(try processor.process(input.container), nil)
        settlement.keep(
          Settlement.Made(image: image, request: request, step: step, ask: ask, record: record),
          from: input.origin,
        )
        return .success(input.replacing(image))
      } catch {
        let detail = "\(processor.identifier): \(error)"
        return .failure(LoadError(.processingFailed, .process, request.name, detail, cause: error))
      }
    } refused: { [source] in
      Self.overloaded(.process, source, "processed")
    }
  }

  /// Processes a preview as the image will be; one at a time, and none where too much is waiting.
  private func process(preview: ImageResponse, _ processor: ImageProcessor, _ turn: inout Turn) {
    guard processor.processesPreviews, !isProcessingPreview, item == nil else { return }
    isProcessingPreview = true
    do throws(WorkQueueError) {
      try context.processQueue.enqueue(priority: priority) { [self, context] _ in
        // A preview that fails is none; what is wrong the image says.
        let processed = try? processor.process(preview.container)
        context.turn { turn in
          isProcessingPreview = false
          guard let processed, item == nil else { return }
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

  /// Waits for the job before it no longer.
  func leave(_ turn: inout Turn) {
    dependency?.unsubscribe(&turn)
    dependency = nil
  }

  /// Does work on a queue and gives `end` what came of it; where `isTiny` says so, on this thread once the turn is over.
  private func work(
    on queue: WorkQueue,
    bytes: Int = 0,
    isTiny: (@Sendable () -> Bool)? = nil,
    _ turn: inout Turn,
    _ body: @escaping @Sendable (_ isCancelled: @escaping @Sendable () -> Bool) -> Result<ImageResponse, LoadError>,
    refused: @escaping @Sendable () -> Result<ImageResponse, LoadError>,
    end: @escaping @Sendable (ImageJob, Result<ImageResponse, LoadError>, inout Turn) -> Void = {
      $0.conclude($1, &$2)
    },
  ) {
    guard let isTiny else { return enqueue(on: queue, bytes: bytes, &turn, body, refused, end) }
    let isOnLoaderThread = turn.isOnLoaderThread
    turn.afterwards { [self, context] in
      let result = isTiny() ? body { false } : nil
      context.turn(isOnLoaderThread: isOnLoaderThread) { turn in
        guard self.isRunning else { return }
        guard let result else { return self.enqueue(on: queue, bytes: bytes, &turn, body, refused, end) }
        end(self, result, &turn)
      }
    }
  }

  private func enqueue(
    on queue: WorkQueue,
    bytes: Int,
    _ turn: inout Turn,
    _ body: @escaping @Sendable (_ isCancelled: @escaping @Sendable () -> Bool) -> Result<ImageResponse, LoadError>,
    _ refused: () -> Result<ImageResponse, LoadError>,
    _ end: @escaping @Sendable (ImageJob, Result<ImageResponse, LoadError>, inout Turn) -> Void,
  ) {
    stage?.enter("queue", at: turn.uptime)
    do throws(WorkQueueError) {
      item = try queue.enqueue(priority: priority, bytes: bytes) { [self, context] item in
        let result = body { item.isCancelled }
        context.turn { turn in
          guard isRunning else { return }
          self.item = nil
          end(self, result, &turn)
        }
      }
    } catch {
      conclude(refused(), &turn)
    }
  }
}
