import CGTK
import CVitrineGTK
import Vitrine
import VitrineImaging
import VitrineTestSupport
import VitrineTesting
import XCTest

@testable import VitrineGTK

/// Loading, memory and failures of a zoom picture.
final class ZoomPictureTests: WidgetTestCase {
  // MARK: Loading

  func testLoadingBeginsWhenThePictureCanBeSeen() {
    MainActor.assumeIsolated {
      let opener = FakeOpener(["A": FakePicture.slow()])
      let picture = ZoomPicture(opener: opener, width: 100, height: 80)
      picture.load(.named("A"))
      MainLoop.drain()
      XCTAssertEqual(opener.opened, [])
      let window = unsafe TestWindow(picture.widget)
      MainLoop.turn { picture.content.isSame(as: .complete) }
      XCTAssertEqual(opener.opened, ["A"])
      picture.load(.named("A"))
      MainLoop.drain()
      XCTAssertEqual(opener.opened, ["A"])
      window.close()
    }
  }

  func testAFittingPictureNeedsNoTiles() {
    MainActor.assumeIsolated {
      let shown = FakePicture.slow()
      let stage = ZoomStage(shown)
      stage.complete()
      XCTAssertEqual(shown.askedTiles.count, 0)
      XCTAssertEqual(Set(shown.lengths), [stage.picture.view.geometry?.longestSide])
      stage.close()
    }
  }

  func testThePlaceholderIsThereAtOnce() throws {
    try MainActor.assumeIsolated {
      let stage = ZoomStage(["A": FakePicture.slow(isAutomatic: false)])
      let blue = SIMD4<UInt8>(0, 0, 255, 255)
      stage.picture.load(.named("A"), placeholder: .image(.solid(blue, width: 40, height: 30)))
      let first = try stage.render()
      XCTAssertEqual(first[first.width / 2, first.height / 2], blue)
      MainLoop.turn { stage.picture.info != nil }
      // In the place of the picture, now that it is known.
      let second = try stage.render()
      XCTAssertEqual(second[second.width / 2, second.height / 2], blue)
      stage.picture.load(.named("A2"), placeholder: .color(.init(0x102030)))
      let third = try stage.render()
      XCTAssertEqual(third[0, 0], SIMD4(0x10, 0x20, 0x30, 255))
      stage.opener.variant = .of("V")
      stage.opener["A3"] = FakePicture.slow(isAutomatic: false)
      stage.picture.load(.named("A3"), placeholder: .cached)
      let fourth = try stage.render()
      XCTAssertEqual(fourth[fourth.width / 2, fourth.height / 2], Bitmap.tagged("V", 1)[0, 0])
      stage.close()
    }
  }

  func testANewerVersionReplacesThePictureWhereItIsOnceItHasPixels() throws {
    try MainActor.assumeIsolated {
      let red = SIMD4<UInt8>(255, 0, 0, 255)
      let newer = FakePicture.slow(isAutomatic: false)
      let former = FakePicture(width: 4000, height: 3000, color: FakeColors.solid(red))
      let stage = ZoomStage(["A": former, "B": newer])
      stage.picture.load(.named("A"))
      stage.complete()
      stage.picture.zoom(to: 0.7)
      stage.picture.pan(x: 90, y: 70)
      stage.complete()
      let place = stage.picture.center
      stage.picture.load(.named("B"), placeholder: .keepCurrent)
      MainLoop.turn { newer.waitsForOverview }
      let kept = try stage.render()
      XCTAssertEqual(kept[kept.width / 2, kept.height / 2], red)
      newer.sendOverview()
      MainLoop.turn { stage.tiles?.provider === newer }
      try stage.check(newer, tolerance: 6)
      XCTAssertEqual(stage.picture.zoom, 0.7)
      XCTAssertEqual(stage.picture.center?.x, place?.x)
      stage.close()
    }
  }

