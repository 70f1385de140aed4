import VitrineRuntime

/// The interceptors of one task; the job subscribes to the jobs of the images that they load.
final class InterceptJob: Job<ImageResponse>, @unchecked Sendable {
  // @unchecked: like its superclass, guarded by the jobs' lock.
  private typealias Outcome = Deferred<Result<ImageResponse, LoadError>>

  /// A load of an interceptor.
  private struct Load: Sendable {
    let request: ImageRequest
    let outcome: Outcome
    let subscription: Subscription<ImageResponse>
  }

  /// The number of interceptor calls that the current `Task` is nested in, each of another task of a pipeline.
  @TaskLocal
  private static var depth = 0
  /// The depth at which an interceptor that loads from its own pipeline counts as endlessly recursive.
  static let depthLimit = 32

  /// The image that the task waits for.
  let key: JobKey
  private let request: ImageRequest
  private let context: JobContext
  private var loads: [ObjectIdentifier: Load] = [:]

  override var requestKeys: RequestKeys? { request.keys }

  init(_ request: ImageRequest, _ context: JobContext) {
    (self.request, self.context) = (request, context)
    key = context.imageKey(of: request, step: request.processors.count)
  }

  override func start(_ turn: inout Turn) {
    trace = context.recorder?.stage(.intercept, request.name, at: turn.uptime)
    // A load of an interceptor begins on the `Task` of that interceptor, so its depth is known here.
    let depth = Self.depth + 1
    guard depth <= Self.depthLimit else {
      let detail =
        "interceptors that load from their own pipeline are nested \(Self.depthLimit) deep; call next instead"
      return finish(.failure(LoadError(.intercepted, .request, request.name, detail)), &turn)
    }
    task = Task(executorPreference: context.stepper) { [self, request] in
      let result: Result<ImageResponse, LoadError> = await Self.$depth.withValue(depth) {
        do throws(LoadError) {
          return .success(try await chain(from: 0)(request))
        } catch {
          return .failure(error)
        }
      }
      context.turn { turn in
        leaveLoads(&turn)
        finish(result, &turn)
      }
    }
  }

  override func stop(_ turn: inout Turn) { leaveLoads(&turn) }

  override func priorityChanged(_ turn: inout Turn) {
    for load in loads.values { load.subscription.setPriority(priority, &turn) }
  }

  override func watchingBegan(_ turn: inout Turn) {
    for load in loads.values { load.subscription.watch(&turn) }
  }

  override func progress(_ turn: inout Turn) -> LoadProgress? {
    var furthest: LoadProgress?
    for load in loads.values {
      guard let progress = load.subscription.progress(&turn) else { continue }
      if progress.completed >= furthest?.completed ?? 0 { furthest = progress }
    }
    return furthest
  }

  /// Continues the downloads that outlive their tasks; must be called before the job is left.
  func keepFetching(_ turn: inout Turn) {
    for load in loads.values where load.request.continuesDownload { context.keepFetching(load.request, &turn) }
  }

  // MARK: Loads of interceptors

  private func chain(from index: Int) -> InterceptorChain {
    InterceptorChain { [self] request throws(LoadError) in
      let interceptors = context.configuration.interceptors
      guard index < interceptors.count else { return try await load(request) }
      do {
        return try await interceptors[index].image(for: request, next: chain(from: index + 1))
      } catch let error as LoadError {
        throw error
      } catch let error as CancellationError {
        throw LoadError(.cancelled, .request, request.name, "cancelled", cause: error)
      } catch {
        throw LoadError(.intercepted, .request, request.name, "\(error)", cause: error)
      }
    }
  }

  private func load(_ request: ImageRequest) async throws(LoadError) -> ImageResponse {
    // The keys are made here, where no lock is held.
    let request = request.prepared(by: nil)
    if let hit = context.imageInMemory(request), !hit.isStale { return hit }
    let outcome = Outcome()
    let result = await withTaskCancellationHandler {
      context.turn { begin(request, outcome, &$0) }
      if Task.isCancelled { leave(outcome) }
      return await outcome.value()
    } onCancel: {
      leave(outcome)
    }
    return try result.get()
  }

  private func begin(_ request: ImageRequest, _ outcome: Outcome, _ turn: inout Turn) {
    // The interceptor has returned, or its task has been cancelled.
    guard isRunning else { return cancel(request, outcome, &turn) }
    let job = context.imageJob(request, &turn)
    let subscription = job.subscribe(priority: priority, isWatching: isWatched, for: trace, &turn) {
      [self] event, turn in
      switch event {
      case .progress(let completed, let total): send(progress: completed, of: total, &turn)
      case .partial(let image): send(partial: image, &turn)
      case .finished(let result):
        if let load = loads.removeValue(forKey: ObjectIdentifier(outcome)) { turn.release(load) }
        if case .success(let image) = result { context.served(image, request, &turn) }
        turn.afterwards { outcome.resolve(result) }
      }
    }
    guard job.isRunning else { return }
    loads[ObjectIdentifier(outcome)] = Load(request: request, outcome: outcome, subscription: subscription)
  }

  private func leave(_ outcome: Outcome) {
    context.turn { turn in
      if let load = loads.removeValue(forKey: ObjectIdentifier(outcome)) { leave(load, &turn) }
    }
  }

  private func leaveLoads(_ turn: inout Turn) {
    for load in loads.values { leave(load, &turn) }
    loads = [:]
  }

  private func leave(_ load: Load, _ turn: inout Turn) {
    turn.release(load)
    load.subscription.unsubscribe(&turn)
    cancel(load.request, load.outcome, &turn)
  }

  private func cancel(_ request: ImageRequest, _ outcome: Outcome, _ turn: inout Turn) {
    let name = request.name
    turn.afterwards { outcome.resolve(.failure(LoadError(.cancelled, .request, name, "cancelled"))) }
  }
}
