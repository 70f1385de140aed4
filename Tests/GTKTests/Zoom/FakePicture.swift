@testable import Vitrine
import VitrineImaging
import VitrineRuntime
import VitrineTestSupport
import VitrineTesting

@testable import VitrineGTK

/// A picture whose every tile the test delivers, also after its request was cancelled.
final class FakePicture: TileProviding {
  typealias Outcome = Result<Bitmap, LoadError>
  /// The colour at a place, in pixels of the picture.
  typealias Color = @Sendable (_ x: Double, _ y: Double) -> SIMD4<UInt8>

  final class Ask: Sendable {
    let place: TilePlace
    fileprivate let outcome = Deferred<Outcome>()
    private let cancelled = Lock(false)

    fileprivate init(_ place: TilePlace) { self.place = place }

    var isCancelled: Bool { cancelled.withLock { $0 } }
    fileprivate func cancel() { cancelled.withLock { $0 = true } }
  }

  private struct State {
    var isAutomatic: Bool
    var failing: Set<TilePlace> = []
    /// The failure of all tiles and overviews.
    var failure: LoadError?
    var asks: [Ask] = []
    var overviews: [AsyncThrowingStream<Bitmap, any Error>.Continuation] = []
    var lengths: [Int] = []
    var tiles: [TilePlace] = []
  }

  let info: ImageInfo
  let origin = ImageResponse.Origin.local
  let isStale = false
  let damage: ImageError? = nil
  let grid: TileGrid
  let color: Color
  private let state: Lock<State>

  /// Makes a picture; with `isAutomatic`, everything is there at once.
  init(
    width: Int,
    height: Int,
    isAutomatic: Bool = true,
    hasAlpha: Bool = false,
    frameCount: Int = 1,
    isVector: Bool = false,
    orientation: Orientation = .up,
    color: @escaping Color,
  ) {
    let stored = orientation.applied(width: width, height: height)
    var info = ImageInfo(
      format: .png,
      storedWidth: stored.width,
      storedHeight: stored.height,
      orientation: orientation,
    )
    (info.hasAlpha, info.isVector) = (hasAlpha, isVector)
    (info.frameCount, info.duration) = (frameCount, frameCount > 1 ? 1 : 0)
    self.info = info
    grid = TileGrid(width: width, height: height, finest: isVector ? -4 : 0)
    self.color = color
    state = Lock(State(isAutomatic: isAutomatic))
  }

  /// A photograph whose colours change slowly.
  static func slow(_ width: Int = 4000, _ height: Int = 3000, isAutomatic: Bool = true) -> FakePicture {
    FakePicture(width: width, height: height, isAutomatic: isAutomatic, color: FakeColors.slow(width, height))
  }

  // MARK: For the test

  /// The requests that have not been answered, cancelled ones, too.
  var asks: [Ask] { state.withLock { $0.asks } }
  /// The tiles that have been asked for, in order.
  var askedTiles: [TilePlace] { state.withLock { $0.tiles } }
  /// The lengths of the overviews that have been asked for.
  var lengths: [Int] { state.withLock { $0.lengths } }
  var waitsForOverview: Bool { state.withLock { !$0.overviews.isEmpty } }

  /// The failure that everything has from now on.
  var failure: LoadError? {
    get { state.withLock { $0.failure } }
    set { state.withLock { $0.failure = newValue } }
  }

  /// Makes a tile fail, or succeed again.
  func fail(_ place: TilePlace, _ fails: Bool = true) {
    state.withLock { if fails { $0.failing.insert(place) } else { $0.failing.remove(place) } }
  }

  static let error = LoadError(.undecodable, .decode, "picture", "damaged")

  /// Delivers a tile, cancelled or not: its answer may have been under way already.
  func answer(_ ask: Ask) {
    state.withLock { $0.asks.removeAll { $0 === ask } }
    ask.outcome.resolve(.success(bitmap(ask.place)))
  }

  /// Shows a part of the overview, its upper rows.
  func sendOverview(_ share: Double = 1, maximum: Int = 256) {
    let bitmap = overview(maximum, share)
    for stream in state.withLock({ $0.overviews }) { stream.yield(bitmap) }
    if share >= 1 {
      let streams = state.withLock { state in
        defer { state.overviews = [] }
        return state.overviews
      }
      for stream in streams { stream.finish() }
    }
  }

  /// The pixels of a tile.
  func bitmap(_ place: TilePlace) -> Bitmap {
    let region = grid.region(of: place) ?? PixelRegion(x: 0, y: 0, width: 1, height: 1)
    let (unit, size) = (ZoomGeometry.power(place.level), grid.size(of: place.level))
    let first = info.orientation.upright(x: 0, y: 0, width: 2, height: 2)
    let left = first.x > 0 ? Double(grid.width) - Double(size.width) * unit : 0
    let top = first.y > 0 ? Double(grid.height) - Double(size.height) * unit : 0
    return .pixels(width: region.width, height: region.height, alpha: info.hasAlpha ? .straight : .opaque) { x, y in
      color(left + (Double(region.x + x) + 0.5) * unit, top + (Double(region.y + y) + 0.5) * unit)
    }
  }

