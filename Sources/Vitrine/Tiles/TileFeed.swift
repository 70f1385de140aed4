import VitrineImaging
import VitrineRuntime

/// The tiles of some levels of a file, made in passes over it: one at a time, for all who wait.
final class TileFeed: Sendable {
  typealias Outcome = Result<Bitmap, LoadError>

  private struct Waiter {
    let outcome: Deferred<Outcome>
    /// The number of the pass that was running, or that began next.
    let pass: Int
  }

  private struct State {
    var waiters: [TilePlace: [Int: Waiter]] = [:]
    var listeners: [Int: AsyncStream<Outcome>.Continuation] = [:]
    var count = 0
    /// The number of passes so far.
    var pass = 0
    var isRunning = false
    var task: Task<Void, Never>?
    var item: WorkItem?
    /// The tiles that the running pass has made.
    var made: Set<TilePlace> = []
    /// The tiles that are on their way to the store.
    var saving: [TilePlace: Bitmap] = [:]
    var overview: Bitmap?
    /// The failure of a pass that another one would not change.
    var failure: LoadError?
    var isStopped = false
  }

  /// The maximum number of bytes of tiles on their way to the store.
  private static let savingLimit = 32 << 20
  /// The shortest time between two overviews.
  static let interval = Duration.milliseconds(100)

  /// The levels that a pass makes.
  let levels: ClosedRange<Int>
  /// The level of overviews.
  let overviewLevel: Int
  private let level: Int
  private let data: Data
  private let decoders: DecoderRegistry
  private let store: TileStore
  private let request: ImageRequest
  private let acceptsPartial: Bool
  private let grid: TileGrid
  private let context: JobContext
  private let budget = ByteBudget(limit: savingLimit)
  private let state = Lock(State())

  private var cancelled: LoadError { LoadError(.cancelled, .decode, request.name, "cancelled") }

  /// Makes a feed of `levels`; the decoder may halve the picture `level` times.
  init(
    _ data: Data,
    _ decoders: DecoderRegistry,
    _ store: TileStore,
    _ request: ImageRequest,
    acceptsPartial: Bool,
    level: Int,
    levels: ClosedRange<Int>,
    _ context: JobContext,
  ) {
    (self.data, self.decoders, self.store, self.request) = (data, decoders, store, request)
    (self.acceptsPartial, self.level, self.levels, self.context) = (acceptsPartial, level, levels, context)
    grid = store.grid
    let longest = max(grid.width, grid.height)
    overviewLevel =
      levels.first { TileGrid.reduced(longest, by: $0) <= TileReader.overviewSide } ?? grid.levels.upperBound
  }

  /// Stops the pass, for good.
  func stop() {
    state.withLock { $0.isStopped = true }
    end(nil, .failure(cancelled))
  }

  // MARK: Those who wait

  /// Returns a tile that is on its way to the store.
  func beingStored(_ tile: TilePlace) -> Bitmap? { state.withLock { $0.saving[tile] } }

  /// Waits for a tile of a pass; `nil` if the running one has just made it.
  ///
  /// With `isLast`, waits for the next pass then.
  func tile(_ tile: TilePlace, _ urgency: TileUrgency, isLast: Bool) async throws(LoadError) -> Bitmap? {
    let outcome = Deferred<Outcome>()
    let (number, isMade) = state.withLock { state -> (Int, Bool) in
      if state.made.contains(tile), !isLast { return (0, true) }
      state.count += 1
      if let failure = state.isStopped ? cancelled : state.failure {
        outcome.resolve(.failure(failure))
      } else {
        state.waiters[tile, default: [:]][state.count] = Waiter(outcome: outcome, pass: state.pass)
      }
      return (state.count, false)
    }
    guard !isMade else { return nil }
    begin()
    if let item = state.withLock({ $0.item }) { urgency.follow(item) }
    let result = await withTaskCancellationHandler {
      await outcome.value()
    } onCancel: {
      state.withLock { state in
        state.waiters[tile]?[number] = nil
        if state.waiters[tile]?.isEmpty == true { state.waiters[tile] = nil }
      }
      outcome.resolve(.failure(cancelled))
    }
    return try result.get()
  }

  /// The overview, once a pass has finished.
  var finishedOverview: Bitmap? { state.withLock { $0.overview } }

  /// Keeps an overview that was stored.
  func keep(overview: Bitmap) { state.withLock { $0.overview = overview } }

