import VitrineCaching
public import VitrineImaging
import VitrineRuntime

extension ImagePipeline {
  /// Loads an image and encodes it, once for all callers.
  ///
  /// ```swift
  /// let request = ImageRequest(url: url, size: .pixels(400, 400))
  /// let file = try await pipeline.encoded(for: request, as: .jpeg(quality: 80))
  /// respond(file.data, type: file.format.mediaType, expires: file.expires)
  /// ```
  /// The encoded image is kept in ``Configuration/diskCache``, and found there before anything is fetched or decoded.
  /// It is as fresh as its original, and revalidated with it. A load for encoding stores this file and no finished
  /// image; with the ``StoragePolicy`` `.original` it stores neither.
  ///
  /// Equal encodings give the same bytes for the same picture, whatever the caches contain. A cached image that differs
  /// slightly from a decode of its original, since it was stored as a JPEG or resampled from a larger image, is made
  /// again.
  ///
  /// The original's bytes are served as they came if the format is the same, nothing is resized or processed, and the
  /// encoding's metadata is `.keep`; its other options do not matter. An animation is encoded with all of its frames if
  /// ``ImageRequest/animates`` is `true` and the format has a place for them.
  ///
  /// Interceptors are not called, as for data. A stale image that may be served during revalidation is revalidated in
  /// the background.
  ///
  /// - Parameters:
  ///   - request: The request.
  ///   - encoding: The format, its options, and the metadata to write.
  /// - Returns: The encoded image.
  /// - Throws: ``LoadError``; with code `.unencodable` if the format has no encoder in ``Configuration/encoders``, or
  ///   does not allow such an image; with code `.cancelled`, at once, if the awaiting task is cancelled.
  public func encoded(for request: ImageRequest, as encoding: ImageEncoding) async throws(LoadError) -> EncodedImage {
    try await load(request, encoding).result.get()
  }

  /// Loads an image and encodes it, and also returns the stages of the work, if the pipeline records them.
  ///
  /// - Throws: ``LoadError``, as ``encoded(for:as:)-(ImageRequest,_)`` does.
  package func measuredEncoded(
    for request: ImageRequest,
    as encoding: ImageEncoding,
  ) async throws(LoadError) -> (image: EncodedImage, metrics: RequestMetrics?) {
    let (load, result) = await load(request, encoding)
    return (try result.get(), load.metrics)
  }

  private func load(
    _ request: ImageRequest,
    _ encoding: ImageEncoding,
  ) async -> (load: EncodedLoad, result: Result<EncodedImage, LoadError>) {
    let prepared = context.varied(context.prepared(request))
    let load = EncodedLoad(prepared, NamedEncoding(encoding, context), context)
    let result = await withTaskCancellationHandler {
      context.turn { load.begin(&$0) }
      return await load.outcome()
    } onCancel: {
      load.cancel()
    }
    return (load, result)
  }

  /// Loads the image at a URL and encodes it; see ``encoded(for:as:)-(ImageRequest,_)``.
  ///
  /// - Throws: ``LoadError``; with code `.cancelled`, at once, if the awaiting task is cancelled.
  public func encoded(
    for url: some URLConvertible,
    as encoding: ImageEncoding,
  ) async throws(LoadError) -> EncodedImage {
    try await encoded(for: ImageRequest(url.imageSource), as: encoding)
  }
}

/// An encoding, with its name in keys.
///
/// The program's encoders and options may supply the name, so it is made before a turn.
struct NamedEncoding: Sendable {
  let encoding: ImageEncoding
  let identifier: String

  /// Creates the encoding and its name; must not be called within a turn.
  init(_ encoding: ImageEncoding, _ context: JobContext) {
    (self.encoding, identifier) = (encoding, context.configuration.encoders.identifier(of: encoding))
  }
}

extension JobContext {
  /// Returns the key under which an encoded image is stored, an extension of the image's key.
  func encodedKey(of request: ImageRequest, _ encoding: NamedEncoding) -> CacheKey {
    request.keys.image.extended { key in
      key.append("encoded")
      key.append(encoding.identifier)
    }
  }

