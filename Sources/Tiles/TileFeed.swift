import Vitrine
import VitrineImaging
import VitrineRuntime

/// The tiles of some levels of a file, made in passes over it.
///
/// One pass at a time serves all callers.
final class TileFeed: Sendable {
  /// A result of a pass.
  enum Part: Sendable {
    case tile(TilePlace, Bitmap)
    /// The picture, as far as it is decoded.
    case overview(Bitmap)
    /// The end of a pass over a file without rows.
    case none
  }

  typealias Passes = SharedWork<Int, Part, LoadError>

  private struct State {
    /// The number of callers that wait for a tile.
    var wanted: [TilePlace: Int] = [:]
    /// The tiles that the last pass has delivered.
    var made: Set<TilePlace> = []
    /// The tiles that are on their way to the store.
    var saving: [TilePlace: Bitmap] = [:]
    var listenerCount = 0
    var overview: Bitmap?
    /// The reason why a part of the picture is missing.
    var damage: ImageError?
    /// The error of a pass that another pass would repeat.
    var failure: LoadError?
  }

  /// The maximum number of bytes of tiles on their way to the store.
  private static let savingLimit = 32 << 20
  /// The minimum time between two overviews.
  static let interval = Duration.milliseconds(100)

  /// The levels that a pass makes.
  let levels: ClosedRange<Int>
  /// The level of overviews.
  let overviewLevel: Int
  private let level: Int
  private let source: PipelineResources.Source
  private let decoders: DecoderRegistry
  private let store: TileStore
  private let grid: TileGrid
  private let resources: PipelineResources
  private let budget = ByteBudget(limit: savingLimit)
  private let passes: Passes
  private let state = Lock(State())

  private var cancelled: LoadError { LoadError(cancelled: source.request.name) }

  /// Creates a feed of `levels`.
  ///
  /// The decoder halves the picture `level` times if it can.
  init(
    _ source: PipelineResources.Source,
    _ decoders: DecoderRegistry,
    _ store: TileStore,
    level: Int,
    levels: ClosedRange<Int>,
    _ resources: PipelineResources,
  ) {
    (self.source, self.decoders, self.store, self.resources) = (source, decoders, store, resources)
    (self.level, self.levels) = (level, levels)
    passes = Passes(executor: resources.executor)
    grid = store.grid
    let longest = max(grid.width, grid.height)
    overviewLevel =
      levels.first { TileGrid.reduced(longest, by: $0) <= TileReader.overviewSide } ?? grid.levels.upperBound
  }

  /// Stops the running pass, and prevents further ones.
  func stop() {
    state.withLock { $0.failure = cancelled }
    passes.cancelAll(cancelled)
  }

  // MARK: Waiting

  /// Returns a tile that is on its way to the store.
  func beingStored(_ tile: TilePlace) -> Bitmap? { state.withLock { $0.saving[tile] } }

  /// Waits until a pass delivers a tile; returns `nil` if the running pass has already delivered it.
  ///
  /// With `isLast`, it waits for the next pass instead.
  func tile(_ tile: TilePlace, _ handle: TileHandle, isLast: Bool) async throws(LoadError) -> Bitmap? {
    state.withLock { $0.wanted[tile, default: 0] += 1 }
    defer {
      state.withLock { state in
        let count = (state.wanted[tile] ?? 0) - 1
        state.wanted[tile] = count > 0 ? count : nil
      }
    }
    // If the running pass is already past the tile, the next one makes it.
    for _ in 0..<2 {
      let outcome = Deferred<Result<Bitmap?, LoadError>>()
      let pass = try join(handle.priority) { event in
        switch event {
        case .partial(.tile(tile, let bitmap)): outcome.resolve(.success(bitmap))
        case .finished(let result): outcome.resolve(result.map { _ in nil })
        case .identified, .progress, .partial: break
        }
      }
      handle.depend(on: DemandReceiver { pass.setPriority($0.priority) })
      defer { pass.cancel() }
      // The look-up follows the subscription, so that a tile is either in `made` or still to come.
      if !isLast, passes.isRunning(0), state.withLock({ $0.made.contains(tile) }) { return nil }
      if let bitmap = try await outcome.value(orCancelled: .failure(cancelled)).get() { return bitmap }
    }
    throw LoadError(.undecodable, .decode, source.request.name, "the tile was not made")
  }

