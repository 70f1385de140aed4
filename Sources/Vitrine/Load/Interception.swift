import VitrineRuntime

/// The interceptors of one task, and the loads of the images that they ask for.
final class Interception: WorkDependency {
  private typealias Outcome = Deferred<Result<ImageResponse, LoadError>>

  /// A load of an interceptor.
  private struct Load: Sendable {
    let request: ImageRequest
    let outcome: Outcome
    let subscription: any LoadSubscription
  }

  private struct State {
    var loads: [Int: Load] = [:]
    var lastLoad = 0
    var hasEnded = false
  }

  /// The number of interceptor calls that the current `Task` is nested in, each of another task of a pipeline.
  @TaskLocal
  private static var depth = 0
  /// The depth at which an interceptor that loads from its own pipeline counts as endlessly recursive.
  static let depthLimit = 32

  private let request: ImageRequest
  private let context: LoadContext
  private let state = Lock(State())

  init(_ request: ImageRequest, _ context: LoadContext) { (self.request, self.context) = (request, context) }

  /// The load of the task's image.
  var load: SharedLoad<ImageResponse> {
    let key = context.imageKey(of: request, step: request.processors.count).ofTask(context.nextTask())
    return SharedLoad(key: key) { [self] handle throws(LoadError) in
      try await context.traced(.intercept, request.name, handle) { trace throws(LoadError) in
        // A load of an interceptor begins on the `Task` of that interceptor, so its depth is known here.
        let depth = Self.depth + 1
        guard depth <= Self.depthLimit else {
          let detail =
            "interceptors that load from their own pipeline are nested \(Self.depthLimit) deep; call next instead"
          throw LoadError(.intercepted, .request, request.name, detail)
        }
        return try await run(depth, handle, trace)
      }
    }
  }

  /// Continues the downloads that outlive their tasks; must be called before the load is left.
  func keepFetching() {
    for load in state.withLock({ Array($0.loads.values) }) where load.request.continuesDownload {
      context.keepFetching(load.request)
    }
  }

  // MARK: The dependency of the task's load

  var progress: WorkProgress? {
    subscriptions.compactMap(\.progress).max { $0.completed < $1.completed }
  }

  func setDemand(_ demand: WorkDemand?) {
    // The interceptors learn of the end by the cancellation of their `Task`.
    guard let demand else { return }
    for subscription in subscriptions { subscription.setDemand(demand) }
  }

  private var subscriptions: [any LoadSubscription] { state.withLock { $0.loads.values.map(\.subscription) } }

  /// Calls the interceptors on Swift's own executor; an interceptor that ignores its cancellation is not waited for.
  private func run(
    _ depth: Int,
    _ handle: SharedLoad<ImageResponse>.Handle,
    _ trace: StageTrace?,
  ) async throws(LoadError) -> ImageResponse {
    let outcome = Outcome()
    handle.depend(on: self)
    let task = Task(executorPreference: context.stepper) { [self] in
      await Self.$depth.withValue(depth) {
        do throws(LoadError) {
          outcome.resolve(.success(try await chain(from: 0, handle, trace)(request)))
        } catch {
          outcome.resolve(.failure(error))
        }
      }
    }
    let result = await outcome.value(orCancelled: .failure(.cancelled)) { task.cancel() }
    let left = state.withLock { state in
      state.hasEnded = true
      defer { state.loads = [:] }
      return Array(state.loads.values)
    }
    for load in left { leave(load) }
    handle.depend(on: nil)
    return try result.get()
  }

  // MARK: Loads of interceptors

  private func chain(
    from index: Int,
    _ handle: SharedLoad<ImageResponse>.Handle,
    _ trace: StageTrace?,
  ) -> InterceptorChain {
    InterceptorChain { [self] request throws(LoadError) in
      let interceptors = context.configuration.interceptors
      guard index < interceptors.count else { return try await load(request, handle, trace) }
      do {
        return try await interceptors[index].image(for: request, next: chain(from: index + 1, handle, trace))
      } catch let error as LoadError {
        throw error
      } catch let error as CancellationError {
        throw LoadError(.cancelled, .request, request.name, "cancelled", cause: error)
      } catch {
        throw LoadError(.intercepted, .request, request.name, "\(error)", cause: error)
      }
    }
  }

  private func load(
    _ request: ImageRequest,
    _ handle: SharedLoad<ImageResponse>.Handle,
    _ trace: StageTrace?,
  ) async throws(LoadError) -> ImageResponse {
    let request = request.prepared(by: nil)
    if let hit = context.imageInMemory(request), !hit.isStale { return hit }
    let outcome = Outcome()
    let id = state.withLock { state in
      state.lastLoad += 1
      return state.lastLoad
    }
    let cancelled = LoadError(.cancelled, .request, request.name, "cancelled")
    let result: Result<ImageResponse, LoadError> = await withTaskCancellationHandler {
      guard !Task.isCancelled, !state.withLock({ $0.hasEnded }) else { return .failure(cancelled) }
      let load = context.imageLoad(request)
      let subscribed = { [self] (subscription: SharedWork<LoadKey, ImageResponse, LoadError>.Subscription) in
        let load = Load(request: request, outcome: outcome, subscription: subscription)
        let isLate = state.withLock { state in
          if !state.hasEnded { state.loads[id] = load }
          return state.hasEnded
        }
        if isLate { leave(load) } else if Task.isCancelled { leave(id) }
        // It may have changed before the load was listed.
        subscription.setDemand(handle.demand)
      }
      let receive = { @Sendable [self] (event: SharedWork<LoadKey, ImageResponse, LoadError>.Event) in
        switch event {
        case .identified(let stage): trace?.wait(for: stage as? StageTrace)
        case .progress(let completed, let total): handle.send(progress: completed, of: total)
        case .partial(let image): handle.send(partial: image)
        case .finished(let result):
          let ended = state.withLock { $0.loads.removeValue(forKey: id) }
          if case .success(let image) = result { context.served(image, request) }
          outcome.resolve(result)
          withExtendedLifetime(ended) {}
        }
      }
      trace?.enter("wait")
      context.images.subscribe(
        to: load.key,
        handle.demand,
        subscribed: subscribed,
        receive: receive,
        start: load.start,
      )
      defer { trace?.enter("work") }
      return await outcome.value()
    } onCancel: {
      leave(id)
    }
    return try result.get()
  }

  private func leave(_ id: Int) {
    if let load = state.withLock({ $0.loads.removeValue(forKey: id) }) { leave(load) }
  }

  private func leave(_ load: Load) {
    load.subscription.cancel()
    load.outcome.resolve(.failure(LoadError(.cancelled, .request, load.request.name, "cancelled")))
  }
}
