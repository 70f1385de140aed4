import CGTK
import Vitrine
import VitrineTestSupport
import XCTest

@testable import VitrineGTK

/// The part of a picture that the user chooses.
final class ZoomSelectionTests: WidgetTestCase {
  private typealias Box = ZoomSelection.Box

  // MARK: Rectangles

  func testARectangleStaysInItsBoundsWithItsRatioWhateverIsDragged() {
    var numbers = SplitMix64(seed: 77)
    let all: [ZoomSelection.Edges] = [
      [], .left, .top, .right, .bottom, [.left, .top], [.right, .top], [.left, .bottom], [.right, .bottom],
    ]
    for round in 0..<4000 {
      let bounds = Box(left: 5, top: -7, right: 5 + Double(10 + round % 300), bottom: -7 + Double(10 + round % 211))
      var box = Box(
        left: .random(in: bounds.left...bounds.right - 6, using: &numbers),
        top: .random(in: bounds.top...bounds.bottom - 6, using: &numbers),
        right: 0,
        bottom: 0,
      )
      box.right = .random(in: box.left + 5...bounds.right, using: &numbers)
      box.bottom = .random(in: box.top + 5...bounds.bottom, using: &numbers)
      let ratio: Double? = round % 2 == 0 ? nil : [1, 4.0 / 3, 9.0 / 16][round % 3]
      if let ratio { box = box.reshaped(ratio, within: bounds) }
      let new = box.dragged(
        all[round % 9],
        x: .random(in: -400...400, using: &numbers),
        y: .random(in: -400...400, using: &numbers),
        within: bounds,
        least: 5,
        ratio: ratio,
      )
      let slack = 1e-6
      XCTAssertGreaterThanOrEqual(new.left, bounds.left - slack)
      XCTAssertGreaterThanOrEqual(new.top, bounds.top - slack)
      XCTAssertLessThanOrEqual(new.right, bounds.right + slack)
      XCTAssertLessThanOrEqual(new.bottom, bounds.bottom + slack)
      XCTAssertGreaterThan(new.width, 0)
      XCTAssertGreaterThan(new.height, 0)
      if let ratio { XCTAssertEqual(new.width / new.height, ratio, accuracy: 1e-6) }
      if all[round % 9].isEmpty {
        XCTAssertEqual(new.width, box.width, accuracy: slack)
        XCTAssertEqual(new.height, box.height, accuracy: slack)
      }
    }
  }

  func testAnEdgeIsGrippedWithinReachAndTheMiddleMoves() {
    let box = Box(left: 100, top: 100, right: 200, bottom: 180)
    func edges(_ x: Double, _ y: Double) -> ZoomSelection.Edges? {
      box.edges(at: ZoomGeometry.Point(x: x, y: y), reach: 12)
    }
    XCTAssertEqual(edges(95, 140), .left)
    XCTAssertEqual(edges(205, 185), [.right, .bottom])
    XCTAssertEqual(edges(150, 105), .top)
    XCTAssertEqual(edges(150, 140), [])
    XCTAssertNil(edges(80, 140))
    XCTAssertEqual(ZoomSelection.Edges([.right, .bottom]).cursor, "nwse-resize")
    XCTAssertEqual(ZoomSelection.Edges([]).cursor, "move")
  }

  // MARK: The widget

  @MainActor
  private static func press(
    _ stage: ZoomStage,
    _ key: Int32,
    _ modifiers: GdkModifierType = GdkModifierType(rawValue: 0),
  ) {
    XCTAssertTrue(stage.picture.view.pressed(UInt32(key), modifiers))
  }

  func testThePartIsChosenByPointerAndKeysHoweverThePictureIsTurned() throws {
    try MainActor.assumeIsolated {
      let stage = ZoomStage(FakePicture.slow(400, 300), width: 440, height: 330)
      XCTAssertNil(stage.picture.selection)
      stage.complete()
      var changes = 0
      stage.picture.changed = { changes += 1 }
      let view = stage.picture.view
      for (turns, isFlipped) in [(0, false), (1, false), (2, true), (3, true)] {
        stage.picture.selection = PixelRegion(x: 100, y: 100, width: 100, height: 80)
        XCTAssertEqual(stage.picture.selection, PixelRegion(x: 100, y: 100, width: 100, height: 80))
        // The upper left corner on the screen, dragged inwards.
        let geometry = try XCTUnwrap(view.geometry)
        let (one, other) = (
          geometry.screenPoint(ofPicture: ZoomGeometry.Point(x: 100, y: 100)),
          geometry.screenPoint(ofPicture: ZoomGeometry.Point(x: 200, y: 180)),
        )
        let corner = ZoomGeometry.Point(x: min(one.x, other.x), y: min(one.y, other.y))
        let grip = try XCTUnwrap(view.grip(at: corner))
        XCTAssertEqual(grip.edges, [.left, .top])
        let zoom = geometry.zoom
        view.dragged(grip, by: ZoomGeometry.Point(x: 30 * zoom, y: 20 * zoom))
        let part = try XCTUnwrap(stage.picture.selection)
        let sides = turns % 2 == 0 ? (70, 60) : (80, 50)
        XCTAssertEqual([part.width, part.height], [sides.0, sides.1], "\(turns)")
        // The lower right corner on the screen stays.
        let kept = geometry.picturePoint(ZoomGeometry.Point(x: max(one.x, other.x), y: max(one.y, other.y)))
        XCTAssertTrue([Double(part.x), Double(part.x + part.width)].contains { abs($0 - kept.x) < 1.5 })
        XCTAssertTrue([Double(part.y), Double(part.y + part.height)].contains { abs($0 - kept.y) < 1.5 })
        let before = changes
        Self.press(stage, GDK_KEY_Right, GDK_CONTROL_MASK)
        XCTAssertGreaterThan(changes, before)
        let moved = try XCTUnwrap(stage.picture.selection)
        XCTAssertEqual([moved.width, moved.height], [part.width, part.height])
        XCTAssertEqual(abs(moved.x - part.x) + abs(moved.y - part.y), 1)
        Self.press(stage, GDK_KEY_Left, GDK_SHIFT_MASK)
        XCTAssertNotEqual(stage.picture.selection, moved)
        stage.picture.rotate(quarters: 1)
        if isFlipped { stage.picture.flip(.horizontal) }
      }
      stage.close()
    }
  }

