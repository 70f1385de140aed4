import Testing
import VitrineRuntime
import VitrineTestSupport

struct SerialCallsTests {
  @Test
  func withoutCallsThereIsNothingToRun() {
    SerialCalls().run()
  }

  @Test
  func callsRunInTheOrderInWhichTheyWereAdded() {
    let (calls, record) = (SerialCalls(), Record<Int>())
    for number in 0..<5 { calls.add { record.add(number) } }
    #expect(record.events.isEmpty)
    calls.run()
    #expect(record.events == [0, 1, 2, 3, 4])
    calls.run()
    #expect(record.events == [0, 1, 2, 3, 4])
  }

  @Test
  func callsOfEightThreadsRunOneAtATimeInTheOrderOfTheLockUnderWhichTheyWereAdded() {
    let (calls, record, next, running) = (SerialCalls(), Record<Int>(), Lock(0), Lock(0))
    onThreads(8) { _ in
      for _ in 0..<500 {
        next.withLock { next in
          let number = next
          next += 1
          calls.add {
            running.withLock { $0 += 1 }
            #expect(running.withLock { $0 } == 1)
            record.add(number)
            running.withLock { $0 -= 1 }
          }
        }
        calls.run()
      }
    }
    #expect(record.events == Array(0..<4000))
  }

  @Test
  func whatACallAddsRunsBehindThoseThatWait() {
    let (calls, record) = (SerialCalls(), Record<Int>())
    calls.add {
      calls.add { record.add(3) }
      calls.run()
      record.add(1)
    }
    calls.add { record.add(2) }
    calls.run()
    #expect(record.events == [1, 2, 3])
  }

  @Test
  func aCallThatBlocksHoldsNobodyBackWhoAddsAndRuns() {
    let (calls, record, gate, entered) = (SerialCalls(), Record<Int>(), Gate(), Gate())
    onThreads(2) { thread in
      if thread == 0 {
        calls.add {
          entered.open()
          gate.wait()
          record.add(1)
        }
        calls.run()
      } else {
        entered.wait()
        calls.add { record.add(2) }
        calls.run()
        // Still behind the one that blocks, which nobody waits for.
        #expect(record.events.isEmpty)
        gate.open()
      }
    }
    #expect(record.events == [1, 2])
  }

  @Test
  func aCallIsReleasedBehindItAndWithTheListOpen() {
    let (calls, record) = (SerialCalls(), Record<Int>())
    addOneThatEnds(calls) {
      record.add(2)
      calls.add { record.add(4) }
      calls.run()
    } body: {
      record.add(1)
    }
    calls.add { record.add(3) }
    calls.run()
    #expect(record.events == [1, 2, 3, 4])
  }

  @Test
  func callsThatNobodyRanAreReleasedWithTheList() {
    let record = Record<Int>()
    addOneThatEnds(SerialCalls()) {
      record.add(1)
    } body: {
      record.add(2)
    }
    #expect(record.events == [1])
  }

  /// Adds a call that calls `end` when it is released.
  private func addOneThatEnds(
    _ calls: SerialCalls,
    _ end: @escaping @Sendable () -> Void,
    body: @escaping @Sendable () -> Void,
  ) {
    let last = ReleaseCallback(end)
    calls.add { withExtendedLifetime(last, body) }
  }
}
