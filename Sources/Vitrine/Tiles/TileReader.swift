import VitrineCaching
import VitrineImaging
import VitrineRuntime

/// The file of a ``TiledImage``, and what makes its tiles.
final class TileReader: Sendable {
  /// The longest side of the picture that is made of a whole pass, in pixels.
  static let overviewSide = 2048

  let info: ImageInfo
  /// Where the file came from.
  let origin: ImageResponse.Origin
  /// True if the file was out of date.
  let isStale: Bool
  let grid: TileGrid
  /// True if there is no pass, and each tile is drawn by itself.
  private let isDrawn: Bool
  private let request: ImageRequest
  private let context: JobContext
  private let data: Data
  private let decoders: DecoderRegistry
  private let acceptsPartial: Bool
  private let store: TileStore
  /// The pass that makes the coarse levels, and an overview of them: all levels, unless the decoder makes a smaller
  /// picture in less time.
  private let coarse: TileFeed
  /// The pass that makes the finer levels of a file without an index; `nil` if ``coarse`` makes all.
  private let fine: TileFeed?
  private let index: TileIndex?
  private let loads = TileLoads()
  /// The finest level of a drawing that can be drawn within the limits, as far as known.
  private let drawable: Lock<Int>

  private var source: String { request.name }

  /// Reads the header; blocks until done.
  init(
    _ bytes: FetchedBytes,
    _ request: ImageRequest,
    acceptsPartial: Bool,
    _ context: JobContext,
  ) throws(ImageError) {
    (data, self.request, self.context, self.acceptsPartial) = (bytes.data, request, context, acceptsPartial)
    (origin, isStale) = (bytes.origin, bytes.isStale)
    decoders = context.decoders.decoders(for: request, of: data)
    info = try decoders.info(of: data, limits: context.configuration.decodeLimits)
    isDrawn = info.isVector && decoders.drawsParts(of: info.format)
    grid = TileGrid(width: info.width, height: info.height, finest: isDrawn ? TileGrid.finestDrawn(info) : 0)
    drawable = Lock(grid.levels.lowerBound)
    let isKnown = bytes.contentID != .none && !bytes.contentID.isOfBeginning
    let contentID = isKnown ? bytes.contentID : ContentID(of: data)
    store = TileStore(request, contentID, grid, acceptsPartial: acceptsPartial, context)
    let isJPEG = info.format == .jpeg && decoders.decodesJPEGItself
    let longest = max(info.width, info.height)
    let base = isJPEG ? (0..<3).first { TileGrid.reduced(longest, by: $0) <= Self.overviewSide } ?? 3 : 0
    let (data, decoders, store) = (data, decoders, store)
    func feed(_ level: Int, _ levels: ClosedRange<Int>) -> TileFeed {
      TileFeed(data, decoders, store, request, acceptsPartial: acceptsPartial, level: level, levels: levels, context)
    }
    coarse = feed(base, base...grid.levels.upperBound)
    fine = base > 0 ? feed(0, 0...base - 1) : nil
    let mayIndex = isJPEG && base > 0 && info.streamsRows && info.colorModel != .cmyk
    index = mayIndex ? TileIndex(data, request, context) : nil
  }

  /// Stops all work.
  func stop() {
    coarse.stop()
    fine?.stop()
    index?.stop()
  }

  // MARK: Tiles

  func tile(_ tile: TilePlace, _ priority: Priority) async throws(LoadError) -> Bitmap {
    guard grid.region(of: tile) != nil else {
      let detail = "no tile \(tile.column), \(tile.row) at level \(tile.level)"
      throw LoadError(.undecodable, .request, source, detail)
    }
    return try await loads.value(of: tile, source, priority) { [self] (urgency) throws(LoadError) in
      try await make(tile, urgency)
    }
  }

  private func make(_ tile: TilePlace, _ urgency: TileUrgency) async throws(LoadError) -> Bitmap {
    if isDrawn { return try await draw(tile, urgency) }
    if tile.level >= coarse.levels.lowerBound { return try await stored(tile, coarse, urgency) }
    if let index = try await index?.value(urgency.priority) {
      return try await decode(urgency) { [options] item, share throws(ImageError) in
        var options = options
        options.isCancelled = { item.isCancelled }
        options.memoryShare = share
        return try index.tile(tile, of: self.grid, halvings: max(0, tile.level - 1), options)
      }
    }
    return try await stored(tile, fine ?? coarse, urgency)
  }

  /// Returns a tile that is stored, or else that a pass makes.
  private func stored(_ tile: TilePlace, _ feed: TileFeed, _ urgency: TileUrgency) async throws(LoadError) -> Bitmap {
    for isLast in [false, true] {
      if let bitmap = feed.beingStored(tile) { return bitmap }
      if let bitmap = await store.tile(tile, urgency.priority) { return bitmap }
      // A pass that has passed the tile a moment ago has stored it since the look-up, or could not.
      if let bitmap = try await feed.tile(tile, urgency, isLast: isLast) { return bitmap }
    }
    throw LoadError(.undecodable, .decode, source, "the tile \(tile.column), \(tile.row) was not made")
  }

  private var options: DecodeOptions {
    var options = DecodeOptions()
    options.limits = context.configuration.decodeLimits
    options.cores = context.decodeCores
    options.colorSpace = request.colorSpace
    options.acceptsPartial = acceptsPartial
    return options
  }

