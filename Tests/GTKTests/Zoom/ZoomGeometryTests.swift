import Vitrine
import VitrineImaging
import VitrineTestSupport
import XCTest

@testable import VitrineGTK

/// What holds for any picture in any window, after any moves.
final class ZoomGeometryTests: XCTestCase {
  private typealias Point = ZoomGeometry.Point

  /// Calls `body` with places of many pictures, each of them zoomed, moved and turned.
  private func forEachGeometry(_ body: (inout ZoomGeometry, inout SplitMix64) -> Void) {
    var numbers = SplitMix64(seed: 23)
    for round in 0..<600 {
      let longest = [3, 60, 700, 5000, 20_000, 200_000][round % 6]
      let isDrawing = round % 7 == 0
      let (width, height) = (
        Int.random(in: 1...longest, using: &numbers), Int.random(in: 1...longest, using: &numbers),
      )
      var geometry = ZoomGeometry(
        TileGrid(width: width, height: height, finest: isDrawing ? -4 : 0),
        orientation: Orientation.allCases[round % 8],
        width: Int.random(in: 1...1500, using: &numbers),
        height: Int.random(in: 1...1500, using: &numbers),
        scale: [1, 2, 1.5][round % 3],
      )
      for _ in 0..<Int.random(in: 0...5, using: &numbers) { Self.move(&geometry, &numbers) }
      body(&geometry, &numbers)
    }
  }

  private static func point(_ geometry: ZoomGeometry, _ numbers: inout SplitMix64) -> Point {
    Point(
      x: Double.random(in: 0...Double(geometry.width), using: &numbers),
      y: Double.random(in: 0...Double(geometry.height), using: &numbers),
    )
  }

  private static func move(_ geometry: inout ZoomGeometry, _ numbers: inout SplitMix64) {
    switch Int.random(in: 0..<7, using: &numbers) {
    case 0: geometry.rotate(quarters: Int.random(in: -5...5, using: &numbers))
    case 1:
      geometry.pan(
        x: Double.random(in: -900...900, using: &numbers),
        y: Double.random(in: -900...900, using: &numbers),
      )
    case 2: geometry.fit()
    case 3: geometry.flip(Bool.random(using: &numbers) ? .horizontal : .vertical)
    default:
      let factor = ZoomGeometry.power(Int.random(in: -3...8, using: &numbers))
      let zoom = geometry.zoom * factor * Double.random(in: 0.7...1.4, using: &numbers)
      geometry.zoom(to: zoom, at: point(geometry, &numbers))
    }
  }

  private func same(_ one: Point, _ other: Point, within tolerance: Double = 1e-6) -> Bool {
    abs(one.x - other.x) <= tolerance && abs(one.y - other.y) <= tolerance
  }

  // MARK: Mapping

  func testThePlaceOfAPlaceIsWhereItWas() {
    forEachGeometry { geometry, numbers in
      let point = Self.point(geometry, &numbers)
      let picture = geometry.picturePoint(point)
      let back = geometry.screenPoint(ofPicture: picture)
      XCTAssertTrue(same(point, back), "\(point) became \(back)")
      XCTAssertTrue(same(geometry.screenPoint(geometry.framePoint(point)), point))
    }
  }

  func testWhatIsDrawnIsWhereTheMappingSaysWithinAPixel() {
    forEachGeometry { geometry, _ in
      let corner = geometry.framePoint(geometry.screenPoint(ofPicture: Point(x: 0, y: 0)))
      let end = geometry.framePoint(
        geometry.screenPoint(ofPicture: Point(x: Double(geometry.grid.width), y: Double(geometry.grid.height)))
      )
      let picture = geometry.picture
      XCTAssertTrue(same(corner, Point(x: Double(picture.left), y: Double(picture.top)), within: 1))
      XCTAssertTrue(same(end, Point(x: Double(picture.right), y: Double(picture.bottom)), within: 1.001))
    }
  }

  func testAFlipChangesSidesOfTheScreen() {
    forEachGeometry { geometry, numbers in
      geometry.fit()
      let point = Self.point(geometry, &numbers)
      let before = geometry.picturePoint(point)
      let old = geometry
      geometry.flip(.horizontal)
      XCTAssertTrue(
        same(geometry.picturePoint(Point(x: Double(geometry.width) - point.x, y: point.y)), before, within: 1e-4)
      )
      geometry.flip(.horizontal)
      XCTAssertEqual(geometry, old)
      geometry.flip(.vertical)
      XCTAssertTrue(
        same(geometry.picturePoint(Point(x: point.x, y: Double(geometry.height) - point.y)), before, within: 1e-4)
      )
      geometry.flip(.horizontal)
      var turned = old
      turned.rotate(quarters: 2)
      XCTAssertEqual(geometry, turned)
    }
  }

  // MARK: Zoom

