import Testing
import VitrineTestSupport
import VitrineTesting

@testable import VitrineRuntime

struct TimelineTests {
  private func drain(_ timeline: inout Timeline, dueBy uptime: Duration) -> [Duration] {
    var due: [Duration] = []
    while let first = timeline.takeFirst(dueBy: uptime) { due.append(first.due) }
    return due
  }

  @Test
  func anEmptyOneHasNothing() {
    var timeline = Timeline()
    #expect(timeline.count == 0)
    #expect(timeline.nextDue == nil)
    #expect(drain(&timeline, dueBy: .seconds(1)).isEmpty)
  }

  @Test
  func anActionIsRemovedOnce() {
    var timeline = Timeline()
    let id = timeline.add(at: .seconds(1)) {}
    #expect(timeline.remove(id) != nil)
    #expect(timeline.remove(id) == nil)
    #expect(timeline.nextDue == nil)
  }

  @Test(arguments: [1, 2, 3, 10, 1_000])
  func whatRemainsComesInOrder(count: Int) {
    var random = SplitMix64(seed: UInt64(count))
    var timeline = Timeline()
    var remaining: [Duration] = []
    for _ in 0..<count {
      let due = Duration.milliseconds(Int.random(in: 0..<100, using: &random))
      let id = timeline.add(at: due) {}
      // Two of three go, so that the heap is rebuilt too.
      if Int.random(in: 0..<3, using: &random) > 0 {
        _ = timeline.remove(id)
      } else {
        remaining.append(due)
      }
    }
    #expect(timeline.count == remaining.count)
    #expect(timeline.nextDue == remaining.min())
    #expect(
      drain(&timeline, dueBy: .milliseconds(49))
        == remaining.filter { $0 < .milliseconds(50) }.sorted()
    )
    #expect(
      drain(&timeline, dueBy: .seconds(1)) == remaining.filter { $0 >= .milliseconds(50) }.sorted()
    )
  }
}

@Suite(.patient)
struct ManualClockTests {
  let clock = ManualClock(now: Date(timeIntervalSince1970: 1_000))
  let record = Record<String>()

  @Test
  func itStandsStillUntilAdvanced() {
    #expect(clock.now == Date(timeIntervalSince1970: 1_000))
    #expect(clock.uptime == .zero)
    clock.advance(by: .milliseconds(1_500))
    #expect(clock.now == Date(timeIntervalSince1970: 1_001.5))
    #expect(clock.uptime == .milliseconds(1_500))
  }

  @Test
  func dueActionsFireInOrderAtTheirTime() {
    for seconds in [3, 1, 2, 4] {
      clock.schedule(after: .seconds(seconds)) { [clock, record] in
        #expect(clock.uptime == .seconds(seconds))
        #expect(clock.now == Date(timeIntervalSince1970: 1_000 + Double(seconds)))
        record.add("\(seconds)")
      }
    }
    clock.advance(by: .seconds(3))
    #expect(record.events == ["1", "2", "3"])
    #expect(clock.pendingCount == 1)
    #expect(clock.uptime == .seconds(3))
  }

  @Test
  func ofTwoDueAtOnceTheFirstScheduledFiresFirst() {
    for name in ["a", "b", "c"] {
      clock.schedule(after: .seconds(1)) { [record] in record.add(name) }
    }
    clock.advance(by: .seconds(1))
    #expect(record.events == ["a", "b", "c"])
  }

  @Test(arguments: [Duration.zero, .seconds(-1)])
  func whatIsDueAtOnceWaitsForTheNextAdvance(delay: Duration) {
    clock.schedule(after: delay) { [record] in record.add("a") }
    #expect(record.events.isEmpty)
    clock.advance(by: .zero)
    #expect(record.events == ["a"])
    #expect(clock.uptime == .zero)
  }

  @Test
  func aCancelledActionNeverFires() {
    let action = clock.schedule(after: .seconds(1)) { [record] in record.add("a") }
    #expect(action.cancel())
    #expect(!action.cancel())
    #expect(clock.pendingCount == 0)
    clock.advance(by: .seconds(2))
    #expect(record.events.isEmpty)
  }

  @Test
  func anActionThatHasFiredCannotBeCancelled() {
    let action = clock.schedule(after: .seconds(1)) {}
    clock.advance(by: .seconds(1))
    #expect(!action.cancel())
  }

