import CGTK
import CVitrineGTK
import Vitrine
import VitrineTestSupport
import VitrineTesting
import XCTest

@testable import VitrineGTK

/// What a picture has besides its image: failures and retries, progress, shapes, resources, and its meaning to screen
/// readers.
final class PictureStateTests: WidgetTestCase {
  @MainActor
  private struct Stage {
    let loading = FakeLoading()
    let mailbox = FrameMailbox.manual()

    func makePicture(width: Int = 64, height: Int = 48, mode: TargetSize.Mode = .fill) -> RemotePicture {
      let slot = ImageSlot(loader: loading, mailbox: mailbox)
      let picture = RemotePicture(slot: slot, width: width, height: height, mode: mode)
      unsafe gtk_widget_set_halign(picture.widget, GTK_ALIGN_CENTER)
      unsafe gtk_widget_set_valign(picture.widget, GTK_ALIGN_CENTER)
      return picture
    }

    func fail(_ name: String) {
      loading.oldest(name)?.finish(nil)
      mailbox.deliver()
    }

    func succeed(_ name: String) {
      loading.oldest(name)?.finish(.of(name))
      mailbox.deliver()
    }
  }

  func testAFailedPictureHasAButtonThatAsksTheServer() {
    MainActor.assumeIsolated {
      let stage = Stage()
      let picture = stage.makePicture()
      picture.showsRetry = true
      let window = unsafe TestWindow(picture.widget)
      picture.load(.named("A"), placeholder: .color(.init(0x102030)), failure: .symbol("image-missing"))
      XCTAssertEqual(picture.view.retryButton?.isShown, false)
      stage.fail("A")
      XCTAssertEqual(picture.view.retryButton?.isShown, true)
      unsafe click(picture.view.retryButton?.widget)
      XCTAssertEqual(stage.loading.forgotten, ["A"])
      XCTAssertEqual(stage.loading.loads.count, 2)
      XCTAssertEqual(picture.view.retryButton?.isShown, false)
      XCTAssertNil(picture.view.iconName)
      XCTAssertNotNil(picture.view.beneath)
      stage.succeed("A")
      XCTAssertTrue(picture.view.shows("A"))
      window.close()
    }
  }

  func testAPictureThatFailedBeforeItHadAButtonGetsOne() {
    MainActor.assumeIsolated {
      let stage = Stage()
      let picture = stage.makePicture()
      let window = unsafe TestWindow(picture.widget)
      picture.load(.named("A"))
      stage.fail("A")
      picture.showsRetry = true
      XCTAssertEqual(picture.view.retryButton?.isShown, true)
      picture.showsRetry = false
      XCTAssertNil(picture.view.retryButton)
      window.close()
    }
  }

  func testAPictureThatFailedShowsTheImageThatAnotherHasLoaded() {
    MainActor.assumeIsolated {
      let stage = Stage()
      let (one, other) = (stage.makePicture(), stage.makePicture())
      let box: UnsafeMutablePointer<GtkWidget> = unsafe gtk_box_new(GTK_ORIENTATION_VERTICAL, 0)
      unsafe gtk_box_append(vitrine_gtk_box(box), one.widget)
      unsafe gtk_box_append(vitrine_gtk_box(box), other.widget)
      let window = unsafe TestWindow(box)
      one.load(.named("A"), failure: .symbol("image-missing"))
      stage.fail("A")
      XCTAssertEqual(one.view.iconName, "image-missing")
      other.load(.named("A"))
      stage.succeed("A")
      XCTAssertTrue(other.view.shows("A"))
      // The one that failed has begun to load again, and shows its failure until then.
      XCTAssertEqual(one.view.iconName, "image-missing")
      stage.mailbox.deliver()
      stage.succeed("A")
      XCTAssertTrue(one.view.shows("A"))
      XCTAssertNil(one.view.iconName)
      window.close()
    }
  }

  func testASlowLoadHasARingThatGoesWithTheImage() {
    MainActor.assumeIsolated {
      let stage = Stage()
      let picture = stage.makePicture()
      picture.showsProgress = true
      let window = unsafe TestWindow(picture.widget)
      picture.load(.named("A"))
      XCTAssertEqual(picture.view.ring?.isShown, false)
      MainLoop.turn { picture.view.ring?.isShown == true }
      let drawn = unsafe try? window.render(picture.widget)
      XCTAssertTrue(drawn?.contains { $0[3] > 0 } ?? false)
      stage.succeed("A")
      XCTAssertEqual(picture.view.ring?.isShown, false)
      window.close()
    }
  }

