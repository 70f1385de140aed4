import QuartzCore
import Testing

@MainActor
@Suite("The manual clock")
struct ClockTests {
  @Test("Time stands still until it is moved")
  func time() {
    _Clock.$_current.withValue(_Clock(_now: 5)) {
      #expect(CACurrentMediaTime() == 5)
      _Clock._current._advance(by: 2)
      #expect(CACurrentMediaTime() == 7)
    }
  }

  @Test("What is scheduled runs in order of time, then of arrival")
  func order() {
    let clock = _Clock(_now: 0)
    var log: [String] = []
    clock._schedule(after: 2) { log.append("late at \(clock._now)") }
    clock._schedule(after: 1) { log.append("first") }
    clock._schedule(after: 1) {
      log.append("second")
      clock._schedule(after: 0.5) { log.append("added") }
    }
    clock._advance(by: 1.75)
    #expect(log == ["first", "second", "added"])
    clock._advance(by: 5)
    #expect(log.last == "late at 2.0")
  }

  @Test("A turn runs what is due, but not what that adds")
  func turn() {
    _Clock.$_current.withValue(_Clock()) {
      var log: [Int] = []
      _Clock._current._schedule(after: 0) {
        log.append(1)
        _Clock._current._schedule(after: 0) { log.append(2) }
      }
      _RunLoop.turn()
      #expect(log == [1])
      _RunLoop.turn()
      #expect(log == [1, 2])
    }
  }
}
