import Testing
import VitrineCaching
import VitrineImaging
import VitrineRuntime
import VitrineTestSupport
import VitrineTesting

@testable import Vitrine

/// A request as the placeholder of another: a small URL first, then the large one.
@MainActor
@Suite(.patient)
struct SlotRequestTests {
  private let loading = FakeLoading()
  private let mailbox = FrameMailbox.manual()
  private let screen = Screen()
  private let slot: ImageSlot

  init() {
    slot = ImageSlot(loader: loading, mailbox: mailbox)
    slot.display = screen
    slot.showsPreviews = true
  }

  private func load(_ name: String = "A", small: String = "a", else other: Placeholder = .symbol("wait")) {
    var request = ImageRequest.named(name)
    request.placeholder = .request(.named(small), else: other)
    slot.load(request)
  }

  private func end(_ name: String, _ version: Int?) {
    loading.oldest(name)?.end(version)
    mailbox.deliver()
  }

  // MARK: The order of events

  @Test
  func theSmallImageIsShownUntilTheLargeOneArrives() {
    load()
    #expect(screen.log == [.placeholder("wait")])
    #expect(loading.loads.map(\.name) == ["a", "A"])
    end("a", 1)
    end("A", 1)
    #expect(screen.log == [.placeholder("wait"), .preview("a"), .image("A", 1, fades: false)])
  }

  @Test
  func afterTheLargeImageTheSmallOneIsCancelledAndNeverShown() {
    load()
    end("A", 1)
    #expect(loading.loads[0].isCancelled)
    // It was under way already.
    end("a", 1)
    #expect(screen.log == [.placeholder("wait"), .image("A", 1, fades: true)])
  }

  /// One frame brings both.
  @Test(arguments: [["a", "A"], ["A", "a"]])
  func ifBothArriveInOneFrameTheLargeImageStays(order: [String]) {
    load()
    for name in order { loading.oldest(name)?.end(1) }
    mailbox.deliver()
    #expect(screen.seen == .image("A", 1, fades: order == ["A", "a"]))
  }

  @Test
  func aFailureOfTheSmallImageIsSilent() {
    load()
    end("a", nil)
    #expect(screen.log == [.placeholder("wait")])
    #expect(slot.isLoading)
    end("A", 1)
    #expect(screen.seen == .image("A", 1, fades: true))
    #expect(mailbox.statistics.failures == 0)
  }

  @Test
  func aFailureOfTheLargeImageIsShownInPlaceOfTheSmallOne() {
    load(else: .symbol("wait"))
    end("a", 1)
    end("A", nil)
    #expect(screen.log == [.placeholder("wait"), .preview("a"), .failure("A")])
    guard case .symbol("wait") = screen.lastFailure else {
      Issue.record("\(screen.lastFailure as Any)")
      return
    }
  }

  @Test
  func aFailureOfTheLargeImageEndsTheSmallOne() {
    load()
    end("A", nil)
    #expect(loading.loads[0].isCancelled)
    end("a", 1)
    #expect(screen.seen == .failure("A"))
    slot.retry()
    #expect(loading.loads.map(\.name) == ["a", "A", "a", "A"])
    #expect(screen.seen == .placeholder("wait"))
  }

  @Test
  func ofPreviewsOfTheLargeImageTheSmallOneTakesNothingAway() {
    load()
    loading.oldest("A")?.send(.preview(.tagged("A", 0)))
    mailbox.deliver()
    end("a", 1)
    #expect(screen.seen == .preview("A"))
  }

  /// The slot wants 100 pixels, and the small image has one.
  @Test(arguments: [(100.0, Seen.preview("A")), (2, .preview("a"))])
  func aPreviewReplacesASmallImageThatIsBlurred(width: Double, seen: Seen) {
    var request = ImageRequest.named("A")
    request.size = .pixels(width, width)
    request.placeholder = .request(.named("a"))
    slot.load(request)
    end("a", 1)
    loading.oldest("A")?.send(.preview(.tagged("A", 0)))
    mailbox.deliver()
    #expect(screen.seen == seen)
  }

  enum Event: Equatable { case small(Int?), large(Int?), preview, hop, hide, show, bindAgain }

  /// Whatever the order: nothing small follows anything large, and the large image is there in the end.
  @Test(arguments: [1, nil] as [Int?], [[Event.hop, .hop], [.hide, .show], [.bindAgain, .hop]])
  func inEveryOrderTheLargeImageIsLast(small: Int?, others: [Event]) async {
    for order in interleavings([[Event.small(small)], [.preview, .large(1)], others]) {
      loading.reset()
      slot.prepareForReuse()
      let before = screen.log.count
      load()
      for event in order + [.hop] {
        switch event {
        case .small(let version): loading.oldest("a")?.end(version)
        case .large(let version): loading.oldest("A")?.end(version)
        case .preview: loading.oldest("A")?.send(.preview(.tagged("A", 0)))
        case .hop: mailbox.deliver()
        case .hide: slot.isVisible = false
        case .show: slot.isVisible = true
        case .bindAgain: load()
        }
      }
      while let load = loading.loads.first(where: { !$0.isEnded }) {
        load.end(1)
        mailbox.deliver()
      }
      let log = screen.log[before...]
      let isLarge = { (seen: Seen) in seen == .preview("A") || seen == .image("A", 1, fades: false) }
      let first = log.firstIndex { isLarge($0) || $0 == .image("A", 1, fades: true) } ?? log.endIndex
      #expect(!log[first...].contains(.preview("a")), "\(order): \(log)")
      guard case .image("A", 1, _) = screen.seen else {
        Issue.record("\(order): \(log)")
        return
      }
    }
  }