  /// Draws a tile of a drawing.
  ///
  /// Effects take surfaces of the size of the whole drawing, and letters can be so large that FreeType fails. Where that
  /// is so, the tile is enlarged from the finest level at which the drawing can be drawn.
  private func draw(_ tile: TilePlace, _ urgency: TileUrgency) async throws(LoadError) -> Bitmap {
    guard let region = grid.region(of: tile) else {
      throw LoadError(.undecodable, .decode, source, "no tile \(tile.column), \(tile.row) at level \(tile.level)")
    }
    if tile.level >= drawable.withLock({ $0 }) {
      var options = options
      let size = grid.size(of: tile.level)
      options.drawnPart = DrawnPart(ofWidth: size.width, height: size.height, region: region)
      do throws(LoadError) {
        return try await decode(urgency) { [options, data, decoders] item, share throws(ImageError) in
          var options = options
          options.isCancelled = { item.isCancelled }
          options.memoryShare = share
          return try decoders.decode(data, options).bitmap
        }
      } catch {
        guard tile.level < 0, let cause = error.cause as? ImageError,
          cause.code == .overLimit || cause.code == .corrupt
        else { throw error }
        drawable.withLock { $0 = max($0, tile.level + 1) }
      }
    }
    // Below level 0, each level is exactly twice the size of the next.
    let side = TileGrid.side / 2
    let coarser = TilePlace(level: tile.level + 1, column: tile.column / 2, row: tile.row / 2)
    let bitmap = try await self.tile(coarser, urgency.priority)
    let part = PixelRegion(
      x: tile.column % 2 * side,
      y: tile.row % 2 * side,
      width: region.width / 2,
      height: region.height / 2,
    )
    let size = TargetSize.pixels(Double(region.width), Double(region.height), .exact, enlarges: true)
    let limits = context.configuration.decodeLimits
    return try await context.tileWork(context.processQueue, source, urgency.priority) { item throws(ImageError) in
      try bitmap.cropped(x: part.x, y: part.y, width: part.width, height: part.height)
        .resized(to: size, limits: limits, isCancelled: { item.isCancelled })
    }
  }

  /// Runs a decode on the decode queue, within the memory of all decodes.
  ///
  /// Cancelling the awaiting task cancels the decode, which is not waited for; nor is one that is stuck.
  private func decode(
    _ urgency: TileUrgency,
    _ body: @escaping @Sendable (WorkItem, MemoryShare) throws(ImageError) -> Bitmap,
  ) async throws(LoadError) -> Bitmap {
    let (context, decoders, data, source) = (context, decoders, data, source)
    let outcome = Deferred<Result<Bitmap, LoadError>>()
    let item: WorkItem
    do throws(WorkQueueError) {
      item = try context.decodeQueue.enqueue(priority: urgency.priority) { item in
        let share = MemoryShare(of: context.decodeBudget)
        do throws(ImageError) {
          let bitmap = try context.decodeWatch.run(item, share) {
            decoders.format(of: data)
          } onStuck: { error in
            outcome.resolve(.failure(LoadError(error, .decode, source)))
          } _: { () throws(ImageError) in
            try body(item, share)
          }
          outcome.resolve(.success(bitmap))
        } catch {
          outcome.resolve(.failure(LoadError(error, .decode, source)))
        }
      }
    } catch {
      throw LoadError(.overloaded, .decode, source, "too many images are waiting to be decoded")
    }
    urgency.follow(item)
    let result = await withTaskCancellationHandler {
      await outcome.value()
    } onCancel: {
      item.cancel()
      outcome.resolve(.failure(LoadError(.cancelled, .decode, source, "cancelled")))
    }
    return try result.get()
  }

  // MARK: Overviews

  /// Passes pictures of at most `maximum` pixels on the longer side to `show`, until the finished one.
  func overviews(maximum: Int, show: @Sendable (Bitmap) -> Void) async throws(LoadError) {
    if isDrawn { return show(try await drawOverview(maximum)) }
    if let known = coarse.finishedOverview { return show(try await resized(known, maximum)) }
    if let stored = await store.picture(ofLevel: coarse.overviewLevel) {
      coarse.keep(overview: stored)
      return show(try await resized(stored, maximum))
    }
    for await result in coarse.overviews() {
      show(try await resized(try result.get(), maximum))
    }
    guard !Task.isCancelled else { throw LoadError(.cancelled, .decode, source, "cancelled") }
  }

  private func drawOverview(_ maximum: Int) async throws(LoadError) -> Bitmap {
    var options = options
    options.size = .pixels(Double(maximum))
    return try await decode(TileUrgency(request.priority)) {
      [options, data, decoders] item, share throws(ImageError) in
      var options = options
      options.isCancelled = { item.isCancelled }
      options.memoryShare = share
      return try decoders.decode(data, options).bitmap
    }
  }

  private func resized(_ bitmap: Bitmap, _ maximum: Int) async throws(LoadError) -> Bitmap {
    guard max(bitmap.width, bitmap.height) > maximum else { return bitmap }
    let limits = context.configuration.decodeLimits
    return try await context.tileWork(context.processQueue, source, request.priority) { item throws(ImageError) in
      try bitmap.resized(to: .pixels(Double(maximum)), limits: limits, isCancelled: { item.isCancelled })
    }
  }
}

extension TileGrid {
  /// Returns the finest level at which a drawing is drawn: at most 2^18 pixels long.
  fileprivate static func finestDrawn(_ info: ImageInfo) -> Int {
    var level = 0
    while max(info.width, info.height) << (1 - level) <= 1 << 18 { level -= 1 }
    return level
  }
}
