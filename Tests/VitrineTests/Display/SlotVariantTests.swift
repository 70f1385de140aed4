import Testing
import VitrineImaging
import VitrineRuntime
import VitrineTestSupport
import VitrineTesting

@testable import Vitrine

/// A picture out of the cache as the placeholder of an image.
@MainActor
@Suite(.patient)
struct SlotVariantTests {
  private let loading = FakeLoading()
  private let mailbox = FrameMailbox.manual()
  private let screen = Screen()
  private let slot: ImageSlot

  init() {
    slot = ImageSlot(loader: loading, mailbox: mailbox)
    slot.display = screen
    slot.showsPreviews = true
  }

  private func load(_ name: String, _ placeholder: Placeholder = .cached, failure: Placeholder? = nil) {
    slot.load(.named(name), placeholder: placeholder, failure: failure)
  }

  @Test
  func aVariantIsShownWithinTheCallAndReplacedWithoutAFade() {
    loading[variant: "A"] = .of("A")
    load("A")
    #expect(screen.log == [.preview("A")])
    #expect(loading.loads.count == 1)
    loading.loads[0].end(2)
    mailbox.deliver()
    #expect(screen.log == [.preview("A"), .image("A", 2, fades: false)])
    #expect(mailbox.statistics.variants == 1)
  }

  @Test
  func withoutOneTheOtherPlaceholderIsShownAndTheImageFadesIn() {
    load("A", .cachedVariant(else: .symbol("A")))
    loading.loads[0].end(1)
    mailbox.deliver()
    #expect(screen.log == [.placeholder("A"), .image("A", 1, fades: true)])
    load("B")
    #expect(screen.seen == .nothing)
  }

  @Test
  func theImageItselfInMemoryIsShownAndNoVariant() {
    loading[memory: "A"] = .of("A", version: 2, origin: .memory)
    loading[variant: "A"] = .of("A")
    load("A")
    #expect(screen.log == [.image("A", 2, fades: false)])
    #expect(loading.loads.isEmpty)
  }

  @Test
  func aVariantIsShownBeforeTheSizeOfTheViewIsKnown() {
    loading[variant: "A"] = .of("A")
    slot.sizing = .view(.fill)
    load("A")
    #expect(screen.log == [.preview("A")])
    #expect(loading.loads.isEmpty)
    slot.sizeChanged(width: 100, height: 100)
    #expect(screen.log == [.preview("A")])
    loading.loads[0].end(1)
    mailbox.deliver()
    #expect(screen.seen == .image("A", 1, fades: false))
  }

  @Test(arguments: [(0.5, Seen.preview("V")), (0.49, .preview("A"))])
  func aPreviewTakesThePlaceOfABlurredOneOnly(ratio: Double, seen: Seen) {
    loading[variant: "A"] = .of("V", pixelRatio: ratio)
    load("A")
    loading.loads[0].send(.preview(.tagged("A", 0)))
    mailbox.deliver()
    #expect(screen.seen == seen)
    loading.loads[0].end(1)
    mailbox.deliver()
    #expect(screen.seen == .image("A", 1, fades: false))
  }

  @Test
  func aFailureIsShownAndNotAPictureOutOfTheCache() {
    loading[variant: "A"] = .of("A")
    load("A", .cachedVariant(else: .symbol("none")))
    loading.loads[0].end(nil)
    mailbox.deliver()
    #expect(screen.log == [.preview("A"), .failure("A")])
    guard case .symbol("none") = screen.lastFailure else {
      Issue.record("\(screen.lastFailure as Any)")
      return
    }
    load("A", .cached, failure: .cachedVariant(else: .keepCurrent))
    #expect(screen.seen == .preview("A"))
    loading.loads[1].end(nil)
    mailbox.deliver()
    guard case .some(.none) = screen.lastFailure else {
      Issue.record("\(screen.lastFailure as Any)")
      return
    }
  }

  @Test
  func aVariantOfWhatWasAskedForBeforeDoesNotStayForTheNext() {
    loading[variant: "A"] = .of("A")
    load("A")
    load("B")
    #expect(screen.seen == .nothing)
    // What comes for the first is late.
    loading.loads[0].end(1)
    mailbox.deliver()
    #expect(screen.seen == .nothing)
    loading.loads[1].end(1)
    mailbox.deliver()
    #expect(screen.seen == .image("B", 1, fades: true))
  }

  @Test
  func keepingCurrentInstead() {
    loading[memory: "A"] = .of("A", origin: .memory)
    load("A")
    load("B", .cachedVariant(else: .keepCurrent))
    #expect(screen.log == [.image("A", 1, fades: false)])
    loading[variant: "C"] = .of("C")
    load("C", .cachedVariant(else: .keepCurrent))
    #expect(screen.seen == .preview("C"))
  }

  @Test
  func cancellingLeavesItAndClearingTakesItAway() {
    loading[variant: "A"] = .of("A")
    load("A")
    slot.cancel()
    #expect(screen.seen == .preview("A"))
    #expect(loading.loads[0].isCancelled)
    slot.load(nil)
    #expect(screen.seen == .nothing)
  }

  @Test
  func itIsFoundInARealPipelineAndInAScope() async throws {
    let request = ImageRequest(.data(TestPicture.png, id: "a"))
    var small = request
    small.size = .pixels(16, 16)
    for isScoped in [false, true] {
      // One each: what the first slot loads may be there before it is cancelled.
      let pipeline = ImagePipeline.testing()
      _ = try await pipeline.image(for: small)
      let slot = isScoped ? ImageSlot(scope: LoadScope(pipeline)) : ImageSlot(pipeline: pipeline)
      let view = Widths()
      slot.display = view
      slot.load(request, placeholder: .cached)
      #expect(view.preview == 16)
      slot.cancel()
    }
  }

  private final class Widths: ImageDisplay {
    private(set) var preview: Int?

    func show(_ content: ImageSlot.Content) { if case .preview(let image) = content { preview = image.bitmap.width } }
  }
}
