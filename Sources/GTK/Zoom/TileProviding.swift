import Vitrine
import VitrineImaging
import VitrineTiles

/// A picture that a ``ZoomPicture`` shows; a `TiledImage` outside of tests.
protocol TileProviding: AnyObject, Sendable {
  /// The facts of the file's header.
  var info: ImageInfo { get }
  /// The origin of the file's bytes.
  var origin: ImageResponse.Origin { get }
  /// True if the file's bytes were out of date.
  var isStale: Bool { get }
  /// The reason why a part of the picture is missing, once it is known.
  var damage: ImageError? { get }
  /// The levels of the picture, and their tiles.
  var grid: TileGrid { get }

  /// Returns the pixels of a tile.
  func pixels(of tile: TilePlace, _ priority: Priority) async throws(LoadError) -> Bitmap

  /// Returns the whole picture in a small size, as far as it is known; the last one is finished.
  func overviews(maximum: Int) -> AsyncThrowingStream<Bitmap, any Error>
}

extension TiledImage: TileProviding {
  var grid: TileGrid { TileGrid(width: info.width, height: info.height, finest: levels.lowerBound) }

  func pixels(of tile: TilePlace, _ priority: Priority) async throws(LoadError) -> Bitmap {
    try await self.tile(Tile(level: tile.level, column: tile.column, row: tile.row), priority: priority)
  }
}

/// Opens pictures; an `ImagePipeline` outside of tests.
protocol PictureOpening: AnyObject, Sendable {
  /// Fetches a picture's bytes, and opens the request's page of it; `progress` is called on any thread.
  func open(
    _ request: ImageRequest,
    _ progress: @escaping @Sendable (LoadProgress) -> Void,
  ) async throws(LoadError) -> any TileProviding

  /// Returns the frames of an animation, at the size of the request.
  func animation(_ request: ImageRequest) async throws(LoadError) -> AnimatedImage?

  /// Returns the closest image in memory.
  func cachedVariant(for request: ImageRequest) -> CachedVariant?

  /// Forgets that a request's sources have failed, so that the next load asks their servers.
  func forgetFailure(of request: ImageRequest)
}

extension ImagePipeline: PictureOpening {
  func open(
    _ request: ImageRequest,
    _ progress: @escaping @Sendable (LoadProgress) -> Void,
  ) async throws(LoadError) -> any TileProviding {
    guard request.frame > 0 else { return try await tiledImage(for: request, progress: progress) }
    var page = request
    (page.size, page.processors, page.animates) = (nil, [], false)
    return WholePicture(try await imageTask(for: page).response, name: page.name)
  }

  func animation(_ request: ImageRequest) async throws(LoadError) -> AnimatedImage? {
    try await imageTask(for: request).response.animation
  }
}

extension Bitmap {
  /// Returns the pixels as GDK takes them without a conversion; called off the main thread.
  @concurrent
  func drawable() async -> Bitmap { colorSpace == .sRGB ? self : converted(to: .sRGB) }
}
