import VitrineCaching
public import VitrineImaging
public import VitrineRuntime

/// A prefetcher of images that will probably be needed soon: a few at a time, behind all loads that callers wait for.
///
/// ```swift
/// let prefetcher = ImagePrefetcher(.shared)
/// prefetcher.start(requests)        // the next screen
/// prefetcher.stop(requests)         // it scrolled the other way
/// ```
/// A caller that requests one of the images shares its load and raises its priority. No load begins within
/// ``start(_:onResult:)``, so stopping in the same turn of a main loop costs nothing. Safe to use from any thread.
/// Releasing the prefetcher stops everything.
///
/// A request whose ``ImageRequest/cacheAccess`` excludes the destination is not loaded, since its result could not be
/// stored. It finishes in its turn, without an error.
public final class ImagePrefetcher: Sendable {
  /// The destination of prefetched images.
  public enum Destination: Sendable, Hashable {
    /// Memory, decoded and processed; the bytes are also stored on disk.
    case memory
    /// The disk; nothing is decoded.
    ///
    /// The pipeline checks only the header: bytes that are not an image are not stored.
    case disk
  }

  /// A closure called with each request and whether its image or bytes are available.
  package typealias OnResult = @Sendable (ImageRequest, Result<Void, LoadError>) -> Void

  /// A request that waits or is running.
  private struct Item {
    let key: LoadKey
    let request: ImageRequest
    /// The claims on the request; each call of ``load(_:)`` withdraws its own.
    var claims: [(owner: Int, tell: OnResult?)]
    var load: (any RunningLoad)?
    /// The number of times that the load was begun anew; the end of an earlier load does not count.
    var restarts = 0

    func tell(_ result: Result<Void, LoadError>) {
      for claim in claims { claim.tell?(request, result) }
    }
  }

  private struct State {
    var maxConcurrentLoads: Int
    var priority: Priority
    var isPaused = false
    var isScheduled = false
    /// The owner of the next ``load(_:)``; 0 is for all calls of `start`.
    var nextOwner = 1
    /// The waiting and running requests, numbered in order.
    var items: [Int: Item] = [:]
    var nextID = 0
    /// Items with lower numbers have begun or been stopped.
    var nextToBegin = 0
    /// The numbers by key.
    var ids: [LoadKey: Int] = [:]
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

    /// Returns the next item to begin, if one may begin.
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

    /// Withdraws the claims of an owner, or all for `nil`, and returns them, with the load if no claims are left.
    mutating func withdraw(_ key: LoadKey, _ owner: Int?) -> Item? {
      guard let id = ids[key], var item = items[id] else { return nil }
      let left = item.claims.filter { owner != nil && $0.owner != owner }
      guard !left.isEmpty else { return remove(id) }
      items[id]?.claims = left
      item.claims.removeAll { $0.owner != owner }
      item.load = nil
      return item
    }
  }

  /// The pipeline.
  public let pipeline: ImagePipeline
  /// The destination of the images.
  public let destination: Destination
  private let state: Lock<State>
  private let refreshes = Lock<(any Sendable)?>(nil)
  private let later: @Sendable (@escaping @Sendable () -> Void) -> Void

