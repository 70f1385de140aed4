import Vitrine
import VitrineImaging
import VitrineRuntime

/// The handle by which the work on a tile follows its callers.
typealias TileHandle = WorkHandle<TilePlace, Bitmap, LoadError>

/// The file of a ``TiledImage``, and the passes and the index that make its tiles.
final class TileReader: Sendable {
  /// The maximum length of an overview's longer side, in pixels.
  static let overviewSide = 2048

  let info: ImageInfo
  let source: PipelineResources.Source
  let grid: TileGrid
  /// A Boolean value that indicates whether each tile is drawn by itself, without a pass.
  private let isDrawn: Bool
  let resources: PipelineResources
  private let decoders: DecoderRegistry
  private let store: TileStore
  /// The pass that makes the coarse levels and the overviews.
  ///
  /// It makes all levels, unless the decoder decodes a reduced picture in less time.
  private let coarse: TileFeed
  /// The pass that makes the finer levels of a file without an index; `nil` if ``coarse`` makes all levels.
  private let fine: TileFeed?
  /// The index of a baseline JPEG; `nil` for other files.
  private let index: TileIndex?
  private let loads: SharedWork<TilePlace, Bitmap, LoadError>
  /// The largest overview that was decoded without a pass, with its damage.
  private let decoded = Lock<(longest: Int, bitmap: Bitmap, damage: ImageError?)?>(nil)
  /// The finest level at which a drawing is known or assumed to be drawable within the limits.
  private let drawable: Lock<Int>

  private var name: String { source.request.name }

  /// The damage of the file, once a pass has found it, or the store says so.
  var damage: ImageError? { coarse.damage ?? fine?.damage ?? decoded.withLock { $0?.damage } }

  /// Reads the header.
  ///
  /// Blocks.
  init(
    _ source: PipelineResources.Source,
    _ limits: DecodeLimits,
    _ resources: PipelineResources,
  ) throws(ImageError) {
    (self.source, self.resources) = (source, resources)
    loads = SharedWork(executor: resources.executor)
    let decoders = resources.decoders(of: source)
    self.decoders = decoders
    info = try decoders.info(of: source.content, limits: limits)
    isDrawn = info.isVector && decoders.drawsParts(of: info.format)
    grid = TileGrid(width: info.width, height: info.height, finest: isDrawn ? TileGrid.finestDrawn(info) : 0)
    drawable = Lock(grid.levels.lowerBound)
    let store = TileStore(source, grid, resources)
    self.store = store
    let isJPEG = info.format == .jpeg && decoders.decodesJPEGItself
    let longest = max(info.width, info.height)
    let base = isJPEG ? (0..<3).first { TileGrid.reduced(longest, by: $0) <= Self.overviewSide } ?? 3 : 0
    func feed(_ level: Int, _ levels: ClosedRange<Int>) -> TileFeed {
      TileFeed(source, decoders, store, level: level, levels: levels, resources)
    }
    coarse = feed(base, base...grid.levels.upperBound)
    fine = base > 0 ? feed(0, 0...base - 1) : nil
    let mayIndex = isJPEG && base > 0 && info.streamsRows && info.colorModel != .cmyk
    index = mayIndex ? TileIndex(source, resources) : nil
  }

  /// Stops all work.
  func stop() {
    coarse.stop()
    fine?.stop()
    index?.stop()
  }

  // MARK: Tiles

  func tile(_ tile: TilePlace, _ priority: Priority) async throws(LoadError) -> Bitmap {
    guard let region = grid.region(of: tile) else {
      let detail = "no tile \(tile.column), \(tile.row) at level \(tile.level)"
      throw LoadError(.undecodable, .request, name, detail)
    }
    return try await loads.value(of: tile, WorkDemand(priority), cancelled: LoadError(cancelled: name)) {
      [self] (handle) throws(LoadError) in
      try await make(tile, region, handle)
    }
  }

