import CGTK
import CVitrineGTK
import Vitrine
import VitrineTestSupport
import VitrineTesting
import XCTest

@testable import VitrineGTK

/// A zoom picture in a window of a test's own.
@MainActor
final class ZoomStage {
  let opener: FakeOpener
  let picture: ZoomPicture
  let window: TestWindow

  init(_ pictures: [String: FakePicture] = [:], width: Int = 301, height: Int = 223) {
    opener = FakeOpener(pictures)
    picture = ZoomPicture(opener: opener, width: width, height: height)
    unsafe gtk_widget_set_halign(picture.widget, GTK_ALIGN_CENTER)
    unsafe gtk_widget_set_valign(picture.widget, GTK_ALIGN_CENTER)
    window = unsafe TestWindow(picture.widget, width: width + 40, height: height + 40)
  }

  /// Makes a stage that shows one picture.
  convenience init(_ shown: FakePicture, width: Int = 301, height: Int = 223) {
    self.init(["A": shown], width: width, height: height)
    picture.load(.named("A"))
  }

  var tiles: ZoomTiles? { picture.view.tiles }

  func complete(_ file: StaticString = #filePath, _ line: UInt = #line) {
    MainLoop.turn(file, line) { self.picture.content.isSame(as: .complete) }
  }

  /// Draws the widget in the display's pixels.
  func render() throws -> Bitmap {
    // Until no frame brings more.
    repeat { window.nextFrame() } while picture.view.isTicking
    return unsafe try window.picture(of: picture.widget)
  }

  // Compares what is drawn with the picture: each `step`th pixel of the screen, across and down, with the colour at its
  // middle. No component may differ by more than `tolerance`.
  func check(
    _ shown: FakePicture,
    tolerance: Int,
    _ message: String = "",
    step: Int = 1,
    file: StaticString = #filePath,
    line: UInt = #line,
  ) throws {
    let geometry = try XCTUnwrap(picture.view.geometry, file: file, line: line)
    let drawn = try render()
    XCTAssertEqual(drawn.width, geometry.width, file: file, line: line)
    XCTAssertEqual(drawn.height, geometry.height, file: file, line: line)
    let place = geometry.picture
    let (scaleX, scaleY) = (
      Double(shown.grid.width) / Double(place.width), Double(shown.grid.height) / Double(place.height),
    )
    var (worst, where_) = (0, "")
    for y in stride(from: 0, to: drawn.height, by: step) {
      for x in stride(from: y % step, to: drawn.width, by: step) {
        let point = geometry.framePoint(ZoomGeometry.Point(x: Double(x) + 0.5, y: Double(y) + 0.5))
        let (frameX, frameY) = (point.x - Double(place.left), point.y - Double(place.top))
        let isInside = frameX > 0 && frameY > 0 && frameX < Double(place.width) && frameY < Double(place.height)
        let expected = isInside ? shown.color(frameX * scaleX, frameY * scaleY) : SIMD4(0, 0, 0, 0)
        let difference = drawn[x, y].distance(from: expected)
        if difference > worst { (worst, where_) = (difference, "\(x), \(y): \(drawn[x, y]), not \(expected)") }
      }
    }
    XCTAssertLessThanOrEqual(worst, tolerance, "\(message) at \(where_), \(geometry.zoom)", file: file, line: line)
  }

  func close() { window.close() }
}

extension SIMD4<UInt8> {
  /// The largest difference of a component.
  func distance(from other: Self) -> Int {
    indices.map { abs(Int(self[$0]) - Int(other[$0])) }.max() ?? 0
  }
}
