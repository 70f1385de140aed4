import Testing
import Vitrine
import VitrineImaging
import VitrineRuntime
import VitrineTestSupport
import VitrineTesting

@MainActor
struct SlotSizeTests {
  private let loading = FakeLoading()
  private let clock = ManualClock()
  private let mailbox: FrameMailbox
  private let screen = Screen()
  private let slot: ImageSlot
  private let photograph = (width: 4000, height: 3000)

  init() {
    mailbox = .manual(clock: clock)
    slot = ImageSlot(loader: loading, mailbox: mailbox)
    slot.display = screen
    slot.showsPreviews = true
    slot.sizing = .view(.fill)
  }

  private func loadAndShow(_ width: Int, _ height: Int, source: (width: Int, height: Int)? = nil) {
    slot.sizeChanged(width: width, height: height)
    slot.load(.named("A"))
    loading.loads[0].end(1, source: source ?? photograph)
    mailbox.deliver()
  }

  private func rest() {
    clock.advance(by: .milliseconds(250))
    mailbox.deliver()
  }

  @Test
  func aLoadWaitsForTheSizeBehindItsPlaceholder() {
    slot.load(.named("A"), placeholder: .symbol("A"))
    #expect(screen.seen == .placeholder("A"))
    #expect(loading.loads.isEmpty)
    slot.sizeChanged(width: 300, height: 200)
    #expect(loading.loads.map(\.request.size) == [.pixels(300, 200, .fill)])
    #expect(screen.log == [.placeholder("A")])
  }

  @Test
  func aCellUsedAgainTakesItsLastKnownSize() {
    loadAndShow(300, 200)
    slot.prepareForReuse()
    slot.load(.named("B"))
    #expect(loading.loads[1].request.size == .pixels(300, 200, .fill))
  }

  @Test
  func theScaleOfTheViewHoldsUnlessTheRequestNamesOne() {
    var request = ImageRequest.named("B")
    request.scale = 3
    slot.sizeChanged(width: 300, height: 200, scale: 2)
    slot.load(.named("A"))
    slot.load(request)
    #expect(loading.loads.map(\.request.scale) == [2, 3])
  }

  @Test
  func aRequestThatNamesASizeWaitsForNone() {
    var request = ImageRequest.named("A")
    request.size = .pixels(width: 50)
    slot.load(request)
    #expect(loading.loads.map(\.width) == [50])
    slot.sizeChanged(width: 300, height: 200)
    #expect(loading.loads.count == 1)
  }

  @Test
  func aSlotThatDecodesAsRequestedWaitsForNone() {
    slot.sizing = .asRequested
    slot.load(.named("A"))
    #expect(loading.loads.map(\.request.size) == [nil])
  }

  @Test(arguments: [(0, 10), (10, 0), (-1, 10)])
  func aSizeWithoutAnAreaIsIgnored(width: Int, height: Int) {
    slot.load(.named("A"))
    slot.sizeChanged(width: width, height: height)
    #expect(loading.loads.isEmpty)
  }

  @Test
  func aHiddenSlotLoadsAtTheSizeItHasWhenItIsVisible() {
    slot.isVisible = false
    slot.load(.named("A"))
    slot.sizeChanged(width: 100, height: 100)
    slot.sizeChanged(width: 200, height: 200)
    #expect(loading.loads.isEmpty)
    slot.isVisible = true
    #expect(loading.loads.map(\.width) == [200])
  }

  @Test(arguments: [(301, 201), (300, 200), (100, 100), (299, 201)])
  func aPixelMoreOrAnySizeLessRestartsNothing(width: Int, height: Int) {
    loadAndShow(300, 200)
    slot.sizeChanged(width: width, height: height)
    rest()
    #expect(loading.loads.count == 1)
  }

  @Test
  func aLargerViewKeepsWhatItShowsUntilItIsSharp() {
    loadAndShow(300, 200)
    slot.sizeChanged(width: 600, height: 400)
    #expect(screen.seen == .image("A", 1, fades: true))
    #expect(loading.loads.count == 2)
    loading.loads[1].send(.preview(.tagged("A", 0)))
    mailbox.deliver()
    #expect(screen.seen == .image("A", 1, fades: true))
    loading.loads[1].end(1, source: photograph)
    mailbox.deliver()
    #expect(screen.log.last == .image("A", 1, fades: false))
  }