  func testADragElsewhereBeginsAnotherPart() throws {
    try MainActor.assumeIsolated {
      let stage = ZoomStage(FakePicture.slow(400, 300), width: 400, height: 300)
      stage.complete()
      let view = stage.picture.view
      XCTAssertNil(view.grip(at: ZoomGeometry.Point(x: 10, y: 10)))
      stage.picture.selection = PixelRegion(x: 300, y: 200, width: 50, height: 50)
      let scale = view.scale
      let grip = try XCTUnwrap(view.grip(at: ZoomGeometry.Point(x: 40 * scale, y: 30 * scale)))
      view.dragged(grip, by: ZoomGeometry.Point(x: 60 * scale, y: 45 * scale))
      let part = try XCTUnwrap(stage.picture.selection)
      XCTAssertLessThan(part.x, 120)
      XCTAssertGreaterThan(part.width, part.height)
      // To the upper left, and beyond the edge of the picture.
      view.dragged(grip, by: ZoomGeometry.Point(x: -500, y: -500))
      XCTAssertEqual(stage.picture.selection?.x, 0)
      XCTAssertEqual(stage.picture.selection?.y, 0)
      stage.close()
    }
  }

  func testTheRatioTheNearestPartAndAnotherPicture() throws {
    MainActor.assumeIsolated {
      let stage = ZoomStage(["A": FakePicture.slow(400, 300), "B": FakePicture.slow(200, 300)])
      stage.picture.load(.named("A"))
      stage.complete()
      stage.picture.selection = PixelRegion(x: 0, y: 0, width: 400, height: 300)
      stage.picture.selectionRatio = 1
      XCTAssertEqual(stage.picture.selection, PixelRegion(x: 50, y: 0, width: 300, height: 300))
      stage.picture.selectionRatio = nil
      stage.picture.selectablePart = { PixelRegion(x: $0.x / 16 * 16, y: $0.y, width: $0.width, height: $0.height) }
      XCTAssertEqual(stage.picture.selection?.x, 48)
      stage.picture.selectablePart = nil
      stage.picture.selection = PixelRegion(x: 500, y: 0, width: 4, height: 4)
      XCTAssertNil(stage.picture.selection, "it is outside the picture")
      stage.picture.selection = PixelRegion(x: 390, y: 290, width: 40, height: 40)
      XCTAssertEqual(stage.picture.selection, PixelRegion(x: 390, y: 290, width: 10, height: 10))
      stage.picture.load(.named("B"))
      XCTAssertNil(stage.picture.selection)
      stage.complete()
      stage.close()
    }
  }

  func testWhatIsAroundThePartIsDarkOrHidden() throws {
    try MainActor.assumeIsolated {
      let shown = FakePicture(width: 200, height: 160) { _, _ in SIMD4(200, 100, 50, 255) }
      let stage = ZoomStage(shown, width: 200, height: 160)
      stage.complete()
      stage.picture.selection = PixelRegion(x: 50, y: 40, width: 100, height: 80)
      let drawn = try stage.render()
      let scale = Int(stage.picture.view.scale)
      XCTAssertEqual(drawn[70 * scale, 50 * scale], SIMD4(200, 100, 50, 255))
      XCTAssertLessThan(drawn[10 * scale, 10 * scale].x, 120)
      XCTAssertGreaterThan(drawn[10 * scale, 10 * scale].x, 0)
      XCTAssertGreaterThan(drawn[50 * scale, 40 * scale].y, 200, "there is a handle")
      stage.picture.previewsSelection = true
      let preview = try stage.render()
      XCTAssertEqual(preview[10 * scale, 10 * scale], SIMD4(0, 0, 0, 255))
      XCTAssertEqual(preview[50 * scale, 40 * scale], SIMD4(200, 100, 50, 255))
      stage.close()
    }
  }
}