  func testThePointUnderThePointerStays() {
    forEachGeometry { geometry, numbers in
      let pointer = Self.point(geometry, &numbers)
      let before = geometry.picturePoint(pointer)
      let old = geometry
      let target = geometry.zoom * Double.random(in: 0.5...3, using: &numbers)
      geometry.zoom(to: target, at: pointer)
      // It moves only where the picture would leave an edge of the window free.
      let after = geometry.screenPoint(ofPicture: before)
      let frame = geometry.framePoint(after)
      let wanted = geometry.framePoint(pointer)
      let picture = geometry.picture
      let isFreeX = picture.left < 0 && picture.right > geometry.frame.width
      let isFreeY = picture.top < 0 && picture.bottom > geometry.frame.height
      if isFreeX { XCTAssertEqual(frame.x, wanted.x, accuracy: 1e-3, "\(old) to \(target)") }
      if isFreeY { XCTAssertEqual(frame.y, wanted.y, accuracy: 1e-3, "\(old) to \(target)") }
    }
  }

  func testManyStepsAtOnePointDoNotDriftAway() {
    var geometry = ZoomGeometry(TileGrid(width: 9000, height: 7000), width: 1201, height: 803)
    geometry.zoom(to: 0.5, at: Point(x: 300.25, y: 200.75))
    let pointer = Point(x: 700.5, y: 333.25)
    let before = geometry.picturePoint(pointer)
    for _ in 0..<500 {
      geometry.zoom(to: geometry.zoom * 1.25, at: pointer)
      geometry.zoom(to: geometry.zoom / 1.25, at: pointer)
    }
    XCTAssertTrue(same(geometry.picturePoint(pointer), before))
  }

  func testThePictureCoversTheWindowOrIsInItsMiddle() {
    forEachGeometry { geometry, _ in
      let (picture, frame) = (geometry.picture, geometry.frame)
      for (start, end, length) in [
        (picture.left, picture.right, frame.width), (picture.top, picture.bottom, frame.height),
      ] {
        if end - start >= length {
          XCTAssertTrue(start <= 0 && end >= length, "\(start)..<\(end) of \(length)")
        } else {
          XCTAssertTrue(abs(start - (length - end)) <= 1, "\(start)..<\(end) of \(length)")
        }
      }
      XCTAssertTrue(geometry.zooms.contains(geometry.zoom))
    }
  }

  func testAFittingPictureFits() {
    forEachGeometry { geometry, _ in
      geometry.fit()
      let (picture, frame) = (geometry.picture, geometry.frame)
      XCTAssertTrue(picture.width <= frame.width && picture.height <= frame.height, "\(picture) in \(frame)")
      // It touches two edges, unless it is smaller than the window.
      let touches = picture.width == frame.width || picture.height == frame.height
      XCTAssertTrue(touches || geometry.zoom == 1, "\(picture) in \(frame) at \(geometry.zoom)")
      XCTAssertFalse(geometry.reachesOut.across || geometry.reachesOut.down)
    }
  }

  func testZoomingOutEndsWithTheWholePicture() {
    forEachGeometry { geometry, numbers in
      geometry.zoom(to: geometry.fittingZoom / 3, at: Self.point(geometry, &numbers))
      XCTAssertTrue(geometry.isFitting)
      geometry.setViewport(width: 77, height: 991, scale: 1)
      XCTAssertEqual(geometry.zoom, geometry.fittingZoom)
    }
  }

  func testMovingBackAndForthEndsWhereItBegan() {
    forEachGeometry { geometry, _ in
      let before = geometry.center
      geometry.pan(x: 0.25, y: -0.25)
      let moved = geometry.screenPoint(ofPicture: before)
      let middle = Point(x: Double(geometry.width) / 2, y: Double(geometry.height) / 2)
      let distance = max(abs(moved.x - middle.x), abs(moved.y - middle.y))
      XCTAssertLessThanOrEqual(distance, 0.251)
    }
  }

  func testNumbersThatAreNoneChangeNothing() {
    var geometry = ZoomGeometry(TileGrid(width: 900, height: 700), width: 300, height: 200)
    geometry.zoom(to: 2, at: Point(x: 10, y: 10))
    let before = geometry
    geometry.zoom(to: .nan)
    geometry.zoom(to: .infinity)
    geometry.pan(x: .nan, y: 0)
    XCTAssertEqual(geometry, before)
  }

  // MARK: Turns

  func testFourTurnsChangeNothing() {
    forEachGeometry { geometry, _ in
      let before = geometry
      for _ in 0..<4 { geometry.rotate(quarters: 1) }
      XCTAssertEqual(geometry, before)
      geometry.rotate(quarters: -3)
      geometry.rotate(quarters: 3)
      XCTAssertEqual(geometry, before)
      XCTAssertEqual(geometry.picture, before.picture)
    }
  }

  func testAQuarterTurnPutsTheUpperLeftCornerToTheUpperRight() {
    var geometry = ZoomGeometry(TileGrid(width: 300, height: 200), width: 400, height: 500)
    geometry.rotate(quarters: 1)
    XCTAssertEqual(geometry.screenPoint(ofPicture: Point(x: 0, y: 0)), Point(x: 300, y: 100))
    XCTAssertEqual(geometry.screenPoint(ofPicture: Point(x: 300, y: 0)), Point(x: 300, y: 400))
  }