  @Test
  func aFailureToBecomeLargerKeepsWhatIsShown() {
    loadAndShow(300, 200)
    slot.sizeChanged(width: 600, height: 400)
    loading.loads[1].end(nil)
    mailbox.deliver()
    #expect(screen.seen == .image("A", 1, fades: true))
  }

  @Test
  func growingPixelByPixelLoadsForAFewSizesAndForTheLastWhenItRests() {
    loadAndShow(300, 200)
    for width in 301...600 {
      slot.sizeChanged(width: width, height: width * 2 / 3)
      clock.advance(by: .milliseconds(16))
      mailbox.deliver()
    }
    let onTheWay = loading.loads.dropFirst().compactMap(\.width)
    #expect(onTheWay == [363, 512, 725])
    #expect(loading.loads.map(\.isCancelled) == [false, true, true, false])
    rest()
    #expect(loading.loads.last?.request.size == .pixels(600, 400, .fill))
    #expect(loading.loads.count == 5)
    loading.loads[4].end(1, source: photograph)
    mailbox.deliver()
    #expect(screen.seen == .image("A", 1, fades: false))
    rest()
    #expect(loading.loads.count == 5)
    #expect(clock.pendingCount == 0)
  }

  @Test
  func aViewThatComesToRestWhereItWasLoadedForLoadsNothingMore() {
    loadAndShow(300, 300)
    slot.sizeChanged(width: 512, height: 512)
    #expect(loading.loads.map(\.width) == [300, 512])
    rest()
    #expect(loading.loads.count == 2)
  }

  @Test
  func anImageThatHasNoMorePixelsIsNotLoadedLarger() {
    loadAndShow(300, 200, source: (1, 1))
    slot.sizeChanged(width: 600, height: 400)
    rest()
    #expect(loading.loads.count == 1)
  }

  @Test
  func aLargerSizeInMemoryIsShownAtOnce() {
    loadAndShow(300, 200)
    loading[memory: "A"] = .of("A", version: 2, origin: .memory)
    slot.sizeChanged(width: 600, height: 400)
    #expect(screen.seen == .image("A", 2, fades: false))
    #expect(loading.loads.count == 1)
  }

  @Test
  func whatWasFetchedAnewIsNotFetchedAnewForAnotherSize() {
    slot.sizeChanged(width: 300, height: 200)
    var request = ImageRequest.named("A")
    request.cachePolicy = .reload
    slot.load(request)
    loading.loads[0].end(1, source: photograph)
    mailbox.deliver()
    slot.sizeChanged(width: 600, height: 400)
    #expect(loading.loads.map(\.request.cachePolicy) == [.reload, .standard])
    slot.load(request)
    #expect(loading.loads.count == 2)
  }

  @Test
  func theWaitForRestEndsWithTheImageItWasFor() {
    loadAndShow(300, 200)
    slot.sizeChanged(width: 600, height: 400)
    slot.load(nil)
    #expect(clock.pendingCount == 0)
    slot.load(.named("B"))
    rest()
    #expect(loading.loads.map(\.width) == [300, 725, 600])
  }

  /// Sizes, a bind, its end, hops and visibility in every order: in the end it is loaded for the view as it is.
  @Test
  func everyOrderOfSizesEndsWithAnImageForTheLast() {
    let lanes: [[(Self) -> Void]] = [
      [{ $0.slot.load(.named("A")) }, { $0.endOldest() }],
      [{ $0.slot.sizeChanged(width: 100, height: 100) }, { $0.slot.sizeChanged(width: 300, height: 300) }],
      [{ $0.mailbox.deliver() }, { $0.rest() }],
      [{ $0.slot.isVisible = false }, { $0.slot.isVisible = true }],
    ]
    let orders = interleavings(lanes)
    #expect(orders.count == 2520)
    for order in orders {
      let fresh = Self()
      for event in order { event(fresh) }
      repeat {
        fresh.endOldest()
        fresh.mailbox.deliver()
        fresh.rest()
      } while fresh.loading.loads.contains { !$0.isEnded && !$0.isCancelled }
      #expect(fresh.screen.seen.image == "A")
      #expect(fresh.loading.loads.last { !$0.isCancelled }?.width == 300)
      #expect(fresh.clock.pendingCount == 0)
    }
  }

  private func endOldest() {
    loading.oldest("A")?.end(1, source: photograph)
  }
}

extension Seen {
  fileprivate var image: String? {
    if case .image(let name, _, _) = self { name } else { nil }
  }
}