  // MARK: Memory

  @Test
  func theSmallImageInMemoryIsShownWithinTheCallAndNotLoaded() {
    loading[memory: "a"] = .of("a", origin: .memory, isStale: true)
    load()
    #expect(screen.log == [.preview("a")])
    #expect(loading.loads.map(\.name) == ["A"])
  }

  @Test
  func theLargeImageInMemoryNeedsNoSmallOne() {
    loading[memory: "A"] = .of("A", origin: .memory)
    load()
    #expect(screen.log == [.image("A", 1, fades: false)])
    #expect(loading.loads.isEmpty)
  }

  @Test
  func ofAStaleLargeImageNoSmallOneIsLoaded() {
    loading[memory: "A"] = .of("A", origin: .memory, isStale: true)
    load()
    #expect(loading.loads.map(\.name) == ["A"])
  }

  @Test
  func itGoesWithOtherPlaceholders() {
    loading[variant: "A"] = .of("V")
    load(else: .cached)
    #expect(screen.log == [.preview("V")])
    slot.load(.named("B"), placeholder: .cachedVariant(else: .request(.named("b"))))
    end("b", 1)
    #expect(screen.seen == .preview("b"))
    // The picture of the one before stays until the small image arrives.
    load("C", small: "c", else: .keepCurrent)
    #expect(screen.seen == .preview("b"))
    end("c", 1)
    #expect(screen.seen == .preview("c"))
  }

  // MARK: Loads

  @Test
  func itIsMoreUrgentThanTheLargeImage() {
    load()
    #expect(loading.loads.map(\.priority) == [.high, .normal])
    var urgent = ImageRequest.named("B")
    urgent.priority = .veryHigh
    urgent.placeholder = .request(.named("b"))
    slot.load(urgent)
    #expect(loading.loads.suffix(2).map(\.priority) == [.veryHigh, .veryHigh])
  }

  @Test
  func itsOwnPlaceholderIsNotLoaded() {
    var small = ImageRequest.named("a")
    small.placeholder = .request(.named("tiny"))
    var request = ImageRequest.named("A")
    request.placeholder = .request(small)
    slot.load(request)
    #expect(loading.loads.map(\.name) == ["a", "A"])
  }

  @Test(arguments: [ImageSlot.Leaving.cancel, .lower, .keepGoing])
  func itIsCancelledWithTheSlotsRequest(leaving: ImageSlot.Leaving) {
    slot.whenLeft = leaving
    load()
    load("B", small: "b")
    #expect(loading.loads[0].isCancelled)
    end("a", 1)
    #expect(screen.seen == .placeholder("wait"))
    slot.prepareForReuse()
    #expect(loading.loads[2].isCancelled)
    load("C", small: "c")
    slot.cancel()
    #expect(loading.loads[4].isCancelled && loading.loads[5].isCancelled)
  }

  @Test
  func itIsCancelledWhenTheSlotIsReleased() {
    var other: ImageSlot? = ImageSlot(loader: loading, mailbox: mailbox)
    var request = ImageRequest.named("A")
    request.placeholder = .request(.named("a"))
    other?.load(request)
    other = nil
    #expect(loading.loads.map(\.isCancelled) == [true, true])
  }

  @Test
  func aHiddenSlotLoadsItOnlyOnceItIsVisible() {
    slot.isVisible = false
    load()
    #expect(loading.loads.isEmpty)
    slot.isVisible = true
    #expect(loading.loads.map(\.name) == ["a", "A"])
    slot.isVisible = false
    #expect(loading.loads.allSatisfy { $0.isCancelled })
    slot.isVisible = true
    #expect(loading.loads.map(\.name) == ["a", "A", "a", "A"])
    end("a", nil)
    loading.loads[2].end(1)
    mailbox.deliver()
    #expect(screen.seen == .preview("a"))
    // What has been shown is not loaded again.
    slot.isVisible = false
    slot.isVisible = true
    #expect(loading.loads.suffix(2).map(\.name) == ["A", "A"])
  }

  @Test
  func aGrowingViewKeepsItsLoad() {
    slot.sizing = .view(.fit)
    load()
    #expect(loading.loads.isEmpty)
    slot.sizeChanged(width: 100, height: 100)
    #expect(loading.loads.map(\.width) == [100, 100])
    slot.sizeChanged(width: 300, height: 300)
    #expect(loading.loads.filter { $0.name == "a" }.map(\.isCancelled) == [false])
    end("a", 1)
    #expect(screen.seen == .preview("a"))
  }

  @Test
  func bindingTheSameRequestAgainLoadsNothing() {
    load()
    load()
    #expect(loading.loads.count == 2)
    load(small: "b")
    #expect(loading.loads.count == 2)
  }
}