  // MARK: Tiles

  func testTilesCoverWhatIsVisibleOnce() {
    forEachGeometry { geometry, _ in
      let finest = geometry.level
      for level in Set([finest, min(finest + 1, geometry.grid.levels.upperBound), geometry.grid.levels.upperBound]) {
        let tiles = geometry.tiles(ofLevel: level)
        XCTAssertEqual(Set(tiles.map(\.place)).count, tiles.count, "a tile comes twice")
        let shown = geometry.picture.intersection(geometry.viewport)
        let area = tiles.reduce(0) { $0 + $1.visible.width * $1.visible.height }
        XCTAssertEqual(area, shown.width * shown.height, "level \(level) of \(geometry)")
        for tile in tiles {
          XCTAssertNotNil(geometry.grid.region(of: tile.place))
          XCTAssertFalse(tile.visible.isEmpty)
          XCTAssertEqual(tile.visible.intersection(shown), tile.visible)
        }
        // Disjoint: what covers it all, and no more, does not overlap.
        for (index, tile) in tiles.prefix(12).enumerated() {
          for other in tiles.prefix(12).dropFirst(index + 1) {
            XCTAssertTrue(tile.visible.intersection(other.visible).isEmpty)
          }
        }
      }
    }
  }

  func testTilesInTheMiddleComeFirst() {
    forEachGeometry { geometry, _ in
      let shown = geometry.picture.intersection(geometry.viewport)
      let distances = geometry.tiles(ofLevel: geometry.level).map { tile in
        let x = tile.bounds.left + tile.bounds.right - shown.left - shown.right
        let y = tile.bounds.top + tile.bounds.bottom - shown.top - shown.bottom
        return x * x + y * y
      }
      XCTAssertEqual(distances, distances.sorted())
    }
  }

  func testALevelHasAPixelForEachOfTheScreenButNotTwo() {
    forEachGeometry { geometry, _ in
      let level = geometry.level
      let enlargement = geometry.enlargement(ofLevel: level)
      if level > geometry.grid.levels.lowerBound, level < geometry.grid.levels.upperBound {
        XCTAssertTrue(enlargement > 0.5 - 1e-6 && enlargement <= 1 + 1e-6, "\(enlargement)")
      }
      if level < geometry.grid.levels.upperBound { XCTAssertGreaterThan(enlargement, 0.5 - 1e-6) }
    }
  }

  func testATileIsDrawnWhereItsPixelsAre() {
    forEachGeometry { geometry, _ in
      let level = geometry.level
      let (unit, size) = (ZoomGeometry.power(level), geometry.grid.size(of: level))
      let startX = geometry.countsFromRight ? Double(geometry.grid.width) - Double(size.width) * unit : 0
      let startY = geometry.countsFromBottom ? Double(geometry.grid.height) - Double(size.height) * unit : 0
      for tile in geometry.tiles(ofLevel: level) {
        guard let region = geometry.grid.region(of: tile.place) else { return XCTFail("\(tile)") }
        let start = Point(x: startX + Double(region.x) * unit, y: startY + Double(region.y) * unit)
        let drawn = geometry.framePoint(geometry.screenPoint(ofPicture: start))
        XCTAssertTrue(
          same(drawn, Point(x: Double(tile.bounds.left), y: Double(tile.bounds.top)), within: 1.5),
          "\(tile) begins at \(drawn)",
        )
      }
    }
  }

  func testMovingDrawsTheSamePixelsElsewhere() {
    var geometry = ZoomGeometry(TileGrid(width: 9000, height: 7000), width: 1201, height: 803)
    geometry.zoom(to: 0.77, at: Point(x: 300, y: 200))
    let before = geometry.tiles(ofLevel: 0)
    let old = geometry.picture
    geometry.pan(x: -13.4, y: 7.7)
    let (x, y) = (geometry.picture.left - old.left, geometry.picture.top - old.top)
    let after = Dictionary(uniqueKeysWithValues: geometry.tiles(ofLevel: 0).map { ($0.place, $0.bounds) })
    for tile in before {
      guard let bounds = after[tile.place] else { continue }
      XCTAssertEqual(bounds.left, tile.bounds.left + x)
      XCTAssertEqual(bounds.right, tile.bounds.right + x)
      XCTAssertEqual(bounds.top, tile.bounds.top + y)
    }
  }

  func testBlocksCoverWhatIsVisibleOnce() {
    forEachGeometry { geometry, _ in
      guard geometry.zoom > 2 else { return }
      let shown = geometry.picture.intersection(geometry.viewport)
      let blocks = geometry.blocks(ofSide: 64, within: geometry.viewport)
      let area = blocks.reduce(0) { sum, block in
        let visible = block.bounds.intersection(shown)
        return sum + visible.width * visible.height
      }
      XCTAssertEqual(area, shown.width * shown.height)
    }
  }
}
