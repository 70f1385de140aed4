import CGTK
import CVitrineGTK
import Vitrine
import VitrineImaging
import VitrineTestSupport
import VitrineTesting
import XCTest

@testable import VitrineGTK

final class RemotePictureTests: WidgetTestCase {
  @MainActor
  private static func makePicture(
    _ loading: FakeLoading,
    _ mailbox: FrameMailbox,
    width: Int = 64,
    height: Int = 48,
    mode: TargetSize.Mode = .fill,
  ) -> RemotePicture {
    let picture = RemotePicture(
      slot: ImageSlot(loader: loading, mailbox: mailbox),
      width: width,
      height: height,
      mode: mode,
    )
    unsafe gtk_widget_set_halign(picture.widget, GTK_ALIGN_CENTER)
    unsafe gtk_widget_set_valign(picture.widget, GTK_ALIGN_CENTER)
    return picture
  }

  func testAnImageInMemoryIsThereAtOnceAndDoesNotFade() {
    MainActor.assumeIsolated {
      let (loading, mailbox) = (FakeLoading(), FrameMailbox.manual())
      loading[memory: "A"] = .of("A", origin: .memory)
      let picture = Self.makePicture(loading, mailbox)
      let window = unsafe TestWindow(picture.widget)
      picture.load(.named("A"), placeholder: .color(.init(0x102030)))
      XCTAssertTrue(picture.view.shows("A"))
      XCTAssertFalse(picture.view.isFading)
      XCTAssertNil(picture.view.beneath)
      XCTAssertEqual(loading.loads.count, 0)
      window.close()
    }
  }

  func testAURLAndItsTextAreLoadedLikeARequest() throws {
    try MainActor.assumeIsolated {
      let (loading, mailbox) = (FakeLoading(), FrameMailbox.manual())
      let picture = Self.makePicture(loading, mailbox)
      let window = unsafe TestWindow(picture.widget)
      let url = try XCTUnwrap(URL(string: "https://example.org/a.png"))
      picture.load(url, placeholder: .color(.init(0x102030)))
      picture.load(url.absoluteString)
      // The second call asks for what is being loaded already.
      XCTAssertEqual(loading.loads.map(\.request.url), [url])
      picture.load("https://example.org/b.png", failure: .color(.init(0x102030)))
      XCTAssertEqual(loading.loads.map(\.isCancelled), [true, false])
      picture.load(nil)
      XCTAssertEqual(loading.loads.map(\.isCancelled), [true, true])
      let (noURL, noText) = (URL?.none, String?.none)
      picture.load(noURL)
      picture.load(noText)
      XCTAssertEqual(loading.loads.count, 2)
      window.close()
    }
  }

  func testTextThatIsNoURLShowsTheFailureAtOnce() {
    MainActor.assumeIsolated {
      let picture = RemotePicture(.testing(PipelineParts()), width: 8, height: 8)
      let window = unsafe TestWindow(picture.widget)
      picture.load("no url", failure: .color(.init(0x102030)))
      guard case .failure(let error, _) = picture.content else { return XCTFail("\(picture.content)") }
      XCTAssertEqual(error.code, .invalidURL)
      window.close()
    }
  }

  func testAPictureIsLoadedForTheHeadroomOfItsDisplay() {
    MainActor.assumeIsolated {
      let (loading, mailbox) = (FakeLoading(), FrameMailbox.manual())
      let picture = Self.makePicture(loading, mailbox)
      let window = unsafe TestWindow(picture.widget)
      picture.load(.named("A"))
      picture.headroom = 4
      picture.load(.named("B"))
      // More than any display shows, and more than a pixel can say.
      picture.headroom = .infinity
      picture.load(.named("C"))
      picture.headroom = .nan
      picture.load(.named("D"))
      let (standard, isNewer) = (DynamicRange.standard, HighRangeBitmap.hasTextures)
      let high: DynamicRange = isNewer ? .high : .standard
      XCTAssertEqual(loading.loads.map(\.request.dynamicRange), [standard, high, high, standard])
      XCTAssertEqual(
        loading.loads.map { $0.request.processors.map(\.identifier) },
        [[], isNewer ? ["highRange(4)"] : [], isNewer ? ["highRange(65504)"] : [], []],
      )
      window.close()
    }
  }

  func testAnImageInMemoryIsThereEvenBeforeTheFirstLayout() {
    MainActor.assumeIsolated {
      let (loading, mailbox) = (FakeLoading(), FrameMailbox.manual())
      loading[memory: "A"] = .of("A", origin: .memory)
      let picture = Self.makePicture(loading, mailbox)
      picture.load(.named("A"))
      XCTAssertTrue(picture.view.shows("A"))
    }
  }

