import VitrineRuntime

/// An image in memory whose time is over: the same again if its bytes have not changed, else what is made of the new ones.
final class ConfirmJob: StageJob, @unchecked Sendable {
  // @unchecked: like its superclass, guarded by the engine's lock.
  private let source: String
  private let known: CachedImage
  private let standsIn: Bool
  private let context: JobContext
  private let fetch: (inout Turn) -> Job<FetchedBytes, LoadError>
  private let make: (FetchedBytes?, inout Turn) -> Job<CachedImage, LoadError>
  private let stored: @Sendable (CachedImage) -> Void

  /// `fetch` gives the job that brings the bytes, `make` the one that makes an image of them, or of what it finds; `stored` is called with the
  /// image if it is the same; it stands in for a server that fails if `standsIn` says so.
  init(
    _ known: CachedImage,
    of source: String,
    standsIn: Bool,
    context: JobContext,
    fetch: @escaping (inout Turn) -> Job<FetchedBytes, LoadError>,
    make: @escaping (FetchedBytes?, inout Turn) -> Job<CachedImage, LoadError>,
    stored: @escaping @Sendable (CachedImage) -> Void,
    onEnd: @escaping (inout Turn) -> Void,
  ) {
    (self.source, self.known, self.context, self.stored) = (source, known, context, stored)
    self.standsIn = standsIn
    (self.fetch, self.make) = (fetch, make)
    super.init(onEnd: onEnd)
  }

  override func start(_ turn: inout Turn) {
    trace = context.recorder?.stage("confirm", source)
    guard !known.contentID.isOfBeginning else {
      // All of its bytes would not tell whether they are the same, and they are not wanted.
      return wait(for: make(nil, &turn), &turn) { [weak self] result, turn in
        guard let self else { return }
        switch result {
        case .success: finish(result, &turn)
        case .failure(let error): fail(error, &turn)
        }
      }
    }
    wait(for: fetch(&turn), &turn) { [weak self] result, turn in
      guard let self else { return }
      switch result {
      case .success(let bytes): compare(bytes, &turn)
      case .failure(let error): fail(error, &turn)
      }
    }
  }

  /// Ends with what was there, if it may stand in for the error.
  private func fail(_ error: LoadError, _ turn: inout Turn) {
    let until = known.validity.usableOnErrorUntil
    let isUsable = standsIn && error.allowsStale(until: until, now: context.clock.now)
    if isUsable { trace?.note("fallback", .text(error.detail)) }
    finish(isUsable ? .success(known.stale()) : .failure(error), &turn)
  }

  private func compare(_ bytes: FetchedBytes, _ turn: inout Turn) {
    guard bytes.contentID == known.contentID else {
      return wait(for: make(bytes, &turn), &turn) { [weak self] result, turn in self?.finish(result, &turn) }
    }
    // They made an image before.
    bytes.verdict?(true)
    let image = known.confirmed(by: bytes)
    stored(image)
    finish(.success(image), &turn)
  }
}

/// A step that needs no work, since its result is known.
final class KnownJob<Value: Sendable>: Job<Value, LoadError>, @unchecked Sendable {
  // @unchecked: like its superclass, guarded by the engine's lock.
  private let value: Value

  init(_ value: Value, onEnd: ((inout Turn) -> Void)? = nil) {
    self.value = value
    super.init(onEnd: onEnd)
  }

  override func start(_ turn: inout Turn) { finish(.success(value), &turn) }
}
