import Testing
import VitrineTestSupport
@testable import Vitrine
import VitrineImaging
import VitrineRuntime
import VitrineTesting

@MainActor
struct SlotTests {
  private let loading = FakeLoading()
  private let mailbox = FrameMailbox.manual()
  private let screen = Screen()
  private let slot: ImageSlot

  init() {
    slot = ImageSlot(loader: loading, mailbox: mailbox)
    slot.display = screen
    slot.showsPreviews = true
  }

  private func load(_ name: String, _ placeholder: Placeholder? = nil, failure: Placeholder? = nil) {
    slot.load(.named(name), placeholder: placeholder ?? .symbol(name), failure: failure)
  }

  // MARK: What is shown

  @Test
  func whatIsInMemoryIsShownInTheSameTurnWithoutPlaceholderOrFade() {
    loading[memory: "A"] = .of("A", origin: .memory)
    load("A")
    #expect(screen.log == [.image("A", 1, fades: false)])
    #expect(loading.loads.isEmpty)
  }

  @Test
  func whatIsNotInMemoryFadesInOverItsPlaceholder() {
    load("A")
    #expect(screen.log == [.placeholder("A")])
    loading.loads[0].end(1)
    #expect(screen.log == [.placeholder("A")])
    mailbox.deliver()
    #expect(screen.log == [.placeholder("A"), .image("A", 1, fades: true)])
  }

  @Test
  func theFinalImageTakesThePlaceOfItsPreviewWithoutAFade() {
    load("A")
    loading.loads[0].send(.preview(.tagged("A", 0)))
    mailbox.deliver()
    loading.loads[0].end(1)
    mailbox.deliver()
    #expect(screen.log == [.placeholder("A"), .preview("A"), .image("A", 1, fades: false)])
  }

  @Test
  func whatALoadBringsAtOnceIsShownWithinTheCallWithoutAFade() {
    loading.answerAtOnce("A", .finished(.success(.of("A", origin: .local))))
    load("A")
    #expect(screen.seen == .image("A", 1, fades: false))
  }

  @Test
  func whatWasMadeOfALargerImageInMemoryDoesNotFade() {
    load("A")
    loading.loads[0].send(.finished(.success(.of("A", origin: .memory))))
    mailbox.deliver()
    #expect(screen.seen == .image("A", 1, fades: false))
  }

  @Test
  func keepingCurrentLeavesTheOldImageUntilTheNewOneIsThere() {
    loading[memory: "A"] = .of("A", origin: .memory)
    load("A")
    load("B", .keepCurrent)
    #expect(screen.log == [.image("A", 1, fades: false)])
    loading.loads[0].send(.preview(.tagged("B", 0)))
    mailbox.deliver()
    #expect(screen.log == [.image("A", 1, fades: false)])
    loading.loads[0].end(1)
    mailbox.deliver()
    #expect(screen.seen == .image("B", 1, fades: true))
  }

  @Test
  func theNilRequestClearsAndCancels() {
    load("A")
    slot.load(nil)
    #expect(screen.seen == .nothing)
    #expect(loading.loads[0].isCancelled)
  }

