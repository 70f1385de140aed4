import VitrineRuntime

/// A load by its key, and the function that begins it if no load with that key is running.
struct SharedLoad<Value: Sendable>: Sendable {
  typealias Handle = WorkHandle<LoadKey, Value, LoadError>

  let key: LoadKey
  let start: SharedWork<LoadKey, Value, LoadError>.Start

  init(key: LoadKey, start: @escaping SharedWork<LoadKey, Value, LoadError>.Start) {
    (self.key, self.start) = (key, start)
  }

  /// Creates a load whose work is an `async` function.
  init(key: LoadKey, work: @escaping SharedWork<LoadKey, Value, LoadError>.Work) {
    self.init(key: key) { handle in handle.goOn(with: work) }
  }
}

extension WorkHandle where Key == LoadKey, Failure == LoadError {
  /// Waits for another load, to which this one passes its demand, and whose progress is its own.
  ///
  /// The other load is left when this one loses its subscribers.
  ///
  /// - Parameters:
  ///   - load: The other load.
  ///   - works: The table of the other load.
  ///   - trace: The stage that waits.
  ///   - limit: The most interest in the other load; with it, that load does not store its result. Defaults to no limit.
  ///   - partial: Receives values before the end.
  /// - Returns: The result of the other load.
  /// - Throws: The error of the other load; `.cancelled` if this one has lost its subscribers.
  func value<Input: Sendable>(
    of load: SharedLoad<Input>,
    in works: SharedWork<LoadKey, Input, LoadError>,
    _ trace: StageTrace?,
    limit: WorkDemand.Interest? = nil,
    partial: @escaping @Sendable (Input) -> Void = { _ in },
  ) async throws(LoadError) -> Input {
    // After a look-up, the load may be wanted no more.
    guard !hasEnded else { throw .cancelled }
    trace?.enter("wait")
    let outcome = Deferred<Result<Input, LoadError>>()
    let receive = receiver(trace, outcome, partial)
    works.subscribe(
      to: load.key,
      demand,
      limit: limit,
      subscribed: { depend(on: $0) },
      receive: receive,
      start: load.start,
    )
    return try await value(of: outcome)
  }

  /// Joins another load if it is running, and waits for it; returns `nil` if it is not.
  func value<Input: Sendable>(
    ofRunning key: LoadKey,
    in works: SharedWork<LoadKey, Input, LoadError>,
    _ trace: StageTrace?,
    partial: @escaping @Sendable (Input) -> Void,
  ) async throws(LoadError) -> Input? {
    let outcome = Deferred<Result<Input, LoadError>>()
    guard let joined = works.join(key, demand, receive: receiver(trace, outcome, partial)) else { return nil }
    trace?.enter("wait")
    depend(on: joined)
    return try await value(of: outcome)
  }

  private func receiver<Input>(
    _ trace: StageTrace?,
    _ outcome: Deferred<Result<Input, LoadError>>,
    _ partial: @escaping @Sendable (Input) -> Void,
  ) -> @Sendable (SharedWork<LoadKey, Input, LoadError>.Event) -> Void {
    { event in
      switch event {
      case .identified(let stage): trace?.wait(for: stage as? StageTrace)
      case .progress(let completed, let total): send(progress: completed, of: total)
      case .partial(let value): partial(value)
      case .finished(let result): outcome.resolve(result)
      }
    }
  }

  /// Waits for the object on which this load depends, and which is cancelled with it.
  private func value<Output>(of outcome: Deferred<Result<Output, LoadError>>) async throws(LoadError) -> Output {
    let result = await outcome.value(orCancelled: .failure(.cancelled))
    depend(on: nil)
    return try result.get()
  }

  /// Runs work on a queue, at the priority of the load, and returns its result.
  ///
  /// The parameters are as in ``enqueue(_:phase:on:full:_:onEnd:)``.
  ///
  /// - Throws: The error of the work, or of a full queue; `.cancelled` if the load has lost its subscribers.
  func perform<Output: Sendable>(
    _ trace: StageTrace?,
    phase: String = "work",
    on queue: (Priority, @escaping @Sendable (WorkItem) -> Void) throws(WorkQueueError) -> WorkItem,
    full: () -> LoadError,
    _ body: @escaping @Sendable (WorkItem) throws(LoadError) -> Output,
  ) async throws(LoadError) -> Output {
    guard !hasEnded else { throw .cancelled }
    let outcome = Deferred<Result<Output, LoadError>>()
    enqueue(trace, phase: phase, on: queue, full: full) { (item, _) throws(LoadError) in
      try body(item)
    } onEnd: {
      outcome.resolve($0)
    }
    return try await value(of: outcome)
  }

