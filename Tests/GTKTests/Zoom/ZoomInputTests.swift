import CGTK
import CVitrineGTK
import Vitrine
import XCTest

@testable import VitrineGTK

/// The keyboard and the pointer.
final class ZoomInputTests: WidgetTestCase {
  private static let plain = GdkModifierType(rawValue: 0)

  @MainActor
  private static func press(_ stage: ZoomStage, _ key: Int32, _ modifiers: GdkModifierType? = nil) -> Bool {
    stage.picture.view.pressed(UInt32(key), modifiers ?? plain)
  }

  func testKeysZoomMoveAndTurn() throws {
    try MainActor.assumeIsolated {
      let stage = ZoomStage(FakePicture.slow())
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
      let stage = ZoomStage(FakePicture.slow())
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
      let stage = ZoomStage(FakePicture.slow())
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
      let stage = ZoomStage(FakePicture.slow())
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
}
