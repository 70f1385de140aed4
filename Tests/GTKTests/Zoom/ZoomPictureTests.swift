import CGTK
import CVitrineGTK
import Foundation
import Vitrine
import VitrineTesting
import XCTest

@testable import VitrineGTK

/// Loading, memory, input and failures of a zoom picture.
final class ZoomPictureTests: WidgetTestCase {
  private static func slow(_ width: Int = 4000, _ height: Int = 3000, isAutomatic: Bool = true) -> FakePicture {
    FakePicture(width: width, height: height, isAutomatic: isAutomatic, color: FakeColors.slow(width, height))
  }

  // MARK: Loading

  func testLoadingBeginsWhenThePictureCanBeSeen() {
    MainActor.assumeIsolated {
      let opener = FakeOpener(["A": Self.slow()])
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
      let shown = Self.slow()
      let stage = ZoomStage(shown)
      stage.complete()
      XCTAssertEqual(shown.askedTiles.count, 0)
      XCTAssertEqual(Set(shown.lengths), [stage.picture.view.geometry?.longestSide])
      stage.close()
    }
  }

  func testThePlaceholderIsThereAtOnce() throws {
    try MainActor.assumeIsolated {
      let stage = ZoomStage(["A": Self.slow(isAutomatic: false)])
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
      stage.opener["A3"] = Self.slow(isAutomatic: false)
      stage.picture.load(.named("A3"), placeholder: .cached)
      let fourth = try stage.render()
      XCTAssertEqual(fourth[fourth.width / 2, fourth.height / 2], Bitmap.tagged("V", 1)[0, 0])
      stage.close()
    }
  }