  /// Runs work on a queue, at the priority of the load, which depends on it.
  ///
  /// Work that does not end after a cancellation is not waited for.
  ///
  /// - Parameters:
  ///   - trace: The stage of the work.
  ///   - phase: The name of the phase in which the work runs. Defaults to `work`.
  ///   - queue: Enqueues the work, which it receives.
  ///   - full: Returns the error for a full queue.
  ///   - body: The work; may also be ended from outside.
  ///   - onEnd: Receives the result, once; `.cancelled` if the load has lost its subscribers.
  func enqueue<Output: Sendable>(
    _ trace: StageTrace?,
    phase: String = "work",
    on queue: (Priority, @escaping @Sendable (WorkItem) -> Void) throws(WorkQueueError) -> WorkItem,
    full: () -> LoadError,
    _ body: @escaping @Sendable (WorkItem, QueuedWork<Output>) throws(LoadError) -> Output,
    onEnd: @escaping @Sendable (Result<Output, LoadError>) -> Void,
  ) {
    trace?.enter("queue")
    let work = QueuedWork(onEnd)
    depend(on: work)
    do throws(WorkQueueError) {
      let item = try queue(priority) { item in
        trace?.enter(phase)
        work.end(Result { () throws(LoadError) in try body(item, work) })
      }
      work.attach(item)
    } catch {
      work.end(.failure(full()))
    }
  }
}

/// Work of a load on a queue.
final class QueuedWork<Output: Sendable>: WorkDependency {
  private struct State {
    var item: WorkItem?
    var demand: WorkDemand?
    var hasEnded = false
  }

  private let state = Lock(State())
  private let receive: @Sendable (Result<Output, LoadError>) -> Void

  init(_ receive: @escaping @Sendable (Result<Output, LoadError>) -> Void) { self.receive = receive }

  var progress: WorkProgress? { nil }

  func setDemand(_ demand: WorkDemand?) {
    guard let demand else {
      let left = take()
      left.item?.cancel()
      return tell(.failure(.cancelled), left)
    }
    let item = state.withLock { state in
      if !state.hasEnded { state.demand = demand }
      return state.item
    }
    item?.setDemand(demand)
  }

  fileprivate func attach(_ item: WorkItem) {
    let now = state.withLock { state in
      if !state.hasEnded { state.item = item }
      return state
    }
    // The demand may have changed, or the work have ended, before the item was known. Without a demand, the item has the
    // priority with which it was enqueued.
    if now.hasEnded { item.cancel() } else if let demand = now.demand { item.setDemand(demand) }
  }

  /// Ends the work with a result, unless it has ended.
  func end(_ result: Result<Output, LoadError>) { tell(result, take()) }

  /// Marks the work as ended, and returns its state before, which is released with no lock held.
  private func take() -> State {
    state.withLock { state in
      defer { state = State(hasEnded: true) }
      return state
    }
  }

  private func tell(_ result: Result<Output, LoadError>, _ left: State) {
    if !left.hasEnded { receive(result) }
  }
}

extension LoadError {
  /// The error of a load that has lost its subscribers, none of which receives it.
  static let cancelled = LoadError(.cancelled, .request, "", "cancelled")
}

extension LoadContext {
  /// Carries out a load in a stage of its own.
  func traced<Value: Sendable>(
    _ kind: StageKind,
    _ name: String,
    _ handle: SharedLoad<Value>.Handle,
    _ body: (StageTrace?) async throws(LoadError) -> Value,
  ) async throws(LoadError) -> Value {
    guard let trace = recorder?.stage(kind, name, at: clock.uptime) else { return try await body(nil) }
    handle.identify(as: trace)
    do throws(LoadError) {
      let value = try await body(trace)
      trace.end()
      return value
    } catch {
      trace.fail(error, isAbandoned: handle.hasEnded)
      throw error
    }
  }

  /// Returns the value of the first of a request's alternatives that has one; each begins when the one before has
  /// failed.
  func first<Value: Sendable>(
    of request: ImageRequest,
    _ load: (ImageRequest) async throws(LoadError) -> Value,
  ) async throws(LoadError) -> Value {
    var decisive: LoadError?
    for (index, alternative) in (request.alternatives ?? []).enumerated() {
      do throws(LoadError) {
        return try await load(alternative)
      } catch {
        if error.isCancellation { throw error }
        if index == request.primarySource { decisive = error }
      }
    }
    throw decisive ?? LoadError(.invalidURL, .request, request.name, "no source is given")
  }
}
