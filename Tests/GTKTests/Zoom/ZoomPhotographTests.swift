import Foundation
import Vitrine
import VitrineTestSupport
import VitrineTesting
import XCTest

@testable import VitrineGTK

/// A photograph, to be looked at: `VITRINE_GOLDEN_OUTPUT` names the folder for the pictures.
final class ZoomPhotographTests: WidgetTestCase {
  func testAPhotographIsItsCropAtEachPlace() throws {
    try MainActor.assumeIsolated {
      let file = Photograph.folder.appending(path: "macaws-444.jpg")
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
