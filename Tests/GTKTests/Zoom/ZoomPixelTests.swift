import CGTK
import Vitrine
import VitrineTestSupport
import VitrineTesting
import XCTest

@testable import VitrineGTK

/// What is drawn is the picture, at each zoom, turn and place.
final class ZoomPixelTests: WidgetTestCase {
  func testAtItsOwnSizeEachPixelIsThatOfThePicture() throws {
    try MainActor.assumeIsolated {
      let shown = FakePicture(width: 1500, height: 1101, color: FakeColors.noise)
      let stage = ZoomStage(shown)
      stage.complete()
      for turns in 0..<4 {
        stage.picture.zoomToActualSize()
        for (x, y) in [(0.0, 0.0), (1e6, 1e6), (-1e6, 0), (0, -1e6), (333.4, 217.8)] {
          stage.picture.pan(x: x, y: y)
          stage.complete()
          try stage.check(shown, tolerance: 0, "turn \(turns), moved by \(x), \(y)")
        }
        stage.picture.rotate(quarters: 1)
        stage.picture.flip(turns == 1 ? .vertical : .horizontal)
      }
      stage.close()
    }
  }

  func testASmallPictureIsInTheMiddleAtItsOwnSize() throws {
    try MainActor.assumeIsolated {
      let shown = FakePicture(width: 60, height: 41, color: FakeColors.noise)
      let stage = ZoomStage(shown)
      stage.complete()
      XCTAssertEqual(stage.picture.zoom, 1)
      for _ in 0..<4 {
        try stage.check(shown, tolerance: 0)
        stage.picture.rotate(quarters: 1)
      }
      stage.close()
    }
  }

  func testTheColoursAreThoseOfThePictureAtAnyZoom() throws {
    try MainActor.assumeIsolated {
      for orientation in [Orientation.up, .down, .right] {
        let shown = FakePicture(
          width: 4001,
          height: 3003,
          orientation: orientation,
          color: FakeColors.slow(4001, 3003),
        )
        let stage = ZoomStage(shown)
        stage.complete()
        try stage.check(shown, tolerance: 3, "fitting")
        for (index, zoom) in [0.09, 0.125, 0.2, 0.25, 0.37, 0.5, 0.77, 1, 1.3, 1.9, 2, 2.6, 5.5, 32].enumerated() {
          stage.picture.zoom(to: zoom, at: (x: Double(index * 19), y: Double(index * 13)))
          stage.complete()
          // A pixel of the screen spans a few of the picture, whose colours change by one in twenty.
          try stage.check(shown, tolerance: 3, "\(orientation)", step: 2)
          stage.picture.rotate(quarters: 1)
        }
        stage.close()
      }
    }
  }

  func testEnlargedMoreThanTwicePixelsAreSquares() throws {
    try MainActor.assumeIsolated {
      let shown = FakePicture(width: 1030, height: 700, color: FakeColors.noise)
      let stage = ZoomStage(shown)
      stage.complete()
      // Whole numbers exactly, at the border of two tiles and in the corners.
      for (zoom, x, y) in [(3.0, -640.0, 0.0), (8, 0, 0), (4, 1e6, 1e6), (16, -1e6, -1e6), (32, 3, 3)] {
        stage.picture.zoom(to: zoom)
        stage.picture.pan(x: x, y: y)
        stage.picture.rotate(quarters: 1)
        stage.complete()
        try stage.check(shown, tolerance: 0, "zoom \(zoom)")
      }
      stage.close()
    }
  }

  func testEnlargedByAFractionOnlyTheEdgesOfPixelsAreSmooth() throws {
    try MainActor.assumeIsolated {
      let shown = FakePicture(width: 600, height: 500, color: FakeColors.noise)
      let stage = ZoomStage(shown)
      stage.complete()
      stage.picture.zoom(to: 9.4)
      stage.complete()
      let drawn = try stage.render()
      let geometry = try XCTUnwrap(stage.picture.view.geometry)
      let place = geometry.picture
      for y in stride(from: 0, to: drawn.height, by: 3) {
        for x in 0..<drawn.width {
          let (pictureX, pictureY) = ((Double(x - place.left) + 0.5) / 9.4, (Double(y - place.top) + 0.5) / 9.4)
          let isInside = { (value: Double) in abs(value - value.rounded(.down) - 0.5) < 0.25 }
          guard isInside(pictureX), isInside(pictureY) else { continue }
          let difference = drawn[x, y].distance(from: shown.color(pictureX, pictureY))
          XCTAssertLessThanOrEqual(difference, 1, "\(x), \(y)")
        }
      }
      stage.close()
    }
  }

  func testWithTheFunctionOfLaterVersionsOfGTKPixelsAreSquaresToo() {
    MainActor.assumeIsolated {
      let shown = FakePicture(width: 600, height: 500, color: FakeColors.noise)
      let stage = ZoomStage(shown)
      stage.complete()
      Nearest.count = 0
      // Stands for `gtk_snapshot_append_scaled_texture`, which this GTK may lack.
      unsafe stage.picture.view.nearest = { snapshot, texture, filter, bounds in
        MainActor.assumeIsolated { Nearest.count += filter == 1 ? 1 : 0 }
        unsafe gtk_snapshot_append_texture(snapshot, texture, bounds)
      }
      stage.picture.zoom(to: 2)
      stage.complete()
      stage.window.nextFrame()
      XCTAssertEqual(Nearest.count, 0)
      stage.picture.zoom(to: 4)
      stage.complete()
      stage.window.nextFrame()
      XCTAssertGreaterThan(Nearest.count, 0)
      XCTAssertEqual(stage.tiles?.enlargedCount, 0)
      stage.close()
    }
  }

