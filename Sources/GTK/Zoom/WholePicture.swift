import Vitrine
import VitrineImaging
import VitrineTiles

/// A page behind the first one of a file, such as a TIFF's, which is in memory as a whole: files are read in passes for their first
/// page only.
final class WholePicture: TileProviding {
  let info: ImageInfo
  let origin: ImageResponse.Origin
  let isStale: Bool
  let damage: ImageError?
  let grid: TileGrid
  private let bitmap: Bitmap
  private let name: String

  init(_ response: ImageResponse, name: String) {
    bitmap = response.image
    self.name = name
    var info = ImageInfo(format: response.info.format, storedWidth: bitmap.width, storedHeight: bitmap.height)
    (info.frameCount, info.hasAlpha) = (response.info.frameCount, bitmap.alpha != .opaque)
    self.info = info
    (origin, isStale, damage) = (response.origin, response.isStale, response.container.damage)
    grid = TileGrid(width: bitmap.width, height: bitmap.height)
  }

  @concurrent
  func pixels(of tile: TilePlace, _ priority: Priority) async throws(LoadError) -> Bitmap {
    guard let region = grid.region(of: tile) else { throw failure("there is no such tile") }
    let (x, y) = (region.x << tile.level, region.y << tile.level)
    do throws(ImageError) {
      let part = try bitmap.cropped(
        x: x,
        y: y,
        width: min(region.width << tile.level, bitmap.width - x),
        height: min(region.height << tile.level, bitmap.height - y),
      )
      let size = TargetSize.pixels(Double(region.width), Double(region.height), .exact)
      return try tile.level == 0 ? part : part.resized(to: size)
    } catch {
      throw failure(error.detail)
    }
  }

  func overviews(maximum: Int) -> AsyncThrowingStream<Bitmap, any Error> {
    AsyncThrowingStream { continuation in
      let task = Task { [bitmap] in
        do {
          let isSmall = max(bitmap.width, bitmap.height) <= maximum
          let small = try await isSmall ? bitmap : Self.reduced(bitmap, to: maximum)
          continuation.yield(small)
          continuation.finish()
        } catch {
          continuation.finish(throwing: failure("\(error)"))
        }
      }
      continuation.onTermination = { _ in task.cancel() }
    }
  }

  @concurrent
  private static func reduced(_ bitmap: Bitmap, to maximum: Int) async throws -> Bitmap {
    try bitmap.resized(to: .pixels(Double(maximum)), isCancelled: { Task.isCancelled })
  }

  private func failure(_ detail: String) -> LoadError { LoadError(.undecodable, .decode, name, detail) }
}