  @Test
  func addressesAreRequests() throws {
    slot.load("https://example.com/a.png")
    slot.load(URL(string: "https://example.com/b.png"))
    slot.load(String?.none)
    #expect(
      loading.loads.map(\.request.source.description) == ["https://example.com/a.png", "https://example.com/b.png"]
    )
    #expect(loading.loads.map(\.isCancelled) == [true, true])
  }

  // MARK: Failures

  @Test
  func aFailureShowsItsImage() {
    load("A", failure: .symbol("broken"))
    loading.loads[0].end(nil)
    mailbox.deliver()
    #expect(screen.seen == .failure("A"))
    guard case .symbol("broken") = screen.lastFailure else {
      Issue.record("\(screen.lastFailure as Any)")
      return
    }
  }

  /// As `LoadScope.cancel(for:)` does.
  @Test
  func aCancellationByAnotherShowsNoFailure() {
    load("A", failure: .symbol("broken"))
    loading.loads[0].cancel()
    mailbox.deliver()
    #expect(screen.log == [.placeholder("A")])
    #expect(!slot.isLoading)
    load("A")
    #expect(loading.loads.count == 2)
  }

  @Test
  func withoutAnImageForFailuresThePlaceholderStays() {
    load("A")
    loading.loads[0].end(nil)
    mailbox.deliver()
    guard case .symbol("A") = screen.lastFailure else {
      Issue.record("\(screen.lastFailure as Any)")
      return
    }
  }

  @Test
  func aFailureDoesNotLeaveTheImageOfBefore() {
    loading[memory: "A"] = .of("A", origin: .memory)
    load("A")
    load("B", .keepCurrent)
    loading.loads[0].end(nil)
    mailbox.deliver()
    guard case .some(.none) = screen.lastFailure else {
      Issue.record("\(screen.lastFailure as Any)")
      return
    }
  }

  @Test
  func aFailedRevalidationKeepsTheStaleImage() {
    loading[memory: "A"] = .of("A", origin: .memory, isStale: true)
    load("A")
    loading.loads[0].end(nil)
    mailbox.deliver()
    #expect(screen.log == [.image("A", 1, fades: false)])
    #expect(mailbox.statistics.failures == 1)
  }

  @Test
  func aStaleImageIsReplacedOnlyIfItChanged() {
    loading[memory: "A"] = .of("A", origin: .memory, isStale: true)
    load("A")
    loading.loads[0].end(1)
    mailbox.deliver()
    #expect(screen.log == [.image("A", 1, fades: false)])

    load("B")
    load("A")
    loading.loads[2].end(2)
    mailbox.deliver()
    #expect(screen.seen == .image("A", 2, fades: false))
  }

  // MARK: The same again

  @Test
  func theSameRequestRestartsNothing() {
    load("A")
    load("A")
    loading.loads[0].end(1)
    mailbox.deliver()
    load("A")
    #expect(loading.loads.count == 1)
    #expect(screen.log == [.placeholder("A"), .image("A", 1, fades: true)])
  }

  @Test
  func theSameRequestPassesOnItsPriority() {
    load("A")
    var urgent = ImageRequest.named("A")
    urgent.priority = .veryHigh
    slot.load(urgent)
    #expect(loading.loads.map(\.priority) == [.veryHigh])
  }

  @Test
  func theSameRequestWithOtherFreshnessIsAnotherOne() {
    load("A")
    var anew = ImageRequest.named("A")
    anew.cachePolicy = .reload
    slot.load(anew)
    #expect(loading.loads.count == 2)
    #expect(loading.loads[0].isCancelled)
  }

  @Test
  func whatFailedIsTriedAgain() {
    load("A")
    loading.loads[0].end(nil)
    mailbox.deliver()
    load("A")
    #expect(screen.seen == .placeholder("A"))
    loading.loads[1].end(1)
    mailbox.deliver()
    #expect(screen.seen == .image("A", 1, fades: true))
  }

  @Test
  func whatWasCancelledNeverComesAndCanBeAskedForAgain() {
    load("A")
    loading.loads[0].end(1)
    slot.cancel()
    mailbox.deliver()
    #expect(screen.log == [.placeholder("A")])
    #expect(mailbox.statistics.late == 1)

    load("A")
    loading.loads[1].end(1)
    mailbox.deliver()
    #expect(screen.seen == .image("A", 1, fades: true))
  }

  @Test
  func cancellingAfterTheEndChangesNothing() {
    load("A")
    loading.loads[0].end(1)
    mailbox.deliver()
    slot.cancel()
    load("A")
    #expect(loading.loads.count == 1)
    #expect(screen.seen == .image("A", 1, fades: true))
  }

  // MARK: Leaving

  @Test
  func theNewLoadBeginsBeforeTheOldOneIsLeft() {
    load("A")
    let old = loading.loads[0]
    var wasCancelled = true
    screen.onShow = { wasCancelled = old.isCancelled }
    loading.answerAtOnce("B", .finished(.success(.of("B"))))
    load("B")
    #expect(screen.seen == .image("B", 1, fades: false))
    #expect(!wasCancelled)
    #expect(old.isCancelled)
  }

  @Test(arguments: [ImageSlot.Leaving.lower, .keepGoing])
  func loadsMayGoOnForTheCaches(leaving: ImageSlot.Leaving) {
    slot.whenLeft = leaving
    load("A")
    slot.prepareForReuse()
    #expect(!loading.loads[0].isCancelled)
    #expect(loading.loads[0].priority == (leaving == .lower ? .low : .normal))
    loading.loads[0].end(1)
    mailbox.deliver()
    #expect(screen.seen == .nothing)
    #expect(mailbox.statistics.loadsLeft == 1)
  }

  @Test
  func aPriorityBelowLowIsNotRaisedByLoweringIt() {
    slot.whenLeft = .lower
    var request = ImageRequest.named("A")
    request.priority = .veryLow
    slot.load(request)
    slot.isVisible = false
    #expect(loading.loads[0].priority == .veryLow)
    slot.prepareForReuse()
    #expect(loading.loads[0].priority == .veryLow)
  }

  @Test
  func aHiddenSlotLooksInMemoryAndBeginsNothing() {
    slot.isVisible = false
    loading[memory: "A"] = .of("A", origin: .memory)
    load("A")
    #expect(screen.seen == .image("A", 1, fades: false))
    load("B")
    #expect(screen.seen == .placeholder("B"))
    #expect(loading.loads.isEmpty)

    loading[memory: "B"] = .of("B", origin: .memory)
    slot.isVisible = true
    #expect(screen.seen == .image("B", 1, fades: false))
    #expect(loading.loads.isEmpty)
  }

  @Test
  func whatCameBeforeTheViewWasHiddenIsNotLost() {
    load("A")
    loading.loads[0].end(1)
    slot.isVisible = false
    mailbox.deliver()
    #expect(screen.seen == .image("A", 1, fades: true))
    slot.isVisible = true
    #expect(loading.loads.count == 1)
  }

  @Test
  func droppingTheSlotCancelsItsLoad() {
    var slot: ImageSlot? = ImageSlot(loader: loading, mailbox: mailbox)
    slot?.load(.named("A"))
    weak let gone = slot
    slot = nil
    #expect(gone == nil)
    #expect(loading.loads[0].isCancelled)
    loading.loads[0].end(1)
    mailbox.deliver()
  }

  @Test
  func aSlotThatIsDroppedMayLeaveItsLoadToTheCaches() {
    var slot: ImageSlot? = ImageSlot(loader: loading, mailbox: mailbox)
    slot?.whenLeft = .lower
    slot?.load(.named("A"))
    slot = nil
    #expect(!loading.loads[0].isCancelled)
    #expect(loading.loads[0].priority == .low)
  }

  // MARK: Displays that answer

  @Test
  func aDisplayMayAskForSomethingElseWhenItIsToldOfAFailure() {
    loading.answerAtOnce("B", .finished(.success(.of("B"))))
    screen.onShow = { [slot, screen] in if screen.seen == .failure("A") { slot.load(.named("B")) } }
    load("A")
    loading.loads[0].end(nil)
    mailbox.deliver()
    #expect(screen.seen == .image("B", 1, fades: false))
    #expect(loading.loads.count == 2)
  }

  @Test
  func aDisplayMayAskForSomethingElseWhenItIsToldOfThePlaceholder() {
    screen.onShow = { [slot, screen] in
      if screen.seen == .placeholder("A") { slot.load(.named("B"), placeholder: .symbol("B")) }
    }
    load("A")
    #expect(loading.loads.map(\.name) == ["B"])
    loading.loads[0].end(1)
    mailbox.deliver()
    #expect(screen.seen == .image("B", 1, fades: true))
  }

  @Test
  func aDisplayMayBecomeVisibleWhileItIsTold() {
    slot.isVisible = false
    screen.onShow = { [slot] in slot.isVisible = true }
    load("A")
    #expect(loading.loads.count == 1)
  }

  // MARK: Progress

  @Test
  func progressIsToldOnceAHopAndTheLatest() {
    var told: [Int] = []
    slot.onProgress = { told.append($0.completed) }
    load("A")
    for completed in 1...100 { loading.loads[0].send(.progress(LoadProgress(completed: completed, total: 200))) }
    mailbox.deliver()
    #expect(told == [100])
    slot.load(nil)
    loading.loads[0].send(.progress(LoadProgress(completed: 101, total: 200)))
    mailbox.deliver()
    #expect(told == [100])
  }

  @Test
  func whatNobodyAsksForIsNotWatchedAndCostsNoHop() {
    let asked = Counter()
    let slot = ImageSlot(loader: loading, mailbox: .manual(asked: asked))
    slot.load(.named("A"))
    #expect(!loading.loads[0].isWatching)
    loading.loads[0].send(.progress(LoadProgress(completed: 1, total: 2)))
    loading.loads[0].send(.preview(.tagged("A", 0)))
    #expect(asked.count == 0)

    slot.onProgress = { _ in }
    slot.load(.named("B"))
    #expect(loading.loads[1].isWatching)
    loading.loads[1].send(.progress(LoadProgress(completed: 1, total: 2)))
    #expect(asked.count == 1)
  }

  @Test
  func whoIsToldOfProgressMayAskForSomethingElse() {
    slot.onProgress = { [slot] _ in slot.load(nil) }
    load("A")
    loading.loads[0].send(.progress(LoadProgress(completed: 2, total: 2)))
    loading.loads[0].end(1)
    mailbox.deliver()
    #expect(screen.seen == .nothing)
  }

  @Test
  func whatSlotsDoIsCounted() {
    loading[memory: "A"] = .of("A", origin: .memory)
    load("A")
    load("B")
    load("C")
    loading.loads[1].send(.preview(.tagged("C", 0)))
    mailbox.deliver()
    loading.loads[1].end(1)
    mailbox.deliver()
    let counted = mailbox.statistics
    #expect(counted.binds == 3)
    #expect(counted.loadsStarted == 2)
    #expect(counted.loadsCancelled == 1)
    #expect(counted.shownFromMemory == 1)
    #expect(counted.previews == 1)
    #expect(counted.shownFromNetwork == 1)
    #expect(counted.failures == 0)
  }
}