  private func make(
    _ tile: TilePlace,
    _ region: PixelRegion,
    _ handle: TileHandle,
  ) async throws(LoadError) -> Bitmap {
    if isDrawn { return try await draw(tile, region, handle) }
    if tile.level >= coarse.levels.lowerBound { return try await stored(tile, coarse, handle) }
    if let index = try await index?.value(handle.priority) {
      return try await decode(handle) { [grid] options, _ throws(ImageError) in
        try index.tile(tile, of: grid, halvings: max(0, tile.level - 1), options)
      }
    }
    return try await stored(tile, fine ?? coarse, handle)
  }

  /// Returns a tile from the store, or from a pass.
  private func stored(_ tile: TilePlace, _ feed: TileFeed, _ handle: TileHandle) async throws(LoadError) -> Bitmap {
    for isLast in [false, true] {
      if let bitmap = feed.beingStored(tile) { return bitmap }
      if let bitmap = await store.tile(tile, handle.priority) { return bitmap }
      // If the running pass is already past the tile, it has stored it since the look-up, or has failed to.
      if let bitmap = try await feed.tile(tile, handle, isLast: isLast) { return bitmap }
    }
    throw LoadError(.undecodable, .decode, name, "the tile \(tile.column), \(tile.row) was not made")
  }

  /// Draws a tile of a drawing.
  ///
  /// Effects take surfaces of the size of the whole drawing, and letters can be so large that FreeType fails. In these
  /// cases the tile is enlarged from the finest level at which the drawing can be drawn.
  private func draw(
    _ tile: TilePlace,
    _ region: PixelRegion,
    _ handle: TileHandle,
  ) async throws(LoadError) -> Bitmap {
    if tile.level >= drawable.withLock({ $0 }) {
      let size = grid.size(of: tile.level)
      let part = DrawnPart(ofWidth: size.width, height: size.height, region: region)
      do throws(LoadError) {
        return try await decode(handle) { [source, decoders] options, job throws(ImageError) in
          var options = options
          options.drawnPart = part
          return try decoders.decode(source.content, options, job).bitmap
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
    let bitmap = try await self.tile(coarser, handle.priority)
    let (x, y) = (tile.column % 2 * side, tile.row % 2 * side)
    let size = TargetSize.pixels(Double(region.width), Double(region.height), .exact, enlarges: true)
    return try await resources.process(name, priority: handle.priority) { item, limits throws(ImageError) in
      try bitmap.cropped(x: x, y: y, width: region.width / 2, height: region.height / 2)
        .resized(to: size, limits: limits, isCancelled: { item.isCancelled })
    }
  }

  /// Decodes on the queue of decodes, with the highest priority of the waiting callers.
  private func decode(
    _ handle: TileHandle,
    _ body: @escaping @Sendable (DecodeOptions, DecodeJob) throws(ImageError) -> Bitmap,
  ) async throws(LoadError) -> Bitmap {
    try await resources.decode(source, priority: handle.priority) { item in
      handle.depend(on: item)
    } _: { (_, options, job) throws(ImageError) in
      try body(options, job)
    }
  }

  // MARK: Overviews

  /// Passes pictures of at most `maximum` pixels on the longer side to `show`, up to the finished one.
  func overviews(maximum: Int, show: @Sendable (Bitmap) -> Void) async throws(LoadError) {
    if isDrawn { return show(try await whole(maximum).bitmap) }
    if let known = coarse.finishedOverview { return show(try await resized(known, maximum)) }
    if let stored = await store.picture(ofLevel: coarse.overviewLevel) {
      coarse.keep(overview: stored, await store.damage(of: info.format))
      return show(try await resized(stored, maximum))
    }
    guard coarse.isRunning else { return show(try await decodeOverview(min(maximum, Self.overviewSide))) }
    for await result in coarse.overviews() {
      show(try await resized(try result.get(), maximum))
    }
    guard !Task.isCancelled else { throw LoadError(cancelled: name) }
  }

  /// Decodes the picture at the size of an overview, which costs a fraction of a pass, which makes all tiles.
  private func decodeOverview(_ maximum: Int) async throws(LoadError) -> Bitmap {
    if let known = decoded.withLock({ $0 }), known.longest >= maximum {
      return try await resized(known.bitmap, maximum)
    }
    let image = try await whole(maximum)
    decoded.withLock { $0 = (maximum, image.bitmap, image.damage) }
    return image.bitmap
  }

  /// Decodes or draws the picture with at most `maximum` pixels on the longer side.
  private func whole(_ maximum: Int) async throws(LoadError) -> ImageContainer {
    try await resources.decode(source, priority: source.request.priority) {
      [source, decoders] (_, options, job) throws(ImageError) in
      var options = options
      options.size = .pixels(Double(maximum))
      return try decoders.decode(source.content, options, job)
    }
  }

  private func resized(_ bitmap: Bitmap, _ maximum: Int) async throws(LoadError) -> Bitmap {
    guard max(bitmap.width, bitmap.height) > maximum else { return bitmap }
    return try await resources.process(name, priority: source.request.priority) { item, limits throws(ImageError) in
      try bitmap.resized(to: .pixels(Double(maximum)), limits: limits, isCancelled: { item.isCancelled })
    }
  }
}

/// The index of a baseline JPEG, which is made once, for the first tile that needs it: a picture that is looked at as a whole
/// needs none.
final class TileIndex: Sendable {
  private let source: PipelineResources.Source
  let resources: PipelineResources
  private let work: SharedWork<Int, JPEGIndex?, LoadError>
  private let made = Lock<Result<JPEGIndex?, LoadError>?>(nil)

  init(_ source: PipelineResources.Source, _ resources: PipelineResources) {
    (self.source, self.resources, work) = (source, resources, SharedWork(executor: resources.executor))
  }

  /// Returns the index as soon as it is made, or `nil` if the file has none.
  func value(_ priority: Priority) async throws(LoadError) -> JPEGIndex? {
    if let known = made.withLock({ $0 }) { return try known.get() }
    let cancelled = LoadError(cancelled: source.request.name)
    return try await work.value(of: 0, WorkDemand(priority), cancelled: cancelled) { [make] handle throws(LoadError) in
      try await make(handle)
    }
  }

  private func make(_ handle: WorkHandle<Int, JPEGIndex?, LoadError>) async throws(LoadError) -> JPEGIndex? {
    if let known = made.withLock({ $0 }) { return try known.get() }
    let result: Result<JPEGIndex?, LoadError>
    do throws(LoadError) {
      result = .success(
        try await resources.decode(source, priority: handle.priority) { item in
          handle.depend(on: item)
        } _: { [source] (item, options, _) throws(ImageError) in
          do throws(ImageError) {
            return try JPEGIndex(source.data, limits: options.limits) { item.isCancelled }
          } catch {
            // Files with several scans or other colours are decoded in a pass, and so are damaged ones.
            guard error.code == .unsupported || source.request.acceptsPartial && error.isDamage else { throw error }
            return nil
          }
        }
      )
    } catch {
      result = .failure(error)
    }
    // The result is set before callers receive it and could ask again.
    made.withLock { $0 = result }
    return try result.get()
  }

  /// Stops making the index.
  func stop() { work.cancelAll(LoadError(cancelled: source.request.name)) }
}

extension LoadError {
  init(cancelled name: String) { self.init(.cancelled, .decode, name, "cancelled") }
}

extension TileGrid {
  /// Returns the finest level at which a drawing is drawn: at most 2^18 pixels long.
  fileprivate static func finestDrawn(_ info: ImageInfo) -> Int {
    var level = 0
    while max(info.width, info.height) << (1 - level) <= 1 << 18 { level -= 1 }
    return level
  }
}