  func testClearingReleasesAndCancelsEverything() throws {
    try MainActor.assumeIsolated {
      let shown = FakePicture.slow(isAutomatic: false)
      let stage = ZoomStage(shown)
      MainLoop.turn { shown.waitsForOverview }
      shown.sendOverview()
      stage.picture.zoomToActualSize()
      MainLoop.turn { !shown.asks.isEmpty }
      weak let tiles = stage.tiles
      stage.picture.clear()
      XCTAssertTrue(shown.asks.allSatisfy(\.isCancelled))
      XCTAssertTrue(stage.picture.content.isSame(as: .empty))
      XCTAssertNil(stage.picture.info)
      for ask in shown.asks { shown.answer(ask) }
      MainLoop.turn { tiles == nil }
      let drawn = try stage.render()
      XCTAssertEqual(drawn[drawn.width / 2, drawn.height / 2], SIMD4(0, 0, 0, 0))
      stage.close()
    }
  }

  func testTheWidgetIsReleasedWithItsWindow() {
    MainActor.assumeIsolated {
      let shown = FakePicture.slow(isAutomatic: false)
      weak var view: ZoomView?
      do {
        let stage = ZoomStage(shown)
        view = stage.picture.view
        MainLoop.turn { shown.waitsForOverview }
        stage.picture.showsRetry = true
        stage.close()
      }
      MainLoop.turn { view == nil }
    }
  }

  // MARK: Tiles

  func testTilesThatAreNoLongerVisibleAreCancelled() {
    MainActor.assumeIsolated {
      let shown = FakePicture.slow(9000, 7000, isAutomatic: false)
      let stage = ZoomStage(shown)
      MainLoop.turn { shown.waitsForOverview }
      stage.picture.zoomToActualSize()
      MainLoop.turn { !shown.asks.isEmpty }
      let first = shown.asks
      stage.picture.pan(x: 1e6, y: 1e6)
      XCTAssertTrue(first.allSatisfy(\.isCancelled))
      MainLoop.turn { shown.asks.contains { !$0.isCancelled } }
      // Late answers are dropped.
      for ask in first { shown.answer(ask) }
      MainLoop.drain()
      stage.window.nextFrame()
      XCTAssertEqual(stage.tiles?.textureCount, 0)
      XCTAssertEqual(shown.asks.filter { !$0.isCancelled }.map(\.place), [TilePlace(level: 0, column: 0, row: 0)])
      stage.close()
    }
  }

  func testTilesAreRequestedFromTheMiddleAFewAtATime() throws {
    try MainActor.assumeIsolated {
      let shown = FakePicture.slow(9000, 7000, isAutomatic: false)
      let stage = ZoomStage(shown, width: 1100, height: 800)
      MainLoop.turn { shown.waitsForOverview }
      stage.picture.zoom(to: 0.6)
      let wanted = try XCTUnwrap(stage.picture.view.geometry).tiles(ofLevel: 0).map(\.place)
      XCTAssertGreaterThan(wanted.count, ZoomTiles.requestLimit)
      while !stage.picture.content.isSame(as: .complete) {
        MainLoop.turn { !shown.asks.isEmpty || stage.picture.content.isSame(as: .complete) }
        XCTAssertLessThanOrEqual(shown.asks.count, ZoomTiles.requestLimit)
        guard let ask = shown.asks.first else { break }
        shown.answer(ask)
      }
      // The order in which tasks begin is not that in which they are made.
      XCTAssertEqual(Set(shown.askedTiles.prefix(4)).subtracting(wanted.prefix(8)), [])
      XCTAssertEqual(Set(shown.askedTiles), Set(wanted))
      XCTAssertEqual(shown.askedTiles.count, wanted.count)
      stage.close()
    }
  }

  func testOnlyAFewTilesBecomeTexturesAtAFrame() {
    MainActor.assumeIsolated {
      let shown = FakePicture.slow(isAutomatic: false)
      let tiles = ZoomTiles(shown, limit: 100_000_000)
      let wanted = (0..<6).map { TilePlace(level: 0, column: $0, row: 1) }
      tiles.want(wanted)
      MainLoop.turn { shown.asks.count == 6 }
      for ask in shown.asks { shown.answer(ask) }
      MainLoop.turn { tiles.requestCount == 0 }
      XCTAssertTrue(tiles.upload())
      XCTAssertEqual(tiles.textureCount, ZoomTiles.frameLimit)
      XCTAssertTrue(tiles.upload())
      XCTAssertFalse(tiles.upload())
      XCTAssertEqual(tiles.textureCount, 6)
      tiles.stop()
    }
  }

