import VitrineRuntime

/// The first of several jobs that succeeds; each begins when the one before has failed.
final class FirstJob<Value: Sendable>: Job<Value>, @unchecked Sendable {
  // @unchecked: like its superclass, guarded by the jobs' lock.
  private let request: ImageRequest
  private let count: Int
  private let make: (Int, inout Turn) -> Job<Value>
  private let whenFound: (Int, Value, inout Turn) -> Void
  private var error: LoadError?

  /// `make` returns the job of an index among a request's alternatives; `whenFound` is called before subscribers get the
  /// value.
  init(
    _ request: ImageRequest,
    make: @escaping (Int, inout Turn) -> Job<Value>,
    whenFound: @escaping (Int, Value, inout Turn) -> Void = { _, _, _ in },
  ) {
    (self.request, count) = (request, request.alternatives?.count ?? 0)
    (self.make, self.whenFound) = (make, whenFound)
  }

  override var requestKeys: RequestKeys? { request.keys }

  override func start(_ turn: inout Turn) {
    trace = starter?.recorder.stage(.sources, request.name, at: turn.uptime)
    begin(0, &turn)
  }

  private func begin(_ index: Int, _ turn: inout Turn) {
    guard index < count else {
      let error = error ?? LoadError(.invalidURL, .request, request.name, "no source is given")
      return finish(.failure(error), &turn)
    }
    let job = make(index, &turn)
    let subscription = job.subscribe(priority: priority, isWatching: isWatched, for: trace, &turn) {
      [self] event, turn in
      switch event {
      case .progress(let completed, let total): send(progress: completed, of: total, &turn)
      case .partial(let value): send(partial: value, &turn)
      case .finished(.success(let value)):
        dependency = nil
        whenFound(index, value, &turn)
        finish(.success(value), &turn)
      case .finished(.failure(let error)):
        dependency = nil
        if index == request.decisiveAlternative { self.error = error }
        if error.isCancellation { finish(.failure(error), &turn) } else { begin(index + 1, &turn) }
      }
    }
    // A job that fails at once has already begun the next one.
    if job.isRunning { dependency = subscription }
  }
}