  func testAVariantIsShownAtOnceAndGivesWayToTheImageWithoutAFade() {
    MainActor.assumeIsolated {
      let (loading, mailbox) = (FakeLoading(), FrameMailbox.manual())
      loading[variant: "A"] = .of("V")
      let picture = Self.makePicture(loading, mailbox)
      let window = unsafe TestWindow(picture.widget)
      picture.load(.named("A"), placeholder: .cachedVariant(else: .color(.init(0x102030))))
      XCTAssertTrue(picture.view.shows("V"))
      XCTAssertFalse(picture.view.isFading)
      loading.oldest("A")?.finish(.of("A"))
      mailbox.deliver()
      XCTAssertTrue(picture.view.shows("A"))
      XCTAssertFalse(picture.view.isFading)
      XCTAssertNil(picture.view.beneath)
      picture.load(.named("B"), placeholder: .cachedVariant(else: .color(.init(0x102030))))
      XCTAssertNotNil(picture.view.beneath)
      window.close()
    }
  }

  func testAnImageThatCameFadesInOverThePlaceholderAndThenStandsAlone() {
    MainActor.assumeIsolated {
      let (loading, mailbox) = (FakeLoading(), FrameMailbox.manual())
      let picture = Self.makePicture(loading, mailbox)
      let window = unsafe TestWindow(picture.widget)
      picture.load(.named("A"), placeholder: .color(.init(0x102030)))
      loading.oldest("A")?.finish(.of("A"))
      mailbox.deliver()
      XCTAssertTrue(picture.view.shows("A"))
      XCTAssertTrue(picture.view.isFading)
      XCTAssertNotNil(picture.view.beneath)
      MainLoop.turn { picture.view.beneath == nil }
      XCTAssertFalse(picture.view.isFading)
      window.close()
    }
  }

  func testWhatIsBeneathGoesEvenWhereTheStyleSheetForbidsFading() {
    MainActor.assumeIsolated {
      let provider = unsafe gtk_css_provider_new()
      unsafe vitrine_gtk_load_css(provider, "vitrine-image { animation: none; }")
      unsafe gtk_style_context_add_provider_for_display(gdk_display_get_default(), OpaquePointer(provider), 800)
      defer {
        unsafe gtk_style_context_remove_provider_for_display(gdk_display_get_default(), OpaquePointer(provider))
        unsafe g_object_unref(UnsafeMutableRawPointer(provider))
      }
      let (loading, mailbox) = (FakeLoading(), FrameMailbox.manual())
      let picture = Self.makePicture(loading, mailbox, mode: .fit)
      let window = unsafe TestWindow(picture.widget)
      picture.load(.named("A"), placeholder: .color(.init(0x102030)))
      loading.oldest("A")?.finish(.of("A"))
      mailbox.deliver()
      XCTAssertNotNil(picture.view.beneath)
      MainLoop.turn { picture.view.beneath == nil }
      window.close()
    }
  }

  func testABetterVersionOfWhatIsShownDoesNotFade() {
    MainActor.assumeIsolated {
      let (loading, mailbox) = (FakeLoading(), FrameMailbox.manual())
      loading[memory: "A"] = .of("A", origin: .memory, isStale: true)
      let picture = Self.makePicture(loading, mailbox)
      let window = unsafe TestWindow(picture.widget)
      picture.load(.named("A"))
      loading.oldest("A")?.finish(.of("A", version: 2))
      mailbox.deliver()
      XCTAssertEqual(picture.view.image?.bitmap[0, 0].z, 2)
      XCTAssertFalse(picture.view.isFading)
      window.close()
    }
  }

  func testNothingIsLoadedBeforeThePictureCanBeSeenAndALoadEndsWhenItCannot() {
    MainActor.assumeIsolated {
      let (loading, mailbox) = (FakeLoading(), FrameMailbox.manual())
      let picture = Self.makePicture(loading, mailbox)
      picture.load(.named("A"))
      XCTAssertEqual(loading.loads.count, 0)
      let window = unsafe TestWindow(picture.widget)
      XCTAssertEqual(loading.loads.count, 1)
      unsafe gtk_widget_set_visible(picture.widget, 0)
      XCTAssertEqual(loading.loads.map(\.isCancelled), [true])
      unsafe gtk_widget_set_visible(picture.widget, 1)
      MainLoop.turn { loading.loads.count == 2 }
      XCTAssertEqual(loading.loads.map(\.isCancelled), [true, false])
      window.close()
      XCTAssertEqual(loading.loads.map(\.isCancelled), [true, true])
    }
  }

  func testAnImageIsAskedForInTheDisplaysPixels() {
    MainActor.assumeIsolated {
      let (loading, mailbox) = (FakeLoading(), FrameMailbox.manual())
      let picture = Self.makePicture(loading, mailbox, width: 77, height: 51)
      let window = unsafe TestWindow(picture.widget)
      picture.load(.named("A"))
      let scale = picture.view.scale
      XCTAssertEqual(loading.loads.map(\.request.size), [.pixels(77 * scale, 51 * scale, .fill)])
      window.close()
    }
  }

  func testAnImageOfItsSizeIsDrawnPixelForPixel() throws {
    try MainActor.assumeIsolated {
      let (loading, mailbox) = (FakeLoading(), FrameMailbox.manual())
      let picture = Self.makePicture(loading, mailbox)
      let window = unsafe TestWindow(picture.widget)
      let scale = Int(picture.view.scale)
      let image = Bitmap.testPattern(width: 64 * scale, height: 48 * scale)
      loading[memory: "A"] = .of("A", origin: .memory, image: image)
      picture.load(.named("A"))
      window.nextFrame()
      let drawn = unsafe try window.render(picture.widget)
      XCTAssertEqual(drawn, image.multipliedPixels)
      window.close()
    }
  }