  func testTexturesStayWithinTheLimitWhilePanning() {
    MainActor.assumeIsolated {
      let shown = FakePicture(width: 12_000, height: 9000, color: FakeColors.solid(SIMD4(9, 8, 7, 255)))
      let stage = ZoomStage(shown)
      stage.complete()
      stage.picture.memoryLimit = 12_000_000
      var most = 0
      for zoom in [1.0, 0.55, 3.5] {
        stage.picture.zoom(to: zoom)
        for step in 0..<40 {
          stage.picture.pan(x: step % 8 < 4 ? -170 : 60, y: step < 20 ? -120 : 90)
          stage.complete()
          stage.window.nextFrame()
          most = max(most, stage.tiles?.byteCount ?? 0)
        }
      }
      XCTAssertLessThanOrEqual(most, 12_000_000)
      XCTAssertGreaterThan(most, 6_000_000)
      stage.close()
    }
  }

  func testWhereVisibleTilesTakeTooMuchACoarserLevelIsShown() throws {
    try MainActor.assumeIsolated {
      let shown = FakePicture.slow(12_000, 9000)
      let stage = ZoomStage(shown, width: 1100, height: 800)
      stage.complete()
      stage.picture.zoom(to: 0.51)
      XCTAssertEqual(stage.picture.view.plan.level, 0)
      stage.picture.memoryLimit = 20_000_000
      XCTAssertEqual(stage.picture.view.plan.level, 1)
      stage.complete()
      XCTAssertLessThanOrEqual(stage.tiles?.byteCount ?? .max, 20_000_000)
      try stage.check(shown, tolerance: 3)
      stage.close()
    }
  }

  func testADrawingIsDrawnAnewAtEachZoom() throws {
    try MainActor.assumeIsolated {
      let shown = FakePicture(width: 300, height: 200, isVector: true, color: FakeColors.slow(300, 200))
      let stage = ZoomStage(shown)
      stage.complete()
      // Drawings may be larger than they say.
      XCTAssertGreaterThan(stage.picture.zoom, 1)
      stage.picture.zoom(to: 6)
      stage.complete()
      XCTAssertEqual(stage.picture.view.plan.level, -3)
      XCTAssertTrue(shown.askedTiles.contains { $0.level == -3 })
      try stage.check(shown, tolerance: 3)
      stage.close()
    }
  }

  // MARK: Failures

  func testAPictureThatCannotBeOpenedShowsTheFailureAndIsTriedAgain() throws {
    try MainActor.assumeIsolated {
      let stage = ZoomStage()
      stage.picture.showsRetry = true
      var changes = 0
      stage.picture.changed = { changes += 1 }
      stage.picture.load(.named("A"), placeholder: .color(.init(0x102030)), failure: .color(.init(0x405060)))
      MainLoop.turn { stage.picture.content.isFailure }
      XCTAssertGreaterThan(changes, 0)
      let drawn = try stage.render()
      XCTAssertEqual(drawn[0, 0], SIMD4(0x40, 0x50, 0x60, 255))
      stage.opener["A"] = FakePicture.slow()
      unsafe emit(gtk_widget_get_last_child(stage.picture.widget), "clicked")
      stage.complete()
      XCTAssertEqual(stage.opener.forgotten, ["A"])
      XCTAssertEqual(stage.opener.opened, ["A", "A"])
      stage.close()
    }
  }

  func testATileThatFailsLeavesTheRestAndIsTriedAgain() throws {
    try MainActor.assumeIsolated {
      let shown = FakePicture.slow()
      let stage = ZoomStage(shown)
      stage.complete()
      stage.picture.zoomToActualSize()
      let middle = try XCTUnwrap(stage.picture.view.plan.tiles.first).place
      stage.picture.zoomToFit()
      shown.fail(middle)
      stage.picture.zoomToActualSize()
      MainLoop.turn { stage.picture.content.isFailure }
      MainLoop.turn { stage.tiles?.isIncomplete == false && !stage.isUnfinished }
      // The overview stands for it.
      try stage.check(shown, tolerance: 14)
      XCTAssertEqual(shown.askedTiles.filter { $0 == middle }.count, 2)
      shown.fail(middle, false)
      stage.picture.retry()
      stage.complete()
      try stage.check(shown, tolerance: 3)
      stage.close()
    }
  }

