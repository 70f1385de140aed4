import Testing
import VitrineRuntime
import VitrineTestSupport

struct LockTests {
  private struct Token: ~Copyable {
    var number: Int
  }

  @Test
  func underContentionNoChangeIsLost() {
    let lock = Lock(0)
    onThreads(8) { _ in
      for _ in 0..<10_000 { lock.withLock { $0 += 1 } }
    }
    #expect(lock.withLock { $0 } == 80_000)
  }

  @Test
  func aThrownErrorLeavesItOpen() {
    let lock = Lock(1)
    #expect(throws: Failure()) {
      try lock.withLock { state throws(Failure) in
        state = 2
        throw Failure()
      }
    }
    #expect(lock.withLock { $0 } == 2)
  }

  @Test
  func itGuardsWhatCannotBeCopied() {
    let lock = Lock(Token(number: 1))
    lock.withLock { $0.number += 1 }
    #expect(lock.withLock { $0.number } == 2)
  }

  @Test
  func itLetsGoOfItsValue() {
    weak var value: Gate<Void>?
    do {
      let gate = Gate()
      value = gate
      let lock = Lock(gate)
      #expect(lock.withLock { $0 === gate })
    }
    #expect(value == nil)
  }
}

struct MonitorTests {
  @Test
  func aSignalWakesAWaitingThread() {
    let monitor = Monitor(0)
    let seen = Record<Int>()
    onThreads(2) { number in
      if number == 0 {
        seen.add(monitor.wait { $0 > 0 ? .leave($0) : .wait })
      } else {
        monitor.withLock { $0 = 7 }
        monitor.signal()
      }
    }
    #expect(seen.events == [7])
  }

  @Test
  func aBroadcastWakesAll() {
    let monitor = Monitor(false)
    let waiting = Record<Int>()
    onThreads(5) { number in
      if number == 0 {
        waiting.wait(for: 4)
        monitor.withLock { $0 = true }
        monitor.broadcast()
      } else {
        waiting.add(number)
        monitor.wait { $0 ? .leave(()) : .wait }
      }
    }
  }

  @Test(arguments: [Duration.seconds(-1), .zero, .nanoseconds(1)])
  func aDeadlineWakesWithoutASignal(delay: Duration) {
    let monitor = Monitor(())
    let deadline = systemUptime() + delay
    var entries = 0
    let woken: Duration = monitor.wait { _ in
      entries += 1
      let now = systemUptime()
      return entries > 1 && now >= deadline ? .leave(now) : .waitUntil(deadline)
    }
    #expect(entries >= 2)
    #expect(woken >= deadline)
  }
}

struct DeferredTests {
  @Test
  func aValueThatCameBeforeIsThere() async {
    let deferred = Deferred<Int>()
    #expect(deferred.resolve(1))
    #expect(await deferred.value() == 1)
  }

  @Test
  func aValueThatComesLaterIsAwaited() async {
    let deferred = Deferred<Int>()
    async let value = deferred.value()
    deferred.resolve(1)
    #expect(await value == 1)
  }

  @Test
  func theFirstValueWins() async {
    let deferred = Deferred<Int>()
    #expect(deferred.resolve(1))
    #expect(!deferred.resolve(2))
    #expect(await deferred.value() == 1)
    #expect(!deferred.resolve(3))
  }

  @Test
  func ofManyAtOnceExactlyOneIsFirst() async {
    let deferred = Deferred<Int>()
    let winners = Record<Int>()
    onThreads(8) { number in
      if deferred.resolve(number) { winners.add(number) }
    }
    #expect(winners.events == [await deferred.value()])
  }
}

struct PriorityTests {
  @Test
  func theyAreOrderedFromVeryLowToVeryHigh() {
    #expect(Priority.allCases.shuffled().sorted() == [.veryLow, .low, .normal, .high, .veryHigh])
  }
}
