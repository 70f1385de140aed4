import Vitrine
import VitrineImaging

/// The textures of one picture, within a limit of bytes.
///
/// Tiles are requested in the order in which they are wanted, a few at a time, and requests of tiles that are no longer
/// wanted are cancelled. Tiles that have come become textures, a few at each frame. The textures that have not been drawn
/// for the longest time leave first, but never a wanted one.
@MainActor
final class ZoomTiles {
  /// The maximum number of tiles that are requested at the same time.
  static let requestLimit = 6
  /// The maximum number of tiles that become textures at a frame: each is a megabyte for GTK to upload.
  static let frameLimit = 4

  private struct Entry {
    let texture: Texture
    var use: Int
  }

  private struct Request {
    let number: Int
    let task: Task<Void, Never>
  }

  let provider: any TileProviding
  /// The maximum number of bytes of textures.
  var limit: Int {
    didSet { trim() }
  }
  /// Called when there is something to draw, or a failure.
  var changed: () -> Void = {}

  /// The whole picture in a small size.
  private(set) var overview: Texture?
  /// True if the overview is the whole picture; until then, rows may be missing.
  private(set) var isOverviewFinished = false
  /// The error of a tile or of the overview, until ``retry()``.
  private(set) var failure: LoadError?
  /// The number of bytes of all pixels here.
  private(set) var byteCount = 0

  private var entries: [TilePlace: Entry] = [:]
  private var enlarged: [EnlargedBlock: Entry] = [:]
  private var arrived: [(place: TilePlace, bitmap: Bitmap)] = []
  private var requests: [TilePlace: Request] = [:]
  private var failed: Set<TilePlace> = []
  private var wanted: [TilePlace] = []
  private var wantedSet: Set<TilePlace> = []
  private var overviewTask: Task<Void, Never>?
  private var overviewLength = 0
  private var wantedOverviewLength = 0
  private var use = 0
  private var count = 0
  private var isStopped = false

  init(_ provider: any TileProviding, limit: Int) {
    (self.provider, self.limit) = (provider, limit)
  }

  /// Cancels all requests, and releases the textures.
  func stop() {
    isStopped = true
    for request in requests.values { request.task.cancel() }
    overviewTask?.cancel()
    (requests, entries, enlarged, arrived, overview, overviewTask) = ([:], [:], [:], [], nil, nil)
    (wanted, wantedSet, byteCount) = ([], [], 0)
  }

  /// Requests again what has failed.
  func retry() {
    guard failure != nil else { return }
    (failure, failed) = (nil, [])
    requestOverview()
    requestTiles()
  }

  // MARK: Tiles

  /// Says which tiles are visible, the most important first.
  func want(_ tiles: [TilePlace]) {
    guard tiles != wanted else { return }
    (wanted, wantedSet) = (tiles, Set(tiles))
    for (place, request) in requests where !wantedSet.contains(place) {
      request.task.cancel()
      requests[place] = nil
    }
    // They may be wanted again, but invisible tiles are not uploaded.
    arrived.removeAll { tile in
      guard !wantedSet.contains(tile.place) else { return false }
      byteCount -= tile.bitmap.byteCount
      return true
    }
    requestTiles()
    trim()
  }

  /// True if tiles wait to become textures.
  var hasArrivals: Bool { !arrived.isEmpty }
  /// True if a tile is wanted and neither there nor failed.
  var isIncomplete: Bool { wanted.contains { entries[$0] == nil && !failed.contains($0) } }
  /// The number of tiles that are requested.
  var requestCount: Int { requests.count }
  /// The number of enlarged blocks.
  var enlargedCount: Int { enlarged.count }
  /// The number of tiles that are textures.
  var textureCount: Int { entries.count }

  /// True if there is any tile's texture.
  var hasTextures: Bool { !entries.isEmpty }

  /// Returns the texture of a tile, which counts as a use.
  func texture(_ place: TilePlace) -> Texture? {
    guard entries[place] != nil else { return nil }
    use += 1
    entries[place]?.use = use
    return entries[place]?.texture
  }

  /// Returns whether a tile is a texture.
  func has(_ place: TilePlace) -> Bool { entries[place] != nil }

  /// Makes textures of tiles that have come; returns whether there are any.
  func upload(atMost limit: Int = ZoomTiles.frameLimit) -> Bool {
    guard !arrived.isEmpty else { return false }
    for tile in arrived.prefix(limit) {
      use += 1
      if let old = entries[tile.place] { byteCount -= old.texture.bitmap.byteCount }
      entries[tile.place] = Entry(texture: Texture(tile.bitmap), use: use)
    }
    arrived.removeFirst(min(limit, arrived.count))
    trim()
    return true
  }

