import VitrineCaching
public import VitrineImaging
public import VitrineRuntime

/// Loads what will probably be asked for soon: a few at a time, behind everything that is waited for.
///
/// ```swift
/// let prefetcher = ImagePrefetcher(.shared)
/// prefetcher.start(requests)        // the next screen
/// prefetcher.stop(requests)         // it scrolled the other way
/// ```
/// Whoever then asks for one of the images shares its load and gives it a priority of its own. Nothing begins within
/// ``start(_:onResult:)``, so that what is stopped in the same turn of a main loop has cost nothing. May be used from any
/// thread; when the prefetcher is released, everything is stopped.
///
/// A request whose ``ImageRequest/caches`` let nothing be kept where the prefetcher would have it is not loaded, since whoever asks
/// then would load it again. Its turn comes and it is done, without an error.
public final class ImagePrefetcher: Sendable {
  /// Where images are to be.
  public enum Destination: Sendable, Hashable {
    /// Decoded and processed in memory, and their bytes on disk.
    case memory
    /// Their bytes on disk; nothing is decoded.
    ///
    /// Of what came, only the header is looked at: what is no image is not stored.
    case disk
  }

  /// What came of one request: whether the image, or its bytes, is there.
  public typealias OnResult = @Sendable (ImageRequest, Result<Void, LoadError>) -> Void

  /// A request that waits or is under way.
  private struct Item {
    let key: JobKey
    let request: ImageRequest
    /// Those who want it; each call of ``load(_:)`` may change its mind alone.
    var claims: [(owner: Int, tell: OnResult?)]
    var load: (any RunningLoad)?

    func tell(_ result: Result<Void, LoadError>) {
      for claim in claims { claim.tell?(request, result) }
    }
  }

  private struct State {
    var maxConcurrentLoads: Int
    var priority: Priority
    var isPaused = false
    var isScheduled = false
    /// Of ``load(_:)``; 0 stands for all who only start.
    var nextOwner = 1
    /// What waits or is under way, numbered in the order in which it was asked for.
    var items: [Int: Item] = [:]
    var nextID = 0
    /// What has a lower number has begun, or been stopped before.
    var nextToBegin = 0
    /// The numbers by what is asked for.
    var ids: [JobKey: Int] = [:]
    var statistics = Statistics()

    var mayBegin: Bool { !isPaused && statistics.running < maxConcurrentLoads }

    mutating func add(_ item: Item) {
      if let id = ids[item.key] {
        items[id]?.claims += item.claims
        return
      }
      ids[item.key] = nextID
      items[nextID] = item
      nextID += 1
      statistics.waiting += 1
    }

    /// The next to begin, if one may.
    mutating func takeNext() -> (id: Int, request: ImageRequest, priority: Priority)? {
      guard mayBegin else { return nil }
      while nextToBegin < nextID {
        defer { nextToBegin += 1 }
        guard let item = items[nextToBegin] else { continue }
        statistics.waiting -= 1
        statistics.running += 1
        return (nextToBegin, item.request, priority)
      }
      return nil
    }

    mutating func remove(_ id: Int) -> Item? {
      guard let item = items.removeValue(forKey: id) else { return nil }
      ids[item.key] = nil
      if id < nextToBegin { statistics.running -= 1 } else { statistics.waiting -= 1 }
      return item
    }

    /// Withdraws the claims of an owner, or of all; what is returned has these, and the load if nobody wants it any more.
    mutating func withdraw(_ key: JobKey, _ owner: Int?) -> Item? {
      guard let id = ids[key], var item = items[id] else { return nil }
      let left = item.claims.filter { owner != nil && $0.owner != owner }
      guard !left.isEmpty else { return remove(id) }
      items[id]?.claims = left
      item.claims.removeAll { $0.owner != owner }
      item.load = nil
      return item
    }
  }

  /// What loads.
  public let pipeline: ImagePipeline
  /// Where images are to be.
  public let destination: Destination
  private let state: Lock<State>
  private let later: @Sendable (@escaping @Sendable () -> Void) -> Void

