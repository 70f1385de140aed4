import Vitrine
import VitrineImaging
import VitrineCaching
import VitrineRuntime

/// The store of a file's tiles from passes: the pipeline's disk cache, or memory if there is none.
final class TileStore: Sendable {
  /// The maximum size of the tiles in memory, in bytes, without a disk cache.
  private static let memoryLimit = 96 << 20

  private let key: CacheKey
  private let contentID: ContentID
  let grid: TileGrid
  private let name: String
  private let resources: PipelineResources
  private let reads: (any DataCaching)?
  private let writes: (any DataCaching)?
  /// The tiles without a disk cache, and the holds of the coarse ones, which are evicted last.
  private let memory: MemoryCache<Bitmap>?
  private let holds = Lock<[MemoryCacheHold]>([])

  init(
    _ source: PipelineResources.Source,
    _ grid: TileGrid,
    _ resources: PipelineResources,
  ) {
    let (request, contentID) = (source.request, source.contentID)
    (self.contentID, self.grid, self.resources) = (contentID, grid, resources)
    name = request.name
    reads = resources.disk(for: request, .diskReads)
    writes = resources.disk(for: request, .diskWrites)
    memory = writes == nil ? MemoryCache(costLimit: Self.memoryLimit, eviction: .leastRecentlyUsed) : nil
    key = CacheKey { key in
      key.append("tile")
      key.append(TileCoding.version)
      // A client that may not share an image must not learn that another one has it, either.
      key.append(request.cachePartition)
      key.append(Int(truncatingIfNeeded: contentID.low))
      key.append(Int(truncatingIfNeeded: contentID.high))
      key.append(request.colorSpace.rawValue)
      key.append(request.acceptsPartial)
    }
  }

  private func key(of tile: TilePlace) -> CacheKey {
    key.extended { key in
      key.append(tile.level)
      key.append(tile.column)
      key.append(tile.row)
    }
  }

  /// A Boolean value that indicates whether tiles are stored in memory only.
  var isInMemory: Bool { writes == nil }

  /// The lowest level whose tiles all fit in memory.
  var memoryLevel: Int {
    grid.levels.first { level in
      let size = grid.size(of: level)
      return level >= 0 && 4 * size.width * size.height <= Self.memoryLimit / 3
    } ?? grid.levels.upperBound
  }

  /// Returns the tiles that are not in the store.
  func missing(_ tiles: [TilePlace]) async -> Set<TilePlace> {
    guard let reads else { return Set(tiles.filter { memory?.contains(key(of: $0)) != true }) }
    let heads = await reads.heads(for: tiles.map(key(of:)))
    return Set(zip(tiles, heads).filter { $0.1 == nil }.map(\.0))
  }

  /// Returns a tile from the store.
  func tile(_ tile: TilePlace, _ priority: Priority) async -> Bitmap? {
    if let known = memory?.value(for: key(of: tile)) { return known }
    guard let reads, let entry = await reads.entry(for: key(of: tile)), let size = grid.region(of: tile) else {
      return nil
    }
    // The pass that follows replaces a damaged entry.
    return try? await resources.process(name, priority: priority) { _, _ in
      TileCoding.bitmap(of: entry.data, width: size.width, height: size.height)
    }
  }

  /// Returns a whole level of stored tiles; `nil` if one is missing.
  func picture(ofLevel level: Int) async -> Bitmap? {
    let tiles = grid.tiles(of: level)
    guard await missing(tiles).isEmpty else { return nil }
    var parts: [(PixelRegion, Bitmap)] = []
    for place in tiles {
      guard let region = grid.region(of: place), let bitmap = await tile(place, .high) else { return nil }
      parts.append((region, bitmap))
    }
    let size = grid.size(of: level)
    return try? await resources.process(name, priority: .high) { [parts] _, _ in
      Bitmap(width: size.width, height: size.height, joining: parts)
    }
  }

  /// Stores a tile, and calls `end` when it can be read.
  ///
  /// Does not block.
  func store(_ tile: TilePlace, _ bitmap: Bitmap, end: @escaping @Sendable () -> Void) {
    guard let writes else {
      let key = key(of: tile)
      memory?.store(bitmap, for: key, cost: bitmap.byteCount)
      if tile.level >= memoryLevel, let hold = memory?.hold(key) { holds.withLock { $0.append(hold) } }
      return end()
    }
    // The write is registered, so that the cache's `flush()` waits for it and for its encoding on a worker.
    resources.addWrite { [resources, name, contentID, key = key(of: tile)] in
      let encoded = try? await resources.process(name, priority: .low) { _, _ in TileCoding.data(of: bitmap) }
      let data = encoded ?? TileCoding.data(of: bitmap)
      await writes.store(Self.entry(data, contentID, resources.clock.now), for: key)
      end()
    }
  }

  /// Stores the damage of the tiles' file beside them; in memory, the reader keeps it.
  func store(_ damage: ImageError) {
    guard let writes else { return }
    let text = "\(damage.code)\n\(damage.detail)"
    let entry = Self.entry(Data(text.utf8), contentID, resources.clock.now)
    resources.addWrite { [entry, key = damageKey] in await writes.store(entry, for: key) }
  }

  /// Returns the damage that was stored with the tiles.
  func damage(of format: ImageFormat) async -> ImageError? {
    guard let reads, let entry = await reads.entry(for: damageKey) else { return nil }
    let parts = String(decoding: entry.data, as: UTF8.self).split(separator: "\n", maxSplits: 1).map(String.init)
    return parts.first.flatMap { ImageError.Code($0) }.map { ImageError($0, format: format, parts.last ?? "") }
  }

  private var damageKey: CacheKey { key.extended { $0.append("damage") } }

  private static func entry(_ data: Data, _ contentID: ContentID, _ now: Date) -> CachedData {
    var entry = CachedData(data: data, kind: .finished, contentID: contentID, stored: now)
    entry.isMachineLocal = true
    return entry
  }
}
