import Testing
import Vitrine
import VitrineImaging
import VitrineRuntime
import VitrineTestSupport
import VitrineTesting
import VitrineTiles

@testable import Vitrine

@Suite(.patient)
struct TiledImageTests {
  private let parts = PipelineParts()
  private let pipeline: ImagePipeline

  init() { pipeline = ImagePipeline.testing(parts) }

  private func request(_ name: String) throws -> ImageRequest {
    ImageRequest(.data(try Photograph.data(name), id: name))
  }

  static let files = [
    "waterfall-cliff-large.jpg", "waterfall-cliff-orientation-3.jpg", "waterfall-cliff-orientation-6.jpg",
    "waterfall-visitor-orientation-7.jpg", "lighthouse-progressive.jpg", "white-lighthouse-adam7.png",
    "hibiscus-window-alpha.png", "motocross-lossy.webp", "rafting-still.gif",
  ]

  /// Every pixel of the finest tiles is that of the whole picture.
  @Test(arguments: files)
  func theTilesOfLevel0AreTheDecodedPicture(name: String) async throws {
    let request = try request(name)
    let whole = try await pipeline.image(for: request)
    let image = try await pipeline.tiledImage(for: request)
    #expect((image.info.width, image.info.height) == (whole.width, whole.height))
    let side = TiledImage.tileSize
    let (columns, rows) = image.tileCount(ofLevel: 0)
    var wrong = 0
    for row in 0..<rows {
      for column in 0..<columns {
        let tile = try await image.tile(TiledImage.Tile(level: 0, column: column, row: row))
        #expect(tile.width == min(side, whole.width - column * side))
        #expect(tile.height == min(side, whole.height - row * side))
        for y in 0..<tile.height {
          for x in 0..<tile.width where tile[x, y] != whole[column * side + x, row * side + y] { wrong += 1 }
        }
      }
    }
    #expect(wrong == 0)
  }

  /// Each level halves the one before; the last one fits into a tile.
  @Test(arguments: files)
  func eachLevelIsHalfOfTheOneBefore(name: String) async throws {
    let image = try await pipeline.tiledImage(for: try request(name))
    var size = (image.info.width, image.info.height)
    for level in image.levels {
      #expect(image.size(ofLevel: level) == size)
      let tile = try await image.tile(TiledImage.Tile(level: level, column: 0, row: 0))
      #expect((tile.width, tile.height) == (min(512, size.0), min(512, size.1)))
      size = ((size.0 + 1) / 2, (size.1 + 1) / 2)
    }
    #expect(image.tileCount(ofLevel: image.levels.upperBound) == (1, 1))
  }

  @Test
  func theOverviewEndsWithTheWholePicture() async throws {
    let image = try await pipeline.tiledImage(for: try request("white-lighthouse-adam7.png"))
    var last: Bitmap?
    for try await overview in image.overviews(maximum: 200) { last = overview }
    let overview = try #require(last)
    #expect(max(overview.width, overview.height) == 200)
    #expect((0..<overview.height).allSatisfy { overview[0, $0].w == 255 })
  }

  @Test(arguments: [(-1, 0, 0), (0, 100, 0), (0, 0, -1), (40, 0, 0), (.max, .max, .max), (.min, .min, .min)])
  func aTileOutsideThePictureIsAnError(level: Int, column: Int, row: Int) async throws {
    let image = try await pipeline.tiledImage(for: try request("waterfall-cliff-large.jpg"))
    let error = await #expect(throws: LoadError.self) {
      try await image.tile(TiledImage.Tile(level: level, column: column, row: row))
    }
    #expect(error?.code == .undecodable)
  }

  @Test
  func ofADamagedFileThereAreTilesOnlyIfAskedFor() async throws {
    let file = try Photograph.data("white-lighthouse-adam7.png")
    var request = ImageRequest(.data(file.prefix(file.count / 2), id: "damaged"))
    let tile = TiledImage.Tile(level: 0, column: 0, row: 0)
    let strict = try await pipeline.tiledImage(for: request)
    await #expect(throws: LoadError.self) { try await strict.tile(tile) }
    request.acceptsPartial = true
    let tolerant = try await pipeline.tiledImage(for: request)
    #expect(try await tolerant.tile(tile)[0, 0].w == 255)
    for try await _ in tolerant.overviews(maximum: 100) {}
    #expect(tolerant.damage?.code == .truncated)
    await pipeline.cache.flush()
    // The next run of a program finds the tiles on the disk, with their damage.
    let later = try await ImagePipeline.testing(parts).tiledImage(for: request)
    for try await _ in later.overviews(maximum: 100) {}
    #expect(later.damage == tolerant.damage)
  }

  /// The next run of a program finds the tiles on the disk.
  @Test
  func aPassIsMadeOnce() async throws {
    let request = try request("lighthouse-progressive.jpg")
    let tile = TiledImage.Tile(level: 0, column: 0, row: 0)
    let image = try await pipeline.tiledImage(for: request)
    let first = try await image.tile(tile)
    for try await _ in image.overviews(maximum: 100) {}
    await pipeline.cache.flush()
    let writes = parts.diskCache.counts.writes
    let second = try await ImagePipeline.testing(parts).tiledImage(for: request).tile(tile)
    #expect(second[17, 3] == first[17, 3])
    await pipeline.cache.flush()
    #expect(parts.diskCache.counts.writes == writes)
    #expect(writes > 0)
  }
}