  private func overview(_ maximum: Int, _ share: Double) -> Bitmap {
    let unit = max(1, Double(max(grid.width, grid.height)) / Double(maximum))
    let (width, height) = (Int((Double(grid.width) / unit).rounded()), Int((Double(grid.height) / unit).rounded()))
    let known = Int(Double(height) * share)
    let isOpaque = share >= 1 && !info.hasAlpha
    return .pixels(width: max(1, width), height: max(1, height), alpha: isOpaque ? .opaque : .straight) { x, y in
      y < known ? color((Double(x) + 0.5) * unit, (Double(y) + 0.5) * unit) : SIMD4(0, 0, 0, 0)
    }
  }

  // MARK: TileProviding

  func pixels(of tile: TilePlace, _ priority: Priority) async throws(LoadError) -> Bitmap {
    let ask = Ask(tile)
    let known = state.withLock { state -> Outcome? in
      state.tiles.append(tile)
      if let failure = state.failure { return .failure(failure) }
      if state.failing.contains(tile) { return .failure(Self.error) }
      if state.isAutomatic { return .success(bitmap(tile)) }
      state.asks.append(ask)
      return nil
    }
    if let known { return try known.get() }
    let outcome = await withTaskCancellationHandler {
      await ask.outcome.value()
    } onCancel: {
      ask.cancel()
    }
    return try outcome.get()
  }

  func overviews(maximum: Int) -> AsyncThrowingStream<Bitmap, any Error> {
    AsyncThrowingStream { continuation in
      let (failure, isAutomatic) = state.withLock { state in
        state.lengths.append(maximum)
        if state.failure == nil, !state.isAutomatic { state.overviews.append(continuation) }
        return (state.failure, state.isAutomatic)
      }
      if let failure { return continuation.finish(throwing: failure) }
      guard isAutomatic else { return }
      continuation.yield(overview(maximum, 1))
      continuation.finish()
    }
  }
}

/// Opens pictures of a test's own, by the names of their requests.
final class FakeOpener: PictureOpening {
  private struct State {
    var pictures: [String: FakePicture] = [:]
    var opened: [String] = []
    var forgotten: [String] = []
    var variant: CachedVariant?
    var animations: [String: AnimatedImage] = [:]
    var animationSizes: [TargetSize?] = []
  }

  private let state = Lock(State())

  init(_ pictures: [String: FakePicture] = [:]) { state.withLock { $0.pictures = pictures } }

  /// The picture of a name; without one, opening fails.
  subscript(name: String) -> FakePicture? {
    get { state.withLock { $0.pictures[name] } }
    set { state.withLock { $0.pictures[name] = newValue } }
  }

  /// The names that have been opened.
  var opened: [String] { state.withLock { $0.opened } }
  var forgotten: [String] { state.withLock { $0.forgotten } }

  var variant: CachedVariant? {
    get { state.withLock { $0.variant } }
    set { state.withLock { $0.variant = newValue } }
  }

  /// The animations by name.
  var animations: [String: AnimatedImage] {
    get { state.withLock { $0.animations } }
    set { state.withLock { $0.animations = newValue } }
  }
  /// The sizes in which animations were asked for.
  var animationSizes: [TargetSize?] { state.withLock { $0.animationSizes } }

  func animation(_ request: ImageRequest) async throws(LoadError) -> AnimatedImage? {
    let animation = state.withLock { state in
      state.animationSizes.append(request.size)
      return state.animations[request.label]
    }
    guard let animation else { throw LoadError(.fetchFailed, .fetch, request.label, "failed") }
    return animation
  }

  func open(
    _ request: ImageRequest,
    _ progress: @escaping @Sendable (LoadProgress) -> Void,
  ) async throws(LoadError) -> any TileProviding {
    let picture = state.withLock { state in
      state.opened.append(request.label)
      return state.pictures[request.label]
    }
    guard let picture else { throw LoadError(.fetchFailed, .fetch, request.label, "failed") }
    return picture
  }

  func cachedVariant(for request: ImageRequest) -> CachedVariant? { variant }

  func forgetFailure(of request: ImageRequest) { state.withLock { $0.forgotten.append(request.label) } }
}

/// Pictures that are easily told from others.
enum FakeColors {
  /// Another colour at each pixel.
  static let noise: FakePicture.Color = { x, y in
    var hash = UInt32(truncatingIfNeeded: Int(x)) &* 0x9E37_79B1 ^ UInt32(truncatingIfNeeded: Int(y)) &* 0x85EB_CA77
    hash = (hash ^ hash >> 15) &* 0xC2B2_AE3D
    hash ^= hash >> 13
    return SIMD4(UInt8(hash & 255), UInt8(hash >> 8 & 255), UInt8(hash >> 16 & 255), 255)
  }

  /// Colours that change slowly, over a picture of a size.
  static func slow(_ width: Int, _ height: Int) -> FakePicture.Color {
    { x, y in
      let (across, down) = (min(max(x / Double(width), 0), 1), min(max(y / Double(height), 0), 1))
      return SIMD4(UInt8(30 + 200 * across), UInt8(20 + 210 * down), UInt8(40 + 100 * (across + down)), 255)
    }
  }

  static func solid(_ color: SIMD4<UInt8>) -> FakePicture.Color { { _, _ in color } }
}