  func testAnImageThatFitsStandsInTheMiddleAtItsOwnPixels() throws {
    try MainActor.assumeIsolated {
      let (loading, mailbox) = (FakeLoading(), FrameMailbox.manual())
      let picture = Self.makePicture(loading, mailbox, mode: .fit)
      let window = unsafe TestWindow(picture.widget)
      let scale = Int(picture.view.scale)
      let image = Bitmap.testPattern(width: 20 * scale, height: 48 * scale)
      loading[memory: "A"] = .of("A", origin: .memory, image: image)
      picture.load(.named("A"))
      window.nextFrame()
      let drawn = unsafe try window.render(picture.widget)
      let (width, pixels) = (64 * scale, image.multipliedPixels)
      for y in 0..<48 * scale {
        let row = drawn[y * width..<(y + 1) * width]
        XCTAssertEqual(
          Array(row.dropFirst(22 * scale).prefix(20 * scale)),
          Array(pixels[y * 20 * scale..<(y + 1) * 20 * scale]),
        )
        XCTAssertTrue(row.prefix(22 * scale).allSatisfy { $0[3] == 0 })
      }
      window.close()
    }
  }

  func testAFailureShowsItsIconAndAnImageAfterItTakesItsPlace() {
    MainActor.assumeIsolated {
      let (loading, mailbox) = (FakeLoading(), FrameMailbox.manual())
      let picture = Self.makePicture(loading, mailbox)
      let window = unsafe TestWindow(picture.widget)
      picture.load(.named("A"), failure: .symbol("image-missing"))
      loading.oldest("A")?.finish(nil)
      mailbox.deliver()
      XCTAssertEqual(picture.view.iconName, "image-missing")
      picture.load(.named("A"), failure: .symbol("image-missing"))
      loading.oldest("A")?.finish(.of("A"))
      mailbox.deliver()
      XCTAssertNil(picture.view.iconName)
      XCTAssertTrue(picture.view.shows("A"))
      window.close()
    }
  }

  func testAWidgetMayBeFreedWhileItsImageIsOnTheWay() {
    MainActor.assumeIsolated {
      let (loading, mailbox) = (FakeLoading(), FrameMailbox.manual())
      weak var view: PictureView?
      do {
        let picture = Self.makePicture(loading, mailbox)
        view = picture.view
        let window = unsafe TestWindow(picture.widget)
        picture.load(.named("A"), placeholder: .symbol("image-loading"))
        window.close()
      }
      XCTAssertNil(view)
      XCTAssertEqual(loading.loads.map(\.isCancelled), [true])
      loading.oldest("A")?.finish(.of("A"))
      mailbox.deliver()
    }
  }

  func testAWidgetMayBeFreedWhileItFades() {
    MainActor.assumeIsolated {
      let (loading, mailbox) = (FakeLoading(), FrameMailbox.manual())
      weak var view: PictureView?
      do {
        let picture = Self.makePicture(loading, mailbox)
        view = picture.view
        let window = unsafe TestWindow(picture.widget)
        picture.load(.named("A"))
        loading.oldest("A")?.finish(.of("A"))
        mailbox.deliver()
        XCTAssertTrue(picture.view.isFading)
        window.close()
      }
      XCTAssertNil(view)
    }
  }

  func testTheWidgetGoesOnWithoutItsHandle() {
    MainActor.assumeIsolated {
      let (loading, mailbox) = (FakeLoading(), FrameMailbox.manual())
      let box: UnsafeMutablePointer<GtkWidget> = unsafe gtk_box_new(GTK_ORIENTATION_VERTICAL, 0)
      weak var view: PictureView?
      weak var handle: RemotePicture?
      do {
        let picture = Self.makePicture(loading, mailbox)
        (view, handle) = (picture.view, picture)
        unsafe gtk_box_append(vitrine_gtk_box(box), picture.widget)
        picture.load(.named("A"))
      }
      XCTAssertNil(handle)
      let window = unsafe TestWindow(box)
      loading.oldest("A")?.finish(.of("A"))
      mailbox.deliver()
      XCTAssertEqual(view?.shows("A"), true)
      XCTAssertTrue(unsafe RemotePicture(view?.widget)?.view === view)
      XCTAssertNil(unsafe RemotePicture(box))
      window.close()
      XCTAssertNil(view)
    }
  }

  func testWhatComesOnAnotherThreadIsShownByTheMainLoop() {
    MainActor.assumeIsolated {
      let loading = FakeLoading()
      let picture = Self.makePicture(loading, .gtk)
      let window = unsafe TestWindow(picture.widget)
      picture.load(.named("A"))
      Task.detached { loading.oldest("A")?.finish(.of("A")) }
      MainLoop.turn { picture.view.shows("A") }
      window.close()
    }
  }
}

extension PictureView {
  /// Whether the image that is drawn is that of a name.
  func shows(_ name: String) -> Bool { image?.bitmap.isTagged(name) ?? false }
}