  @Test
  func anActionMayScheduleAnother() {
    clock.schedule(after: .seconds(1)) { [clock, record] in
      record.add("first")
      clock.schedule(after: .seconds(1)) { record.add("within") }
      clock.schedule(after: .seconds(9)) { record.add("beyond") }
    }
    clock.schedule(after: .seconds(3)) { [record] in record.add("last") }
    clock.advance(by: .seconds(5))
    #expect(record.events == ["first", "within", "last"])
    clock.advance(by: .seconds(5))
    #expect(record.events.last == "beyond")
  }

  @Test
  func anActionMayCancelAnother() {
    let second = clock.schedule(after: .seconds(2)) { [record] in record.add("second") }
    clock.schedule(after: .seconds(1)) { second.cancel() }
    clock.advance(by: .seconds(3))
    #expect(record.events.isEmpty)
  }

  @Test
  func aSleepingTaskWakesWhenItsTimeHasCome() async throws {
    let task = Task { [clock] in try await clock.sleep(for: .seconds(5)) }
    await clock.pendingCount(reaches: 1)
    clock.advance(by: .seconds(4))
    #expect(clock.pendingCount == 1)
    clock.advance(by: .seconds(1))
    try await task.value
    #expect(clock.pendingCount == 0)
  }

  @Test
  func aCancelledSleepEndsAtOnce() async {
    let task = Task { [clock] in try await clock.sleep(for: .seconds(5)) }
    await clock.pendingCount(reaches: 1)
    task.cancel()
    await #expect(throws: CancellationError.self) { try await task.value }
    #expect(clock.pendingCount == 0)
  }

  @Test
  func aSleepInACancelledTaskEndsAtOnce() async {
    let ready = Deferred<Void>()
    let task = Task { [clock] in
      await ready.value()
      try await clock.sleep(for: .seconds(5))
    }
    task.cancel()
    ready.resolve(())
    await #expect(throws: CancellationError.self) { try await task.value }
    #expect(clock.pendingCount == 0)
  }
}

@Suite(.patient)
struct SystemClockTests {
  @Test
  func timeGoesForward() {
    let clock = SystemClock()
    let (now, uptime) = (clock.now, clock.uptime)
    #expect(clock.uptime >= uptime)
    #expect(now > Date(timeIntervalSince1970: 1_700_000_000))
  }

  @Test(arguments: [Duration.seconds(-1), .zero, .milliseconds(1)])
  func aScheduledActionFires(delay: Duration) {
    let clock: some TimeSource = .system
    let fired = Record<Duration>()
    let earliest = clock.uptime + delay
    clock.schedule(after: delay) { fired.add(clock.uptime) }
    #expect(fired.wait(for: 1).allSatisfy { $0 >= earliest })
  }

  @Test
  func anEarlierActionIsNotHeldUpByALaterOne() {
    let fired = Record<String>()
    let late = SystemClock().schedule(after: .seconds(Int64.max)) { fired.add("late") }
    SystemClock().schedule(after: .zero) { fired.add("soon") }
    #expect(fired.wait(for: 1) == ["soon"])
    #expect(late.cancel())
  }

  @Test
  func aCancelledActionIsLetGo() {
    weak var captured: Gate<Void>?
    let action: ScheduledAction
    do {
      let gate = Gate()
      captured = gate
      action = SystemClock().schedule(after: .seconds(3_600)) { gate.open() }
    }
    #expect(captured != nil)
    #expect(action.cancel())
    #expect(captured == nil)
    #expect(!action.cancel())
  }

  @Test
  func aSleepEndsAndACancelledOneAtOnce() async throws {
    try await SystemClock().sleep(for: .nanoseconds(1))
    let task = Task { try await SystemClock().sleep(for: .seconds(3_600)) }
    task.cancel()
    await #expect(throws: CancellationError.self) { try await task.value }
  }

  @Test
  func theThreadEndsWhenIdleAndTheNextActionGetsAnother() {
    let timer = TimerThread(idleTime: .zero)
    for _ in 0..<3 {
      let ends = ThreadEnds()
      _ = timer.schedule(at: .zero) { ends.watch() }
      ends.wait(for: 1)
    }
  }
}
