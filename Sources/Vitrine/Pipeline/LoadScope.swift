public import VitrineImaging
public import VitrineRuntime

/// Loads that pause, resume, lose their urgency or end together: those of a screen, of a list that is flung.
///
/// ```swift
/// let scope = LoadScope(.shared)
/// let slot = ImageSlot(scope: scope)
/// // The list is flung: what is not under way waits, what is goes on behind everything else.
/// scope.pause()
/// // It rests.
/// scope.resume()
/// // The screen goes.
/// scope.cancelAll()
/// ```
/// What is in memory is shown whether or not the scope is paused. May be used from any thread.
public final class LoadScope: Sendable {
  private struct State {
    var isPaused = false
    var limit = Priority.veryHigh
    var nextID = 0
    var tasks: [Int: ImageTask] = [:]
    /// What begins when the scope goes on, numbered in the order in which it was asked for.
    var waiting: [Int: @Sendable () -> Void] = [:]
  }

  /// What loads.
  public let pipeline: ImagePipeline
  private let state = Lock(State())

  /// Makes a scope that lets everything through.
  public init(_ pipeline: ImagePipeline) {
    self.pipeline = pipeline
  }

  /// Cancels what has not begun, since nothing could begin it any more; what is under way goes on.
  deinit {
    let waiting = state.withLock { state in state.waiting.keys.compactMap { state.tasks[$0] } }
    for task in waiting { task.cancel() }
  }

  // MARK: One load

  /// Begins to load an image when the scope is not paused; see ``ImagePipeline/imageTask(for:)-(ImageRequest)``.
  public func imageTask(for request: ImageRequest) -> ImageTask {
    pipeline.imageTask(for: request, isWatching: false, in: self, nil)
  }

  /// Loads an image when the scope is not paused; see ``ImageTask/image``.
  ///
  /// - Throws: ``LoadError``; of code `.cancelled`, at once, when the awaiting task or the scope is cancelled.
  public func image(for request: ImageRequest) async throws(LoadError) -> Bitmap {
    try await imageTask(for: request).image
  }

  // MARK: All of them

  /// Whether loads wait.
  public var isPaused: Bool { state.withLock { $0.isPaused } }

  /// How many loads have not ended, those that wait included.
  ///
  /// Complexity: O(n) over them.
  public var taskCount: Int {
    // Whoever awaits a task may be here before the scope has been told of its end. Their locks are never held together here,
    // as a task asks for the limit with its own.
    state.withLock { $0.tasks }.values.count { !$0.isEnded }
  }

  /// The highest priority at which the scope's loads run, whatever their own is; `.veryHigh`, thus no limit, by default.
  ///
  /// A load that someone outside of the scope waits for too runs at what that one asks for.
  public var priorityLimit: Priority {
    get { state.withLock { $0.limit } }
    set {
      state.withLock { $0.limit = newValue }
      applyLimit()
    }
  }

  /// Lets nothing begin, and what is under way go on behind everything else.
  ///
  /// Bytes that are on their way are not thrown away for a pause. Does nothing when the scope is paused.
  public func pause() {
    state.withLock { $0.isPaused = true }
    applyLimit()
  }

  /// Begins what waited, in order, and gives what is under way its priority back; does nothing when nothing waits.
  public func resume() {
    let waiting = state.withLock { state in
      state.isPaused = false
      defer { state.waiting = [:] }
      return state.waiting.sorted { $0.key < $1.key }
    }
    applyLimit()
    for (_, begin) in waiting { begin() }
  }

  /// Ends every load with an error of code `.cancelled`; what is asked for afterwards is loaded.
  public func cancelAll() {
    // What begins a load is released out here, too: it may be the last that keeps something of a user's.
    let (tasks, waiting) = state.withLock { state in
      defer { (state.tasks, state.waiting) = ([:], [:]) }
      return (state.tasks.sorted { $0.key < $1.key }.map(\.value), state.waiting)
    }
    for task in tasks { task.cancel() }
    withExtendedLifetime(waiting) {}
  }

  // MARK: For the pipeline

  /// Takes a task in, and begins it now or later.
  ///
  /// - Returns: Whether it has begun.
  func add(_ task: ImageTask, _ begin: @escaping @Sendable () -> Void) -> Bool {
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
    return !isPaused
  }

  private func remove(_ id: Int) {
    let left = state.withLock { ($0.tasks.removeValue(forKey: id), $0.waiting.removeValue(forKey: id)) }
    withExtendedLifetime(left) {}
  }

  private func applyLimit() {
    let tasks = state.withLock { $0.tasks.values.map { $0 } }
    // Each looks for itself, so that of two changes at once the later one counts.
    for task in tasks { task.limitPriority { effectiveLimit } }
  }

  private var effectiveLimit: Priority { state.withLock { $0.isPaused ? .veryLow : $0.limit } }
}
