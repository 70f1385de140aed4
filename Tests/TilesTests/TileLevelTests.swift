import Testing
import Vitrine
import VitrineImaging
import VitrineRuntime
import VitrineTestSupport
import VitrineTesting
import VitrineTiles

/// The pixels of all levels, beside averages of the whole picture in floating point.
struct TileLevelTests {
  private let pipeline = ImagePipeline.testing()

  private func image(_ name: String) async throws -> (tiled: TiledImage, whole: Bitmap) {
    let data = try Photograph.data(name)
    let request = ImageRequest(.data(data, id: name))
    return (try await pipeline.tiledImage(for: request), try await pipeline.image(for: request))
  }

  /// A level as averages, each pixel four sums: colours times coverage, and coverage.
  private struct Averages {
    var width: Int
    var height: Int
    var pixels: [SIMD4<Double>]

    init(_ bitmap: Bitmap) {
      (width, height) = (bitmap.width, bitmap.height)
      pixels = (0..<height * width).map { index in
        let pixel = SIMD4<Double>(bitmap[index % bitmap.width, index / bitmap.width])
        let coverage = bitmap.alpha == .opaque ? 255 : pixel.w
        return SIMD4(pixel.x * coverage / 255, pixel.y * coverage / 255, pixel.z * coverage / 255, coverage)
      }
    }

    /// The next level; a last column or row that is left over counts twice.
    var halved: Averages {
      var next = self
      (next.width, next.height) = ((width + 1) / 2, (height + 1) / 2)
      next.pixels = (0..<next.width * next.height).map { index in
        let (x, y) = (2 * (index % next.width), 2 * (index / next.width))
        let (right, below) = (min(x + 1, width - 1), min(y + 1, height - 1))
        let (upper, lower) = (y * width, below * width)
        return (pixels[upper + x] + pixels[upper + right] + pixels[lower + x] + pixels[lower + right]) / 4
      }
      return next
    }

    /// The largest and the mean difference of a component of a tile, colours weighted with their coverage.
    func difference(_ tile: Bitmap, x: Int, y: Int) -> (most: Double, mean: Double) {
      var (most, sum) = (0.0, 0.0)
      for row in 0..<tile.height {
        for column in 0..<tile.width {
          let other = SIMD4<Double>(tile[column, row])
          let coverage = tile.alpha == .opaque ? 255 : other.w
          let found = SIMD4(
            other.x * coverage / 255,
            other.y * coverage / 255,
            other.z * coverage / 255,
            coverage,
          )
          let gap = found - pixels[(y + row) * width + x + column]
          let larger = max(abs(gap.x), abs(gap.y), abs(gap.z), abs(gap.w))
          most = max(most, larger)
          sum += larger
        }
      }
      return (most, sum / Double(tile.width * tile.height))
    }
  }

  private func differences(_ name: String, _ levels: Int) async throws -> [(most: Double, mean: Double)] {
    let (tiled, whole) = try await image(name)
    var averages = Averages(whole)
    var result: [(most: Double, mean: Double)] = []
    for level in 0...min(levels, tiled.levels.upperBound) {
      if level > 0 { averages = averages.halved }
      #expect(tiled.size(ofLevel: level) == (averages.width, averages.height))
      var worst = (most: 0.0, mean: 0.0)
      let (columns, rows) = tiled.tileCount(ofLevel: level)
      for place in 0..<columns * rows {
        let (column, row) = (place % columns, place / columns)
        let tile = try await tiled.tile(TiledImage.Tile(level: level, column: column, row: row))
        let difference = averages.difference(
          tile,
          x: column * TiledImage.tileSize,
          y: row * TiledImage.tileSize,
        )
        worst = (max(worst.most, difference.most), max(worst.mean, difference.mean))
      }
      result.append(worst)
    }
    return result
  }

  /// Within one 255th, as the documentation says.
  @Test(arguments: [
    "white-lighthouse-adam7.png", "hibiscus-window-alpha.png", "motocross-lossy.webp", "rafting-still.gif",
  ])
  func levelsOfWhatIsDecodedInAPassAreAverages(name: String) async throws {
    for difference in try await differences(name, 4) { #expect(difference.most <= 1) }
  }

  /// The decoder of JPEG halves as well, before chroma is enlarged: near the averages, and exact at level 0.
  @Test(arguments: ["waterfall-cliff-large.jpg", "lighthouse-progressive.jpg"])
  func levelsOfAJPEGAreNearTheAverages(name: String) async throws {
    let differences = try await differences(name, 4)

    #expect(differences.first?.most == 0)
    for difference in differences.dropFirst() { #expect(difference.mean <= 3) }
  }
}