  func testANewerVersionReplacesThePictureWhereItIsOnceItHasPixels() throws {
    try MainActor.assumeIsolated {
      let red = SIMD4<UInt8>(255, 0, 0, 255)
      let newer = Self.slow(isAutomatic: false)
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
      let shown = Self.slow(isAutomatic: false)
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
      let shown = Self.slow(isAutomatic: false)
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
      let shown = Self.slow(9000, 7000, isAutomatic: false)
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
      let shown = Self.slow(9000, 7000, isAutomatic: false)
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
      let shown = Self.slow(isAutomatic: false)
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
      let shown = Self.slow(12_000, 9000)
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

  func testADrawingWithoutTilesIsDrawnAnewAsAWhole() {
    MainActor.assumeIsolated {
      let shown = FakePicture(width: 300, height: 200, isVector: true, color: FakeColors.slow(300, 200))
      for level in shown.grid.levels { for tile in shown.grid.tiles(of: level) { shown.fail(tile) } }
      let stage = ZoomStage(shown)
      stage.complete()
      // Drawings may be larger than they say.
      XCTAssertGreaterThan(stage.picture.zoom, 1)
      stage.picture.zoom(to: 6)
      MainLoop.turn { shown.lengths.contains(1800) && stage.picture.content.isSame(as: .complete) }
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
      stage.opener["A"] = Self.slow()
      unsafe emit(gtk_widget_get_last_child(stage.picture.widget), "clicked")
      stage.complete()
      XCTAssertEqual(stage.opener.forgotten, ["A"])
      XCTAssertEqual(stage.opener.opened, ["A", "A"])
      stage.close()
    }
  }

  func testATileThatFailsLeavesTheRestAndIsTriedAgain() throws {
    try MainActor.assumeIsolated {
      let shown = Self.slow()
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
      let shown = Self.slow()
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

  // MARK: Input

  private static let plain = GdkModifierType(rawValue: 0)

  @MainActor
  private static func press(_ stage: ZoomStage, _ key: Int32, _ modifiers: GdkModifierType? = nil) -> Bool {
    stage.picture.view.pressed(UInt32(key), modifiers ?? plain)
  }

  func testKeysZoomMoveAndTurn() throws {
    try MainActor.assumeIsolated {
      let stage = ZoomStage(Self.slow())
      XCTAssertFalse(Self.press(stage, GDK_KEY_plus), "there is no picture yet")
      stage.complete()
      let fitting = stage.picture.zoom
      // What would change nothing is left to the program.
      for key in [GDK_KEY_Left, GDK_KEY_Page_Down, GDK_KEY_Home] { XCTAssertFalse(Self.press(stage, key)) }
      XCTAssertTrue(Self.press(stage, GDK_KEY_plus))
      XCTAssertEqual(stage.picture.zoom, fitting * 1.25, accuracy: 1e-9)
      XCTAssertTrue(Self.press(stage, GDK_KEY_minus))
      XCTAssertTrue(stage.picture.isFitting)
      XCTAssertTrue(Self.press(stage, GDK_KEY_1))
      XCTAssertEqual(stage.picture.zoom, 1)
      XCTAssertFalse(Self.press(stage, GDK_KEY_0, GDK_CONTROL_MASK))
      let center = try XCTUnwrap(stage.picture.center)
      let scale = stage.picture.view.scale
      XCTAssertTrue(Self.press(stage, GDK_KEY_Right))
      XCTAssertEqual(stage.picture.center?.x ?? 0, center.x + 64 * scale, accuracy: 1e-6)
      XCTAssertTrue(Self.press(stage, GDK_KEY_Page_Down))
      XCTAssertEqual(stage.picture.center?.y ?? 0, center.y + 223 * 0.9 * scale, accuracy: 1e-6)
      XCTAssertTrue(Self.press(stage, GDK_KEY_Home))
      XCTAssertEqual(stage.picture.view.geometry?.picture.left, 0)
      XCTAssertEqual(stage.picture.view.geometry?.picture.top, 0)
      XCTAssertTrue(Self.press(stage, GDK_KEY_End))
      XCTAssertEqual(stage.picture.center?.x ?? 0, 4000 - 301 * scale / 2, accuracy: 1e-6)
      XCTAssertTrue(Self.press(stage, GDK_KEY_r))
      XCTAssertEqual(stage.picture.turns, 1)
      XCTAssertTrue(Self.press(stage, GDK_KEY_R))
      XCTAssertTrue(Self.press(stage, GDK_KEY_R))
      XCTAssertEqual(stage.picture.turns, 3)
      XCTAssertTrue(Self.press(stage, GDK_KEY_0))
      XCTAssertTrue(stage.picture.isFitting)
      stage.close()
    }
  }

  func testTheWheelZoomsAtThePointerAndTheTouchpadMoves() throws {
    try MainActor.assumeIsolated {
      let stage = ZoomStage(Self.slow())
      stage.complete()
      stage.picture.zoom(to: 0.5)
      let view = stage.picture.view
      let pointer = ZoomGeometry.Point(x: 31, y: 190)
      view.pointer = pointer
      let before = try XCTUnwrap(view.geometry).picturePoint(pointer)
      XCTAssertTrue(view.scrolled(0, -1, isTouchpad: false, isControl: false))
      XCTAssertEqual(stage.picture.zoom, 0.625, accuracy: 1e-9)
      let after = try XCTUnwrap(view.geometry).picturePoint(pointer)
      XCTAssertEqual(before.x, after.x, accuracy: 1e-6)
      XCTAssertEqual(before.y, after.y, accuracy: 1e-6)
      XCTAssertTrue(view.scrolled(0, 1, isTouchpad: false, isControl: false))
      XCTAssertEqual(stage.picture.zoom, 0.5, accuracy: 1e-9)
      let center = try XCTUnwrap(stage.picture.center)
      XCTAssertTrue(view.scrolled(10, 0, isTouchpad: true, isControl: false))
      XCTAssertEqual(stage.picture.center?.x ?? 0, center.x + 20 * view.scale, accuracy: 1e-6)
      XCTAssertTrue(view.scrolled(0, -60, isTouchpad: true, isControl: true))
      XCTAssertEqual(stage.picture.zoom, 0.625, accuracy: 1e-9)
      stage.picture.zoomToFit()
      // A page that scrolls may contain the picture.
      XCTAssertFalse(view.scrolled(0, 10, isTouchpad: true, isControl: false))
      stage.close()
    }
  }

  func testADoubleClickChangesBetweenTheWholeAndTheActualSizeAndDraggingMoves() throws {
    try MainActor.assumeIsolated {
      let stage = ZoomStage(Self.slow())
      stage.complete()
      let view = stage.picture.view
      let point = ZoomGeometry.Point(x: 100 * view.scale, y: 90 * view.scale)
      let before = try XCTUnwrap(view.geometry).picturePoint(point)
      view.clicked(1, 100, 90)
      XCTAssertTrue(stage.picture.isFitting)
      view.clicked(2, 100, 90)
      XCTAssertEqual(stage.picture.zoom, 1)
      let after = try XCTUnwrap(view.geometry).picturePoint(point)
      XCTAssertEqual(before.x, after.x, accuracy: 1e-6)
      let center = try XCTUnwrap(stage.picture.center)
      view.dragged(-30, 12)
      XCTAssertEqual(stage.picture.center?.x ?? 0, center.x + 30 * view.scale, accuracy: 1e-6)
      XCTAssertEqual(stage.picture.center?.y ?? 0, center.y - 12 * view.scale, accuracy: 1e-6)
      view.clicked(2, 5, 5)
      XCTAssertTrue(stage.picture.isFitting)
      stage.close()
    }
  }

  func testEventsOfGTKReachThePicture() {
    MainActor.assumeIsolated {
      let stage = ZoomStage(Self.slow())
      stage.complete()
      let controllers = unsafe gtk_widget_observe_controllers(stage.picture.widget)
      defer { unsafe g_object_unref(UnsafeMutableRawPointer(controllers)) }
      var emitted: Set<String> = []
      let count = unsafe g_list_model_get_n_items(controllers)
      for index in 0..<count {
        guard let item = unsafe g_list_model_get_item(controllers, index) else { continue }
        defer { unsafe g_object_unref(item) }
        let name = unsafe className(of: item)
        emitted.insert(name)
        switch name {
        case "GtkEventControllerKey":
          let used = unsafe emit(OpaquePointer(item), "key-pressed", UInt32(GDK_KEY_1), UInt32(0), Self.plain)
          XCTAssertEqual(used, true)
          XCTAssertEqual(stage.picture.zoom, 1)
        case "GtkGestureClick":
          stage.picture.zoomToFit()
          unsafe emit(OpaquePointer(item), "pressed", 2, 10.0, 10.0)
          XCTAssertEqual(stage.picture.zoom, 1)
        case "GtkGestureDrag":
          stage.picture.zoom(to: 1)
          let before = stage.picture.center?.x ?? 0
          unsafe emit(OpaquePointer(item), "drag-begin", 0.0, 0.0)
          unsafe emit(OpaquePointer(item), "drag-update", -5.0, 0.0)
          unsafe emit(OpaquePointer(item), "drag-update", -9.0, 0.0)
          XCTAssertEqual(stage.picture.center?.x ?? 0, before + 9 * stage.picture.view.scale, accuracy: 1e-6)
        case "GtkGestureZoom":
          stage.picture.zoom(to: 1)
          unsafe emit(OpaquePointer(item), "scale-changed", 0.5)
          XCTAssertEqual(stage.picture.zoom, 0.5, accuracy: 1e-9)
        default: break
        }
      }
      XCTAssertEqual(emitted.count, 6)
      stage.close()
    }
  }

  // MARK: The widget

  func testAFittingPictureFollowsTheSizeOfTheWidget() throws {
    try MainActor.assumeIsolated {
      let shown = Self.slow()
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
      let stage = ZoomStage(Self.slow())
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
      let stage = ZoomStage(Self.slow())
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

/// A photograph, to be looked at: `VITRINE_GOLDEN_OUTPUT` names the folder for the pictures.
final class ZoomPhotographTests: WidgetTestCase {
  func testAPhotographIsItsCropAtEachPlace() throws {
    try MainActor.assumeIsolated {
      let file = URL(filePath: #filePath).deletingLastPathComponent()
        .appending(path: "../../../Examples/Photographs/macaws-444.jpg").standardized
      let whole = try Bitmap(decoding: try Data(contentsOf: file))
      let picture = ZoomPicture(.testing(), width: 320, height: 240)
      let window = unsafe TestWindow(picture.widget)
      picture.load(ImageRequest(.file(file.path)))
      @MainActor
      func drawn(_ name: String) throws -> Bitmap {
        MainLoop.turn { picture.content.isSame(as: .complete) }
        repeat { window.nextFrame() } while picture.view.isTicking
        let bitmap = unsafe try window.picture(of: picture.widget)
        if let folder = ProcessInfo.processInfo.environment["VITRINE_GOLDEN_OUTPUT"] {
          try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
          try bitmap.encoded(as: .png).write(to: URL(filePath: folder).appending(path: "zoom-\(name).png"))
        }
        return bitmap
      }
      _ = try drawn("whole")
      picture.rotate(quarters: 1)
      _ = try drawn("turned")
      picture.rotate(quarters: -1)
      picture.zoomToActualSize()
      for (name, x, y) in [("middle", 0.0, 0.0), ("first", 1e6, 1e6), ("last", -1e6, -1e6)] {
        picture.pan(x: x, y: y)
        let place = try XCTUnwrap(picture.view.geometry).picture
        let bitmap = try drawn(name)
        let expected = try whole.cropped(x: -place.left, y: -place.top, width: bitmap.width, height: bitmap.height)
        XCTAssertEqual(bitmap.largestDifference(from: expected), 0, name)
      }
      picture.zoom(to: 1.6)
      _ = try drawn("smooth")
      picture.zoom(to: 7)
      _ = try drawn("squares")
      window.close()
    }
  }
}

extension ZoomPicture.Content {
  var isFailure: Bool { if case .failure = self { true } else { false } }
}
