public import VitrineImaging
public import VitrineRuntime

/// A group of loads that pause, resume, lose priority or end together, such as the loads of a screen or a scrolling
/// list.
///
/// ```swift
/// let scope = LoadScope(.shared)
/// let slot = ImageSlot(scope: scope)
/// // The list scrolls fast: new loads wait, running ones go on behind everything else.
/// scope.pause()
/// // It comes to rest.
/// scope.resume()
/// // The screen closes.
/// scope.cancelAll()
/// ```
/// Images in memory are shown even while the scope is paused. A scope is safe to use from any thread.
public final class LoadScope: Sendable {
  private struct State {
    var isPaused = false
    var limit = Priority.veryHigh
    var nextID = 0
    var tasks: [Int: ImageTask] = [:]
    /// The loads that begin when the scope resumes, numbered in order.
    var waiting: [Int: @Sendable () -> Void] = [:]
  }

  /// The pipeline.
  public let pipeline: ImagePipeline
  private let state = Lock(State())

  /// Creates a scope that is not paused and has no priority limit.
  public init(_ pipeline: ImagePipeline) {
    self.pipeline = pipeline
  }

  /// Cancels waiting loads, since nothing could start them any more; running ones continue.
  deinit {
    let waiting = state.withLock { state in state.waiting.keys.compactMap { state.tasks[$0] } }
    for task in waiting { task.cancel() }
  }

  // MARK: Single loads

  /// Starts to load an image once the scope is not paused; see ``ImagePipeline/imageTask(for:)-(ImageRequest)``.
  public func imageTask(for request: ImageRequest) -> ImageTask {
    pipeline.imageTask(for: request, isWatching: false, in: self, nil)
  }

  /// Loads an image once the scope is not paused; see ``LoadTask/image``.
  ///
  /// - Throws: ``LoadError``; with code `.cancelled`, at once, if the awaiting task or the scope is cancelled.
  public func image(for request: ImageRequest) async throws(LoadError) -> Bitmap {
    try await imageTask(for: request).image
  }

  // MARK: All loads

  /// A Boolean value that indicates whether the scope is paused.
  public var isPaused: Bool { state.withLock { $0.isPaused } }

  /// The number of loads that have not ended, including waiting ones.
  ///
  /// Complexity: O(n) in the number of loads.
  package var taskCount: Int {
    // A task's caller may read this before the scope is notified of the end. The two locks are not held together, since
    // a task reads the limit under its own lock.
    state.withLock { $0.tasks }.values.count { !$0.isEnded }
  }

  /// The highest priority at which the scope's loads run; defaults to `.veryHigh`, which is no limit.
  ///
  /// A load shared with callers outside the scope runs at their highest priority.
  public var priorityLimit: Priority {
    get { state.withLock { $0.limit } }
    set {
      state.withLock { $0.limit = newValue }
      applyLimit()
    }
  }

  /// Keeps loads from starting, and continues running ones behind all other loads.
  ///
  /// Running downloads are not discarded. Does nothing if the scope is paused.
  public func pause() {
    state.withLock { $0.isPaused = true }
    applyLimit()
  }

  /// Starts waiting loads in order and restores the priority of running ones; does nothing if the scope is not paused.
  public func resume() {
    let waiting = state.withLock { state in
      state.isPaused = false
      defer { state.waiting = [:] }
      return state.waiting.sorted { $0.key < $1.key }
    }
    applyLimit()
    for (_, begin) in waiting { begin() }
  }

  /// Cancels every load with an error of code `.cancelled`; later requests are loaded.
  public func cancelAll() {
    // `waiting` is also released outside the lock, since it may own the program's objects.
    let (tasks, waiting) = state.withLock { state in
      defer { (state.tasks, state.waiting) = ([:], [:]) }
      return (state.tasks.sorted { $0.key < $1.key }.map(\.value), state.waiting)
    }
    for task in tasks { task.cancel() }
    withExtendedLifetime(waiting) {}
  }

  /// Cancels the scope's loads of exactly this image, with an error of code `.cancelled`, and no others.
  ///
  /// Complexity: O(n) in the number of the scope's loads.
  public func cancel(for request: ImageRequest) {
    let context = pipeline.context
    func key(_ request: ImageRequest) -> LoadKey {
      let request = context.prepared(request)
      return context.imageKey(of: request, step: request.processors.count)
    }
    let wanted = key(request)
    cancel { key($0) == wanted }
  }

  /// Cancels the scope's loads of every image of a URL, with an error of code `.cancelled`, and no others.
  ///
  /// It covers the same requests as ``ImagePipeline/cancel(for:)-(URLConvertible)``. Complexity: O(n) in the number of
  /// the scope's loads.
  public func cancel(for url: some URLConvertible) {
    let context = pipeline.context
    let sources = context.sources(of: ImageRequest(url.imageSource))
    cancel { request in
      let keys = context.prepared(request).keys
      return sources.contains { keys.hasSource(of: $0) }
    }
  }

  private func cancel(where isMeant: (ImageRequest) -> Bool) {
    let tasks = state.withLock { state in state.tasks.sorted { $0.key < $1.key }.map(\.value) }
    for task in tasks where isMeant(task.request) { task.cancel() }
  }

  // MARK: For the pipeline

  /// Adds a task, and begins it at once or when the scope resumes.
  func add(_ task: ImageTask, _ begin: @escaping @Sendable () -> Void) {
    let (id, isPaused) = state.withLock { state in
      let id = state.nextID
      state.nextID += 1
      state.tasks[id] = task
      if state.isPaused { state.waiting[id] = begin }
      return (id, state.isPaused)
    }
    task.whenEnded { [weak self] in self?.remove(id) }
    task.limitPriority { [self] in effectiveLimit }
    if !isPaused { begin() }
  }

  private func remove(_ id: Int) {
    let left = state.withLock { ($0.tasks.removeValue(forKey: id), $0.waiting.removeValue(forKey: id)) }
    withExtendedLifetime(left) {}
  }

  private func applyLimit() {
    let tasks = state.withLock { $0.tasks.values.map { $0 } }
    // Each task reads the limit itself, so that the later of two concurrent changes wins.
    for task in tasks { task.limitPriority { effectiveLimit } }
  }

  private var effectiveLimit: Priority { state.withLock { $0.isPaused ? .veryLow : $0.limit } }
}