  /// Returns overviews of the running pass, or of the next one, until the finished one.
  func overviews() -> AsyncStream<Outcome> {
    let (stream, continuation) = AsyncStream.makeStream(of: Outcome.self, bufferingPolicy: .bufferingNewest(1))
    let number = state.withLock { state in
      state.count += 1
      return state.count
    }
    continuation.onTermination = { [weak self] _ in self?.state.withLock { $0.listeners[number] = nil } }
    let known = state.withLock { state -> Outcome? in
      if let overview = state.overview { return .success(overview) }
      if let failure = state.isStopped ? cancelled : state.failure { return .failure(failure) }
      state.listeners[number] = continuation
      return nil
    }
    if let known {
      continuation.yield(known)
      continuation.finish()
    } else {
      begin()
    }
    return stream
  }

  // MARK: The pass

  /// Begins a pass, unless one is running or nobody waits.
  private func begin() {
    let number = state.withLock { state -> Int? in
      guard !state.isRunning, !state.isStopped, !state.waiters.isEmpty || !state.listeners.isEmpty else { return nil }
      state.pass += 1
      (state.isRunning, state.made) = (true, [])
      return state.pass
    }
    guard let number else { return }
    let task = Task(executorPreference: context.stepper) { [self] in
      let tiles = levels.flatMap { grid.tiles(of: $0) }
      let missing = await store.missing(tiles)
      enqueue(number, missing)
    }
    state.withLock { if $0.pass == number, $0.isRunning { $0.task = task } }
  }

  private func enqueue(_ number: Int, _ missing: Set<TilePlace>) {
    guard state.withLock({ $0.pass == number && $0.isRunning }) else { return }
    do throws(WorkQueueError) {
      let item = try context.passQueue.enqueue(priority: request.priority) { [self] item in
        run(number, missing, item)
      }
      let isLate = state.withLock { state in
        guard state.pass == number, state.isRunning else { return true }
        state.item = item
        return false
      }
      if isLate { item.cancel() }
    } catch {
      end(
        number,
        .failure(LoadError(.overloaded, .decode, request.name, "too many images are waiting to be decoded")),
      )
    }
  }

  /// Runs a pass; blocks until done.
  private func run(_ number: Int, _ missing: Set<TilePlace>, _ item: WorkItem) {
    let share = MemoryShare(of: context.decodeBudget)
    var options = DecodeOptions()
    options.limits = context.configuration.decodeLimits
    options.cores = context.decodeCores
    options.colorSpace = request.colorSpace
    options.acceptsPartial = acceptsPartial
    options.isCancelled = { item.isCancelled }
    options.memoryShare = share
    let taker = PassTaker(self, missing, item)
    var relay = RowRelay(taker, niceness: JobContext.niceness, hasThread: context.stepper == nil)
    let pyramid = TilePyramid.byteCount(grid, base: level, canvas: overviewLevel)
    let held = pyramid + RowRelay<PassTaker>.byteCount + Self.savingLimit
    let result: Result<Bitmap?, ImageError>
    do throws(ImageError) {
      _ = try context.decodeWatch.run(item, share) {
        decoders.format(of: data)
      } onStuck: { [self] error in
        end(number, .failure(LoadError(error, .decode, request.name)))
      } _: { () throws(ImageError) in
        try decoders.readRows(of: data, options, level: level, held: held, &relay)
      }
      try relay.finish()
      result = .success(try relay.taker.finish())
    } catch {
      relay.cancel()
      result = .failure(error)
    }
    end(number, result.map { $0 }.mapError { LoadError($0, .decode, request.name) })
  }

  /// Ends a pass, or whichever is running, and begins another one for those who still wait.
  private func end(_ number: Int?, _ result: Result<Bitmap?, LoadError>) {
    let (waiters, listeners, item, task) = state.withLock { state in
      guard number == nil || number == state.pass, state.isRunning || number == nil else {
        return ([Deferred<Outcome>](), [AsyncStream<Outcome>.Continuation](), WorkItem?.none, Task<Void, Never>?.none)
      }
      defer { (state.item, state.task, state.isRunning, state.made) = (nil, nil, false, []) }
      var left: [Deferred<Outcome>] = []
      var listeners: [AsyncStream<Outcome>.Continuation] = []
      switch result {
      case .success(let overview):
        if let overview { state.overview = overview }
        // Those who came behind the tile wait for the next pass; the others' tile was not in this one.
        for (tile, waiters) in state.waiters {
          let late = waiters.filter { $0.value.pass >= state.pass }
          left += waiters.filter { $0.value.pass < state.pass }.map(\.value.outcome)
          state.waiters[tile] = late.isEmpty ? nil : late
        }
        if overview != nil {
          listeners = Array(state.listeners.values)
          state.listeners = [:]
        }
      case .failure(let error):
        if error.code == .undecodable { state.failure = error }
        left = state.waiters.values.flatMap { $0.values.map(\.outcome) }
        listeners = Array(state.listeners.values)
        (state.waiters, state.listeners) = ([:], [:])
      }
      return (left, listeners, state.item, state.task)
    }
    task?.cancel()
    item?.cancel()
    let lack = LoadError(.undecodable, .decode, request.name, "the tile was not made")
    let outcome: Outcome = result.flatMap { $0.map { .success($0) } ?? .failure(lack) }
    for waiter in waiters {
      if case .failure(let error) = result { waiter.resolve(.failure(error)) } else { waiter.resolve(.failure(lack)) }
    }
    for listener in listeners {
      listener.yield(outcome)
      listener.finish()
    }
    if case .success = result { begin() }
  }