  func testACircleShowsTheMiddleAndNoCorners() throws {
    try MainActor.assumeIsolated {
      let stage = Stage()
      let picture = stage.makePicture(width: 40, height: 40)
      picture.shape = .circle
      let window = unsafe TestWindow(picture.widget)
      let scale = Int(picture.view.scale)
      stage.loading[memory: "A"] = .of("A", origin: .memory, image: .solid(.init(0xFF0000), side: 40 * scale))
      picture.load(.named("A"))
      window.nextFrame()
      let drawn = unsafe try window.render(picture.widget)
      XCTAssertEqual(drawn[0], [0, 0, 0, 0])
      XCTAssertEqual(drawn[20 * scale * 40 * scale + 20 * scale], [255, 0, 0, 255])
      window.close()
    }
  }

  func testRoundCornersAreThoseOfTheImageNotOfTheWidget() throws {
    try MainActor.assumeIsolated {
      let stage = Stage()
      let picture = stage.makePicture(width: 60, height: 40, mode: .fit)
      picture.shape = .rounded(radius: 10)
      picture.alignment = .topLeft
      let window = unsafe TestWindow(picture.widget)
      let scale = Int(picture.view.scale)
      stage.loading[memory: "A"] = .of("A", origin: .memory, image: .solid(.init(0x00FF00), side: 40 * scale))
      picture.load(.named("A"))
      window.nextFrame()
      let drawn = unsafe try window.render(picture.widget)
      XCTAssertEqual(drawn[0][3], 0)
      XCTAssertEqual(drawn[39 * scale][3], 0)
      XCTAssertEqual(drawn[20 * scale], [0, 255, 0, 255])
      // Right of the image there is nothing.
      XCTAssertEqual(drawn[20 * scale * 60 * scale + 50 * scale][3], 0)
      window.close()
    }
  }

  func testAShapeOfANonsensicalRadiusIsARectangle() throws {
    try MainActor.assumeIsolated {
      for radius in [0, -5, .nan, -.infinity] as [Double] {
        let stage = Stage()
        let picture = stage.makePicture(width: 20, height: 20)
        picture.shape = .rounded(radius: radius)
        let window = unsafe TestWindow(picture.widget)
        picture.load(.named("A"), placeholder: .color(.init(0x0000FF)))
        window.nextFrame()
        XCTAssertEqual(unsafe try window.render(picture.widget)[0], [0, 0, 255, 255])
        window.close()
      }
    }
  }

  func testWhatIsBeneathAnImageFadesOutBesideIt() throws {
    try MainActor.assumeIsolated {
      let stage = Stage()
      let picture = stage.makePicture(width: 60, height: 20, mode: .fit)
      let window = unsafe TestWindow(picture.widget)
      let scale = Int(picture.view.scale)
      picture.load(.named("A"), placeholder: .color(.init(0xFFFFFF)))
      stage.loading.oldest("A")?.finish(.of("A", image: .solid(.init(0x000000), side: 20 * scale)))
      stage.mailbox.deliver()
      var opacities: [UInt8] = []
      for step in 0...8 {
        unsafe picture.view.frameTime = { _ in gint64(step) * 25_000 }
        unsafe gtk_widget_queue_draw(picture.widget)
        window.nextFrame()
        if picture.view.beneath != nil { opacities.append(unsafe try window.render(picture.widget)[0][3]) }
      }
      XCTAssertNil(picture.view.beneath)
      XCTAssertEqual(opacities, [255, 223, 191, 159, 128, 96, 64, 32])
      window.close()
    }
  }

  func testScreenReadersSeeAnImageAndNothingInIt() {
    MainActor.assumeIsolated {
      let stage = Stage()
      let picture = stage.makePicture()
      picture.alternativeText = "A cat"
      picture.alternativeDescription = "A cat on a wall"
      let window = unsafe TestWindow(picture.widget)
      picture.load(.named("A"), placeholder: .symbol("image-loading"))
      picture.showsProgress = true
      XCTAssertEqual(unsafe role(picture.widget), GTK_ACCESSIBLE_ROLE_IMG)
      for property in [GTK_ACCESSIBLE_PROPERTY_LABEL, GTK_ACCESSIBLE_PROPERTY_DESCRIPTION] {
        XCTAssertNotEqual(unsafe gtk_test_accessible_has_property(OpaquePointer(picture.widget), property), 0)
      }
      var count = 0
      var child = unsafe gtk_widget_get_first_child(picture.widget)
      while let part = unsafe child {
        count += 1
        XCTAssertEqual(unsafe role(part), GTK_ACCESSIBLE_ROLE_PRESENTATION)
        unsafe child = gtk_widget_get_next_sibling(part)
      }
      // The image, the icon and the ring.
      XCTAssertEqual(count, 3)
      window.close()
    }
  }