  /// Makes a prefetcher with nothing to do.
  ///
  /// - Parameters:
  ///   - pipeline: What loads.
  ///   - destination: Where images are to be; in memory, by default.
  ///   - maxConcurrentLoads: How many are loaded at once, 2 by default; at least one.
  ///   - priority: How urgent they are; `.low` by default, whatever the requests say.
  public convenience init(
    _ pipeline: ImagePipeline,
    destination: Destination = .memory,
    maxConcurrentLoads: Int = 2,
    priority: Priority = .low,
  ) {
    self.init(pipeline, destination: destination, maxConcurrentLoads: maxConcurrentLoads, priority: priority) { begin in
      Task { begin() }
    }
  }

  package init(
    _ pipeline: ImagePipeline,
    destination: Destination = .memory,
    maxConcurrentLoads: Int = 2,
    priority: Priority = .low,
    later: @escaping @Sendable (@escaping @Sendable () -> Void) -> Void,
  ) {
    (self.pipeline, self.destination, self.later) = (pipeline, destination, later)
    state = Lock(State(maxConcurrentLoads: max(1, maxConcurrentLoads), priority: priority))
  }

  /// Stops everything, and says so to whoever asked to be told.
  deinit { stopAll() }

  // MARK: What to do

  /// Puts requests at the end of what is to be loaded; those that wait or are under way stay where they are.
  ///
  /// - Parameters:
  ///   - requests: What to load, the most urgent first.
  ///   - onResult: Told of each request when it is done, also if it was in memory before, on any thread, and with an error of
  ///     code `.cancelled` if it is stopped or the prefetcher released; nobody by default. It may do anything.
  public func start(_ requests: [ImageRequest], onResult: OnResult? = nil) {
    add(requests.map { item($0, owner: 0, onResult) })
  }

  /// Loads addresses; see ``start(_:onResult:)``.
  public func start(_ urls: [URL], size: TargetSize? = nil) {
    start(urls.map { ImageRequest(url: $0, size: size) })
  }

  /// Loads requests and waits for all of them.
  ///
  /// Cancelling the awaiting task stops those that nobody else wants.
  ///
  /// - Parameter requests: What to load, the most urgent first.
  /// - Returns: What came of each, in the order of `requests`.
  public func load(_ requests: [ImageRequest]) async -> [Result<Void, LoadError>] {
    let outcomes = requests.map { _ in Deferred<Result<Void, LoadError>>() }
    let owner = state.withLock { state in
      defer { state.nextOwner += 1 }
      return state.nextOwner
    }
    add(
      zip(requests, outcomes).map { request, outcome in
        item(request, owner: owner) { _, result in outcome.resolve(result) }
      }
    )
    return await withTaskCancellationHandler {
      if Task.isCancelled { end(of: owner, requests) }
      var results: [Result<Void, LoadError>] = []
      for outcome in outcomes { results.append(await outcome.value()) }
      return results
    } onCancel: {
      end(of: owner, requests)
    }
  }

  /// Stops requests: what waits never begins, what is under way is cancelled unless someone else waits for it.
  public func stop(_ requests: [ImageRequest]) {
    end(of: nil, requests)
  }

  /// Stops everything; see ``stop(_:)``.
  public func stopAll() {
    let items = state.withLock { state in
      let ids = state.items.keys.sorted()
      return ids.compactMap { state.remove($0) }
    }
    cancel(items)
  }

  // MARK: How it is done

  /// Whether nothing more begins.
  ///
  /// What is under way goes on. `false` by default.
  public var isPaused: Bool {
    get { state.withLock { $0.isPaused } }
    set {
      state.withLock { $0.isPaused = newValue }
      schedule()
    }
  }

  /// How urgent the loads are, those under way included.
  public var priority: Priority {
    get { state.withLock { $0.priority } }
    set {
      let running = state.withLock { state in
        state.priority = newValue
        return state.items.values.compactMap(\.load)
      }
      for load in running { load.priority = newValue }
    }
  }

  /// How many are loaded at once, at least one; with fewer than before, what is under way goes on.
  public var maxConcurrentLoads: Int {
    get { state.withLock { $0.maxConcurrentLoads } }
    set {
      state.withLock { $0.maxConcurrentLoads = max(1, newValue) }
      schedule()
    }
  }

