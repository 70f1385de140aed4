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

  /// What is to be done for one request.
  fileprivate struct Item {
    let request: ImageRequest
    /// Those who want it; each call of ``load(_:)`` may change its mind alone.
    var claims: [(owner: Int, tell: OnResult?)]
  }

  fileprivate struct Running {
    var item: Item
    var load: (any RunningLoad)?
  }

  /// What a stop has to deal with once the lock is open: the item as it was, whom to tell, and a load that nobody wants.
  fileprivate struct Withdrawal {
    let item: Item
    let told: [OnResult]
    let load: (any RunningLoad)?
  }

  fileprivate struct State {
    var width: Int
    var priority: Priority
    var isPaused = false
    var isScheduled = false
    var nextID = 0
    /// Of ``load(_:)``; 0 stands for all who only start.
    var nextOwner = 1
    /// What waits, in the order in which it was asked for.
    var waiting: [Int: Item] = [:]
    var order: [Int] = []
    var orderStart = 0
    var running: [Int: Running] = [:]
    /// The number of what waits or runs, by what is asked for.
    var ids: [Key: Int] = [:]
    var completed = 0
    var failed = 0
  }

  fileprivate struct Key: Hashable {
    let image: CacheKey
    let policy: CachePolicy
    let caches: CacheUse

    init(_ request: ImageRequest) {
      (image, policy, caches) = (request.imageKey, request.policy, request.caches)
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
  ///   - width: How many are loaded at once, 2 by default; at least one.
  ///   - priority: How urgent they are; `.low` by default, whatever the requests say.
  public convenience init(
    _ pipeline: ImagePipeline,
    destination: Destination = .memory,
    width: Int = 2,
    priority: Priority = .low,
  ) {
    self.init(pipeline, destination: destination, width: width, priority: priority) { begin in Task { begin() } }
  }

  package init(
    _ pipeline: ImagePipeline,
    destination: Destination = .memory,
    width: Int = 2,
    priority: Priority = .low,
    later: @escaping @Sendable (@escaping @Sendable () -> Void) -> Void,
  ) {
    (self.pipeline, self.destination, self.later) = (pipeline, destination, later)
    state = Lock(State(width: max(1, width), priority: priority))
  }

  /// Stops everything, and says so to whoever asked to be told.
  deinit {
    let (items, loads) = state.withLock { state in
      let running = state.running.values
      return (state.waiting.values + running.map(\.item), running.compactMap(\.load))
    }
    for load in loads { load.cancel() }
    for item in items {
      let error = LoadError(.cancelled, .request, item.request.name, "cancelled")
      for claim in item.claims { claim.tell?(item.request, .failure(error)) }
    }
  }

  // MARK: What to do

  /// Puts requests at the end of what is to be loaded; those that wait or are under way stay where they are.
  ///
  /// - Parameters:
  ///   - requests: What to load, the most urgent first.
  ///   - onResult: Told of each request when it is done, also if it was in memory before, on any thread, and with an error of
  ///     code `.cancelled` if it is stopped or the prefetcher released; nobody by default. It may do anything.
  public func start(_ requests: [ImageRequest], onResult: OnResult? = nil) {
    state.withLock { state in
      for request in requests { state.add(request, owner: 0, onResult) }
    }
    schedule()
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
      let owner = state.nextOwner
      state.nextOwner += 1
      for (request, outcome) in zip(requests, outcomes) {
        state.add(request, owner: owner) { _, result in outcome.resolve(result) }
      }
      return owner
    }
    schedule()
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
    let requests = state.withLock { state in
      state.ids.values.sorted().compactMap { (state.waiting[$0] ?? state.running[$0]?.item)?.request }
    }
    end(of: nil, requests)
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
        return state.running.values.compactMap(\.load)
      }
      for load in running { load.priority = newValue }
    }
  }

  /// How many are loaded at once, at least one; with fewer than before, what is under way goes on.
  public var width: Int {
    get { state.withLock { $0.width } }
    set {
      state.withLock { $0.width = max(1, newValue) }
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
  public var statistics: Statistics {
    state.withLock { state in
      Statistics(
        waiting: state.waiting.count,
        running: state.running.count,
        completed: state.completed,
        failed: state.failed,
      )
    }
  }

  // MARK: Doing it

  private func schedule() {
    let isDue = state.withLock { state in
      guard !state.isScheduled, !state.isPaused, !state.waiting.isEmpty, state.running.count < state.width else {
        return false
      }
      state.isScheduled = true
      return true
    }
    guard isDue else { return }
    later { [weak self] in
      guard let self else { return }
      state.withLock { $0.isScheduled = false }
      beginAll()
    }
  }

  private func beginAll() {
    while let (id, request, priority) = state.withLock({ $0.takeNext() }) { begin(id, request, priority) }
  }

  /// Whether anything could come of loading a request; where there is no cache at all nobody said that nothing should.
  private func isOfUse(_ request: ImageRequest) -> Bool {
    let (configuration, context) = (pipeline.configuration, pipeline.context)
    var targets = CacheUse.none
    if configuration.diskCache != nil { targets.insert(.diskWrites) }
    if destination == .memory, configuration.memoryCache != nil { targets.insert(.memoryWrites) }
    return targets.isEmpty || !request.prepared(by: context.delegate).caches.isDisjoint(with: targets)
  }

  private func begin(_ id: Int, _ request: ImageRequest, _ priority: Priority) {
    guard isOfUse(request) else { return ended(id, .success(())) }
    var request = request
    request.priority = priority
    let load: any RunningLoad
    switch destination {
    case .memory:
      load = pipeline.startLoading(request, isWatching: false) { [weak self] event in
        guard case .finished(let result) = event else { return }
        self?.ended(id, result.map { _ in })
      }
    case .disk:
      let context = pipeline.context
      let prepared = request.prepared(by: context.delegate)
      let bytes = DataLoad(context, priority: priority) { [weak self] result in self?.ended(id, result.map { _ in }) }
      load = bytes
      bytes.begin(prepared) { [decoders = context.decoders] in decoders.isImage($0.data, prepared) }
    }
    let known = state.withLock { state -> Priority? in
      guard state.running[id] != nil else { return nil }
      state.running[id]?.load = load
      return state.priority
    }
    guard let known else { return load.cancel() }
    if known != priority { load.priority = known }
  }

  /// Called when a load has ended; what follows is begun elsewhere, so that a long list is no deep stack.
  private func ended(_ id: Int, _ result: Result<Void, LoadError>) {
    let item = state.withLock { state -> Item? in
      guard let running = state.running.removeValue(forKey: id) else { return nil }
      state.ids[Key(running.item.request)] = nil
      if case .failure = result { state.failed += 1 } else { state.completed += 1 }
      return running.item
    }
    guard let item else { return }
    schedule()
    for claim in item.claims { claim.tell?(item.request, result) }
  }

  /// Withdraws the claims of an owner, or of all, and stops what nobody wants any more.
  private func end(of owner: Int?, _ requests: [ImageRequest]) {
    let left = state.withLock { state in requests.compactMap { state.withdraw($0, owner) } }
    for one in left { one.load?.cancel() }
    for one in left {
      let error = LoadError(.cancelled, .request, one.item.request.name, "cancelled")
      for tell in one.told { tell(one.item.request, .failure(error)) }
    }
    schedule()
  }
}

extension ImagePrefetcher.State {
  fileprivate mutating func add(_ request: ImageRequest, owner: Int, _ tell: ImagePrefetcher.OnResult?) {
    let key = ImagePrefetcher.Key(request)
    if let id = ids[key] {
      waiting[id]?.claims.append((owner, tell))
      running[id]?.item.claims.append((owner, tell))
      return
    }
    let id = nextID
    nextID += 1
    ids[key] = id
    waiting[id] = ImagePrefetcher.Item(request: request, claims: [(owner, tell)])
    // What was stopped is still in line; not for long.
    if order.count - orderStart > 2 * waiting.count + 64 || orderStart > 1024 {
      order = order[orderStart...].filter { waiting[$0] != nil }
      orderStart = 0
    }
    order.append(id)
  }

  /// Withdraws claims to a request; `nil` where there is nothing of it.
  fileprivate mutating func withdraw(_ request: ImageRequest, _ owner: Int?) -> ImagePrefetcher.Withdrawal? {
    let key = ImagePrefetcher.Key(request)
    guard let id = ids[key], let item = waiting[id] ?? running[id]?.item else { return nil }
    let left = item.claims.filter { $0.owner != owner && owner != nil }
    let told = item.claims.filter { $0.owner == owner || owner == nil }.compactMap(\.tell)
    guard left.isEmpty else {
      if waiting[id] != nil { waiting[id]?.claims = left } else { running[id]?.item.claims = left }
      return ImagePrefetcher.Withdrawal(item: item, told: told, load: nil)
    }
    ids[key] = nil
    waiting[id] = nil
    return ImagePrefetcher.Withdrawal(item: item, told: told, load: running.removeValue(forKey: id)?.load)
  }

  /// The next to begin, if one may.
  fileprivate mutating func takeNext() -> (id: Int, request: ImageRequest, priority: Priority)? {
    guard !isPaused, running.count < width else { return nil }
    while orderStart < order.count {
      let id = order[orderStart]
      orderStart += 1
      guard let item = waiting.removeValue(forKey: id) else { continue }
      running[id] = ImagePrefetcher.Running(item: item)
      return (id, item.request, priority)
    }
    (order, orderStart) = ([], 0)
    return nil
  }
}

extension DataLoad: RunningLoad {}