  func testAnIconIsDrawnInItsColourAndItsSize() throws {
    try MainActor.assumeIsolated {
      let pipeline = ImagePipeline.testing(PipelineParts())
      let icon = load(.icon("view-refresh-symbolic", side: 48, color: PixelColor(0x3366CC)), pipeline)
      let image = try icon.get().straightened()
      XCTAssertEqual([image.width, image.height], [48, 48])
      let drawn = (0..<48).flatMap { y in (0..<48).map { x in image[x, y] } }.filter { $0.w > 200 }
      XCTAssertFalse(drawn.isEmpty)
      let isBlue = drawn.allSatisfy { pixel in
        zip([pixel.x, pixel.y, pixel.z], [0x33, 0x66, 0xCC]).allSatisfy { abs(Int($0) - $1) < 4 }
      }
      XCTAssertTrue(isBlue)
    }
  }

  func testAnIconThatCannotBeDrawnSaysWhy() {
    MainActor.assumeIsolated {
      let pipeline = ImagePipeline.testing(PipelineParts())
      let cases: [(ImageSource, String)] = [
        (.icon("no-such-icon", side: 48), "source 'icon:no-such-icon 48 #000000': fetch: the theme has no such icon"),
        (
          .icon("folder", side: 0), "source 'icon:folder 0 #000000': fetch: a side of 0 pixels is not within 1 to 1024",
        ),
        (
          .gresource("/org/example/none.png"),
          "source 'resource:/org/example/none.png': fetch: no resource of the program has this path",
        ),
      ]
      for (source, message) in cases {
        guard case .failure(let error) = load(source, pipeline) else { return XCTFail("\(source) was loaded") }
        XCTAssertEqual("\(error)", message)
      }
    }
  }

  func testAResourceThatIsMissingShowsNothingAndIsNoError() {
    MainActor.assumeIsolated {
      let stage = Stage()
      let picture = stage.makePicture()
      let window = unsafe TestWindow(picture.widget)
      picture.load(.named("A"), placeholder: .resource("/org/example/missing.png"))
      XCTAssertNil(picture.view.beneath)
      picture.load(.named("B"), placeholder: .resource("../missing.png"))
      XCTAssertNil(picture.view.beneath)
      window.close()
    }
  }

  /// An icon that comes while the picture is laid out is laid out, too; GTK would warn otherwise.
  func testIconsInAListAreLaidOutBeforeTheyAreDrawn() {
    MainActor.assumeIsolated {
      let loading = FakeLoading()
      let list = StringList((0..<60).map { "\($0)" })
      let factory = unsafe RemotePictureFactory(
        60,
        40,
        .fill,
        .symbol("image-loading-symbolic"),
        .symbol("image-missing-symbolic"),
        { item in unsafe item.text.map { ImageRequest.named($0) } },
      ) { ImageSlot(loader: loading, mailbox: .gtk) }
      let view = Widget.scrolled(Widget(of: gtk_list_view_get_type()).show(list, factory))
      let window = unsafe TestWindow(view.pointer)
      for value in [0.0, 900, 200] {
        view.object("vadjustment")?.set("value", value)
        for _ in 0..<3 { window.nextFrame() }
      }
      window.close()
    }
  }
}

extension Bitmap {
  /// A square of one colour.
  static func solid(_ color: PixelColor, side: Int) -> Bitmap {
    .solid(SIMD4(color.red, color.green, color.blue, 255), width: side, height: side)
  }
}

@MainActor
private func role(_ widget: UnsafeMutablePointer<GtkWidget>) -> GtkAccessibleRole {
  unsafe gtk_accessible_get_accessible_role(OpaquePointer(widget))
}

/// Loads an image while the main loop turns.
@MainActor
private func load(_ source: ImageSource, _ pipeline: ImagePipeline) -> Result<Bitmap, LoadError> {
  var result: Result<Bitmap, LoadError>?
  Task {
    do throws(LoadError) {
      result = .success(try await pipeline.image(for: ImageRequest(source)))
    } catch {
      result = .failure(error)
    }
  }
  MainLoop.turn { result != nil }
  return result ?? .failure(LoadError(.cancelled, stage: .fetch, source: "", "it did not end"))
}

/// Clicks a button.
@MainActor
private func click(_ button: UnsafeMutablePointer<GtkWidget>?) {
  guard let button = unsafe button else { return XCTFail("there is no button") }
  var value = GValue()
  unsafe g_value_init(&value, gtk_button_get_type())
  unsafe g_value_set_object(&value, button)
  // The signal has no arguments but the button itself.
  unsafe g_signal_emitv(&value, g_signal_lookup("clicked", gtk_button_get_type()), 0, nil)
  unsafe g_value_unset(&value)
}