  /// What has been done.
  public struct Statistics: Sendable, Hashable {
    /// The requests that wait.
    public var waiting = 0
    /// Those under way.
    public var running = 0
    /// Those whose image, or bytes, came or was there.
    public var completed = 0
    /// Those that failed, not counting what was stopped.
    public var failed = 0

    package init(waiting: Int = 0, running: Int = 0, completed: Int = 0, failed: Int = 0) {
      (self.waiting, self.running, self.completed, self.failed) = (waiting, running, completed, failed)
    }
  }

  /// What has been done since the prefetcher was made.
  public var statistics: Statistics { state.withLock { $0.statistics } }

  // MARK: Doing it

  private func item(_ request: ImageRequest, owner: Int, _ tell: OnResult?) -> Item {
    Item(key: key(request), request: request, claims: [(owner, tell)])
  }

  /// To be made with no lock held: what names processors and sources may be a user's.
  private func key(_ request: ImageRequest) -> JobKey {
    pipeline.context.imageKey(of: request, step: request.processors.count)
  }

  private func add(_ items: [Item]) {
    state.withLock { state in
      for item in items { state.add(item) }
    }
    schedule()
  }

  private func schedule() {
    let isDue = state.withLock { state in
      guard !state.isScheduled, state.statistics.waiting > 0, state.mayBegin else { return false }
      state.isScheduled = true
      return true
    }
    guard isDue else { return }
    later { [weak self] in
      guard let self else { return }
      state.withLock { $0.isScheduled = false }
      while let (id, request, priority) = state.withLock({ $0.takeNext() }) { begin(id, request, priority) }
    }
  }

  /// Whether anything could come of loading a request; where there is no cache at all nobody said that nothing should.
  private func isOfUse(_ prepared: ImageRequest) -> Bool {
    let configuration = pipeline.configuration
    var targets = CacheAccess.none
    if configuration.diskCache != nil { targets.insert(.diskWrites) }
    if destination == .memory, configuration.memoryCache != nil { targets.insert(.memoryWrites) }
    return targets.isEmpty || !prepared.cacheAccess.isDisjoint(with: targets)
  }

  private func begin(_ id: Int, _ request: ImageRequest, _ priority: Priority) {
    let context = pipeline.context
    var request = request
    request.priority = priority
    let prepared = request.prepared(by: context.delegate)
    guard isOfUse(prepared) else { return ended(id, .success(())) }
    let load: any RunningLoad
    switch destination {
    case .memory:
      load = pipeline.imageTask(for: request, isWatching: false) { [weak self] event in
        guard case .finished(let result) = event else { return }
        self?.ended(id, result.map { _ in })
      }
    case .disk:
      let bytes = DataLoad(context) { [weak self] result in self?.ended(id, result.map { _ in }) }
      load = bytes
      context.turn { bytes.begin(prepared, priority: priority, storesOnlyImages: true, &$0) }
    }
    let known = state.withLock { state -> Priority? in
      guard state.items[id] != nil else { return nil }
      state.items[id]?.load = load
      return state.priority
    }
    guard let known else { return load.cancel() }
    if known != priority { load.priority = known }
  }

  /// Called when a load has ended; what follows is begun elsewhere, so that a long list is no deep stack.
  private func ended(_ id: Int, _ result: Result<Void, LoadError>) {
    let item = state.withLock { state -> Item? in
      guard let item = state.remove(id) else { return nil }
      if case .failure = result { state.statistics.failed += 1 } else { state.statistics.completed += 1 }
      return item
    }
    guard let item else { return }
    schedule()
    item.tell(result)
  }

  /// Withdraws the claims of an owner, or of all, and stops what nobody wants any more.
  private func end(of owner: Int?, _ requests: [ImageRequest]) {
    let keys = requests.map(key)
    cancel(state.withLock { state in keys.compactMap { state.withdraw($0, owner) } })
    schedule()
  }

  private func cancel(_ items: [Item]) {
    for item in items { item.load?.cancel() }
    for item in items { item.tell(.failure(LoadError(.cancelled, .request, item.request.name, "cancelled"))) }
  }
}
