import VitrineCaching
import VitrineRuntime

/// One task's way through the interceptors; what they ask for are jobs that it waits for as any job does.
final class InterceptJob: Job<CachedImage, LoadError>, @unchecked Sendable {
  // @unchecked: like its superclass, guarded by the engine's lock.
  private typealias Outcome = Deferred<Result<ImageResponse, LoadError>>

  /// What an interceptor waits for.
  private struct Load {
    let request: ImageRequest
    let outcome: Outcome
    let subscription: any Dependency
  }

  /// What the task waits for, in the terms of the pool of images.
  let key: CacheKey
  private let request: ImageRequest
  private let interceptors: [any ImageInterceptor]
  // Interceptors may go on when the task that kept the pipeline has ended.
  private let pipeline: ImagePipeline
  private var task: Task<Void, Never>?
  private var loads: [Int: Load] = [:]
  private var nextID = 0

  init(
    _ request: ImageRequest,
    key: CacheKey,
    _ interceptors: [any ImageInterceptor],
    _ pipeline: ImagePipeline,
    onEnd: @escaping (inout Turn) -> Void,
  ) {
    (self.request, self.key, self.interceptors, self.pipeline) = (request, key, interceptors, pipeline)
    super.init(onEnd: onEnd)
  }

  private var engine: Engine { pipeline.context.engine }

  override func start(_ turn: inout Turn) {
    trace = pipeline.context.recorder?.stage("intercept", request.name)
    task = Task(executorPreference: pipeline.context.stepper) { [self, request] in
      let result: Result<CachedImage, LoadError>
      do throws(LoadError) {
        result = .success(try await chain(from: 0)(request).cached)
      } catch {
        result = .failure(error)
      }
      engine.turn { turn in
        leaveLoads(&turn)
        finish(result, &turn)
      }
    }
  }

  override func stop(_ turn: inout Turn) {
    leaveLoads(&turn)
    guard let task else { return }
    self.task = nil
    // Whoever waits for the cancellation may call back.
    turn.afterwards { task.cancel() }
  }

  override func priorityChanged(_ turn: inout Turn) {
    for load in loads.values { load.subscription.setPriority(priority, &turn) }
  }

  override func watchingBegan(_ turn: inout Turn) {
    for load in loads.values { load.subscription.watch(&turn) }
  }

  /// Keeps downloads going that are to outlive their tasks; called before the job is left.
  func keepFetching() {
    let requests = engine.turn { _ in loads.values.map(\.request).filter(\.continuesDownload) }
    for request in requests { pipeline.keepFetching(request) }
  }

  // MARK: What interceptors ask for

  private func chain(from index: Int) -> InterceptorChain {
    InterceptorChain { [self] request throws(LoadError) in
      guard index < interceptors.count else { return try await load(request) }
      do {
        return try await interceptors[index].image(for: request, next: chain(from: index + 1))
      } catch {
        throw LoadError(thrown: error, request.name)
      }
    }
  }

  private func load(_ request: ImageRequest) async throws(LoadError) -> ImageResponse {
    if let hit = pipeline.imageInMemory(request), !hit.isStale { return hit }
    let outcome = Outcome()
    let id = engine.turn { _ in
      defer { nextID += 1 }
      return nextID
    }
    let result = await withTaskCancellationHandler {
      engine.turn { begin(id, request, outcome, &$0) }
      if Task.isCancelled { leave(id) }
      return await outcome.value()
    } onCancel: {
      leave(id)
    }
    return try result.get()
  }

  private func begin(_ id: Int, _ request: ImageRequest, _ outcome: Outcome, _ turn: inout Turn) {
    // Asked for after the end, or by someone whom nobody waits for any more.
    guard isRunning else {
      outcome.resolve(.failure(LoadError(.cancelled, .request, request.name, "cancelled")))
      return
    }
    var isOver = false
    let job = pipeline.imageJob(request, &turn)
    let subscription = job.subscribe(priority: priority, isWatching: isWatched, for: trace, &turn) {
      [self] event, turn in
      switch event {
      case .progress(let completed, let total): send(progress: completed, of: total, &turn)
      case .partial(let image): send(partial: image, &turn)
      case .finished(let result):
        isOver = true
        loads[id] = nil
        if case .success(let image) = result { pipeline.served(image, request, &turn) }
        outcome.resolve(result.map(\.response))
      }
    }
    if !isOver { loads[id] = Load(request: request, outcome: outcome, subscription: subscription) }
  }

  private func leave(_ id: Int) {
    engine.turn { turn in
      if let load = loads.removeValue(forKey: id) { leave(load, &turn) }
    }
  }

  private func leaveLoads(_ turn: inout Turn) {
    let left = loads.values
    loads = [:]
    for load in left { leave(load, &turn) }
  }

  private func leave(_ load: Load, _ turn: inout Turn) {
    load.subscription.unsubscribe(&turn)
    load.outcome.resolve(.failure(LoadError(.cancelled, .request, load.request.name, "cancelled")))
  }
}

/// The tasks that are with the interceptors.
// @unchecked: guarded by the engine's lock, as every access asks for a `Turn`.
final class InterceptedTasks: @unchecked Sendable {
  private var jobs: [Int: InterceptJob] = [:]
  private var nextID = 0

  func count(_ turn: inout Turn) -> Int { jobs.count }

  /// Those that wait for exactly one image.
  func all(of key: CacheKey, _ turn: inout Turn) -> [InterceptJob] { jobs.values.filter { $0.key == key } }

  /// Adds the job that `make` gives, until that calls its argument.
  func add(_ turn: inout Turn, _ make: (_ onEnd: @escaping (inout Turn) -> Void) -> InterceptJob) -> InterceptJob {
    let id = nextID
    nextID += 1
    let job = make { [weak self] _ in self?.jobs[id] = nil }
    jobs[id] = job
    return job
  }
}

extension LoadError {
  /// What an interceptor threw, as the error of a task.
  fileprivate init(thrown error: any Error, _ source: String) {
    switch error {
    case let error as LoadError: self = error
    case is CancellationError: self.init(.cancelled, .request, source, "cancelled")
    default: self.init(.intercepted, .request, source, "\(error)", cause: error)
    }
  }
}