  @MainActor
  private enum Nearest {
    static var count = 0
  }

  func testWhileTilesArriveInAnyOrderThePictureIsTheSame() throws {
    try MainActor.assumeIsolated {
      var numbers = SplitMix64(seed: 5)
      let shown = FakePicture(width: 4000, height: 3000, isAutomatic: false, color: FakeColors.slow(4000, 3000))
      let stage = ZoomStage(shown, width: 701, height: 523)
      MainLoop.turn { shown.waitsForOverview }
      shown.sendOverview()
      MainLoop.turn { stage.tiles?.overview != nil }
      for zoom in [0.3, 1, 0.6, 0.27, 1.4] {
        stage.picture.zoom(to: zoom, at: (x: 100, y: 90))
        stage.picture.rotate(quarters: 1)
        try stage.check(shown, tolerance: 12, "before there are tiles", step: 3)
        var count = 0
        while !stage.picture.content.isSame(as: .complete) {
          MainLoop.turn {
            // Of another length, since the picture was turned.
            if shown.waitsForOverview { shown.sendOverview() }
            return !shown.asks.isEmpty || stage.picture.content.isSame(as: .complete)
          }
          guard let ask = shown.asks.randomElement(using: &numbers) else { break }
          shown.answer(ask)
          let before = stage.tiles?.requestCount ?? 0
          MainLoop.turn {
            ask.isCancelled || (stage.tiles?.requestCount ?? 0) != before || stage.tiles?.hasArrivals == false
          }
          count += 1
          if count % 3 == 0 { try stage.check(shown, tolerance: 12, "after \(count) tiles", step: 3) }
        }
        try stage.check(shown, tolerance: 3, "with all tiles", step: 3)
      }
      stage.close()
    }
  }

  func testTranslucentPixelsAreDrawnOnce() throws {
    try MainActor.assumeIsolated {
      let shown = FakePicture(
        width: 2000,
        height: 1500,
        isAutomatic: false,
        hasAlpha: true,
        color: FakeColors.solid(SIMD4(200, 100, 0, 128)),
      )
      let stage = ZoomStage(shown)
      MainLoop.turn { shown.waitsForOverview }
      shown.sendOverview()
      stage.picture.zoom(to: 1)
      MainLoop.turn { stage.tiles?.overview != nil && !shown.asks.isEmpty }
      @MainActor
      func check() throws {
        let drawn = try stage.render()
        for y in stride(from: 0, to: drawn.height, by: 5) {
          for x in stride(from: 0, to: drawn.width, by: 3) {
            XCTAssertLessThanOrEqual(drawn[x, y].distance(from: SIMD4(100, 50, 0, 128)), 2, "\(x), \(y)")
          }
        }
      }
      try check()
      while !stage.picture.content.isSame(as: .complete) {
        MainLoop.turn { !shown.asks.isEmpty || stage.picture.content.isSame(as: .complete) }
        guard let ask = shown.asks.first else { break }
        shown.answer(ask)
        stage.window.nextFrame()
        try check()
      }
      stage.picture.zoom(to: 0.5)
      try check()
      stage.close()
    }
  }

  func testMissingRowsShowThePlaceholder() throws {
    try MainActor.assumeIsolated {
      let red = SIMD4<UInt8>(255, 0, 0, 255)
      let shown = FakePicture(width: 3000, height: 2000, isAutomatic: false, color: FakeColors.solid(red))
      let stage = ZoomStage(["A": shown])
      stage.picture.load(.named("A"), placeholder: .image(.solid(SIMD4(0, 0, 255, 255), width: 3, height: 2)))
      MainLoop.turn { shown.waitsForOverview }
      shown.sendOverview(0.5)
      MainLoop.turn { stage.tiles?.overview != nil }
      let drawn = try stage.render()
      let (width, height) = (drawn.width, drawn.height)
      XCTAssertEqual(drawn[width / 2, height / 2 - height / 8], red)
      XCTAssertEqual(drawn[width / 2, height / 2 + height / 8], SIMD4(0, 0, 255, 255))
      stage.close()
    }
  }

  func testAfterAnotherLoadNothingOfTheFormerPictureIsSeen() throws {
    try MainActor.assumeIsolated {
      let red = SIMD4<UInt8>(255, 0, 0, 255)
      let former = FakePicture(width: 3000, height: 2000, isAutomatic: false, color: FakeColors.solid(red))
      let next = FakePicture(width: 3000, height: 2000, color: FakeColors.solid(SIMD4(0, 0, 255, 255)))
      let stage = ZoomStage(["A": former, "B": next])
      stage.picture.load(.named("A"))
      MainLoop.turn { former.waitsForOverview }
      former.sendOverview()
      stage.picture.zoomToActualSize()
      MainLoop.turn { former.asks.count >= 2 }
      former.answer(former.asks[0])
      MainLoop.turn { stage.tiles?.textureCount == 1 }
      let asks = former.asks
      stage.picture.load(.named("B"))
      @MainActor
      func check() throws {
        let drawn = try stage.render()
        for y in stride(from: 0, to: drawn.height, by: 4) {
          for x in stride(from: 0, to: drawn.width, by: 4) { XCTAssertEqual(drawn[x, y].x, 0, "\(x), \(y)") }
        }
      }
      try check()
      XCTAssertTrue(asks.allSatisfy(\.isCancelled))
      for ask in asks { former.answer(ask) }
      stage.complete()
      try check()
      XCTAssertTrue(stage.picture.isFitting)
      stage.close()
    }
  }
}

extension ZoomStage {
  /// True if a frame is about to bring more.
  var isUnfinished: Bool { picture.view.isTicking }
}