  // MARK: For the pass

  /// Makes the pyramid for rows that are about to come.
  fileprivate func pyramid(_ head: RowHead, _ missing: Set<TilePlace>) throws(ImageError) -> TilePyramid {
    let size = head.info
    guard size.width == grid.width, size.height == grid.height else {
      throw ImageError(.corrupt, format: size.format, "corrupt: the picture has another size than its header says")
    }
    let levels = levels
    let memoryLevel = store.isInMemory ? store.memoryLevel : 0
    return TilePyramid(
      grid,
      base: head.level,
      head.orientation,
      hasAlpha: head.hasAlpha || acceptsPartial,
      request.colorSpace,
      canvas: overviewLevel,
    ) { [state] tile in
      guard levels.contains(tile.level) else { return false }
      return missing.contains(tile) && tile.level >= memoryLevel || state.withLock { $0.waiters[tile] != nil }
    }
  }

  /// Passes a tile on to those who wait, and has it stored.
  fileprivate func made(
    _ tile: TilePlace,
    _ bitmap: Bitmap,
    isMissing: Bool,
    _ item: WorkItem,
  ) throws(ImageError) {
    let keeps = isMissing && levels.contains(tile.level)
    if keeps {
      _ = try budget.acquire(bitmap.byteCount) { () throws(ImageError) in
        if item.isCancelled { throw ImageError(.cancelled, "cancelled") }
      }
    }
    let waiters = state.withLock { state in
      state.made.insert(tile)
      if keeps { state.saving[tile] = bitmap }
      return state.waiters.removeValue(forKey: tile)
    }
    // Before anybody hears of the tile, so that a `flush()` of theirs waits for it.
    if keeps {
      store.store(tile, bitmap) { [self, budget] in
        budget.release(bitmap.byteCount)
        state.withLock { $0.saving[tile] = nil }
      }
    }
    for waiter in (waiters ?? [:]).values { waiter.outcome.resolve(.success(bitmap)) }
  }

  /// True if somebody listens to overviews.
  fileprivate var hasListeners: Bool { state.withLock { !$0.listeners.isEmpty } }

  /// True if the rest of the pass is of use: there is a disk cache, or somebody waits.
  fileprivate var isNeeded: Bool {
    !store.isInMemory || state.withLock { !$0.waiters.isEmpty || $0.overview == nil }
  }

  fileprivate func show(_ overview: Bitmap) {
    for listener in state.withLock({ Array($0.listeners.values) }) { listener.yield(.success(overview)) }
  }

  fileprivate var uptime: Duration { context.clock.uptime }
}

/// Takes the rows of a pass.
private struct PassTaker: RowTaking {
  private let feed: TileFeed
  private let missing: Set<TilePlace>
  private let item: WorkItem
  private var pyramid: TilePyramid?
  private var lastShown: Duration
  private var isShort = false

  init(_ feed: TileFeed, _ missing: Set<TilePlace>, _ item: WorkItem) {
    (self.feed, self.missing, self.item) = (feed, missing, item)
    // There is something to see at once, and then now and then.
    lastShown = feed.uptime - TileFeed.interval + .milliseconds(20)
  }

  mutating func begin(_ head: RowHead) throws(ImageError) { pyramid = try feed.pyramid(head, missing) }

  mutating func take(_ row: UnsafeRawBufferPointer) throws(ImageError) {
    guard let pyramid else { return }
    try unsafe pyramid.push(row) { (tile, bitmap) throws(ImageError) in
      try feed.made(tile, bitmap, isMissing: missing.contains(tile), item)
    }
    guard pyramid.rowCount % 16 == 0, !pyramid.isComplete else { return }
    let now = feed.uptime
    guard now - lastShown >= TileFeed.interval else { return }
    lastShown = now
    if feed.hasListeners, let picture = pyramid.snapshot() { feed.show(picture) }
  }

  /// Returns the finished overview.
  func finish() throws(ImageError) -> Bitmap? {
    guard let pyramid else { return nil }
    try pyramid.fill { (tile, bitmap) throws(ImageError) in
      try feed.made(tile, bitmap, isMissing: missing.contains(tile), item)
    }
    return pyramid.snapshot()
  }
}
