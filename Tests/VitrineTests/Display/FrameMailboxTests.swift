import Testing
import Vitrine
import VitrineRuntime
import VitrineTestSupport
import VitrineTesting

@MainActor
struct FrameMailboxTests {
  private let loading = FakeLoading()
  private let clock = ManualClock()
  private let asked = Counter()

  /// Slots whose images have all come and wait for a hop; showing each takes this long.
  private func makeSlots(_ durations: [Duration], _ mailbox: FrameMailbox) -> [(slot: ImageSlot, screen: Screen)] {
    durations.enumerated().map { index, duration in
      let slot = ImageSlot(loader: loading, mailbox: mailbox)
      let screen = Screen()
      slot.display = screen
      slot.load(.named("\(index)"))
      screen.onShow = { [clock] in clock.advance(by: duration) }
      loading.loads[index].end(1)
      return (slot, screen)
    }
  }

  private func shown(_ slots: [(slot: ImageSlot, screen: Screen)]) -> Int { slots.count { $0.screen.seen != .nothing } }

  @Test
  func howeverManyImagesComeThereIsOneHop() {
    let mailbox = FrameMailbox.manual(clock: clock, asked: asked)
    let slots = makeSlots(Array(repeating: .zero, count: 1000), mailbox)
    #expect(asked.count == 1)
    mailbox.deliver()
    #expect(shown(slots) == 1000)
    #expect(asked.count == 1)
  }

  @Test
  func afterADeliveryTheNextImageAsksAgain() {
    let mailbox = FrameMailbox.manual(clock: clock, asked: asked)
    let slots = makeSlots([.zero, .zero], mailbox)
    mailbox.deliver()
    slots[0].slot.load(.named("other"))
    loading.loads[2].end(1)
    #expect(asked.count == 2)
  }

  @Test
  func whatDoesNotFitIntoTheBudgetWaitsForTheNextFrame() {
    let mailbox = FrameMailbox.manual(clock: clock, budget: .milliseconds(4), asked: asked)
    let slots = makeSlots(Array(repeating: .milliseconds(1), count: 10), mailbox)
    var frames: [Duration] = []
    while frames.count < asked.count {
      let start = clock.uptime
      mailbox.deliver()
      frames.append(clock.uptime - start)
    }
    #expect(frames == [.milliseconds(4), .milliseconds(4), .milliseconds(2)])
    #expect(shown(slots) == 10)
  }

  @Test
  func nothingIsBegunThatWouldLastBeyondTheBudget() {
    let mailbox = FrameMailbox.manual(clock: clock, budget: .milliseconds(4), asked: asked)
    let slots = makeSlots([.milliseconds(1), .milliseconds(2), .milliseconds(1), .milliseconds(1)], mailbox)
    mailbox.deliver()
    #expect(shown(slots) == 2)
    mailbox.deliver()
    #expect(shown(slots) == 4)
  }

  @Test
  func whateverTheBudgetOneIsDelivered() {
    let mailbox = FrameMailbox.manual(clock: clock, budget: .zero, asked: asked)
    let slots = makeSlots(Array(repeating: .milliseconds(50), count: 3), mailbox)
    for count in 1...3 {
      mailbox.deliver()
      #expect(shown(slots) == count)
    }
    #expect(asked.count == 3)
  }

  @Test
  func withAFrameIntervalTheRestIsAskedForAfterIt() {
    let mailbox = FrameMailbox(
      budget: .zero,
      frameInterval: .milliseconds(16),
      clock: clock,
    ) { [asked] _ in asked.increase() }
    let slots = makeSlots([.milliseconds(1), .milliseconds(1)], mailbox)
    mailbox.deliver()
    #expect(asked.count == 1)
    clock.advance(by: .milliseconds(16))
    #expect(asked.count == 2)
    mailbox.deliver()
    #expect(shown(slots) == 2)
  }

  @Test
  func deliveringMoreOftenThanAskedDoesNoHarm() {
    let mailbox = FrameMailbox.manual(clock: clock, asked: asked)
    mailbox.deliver()
    let slots = makeSlots([.zero], mailbox)
    mailbox.deliver()
    mailbox.deliver()
    #expect(slots[0].screen.log.count == 1)
    #expect(asked.count == 1)
  }

  @Test
  func aLoopThatRunsWithinADeliveryDeliversTheRest() {
    let mailbox = FrameMailbox.manual(clock: clock, asked: asked)
    let slots = makeSlots([.zero, .zero, .zero], mailbox)
    slots[0].screen.onShow = { mailbox.deliver() }
    mailbox.deliver()
    #expect(slots.map(\.screen.log.count) == [1, 1, 1])
  }

  @Test
  func fromManyThreadsEachImageIsShownOnceAndNoneIsForgotten() async {
    let mailbox = FrameMailbox.manual(clock: clock, asked: asked)
    let pairs = (0..<400).map { index in
      let slot = ImageSlot(loader: loading, mailbox: mailbox)
      let screen = Screen()
      slot.display = screen
      slot.load(.named("\(index)"))
      return (slot: slot, screen: screen)
    }
    let loads = loading.loads
    await withTaskGroup(of: Void.self) { group in
      for part in 0..<8 {
        group.addTask { @concurrent in
          for index in stride(from: part, to: 400, by: 8) { loads[index].end(1) }
        }
      }
      // Frames go by meanwhile.
      for _ in 0..<20 {
        mailbox.deliver()
        await Task.yield()
      }
    }
    mailbox.deliver()
    #expect(pairs.allSatisfy { $0.screen.log.count == 1 })
    let before = asked.count
    mailbox.deliver()
    #expect(asked.count == before)
  }
}