  private func requestTiles() {
    guard !isStopped else { return }
    for place in wanted where requests.count < Self.requestLimit {
      guard requests[place] == nil, entries[place] == nil, !failed.contains(place),
        !arrived.contains(where: { $0.place == place })
      else { continue }
      request(place)
    }
  }

  private func request(_ place: TilePlace) {
    count += 1
    let (number, provider) = (count, provider)
    let task = Task { @MainActor [weak self] in
      let result: Result<Bitmap, LoadError>
      do throws(LoadError) {
        result = .success(try await provider.pixels(of: place, .high).drawable())
      } catch {
        result = .failure(error)
      }
      MainThreadWork.measure { self?.ended(place, number, result) }
    }
    requests[place] = Request(number: number, task: task)
  }

  private func ended(_ place: TilePlace, _ number: Int, _ result: Result<Bitmap, LoadError>) {
    // One that was cancelled may answer nevertheless.
    guard requests[place]?.number == number else { return }
    requests[place] = nil
    switch result {
    case .success(let bitmap):
      byteCount += bitmap.byteCount
      arrived.append((place, bitmap))
    case .failure(let error):
      failed.insert(place)
      if failure == nil, !error.isCancellation { failure = error }
    }
    requestTiles()
    changed()
  }

  // MARK: The overview

  /// Asks for an overview whose longer side has so many pixels, unless there is one.
  func wantOverview(_ length: Int) {
    guard length != wantedOverviewLength else { return }
    wantedOverviewLength = length
    // Those that come while a window is being resized are left out.
    if overviewTask == nil { requestOverview() }
  }

  /// True if an overview of the length that was asked for last is on its way.
  var awaitsOverview: Bool { overviewTask != nil }

  private func requestOverview() {
    guard !isStopped, wantedOverviewLength > 0, overviewTask == nil,
      !isOverviewFinished || overviewLength != wantedOverviewLength
    else { return }
    let (length, provider) = (wantedOverviewLength, provider)
    overviewTask = Task { @MainActor [weak self] in
      var error: (any Error)?
      do {
        for try await bitmap in provider.overviews(maximum: length) {
          let bitmap = await bitmap.drawable()
          guard !Task.isCancelled else { return }
          MainThreadWork.measure { self?.show(overview: bitmap) }
        }
      } catch let thrown {
        error = thrown
      }
      guard !Task.isCancelled else { return }
      MainThreadWork.measure { self?.overviewEnded(length, error) }
    }
  }

  private func show(overview bitmap: Bitmap) {
    guard !isStopped else { return }
    // A finished one is not replaced by less.
    if isOverviewFinished, bitmap.alpha != .opaque, overview?.bitmap.alpha == .opaque { return }
    byteCount += bitmap.byteCount - (overview?.bitmap.byteCount ?? 0)
    overview = Texture(bitmap)
    trim()
    changed()
  }

  private func overviewEnded(_ length: Int, _ error: (any Error)?) {
    guard !isStopped else { return }
    overviewTask = nil
    if let error {
      if let error = error as? LoadError, !error.isCancellation, failure == nil { failure = error }
    } else if overview != nil {
      (isOverviewFinished, overviewLength) = (true, length)
      requestOverview()
    }
    changed()
  }

  // MARK: Enlarged pixels

  /// Returns an enlarged part of a tile; if it is not there, makes it unless `mayMake` is `false`.
  func enlarged(_ block: EnlargedBlock, mayMake: Bool) -> Texture? {
    use += 1
    if enlarged[block] != nil {
      enlarged[block]?.use = use
      return enlarged[block]?.texture
    }
    guard mayMake, let tile = entries[block.tile], let bitmap = tile.texture.bitmap.enlarged(block) else { return nil }
    let texture = Texture(bitmap)
    enlarged[block] = Entry(texture: texture, use: use)
    byteCount += bitmap.byteCount
    trim()
    return texture
  }

  // MARK: The limit

  private func trim() {
    guard byteCount > limit else { return }
    // Enlarged pixels are made anew in no time; the newest belong to this frame.
    remove(&enlarged) { _ in true }
    remove(&entries) { !self.wantedSet.contains($0) }
  }

  private func remove<Key: Hashable>(_ entries: inout [Key: Entry], _ mayLeave: (Key) -> Bool) {
    guard byteCount > limit else { return }
    // A little more than necessary, so that this is not done for each tile.
    let target = limit - limit / 16
    for (key, entry) in entries.sorted(by: { $0.value.use < $1.value.use }) where mayLeave(key) {
      guard byteCount > target else { return }
      byteCount -= entry.texture.bitmap.byteCount
      entries[key] = nil
    }
  }
}