  /// Joins the running pass, or begins one.
  private func join(
    _ priority: Priority,
    _ receive: @escaping @Sendable (Passes.Event) -> Void,
  ) throws(LoadError) -> SharedWorkSubscription<Int, Part, LoadError> {
    if let failure = state.withLock({ $0.failure }) { throw failure }
    return passes.subscribe(to: 0, WorkDemand(priority, .partials), receive: receive) {
      [self] handle throws(LoadError) in
      try await pass(handle)
    }
  }

  /// True while a pass is running.
  var isRunning: Bool { passes.isRunning(0) }

  /// The overview of a finished pass, or from the store.
  var finishedOverview: Bitmap? { state.withLock { $0.overview } }

  /// The damage that a pass has found, or that came with the overview from the store.
  var damage: ImageError? { state.withLock { $0.damage } }

  /// Sets the finished overview to one from the store, with its damage.
  func keep(overview: Bitmap, _ damage: ImageError?) {
    state.withLock { ($0.overview, $0.damage) = (overview, damage ?? $0.damage) }
  }

  /// Returns the overviews of the running pass, or of the next one, up to the finished one.
  func overviews() -> AsyncStream<Result<Bitmap, LoadError>> {
    AsyncStream(bufferingPolicy: .bufferingNewest(1)) { continuation in
      @Sendable
      func end(_ outcome: Result<Bitmap, LoadError>) {
        continuation.yield(outcome)
        continuation.finish()
      }
      if let known = finishedOverview { return end(.success(known)) }
      state.withLock { $0.listenerCount += 1 }
      do throws(LoadError) {
        let lack = LoadError(.undecodable, .decode, source.request.name, "the picture was not made")
        let pass = try join(source.request.priority) { event in
          switch event {
          case .partial(.overview(let picture)): continuation.yield(.success(picture))
          case .finished(.success(.overview(let picture))): end(.success(picture))
          case .finished(let result): end(result.flatMap { _ in .failure(lack) })
          case .identified, .progress, .partial: break
          }
        }
        continuation.onTermination = { [state] _ in
          state.withLock { $0.listenerCount -= 1 }
          pass.cancel()
        }
      } catch {
        state.withLock { $0.listenerCount -= 1 }
        end(.failure(error))
      }
    }
  }

  // MARK: The pass

  /// Makes all missing tiles, and continues without waiting callers, since the other tiles will probably be requested.
  private func pass(_ handle: WorkHandle<Int, Part, LoadError>) async throws(LoadError) -> Part {
    handle.keepRunning()
    state.withLock { $0.made = [] }
    let missing = await store.missing(levels.flatMap { grid.tiles(of: $0) })
    do throws(LoadError) {
      let priority = max(handle.priority, source.request.priority)
      let overview = try await resources.decode(source, isPass: true, priority: priority) { item in
        handle.depend(on: DemandReceiver { if item.priority < $0.priority { item.priority = $0.priority } })
      } _: { [self] item, options, job throws(ImageError) in
        try run(handle, missing, item, options, job)
      }
      guard let overview else { return .none }
      state.withLock { $0.overview = overview }
      return .overview(overview)
    } catch {
      if error.code == .undecodable { state.withLock { $0.failure = $0.failure ?? error } }
      throw error
    }
  }

  /// Runs a pass.
  ///
  /// Blocks.
  private func run(
    _ handle: WorkHandle<Int, Part, LoadError>,
    _ missing: Set<TilePlace>,
    _ item: WorkItem,
    _ options: DecodeOptions,
    _ job: DecodeJob,
  ) throws(ImageError) -> Bitmap? {
    let taker = PassTaker(self, handle, missing, item)
    var relay = RowRelay(taker, niceness: resources.niceness, hasThread: resources.executor == nil)
    let pyramid = TilePyramid.byteCount(grid, base: level, canvas: overviewLevel)
    let held = pyramid + RowRelay<PassTaker>.byteCount + Self.savingLimit
    do throws(ImageError) {
      let damage = try decoders.readRows(of: source.content, options, job, level: level, held: held, &relay)
      if let damage {
        state.withLock { $0.damage = damage }
        store.store(damage)
      }
      try relay.finish()
    } catch {
      relay.cancel()
      throw error
    }
    return try relay.taker.finish()
  }

