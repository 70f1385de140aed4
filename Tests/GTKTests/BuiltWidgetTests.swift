import CGTK
import CVitrineGTK
import Vitrine
import VitrineTestSupport
import VitrineTesting
import XCTest

@testable import VitrineGTK

/// Widgets that GtkBuilder makes of a description.
final class BuiltWidgetTests: WidgetTestCase {
  /// Builds the object of a description, in a window.
  @MainActor
  private static func build(_ object: String) throws -> (window: TestWindow, widget: UnsafeMutablePointer<GtkWidget>) {
    XCTAssertNotEqual(RemotePicture.type, ZoomPicture.type)
    let builder = unsafe gtk_builder_new()
    defer { unsafe g_object_unref(UnsafeMutableRawPointer(builder)) }
    let text = "<interface>\(object)</interface>"
    var error: UnsafeMutablePointer<GError>?
    let isRead = unsafe gtk_builder_add_from_string(builder, text, -1, &error)
    XCTAssertNotEqual(isRead, 0, unsafe error.map { unsafe String(cString: $0.pointee.message) } ?? "")
    // The window takes a reference of its own.
    let widget: UnsafeMutablePointer<GtkWidget> = unsafe try XCTUnwrap(
      cast(gtk_builder_get_object(builder, "picture"))
    )
    return unsafe (TestWindow(widget), widget)
  }

  private func photograph() throws -> (TemporaryFolder, URL) {
    let folder = try TemporaryFolder()
    let picture = Bitmap.pixels(width: 120, height: 90) { _, _ in SIMD4(10, 200, 30, 255) }
    return try (folder, folder.write(picture.encoded(as: .png()), to: "a.png"))
  }

  func testARemotePictureIsBuiltWithItsProperties() throws {
    let (folder, url) = try photograph()
    defer { withExtendedLifetime(folder) {} }
    try MainActor.assumeIsolated {
      let (window, widget) = unsafe try Self.build(
        """
        <object class="VitrineRemotePicture" id="picture"><property name="uri">\(url.absoluteString)</property>
        <property name="mode">fit</property><property name="shows-retry">true</property>
        <property name="plays">false</property><property name="width-request">120</property>
        <property name="height-request">90</property>
        <accessibility><property name="label">A meadow</property></accessibility></object>
        """
      )
      let picture = unsafe try XCTUnwrap(RemotePicture(widget))
      XCTAssertNil(unsafe ZoomPicture(widget))
      XCTAssertEqual(picture.mode, .fit)
      XCTAssertTrue(picture.showsRetry)
      XCTAssertFalse(picture.plays)
      XCTAssertTrue(picture.animates)
      MainLoop.turn { if case .image = picture.content { true } else { false } }
      // The image fades in: nothing is drawn in the first frame, and all of it some frames later.
      for _ in 0..<5 { window.nextFrame() }
      var isThere = false
      for _ in 0..<600 where !isThere {
        window.nextFrame()
        isThere = unsafe try window.render(widget).contains([10, 200, 30, 255])
      }
      XCTAssertTrue(isThere)
      XCTAssertEqual(unsafe String(cString: gtk_widget_get_css_name(widget)), "vitrine-picture")
      let object = unsafe GTKObject(widget)
      XCTAssertEqual(object.get("uri"), url.absoluteString)
      XCTAssertEqual(object.get("mode"), "fit")
      object.set("mode", "none of them")
      XCTAssertEqual(picture.mode, .fit)
      object.set("uri", "")
      MainLoop.turn { if case .empty = picture.content { true } else { false } }
      window.close()
    }
  }

  func testAZoomPictureIsBuiltWithItsProperties() throws {
    let (folder, url) = try photograph()
    defer { withExtendedLifetime(folder) {} }
    try MainActor.assumeIsolated {
      let (window, widget) = unsafe try Self.build(
        """
        <object class="VitrineZoomPicture" id="picture"><property name="uri">\(url.absoluteString)</property>
        <property name="has-chequerboard">true</property><property name="shows-progress">true</property></object>
        """
      )
      let picture = unsafe try XCTUnwrap(ZoomPicture(widget))
      XCTAssertTrue(picture.hasChequerboard && picture.showsProgress && !picture.showsRetry)
      MainLoop.turn { if case .complete = picture.content { true } else { false } }
      XCTAssertEqual(picture.info?.width, 120)
      XCTAssertEqual(unsafe GTKObject(widget).get("has-chequerboard"), true)
      window.close()
    }
  }

  func testAURLThatCannotBeShownIsAFailure() throws {
    try MainActor.assumeIsolated {
      let (window, widget) = unsafe try Self.build(
        "<object class=\"VitrineRemotePicture\" id=\"picture\"><property name=\"uri\">no URL</property></object>"
      )
      let picture = unsafe try XCTUnwrap(RemotePicture(widget))
      MainLoop.turn { if case .failure = picture.content { true } else { false } }
      window.close()
    }
  }
}