  func testAPictureOfWhichNothingCanBeDecodedShowsTheFailure() {
    MainActor.assumeIsolated {
      let shown = FakePicture.slow()
      shown.failure = FakePicture.error
      let stage = ZoomStage(shown)
      MainLoop.turn { stage.picture.content.isFailure }
      XCTAssertNil(stage.tiles)
      shown.failure = nil
      stage.picture.retry()
      stage.complete()
      stage.close()
    }
  }

  // MARK: The widget

  func testAFittingPictureFollowsTheSizeOfTheWidget() throws {
    try MainActor.assumeIsolated {
      let shown = FakePicture.slow()
      let stage = ZoomStage(shown)
      unsafe gtk_widget_set_halign(stage.picture.widget, GTK_ALIGN_FILL)
      unsafe gtk_widget_set_valign(stage.picture.widget, GTK_ALIGN_FILL)
      stage.complete()
      let before = stage.picture.zoom
      unsafe gtk_window_set_default_size(vitrine_gtk_window(stage.window.widget), 700, 600)
      MainLoop.turn { stage.picture.zoom > before }
      stage.complete()
      try stage.check(shown, tolerance: 3)
      stage.close()
    }
  }

  func testScreenReadersHearTheZoom() {
    MainActor.assumeIsolated {
      let stage = ZoomStage(FakePicture.slow())
      stage.picture.alternativeText = "A harbour"
      stage.picture.alternativeDescription = "Boats"
      stage.complete()
      stage.picture.zoom(to: 0.5)
      XCTAssertEqual(stage.picture.view.spokenDescription, "Boats, Zoom 50 %")
      stage.picture.zoomDescription = { "\(Int($0 * 100)) Prozent" }
      XCTAssertEqual(stage.picture.view.spokenDescription, "Boats, 50 Prozent")
      for property in [GTK_ACCESSIBLE_PROPERTY_LABEL, GTK_ACCESSIBLE_PROPERTY_DESCRIPTION] {
        XCTAssertNotEqual(unsafe gtk_test_accessible_has_property(OpaquePointer(stage.picture.widget), property), 0)
      }
      XCTAssertEqual(
        unsafe gtk_accessible_get_accessible_role(OpaquePointer(stage.picture.widget)),
        GTK_ACCESSIBLE_ROLE_IMG,
      )
      stage.close()
    }
  }

  func testAHandleIsMadeOfTheWidget() {
    MainActor.assumeIsolated {
      let stage = ZoomStage(FakePicture.slow())
      let other = unsafe ZoomPicture(stage.picture.widget)
      XCTAssertTrue(other?.view === stage.picture.view)
      XCTAssertNil(unsafe RemotePicture(stage.picture.widget))
      XCTAssertNil(unsafe ZoomPicture(stage.window.widget))
      stage.close()
    }
  }

  // MARK: A pipeline

  func testAPhotographIsShownThroughAPipeline() throws {
    try MainActor.assumeIsolated {
      let bitmap = Bitmap.pixels(width: 1300, height: 900, alpha: .opaque) { x, y in
        FakeColors.noise(Double(x), Double(y))
      }
      let data = try bitmap.encoded(as: .png)
      let picture = ZoomPicture(.testing(), width: 200, height: 150)
      let window = unsafe TestWindow(picture.widget)
      picture.load(ImageRequest(.data(data, id: "noise")))
      MainLoop.turn { picture.content.isSame(as: .complete) }
      picture.zoomToActualSize()
      picture.pan(x: -100, y: 30)
      MainLoop.turn { picture.content.isSame(as: .complete) }
      window.nextFrame()
      let place = try XCTUnwrap(picture.view.geometry).picture
      let drawn = unsafe try window.picture(of: picture.widget)
      let expected = try bitmap.cropped(x: -place.left, y: -place.top, width: drawn.width, height: drawn.height)
      XCTAssertEqual(drawn.largestDifference(from: expected), 0)
      window.close()
    }
  }
}

extension ZoomPicture.Content {
  var isFailure: Bool { if case .failure = self { true } else { false } }
}