  func encodedJobKey(of request: ImageRequest, _ key: CacheKey) -> JobKey {
    JobKey(key, .encoded(storage(of: request)), of: request, caches(of: request))
  }

  /// Returns the job of an encoded image.
  func encodeJob(_ request: ImageRequest, _ encoding: NamedEncoding, _ turn: inout Turn) -> Job<EncodedImage> {
    let request = varied(request, isInTurn: true)
    let key = encodedKey(of: request, encoding)
    return pool.job(for: encodedJobKey(of: request, key), &turn) { _ in
      guard request.alternatives != nil else {
        return FunctionJob(request, .encode, self) { [self] job throws(LoadError) in
          try await EncodedMaking(request, encoding.encoding, key, self, job).load()
        }
      }
      return FunctionJob(request, .sources, self) { [self] job throws(LoadError) in
        try await first(request, job) {
          encodeJob($0, encoding, &$1)
        } whenFound: { alternative, image, turn in
          if image.isRevalidationDue { revalidate(alternative, as: encoding, &turn) }
        }
      }
    }
  }

  /// Revalidates an encoded image that was served stale, once for all its callers.
  func revalidate(_ request: ImageRequest, as encoding: NamedEncoding, _ turn: inout Turn) {
    var request = request
    request.revalidates = true
    let job = encodeJob(request, encoding, &turn)
    guard !job.isRunning else { return }
    let trace = recorder?.request(request, for: .revalidation, at: turn.uptime)
    job.subscribe(priority: .low, for: trace, &turn) { event, turn in
      if case .finished(let result) = event { trace?.end(result, at: turn.uptime) }
    }
  }
}

/// One caller's wait for an encoded image.
// @unchecked: `subscription` is guarded by the jobs' lock, as every access is within a turn.
private final class EncodedLoad: Deliverable, @unchecked Sendable {
  private enum Event: TaskEvent {
    typealias Response = EncodedImage

    case progress(LoadProgress)
    case finished(Result<EncodedImage, LoadError>)
  }

  private let request: ImageRequest
  private let encoding: NamedEncoding
  private let context: JobContext
  private let trace: StageTrace?
  private let state: TaskState<Event>
  private var subscription: Subscription<EncodedImage>?

  init(_ request: ImageRequest, _ encoding: NamedEncoding, _ context: JobContext) {
    (self.request, self.encoding, self.context) = (request, encoding, context)
    trace = context.recorder?.request(request, for: .encoded)
    state = TaskState(priority: request.priority)
  }

  var callsOut: Bool { state.callsOut }

  /// The stages so far; `nil` if they are not recorded.
  var metrics: RequestMetrics? { trace?.metrics }

  /// Subscribes to the job, unless the load was cancelled; called once.
  func begin(_ turn: inout Turn) {
    guard !state.isEnded else { return }
    let job = context.encodeJob(request, encoding, &turn)
    let subscription = job.subscribe(priority: state.priority, isCaller: true, for: trace, &turn) {
      [self] event, turn in
      guard case .finished(let result) = event else { return }
      trace?.end(result, at: turn.uptime)
      // If there are several sources, their job revalidates the image that it found.
      if case .success(let image) = result, image.isRevalidationDue, !request.keys.hasAlternatives {
        context.revalidate(request, as: encoding, &turn)
      }
      // The load ends after the job's deferred actions, so that `flush` waits for bytes that a caller has already
      // received.
      turn.afterwards { [state] in state.end(result) }
      if let subscription = self.subscription.take() { turn.keep(subscription) }
      turn.deliver(self)
    }
    guard job.isRunning, !state.isEnded else { return subscription.unsubscribe(&turn) }
    self.subscription = subscription
  }

  func outcome() async -> Result<EncodedImage, LoadError> { await state.outcome() }

  func cancel() {
    let error = LoadError(.cancelled, .request, request.name, "cancelled")
    if state.end(.failure(error)) {
      context.turn { turn in
        trace?.end(error, at: turn.uptime)
        guard let subscription = subscription.take() else { return }
        subscription.unsubscribe(&turn)
        turn.keep(subscription)
      }
    }
    deliver()
  }

  func deliver() { state.deliver { _ in } }
}