  // MARK: For the pass

  /// Creates the pyramid for the rows of the pass.
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
      hasAlpha: head.hasAlpha || source.request.acceptsPartial,
      source.request.colorSpace,
      canvas: overviewLevel,
    ) { [state] tile in
      guard levels.contains(tile.level) else { return false }
      return missing.contains(tile) && tile.level >= memoryLevel || state.withLock { $0.wanted[tile] != nil }
    }
  }

  /// Delivers a tile to its waiting callers, and stores it.
  fileprivate func made(
    _ tile: TilePlace,
    _ bitmap: Bitmap,
    isMissing: Bool,
    _ handle: WorkHandle<Int, Part, LoadError>,
    _ item: WorkItem,
  ) throws(ImageError) {
    let keeps = isMissing && levels.contains(tile.level)
    if keeps {
      _ = try budget.acquire(bitmap.byteCount) { () throws(ImageError) in
        if item.isCancelled { throw ImageError(.cancelled, "cancelled") }
      }
    }
    state.withLock { state in
      state.made.insert(tile)
      if keeps { state.saving[tile] = bitmap }
    }
    // The store begins before the tile is delivered, so that a caller's `flush()` waits for it.
    if keeps {
      store.store(tile, bitmap) { [budget, state] in
        budget.release(bitmap.byteCount)
        state.withLock { $0.saving[tile] = nil }
      }
    }
    handle.send(partial: .tile(tile, bitmap))
  }

  /// A Boolean value that indicates whether overviews have listeners.
  fileprivate var hasListeners: Bool { state.withLock { $0.listenerCount > 0 } }

  fileprivate var uptime: Duration { resources.clock.uptime }
}

/// The receiver of the rows of a pass.
private struct PassTaker: RowTaking {
  private let feed: TileFeed
  private let handle: WorkHandle<Int, TileFeed.Part, LoadError>
  private let missing: Set<TilePlace>
  private let item: WorkItem
  private var pyramid: TilePyramid?
  private var lastShown: Duration

  init(
    _ feed: TileFeed,
    _ handle: WorkHandle<Int, TileFeed.Part, LoadError>,
    _ missing: Set<TilePlace>,
    _ item: WorkItem,
  ) {
    (self.feed, self.handle, self.missing, self.item) = (feed, handle, missing, item)
    // The first overview follows after 20 ms, and the others at intervals.
    lastShown = feed.uptime - TileFeed.interval + .milliseconds(20)
  }

  mutating func begin(_ head: RowHead) throws(ImageError) { pyramid = try feed.pyramid(head, missing) }

  mutating func take(_ row: UnsafeRawBufferPointer) throws(ImageError) {
    guard let pyramid else { return }
    try unsafe pyramid.push(row) { (tile, bitmap) throws(ImageError) in try made(tile, bitmap) }
    guard pyramid.rowCount % 16 == 0, !pyramid.isComplete else { return }
    let now = feed.uptime
    guard now - lastShown >= TileFeed.interval else { return }
    lastShown = now
    if feed.hasListeners, let picture = pyramid.snapshot() { handle.send(partial: .overview(picture)) }
  }

  private func made(_ tile: TilePlace, _ bitmap: Bitmap) throws(ImageError) {
    try feed.made(tile, bitmap, isMissing: missing.contains(tile), handle, item)
  }

  /// Returns the finished overview.
  func finish() throws(ImageError) -> Bitmap? {
    guard let pyramid else { return nil }
    try pyramid.fill { (tile, bitmap) throws(ImageError) in try made(tile, bitmap) }
    return pyramid.snapshot()
  }
}