  /// Creates a prefetcher without requests.
  ///
  /// - Parameters:
  ///   - pipeline: The pipeline.
  ///   - destination: The destination of the images. Defaults to memory.
  ///   - maxConcurrentLoads: The maximum number of concurrent loads, at least 1. Defaults to 2.
  ///   - priority: The priority of the loads, whatever the requests' own. Defaults to `.low`.
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
    refreshes.withLock { $0 = pipeline.context.refreshes.add { [weak self] in self?.refreshed($0) } }
  }

  /// Stops everything; pending `onResult` closures are called with `.cancelled`.
  deinit { stopAll() }

  // MARK: Requests

  /// Appends requests to the queue; requests that are waiting or running keep their places.
  ///
  /// - Parameters:
  ///   - requests: The requests, the most urgent first.
  ///   - onResult: A closure called on any thread for each finished request, even if its image was in memory before. A
  ///     request that is stopped, or whose prefetcher is released, ends with code `.cancelled`. The closure may do
  ///     anything. Defaults to none.
  public func start(
    _ requests: [ImageRequest],
    onResult: (@Sendable (ImageRequest, Result<Void, LoadError>) -> Void)? = nil,
  ) {
    add(requests.map { item($0, owner: 0, onResult) })
  }

  /// Prefetches URLs; see ``start(_:onResult:)``.
  public func start(_ urls: [some URLConvertible], size: TargetSize? = nil) {
    start(urls.map { ImageRequest($0.imageSource, size: size) })
  }

  /// Prefetches requests and waits for all of them.
  ///
  /// Cancelling the awaiting task stops the requests that no other caller needs.
  ///
  /// - Parameter requests: The requests, the most urgent first.
  /// - Returns: The results, in the order of `requests`.
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

  /// Stops requests: waiting ones never begin, running ones are cancelled unless another caller waits for them.
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

  // MARK: Settings

  /// A Boolean value that indicates whether no further load begins; defaults to `false`.
  ///
  /// Running loads go on.
  public var isPaused: Bool {
    get { state.withLock { $0.isPaused } }
    set {
      state.withLock { $0.isPaused = newValue }
      schedule()
    }
  }

  /// The priority of all loads, including running ones.
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

  /// The maximum number of concurrent loads, at least 1; lowering it does not stop running ones.
  public var maxConcurrentLoads: Int {
    get { state.withLock { $0.maxConcurrentLoads } }
    set {
      state.withLock { $0.maxConcurrentLoads = max(1, newValue) }
      schedule()
    }
  }

  /// Counts of a prefetcher's requests.
  public struct Statistics: Sendable, Hashable {
    /// The number of waiting requests.
    public var waiting = 0
    /// The number of running requests.
    public var running = 0
    /// The number of requests whose image or bytes are available.
    public var completed = 0
    /// The number of failed requests, without stopped ones.
    public var failed = 0

    package init(waiting: Int = 0, running: Int = 0, completed: Int = 0, failed: Int = 0) {
      (self.waiting, self.running, self.completed, self.failed) = (waiting, running, completed, failed)
    }
  }

  /// The counts since the prefetcher was created.
  public var statistics: Statistics { state.withLock { $0.statistics } }

  /// The number of claims on requests that have not ended.
  package var claimCount: Int { state.withLock { $0.items.values.reduce(0) { $0 + $1.claims.count } } }

  // MARK: Loading

  private func item(_ request: ImageRequest, owner: Int, _ tell: OnResult?) -> Item {
    Item(key: key(request), request: request, claims: [(owner, tell)])
  }

  /// Returns the key of a request's load.
  ///
  /// Must be called with no lock held, since processors and sources may call the program's code for their names.
  private func key(_ request: ImageRequest) -> LoadKey {
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

  /// Returns `true` unless caches exist for the destination and the request may write to none of them.
  private func isOfUse(_ prepared: ImageRequest) -> Bool {
    let configuration = pipeline.configuration
    var targets = CacheAccess.none
    if configuration.diskCache != nil { targets.insert(.diskWrites) }
    if destination == .memory, configuration.memoryCache != nil { targets.insert(.memoryWrites) }
    return targets.isEmpty || !prepared.cacheAccess.isDisjoint(with: targets)
  }

  /// Begins running loads of a refreshed source anew, since no cache stores their results.
  private func refreshed(_ isRefreshed: (ImageRequest) -> Bool) {
    let running = state.withLock { state in state.items.filter { $0.key < state.nextToBegin } }
    for (id, item) in running.sorted(by: { $0.key < $1.key }) where isRefreshed(item.request) {
      let (old, number, priority) = state.withLock { state in
        let old = state.items[id]?.load.take()
        state.items[id]?.restarts += 1
        return (old, state.items[id]?.restarts, state.priority)
      }
      guard let number else { continue }
      begin(id, item.request, priority, number)
      old?.cancel()
    }
  }

  private func begin(_ id: Int, _ request: ImageRequest, _ priority: Priority, _ number: Int = 0) {
    let context = pipeline.context
    var request = request
    request.priority = priority
    let prepared = context.prepared(request)
    guard isOfUse(prepared) else { return ended(id, number, .success(())) }
    let load: any RunningLoad
    switch destination {
    case .memory:
      load = pipeline.imageTask(for: request, isWatching: false, isCaller: false) { [weak self] event in
        guard case .finished(let result) = event else { return }
        self?.ended(id, number, result.map { _ in })
      }
    case .disk:
      load = context.fetchForDisk(prepared, priority: priority) { [weak self] result in
        self?.ended(id, number, result.map { _ in })
      }
    }
    let known = state.withLock { state -> Priority? in
      guard state.items[id]?.restarts == number else { return nil }
      state.items[id]?.load = load
      return state.priority
    }
    guard let known else { return load.cancel() }
    if known != priority { load.priority = known }
  }

  /// Records the end of a load; the next load begins elsewhere, so that a long list does not grow the stack.
  private func ended(_ id: Int, _ number: Int, _ result: Result<Void, LoadError>) {
    let item = state.withLock { state -> Item? in
      guard state.items[id]?.restarts == number, let item = state.remove(id) else { return nil }
      if case .failure = result { state.statistics.failed += 1 } else { state.statistics.completed += 1 }
      return item
    }
    guard let item else { return }
    schedule()
    item.tell(result)
  }

  /// Withdraws the claims of an owner, or all for `nil`, and stops loads that have no claims left.
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
