import Testing
import Vitrine
import VitrineImaging
import VitrineRuntime
import VitrineSVG
import VitrineTestSupport
import VitrineTesting
import VitrineTiles

/// Drawings a tile at a time.
struct SVGTileTests {
  /// Curves, a gradient, half-transparent parts, text-like strokes, and lengths in percent of the whole.
  private static let drawing = SVGTests.data(
    #" width="230" height="170" viewBox="0 0 460 340">"#,
    ##"<rect width="100%" height="100%" fill="#fff"/>"##,
    ##"<linearGradient id="g"><stop stop-color="#dc2828"/><stop offset="1" stop-color="#2828dc"/></linearGradient>"##,
    ##"<rect width="100%" height="50%" fill="url(#g)"/>"##,
    ##"<circle cx="200" cy="180" r="120" fill="#28b43c" fill-opacity="0.6" stroke="#000" stroke-width="3"/>"##,
    ##"<path d="M0 340 C100 0 300 700 460 20" fill="none" stroke="#403010" stroke-width="7" stroke-dasharray="9 4"/>"##,
  )

  /// The same, and an effect, which takes a surface of the size of the whole drawing.
  private static let withEffect = SVGTests.data(
    #" width="230" height="170" viewBox="0 0 460 340">"#,
    ##"<rect width="100%" height="100%" fill="#fff"/>"##,
    ##"<g opacity="0.5"><rect width="300" height="300" fill="#dc2828"/><circle cx="300" cy="200" r="90"/></g>"##,
  )

  private let pipeline = ImagePipeline.testing { $0.decoders.add(.svg) }

  private func tiled(_ data: Data, _ pipeline: ImagePipeline? = nil) async throws -> TiledImage {
    try await (pipeline ?? self.pipeline).tiledImage(for: ImageRequest(.data(data, id: "drawing")))
  }

  private static func isSame(_ one: Bitmap, _ other: Bitmap, _ row: Int) -> Bool {
    unsafe one.withUnsafeBytes { first in
      unsafe other.withUnsafeBytes { second in
        // A row of each, by the caller.
        let (start, from) = (row * one.bytesPerRow, row * other.bytesPerRow)
        let line = unsafe UnsafeRawBufferPointer(rebasing: first[start..<start + 4 * one.width])
        let expected = unsafe UnsafeRawBufferPointer(rebasing: second[from..<from + 4 * one.width])
        guard let pixels = line.baseAddress, let others = expected.baseAddress else { return false }
        return unsafe memcmp(pixels, others, line.count) == 0
      }
    }
  }

  /// Where the edge of a shape is cut by that of a tile, coverage is rounded otherwise here and there.
  @Test(arguments: [drawing, withEffect], [0, -2])
  func aTileIsThePartOfTheDrawingAtItsLevel(data: Data, level: Int) async throws {
    let image = try await tiled(data)
    let size = image.size(ofLevel: min(level, image.levels.upperBound))
    guard image.levels.contains(level) else { return }
    let whole = try decode(
      data,
      .pixels(Double(size.width), Double(size.height), .exact, enlarges: true),
    ).bitmap
    let (columns, rows) = image.tileCount(ofLevel: level)
    for place in 0..<columns * rows {
      let tile = try await image.tile(.init(level: level, column: place % columns, row: place / columns))
      let (x, y) = (place % columns * TiledImage.tileSize, place / columns * TiledImage.tileSize)
      let expected = try whole.cropped(x: x, y: y, width: tile.width, height: tile.height)
      var (wrong, most) = (0, 0)
      for row in 0..<tile.height where !Self.isSame(tile, expected, row) {
        wrong += 1
        for column in 0..<tile.width {
          let difference =
            SIMD4<Int32>(truncatingIfNeeded: tile[column, row])
            &- SIMD4<Int32>(truncatingIfNeeded: expected[column, row])
          most = max(most, Int(difference.max()), -Int(difference.min()))
        }
      }
      let place = "\(place) of \(columns)x\(rows)"
      #expect(most <= 24 && wrong <= tile.width * tile.height / 200, "\(wrong) pixels, by \(most), in \(place)")
    }
  }

  @Test
  func itCanBeEnlargedAThousandTimes() async throws {
    let image = try await tiled(Self.drawing)

    #expect(image.levels.lowerBound == -10)
    let (columns, rows) = image.tileCount(ofLevel: -10)
    let tile = try await image.tile(.init(level: -10, column: columns / 4, row: rows * 3 / 4))
    #expect([tile.width, tile.height] == [512, 512])
    let last = try await image.tile(.init(level: -10, column: columns - 1, row: rows - 1))
    #expect([last.width, last.height] == [512, 512])
  }

  /// FreeType refuses letters of more than some ten thousand pixels.
  @Test
  func lettersOfAnySizeHaveTiles() async throws {
    let image = try await tiled(
      SVGTests.data(
        #" width="230" height="170" viewBox="0 0 460 340">"#,
        ##"<rect width="100%" height="100%" fill="#fff"/><text x="120" y="190" font-size="40">Vitrine</text>"##,
      )
    )
    let finest = image.levels.lowerBound
    let (columns, rows) = image.tileCount(ofLevel: finest)
    let tile = try await image.tile(.init(level: finest, column: columns * 3 / 8, row: rows / 2))

    #expect([tile.width, tile.height] == [512, 512])
    #expect(tile[0, 0].w == 255)
  }

  @Test
  func aDrawingOfNothingHasTransparentTiles() async throws {
    let image = try await tiled(SVGTests.data(#" width="20" height="20">"#))
    let tile = try await image.tile(.init(level: -5, column: 0, row: 0))

    #expect([tile.width, tile.height] == [512, 512])
    #expect(tile[0, 0] == SIMD4() && tile[511, 511] == SIMD4())
  }

  @Test
  func theOverviewIsDrawnAtItsSize() async throws {
    let image = try await tiled(Self.drawing)
    var last: Bitmap?
    for try await overview in image.overviews(maximum: 900) { last = overview }

    #expect(last?.size == [900, 665])
  }
}
