import Testing
import VitrineCaching
import VitrineRuntime

@testable import VitrineTiers

struct CircuitBreakerTests {
  private var breaker = CircuitBreaker(failureLimit: 3, backOffs: .seconds(1) ... .seconds(4))
  private var now = Duration.zero

  private mutating func admit() throws -> CircuitBreaker.Ticket {
    let ticket = breaker.admit(at: now)
    return try #require(ticket)
  }

  private mutating func fail() throws -> Bool { breaker.fail(try admit(), at: now) }

  private mutating func isAdmitted() -> Bool { breaker.admit(at: now) != nil }

  private mutating func succeed() throws {
    breaker.succeed(try admit())
  }

  private mutating func open() throws {
    let hasOpened = [try fail(), try fail(), try fail()]
    #expect(hasOpened == [false, false, true])
    #expect(breaker.state == .open)
  }

  @Test
  mutating func aSuccessBetweenFailuresKeepsItClosed() throws {
    for _ in 0..<10 {
      let hasOpened = [try fail(), try fail()]
      #expect(hasOpened == [false, false])
      try succeed()
    }
    #expect(breaker.state == .closed)
  }

  @Test
  mutating func openItLetsNothingThroughUntilTheBackOffIsOver() throws {
    try open()
    #expect(breaker.trialTime == .seconds(1))
    now = .milliseconds(999)
    #expect(!isAdmitted())
    now = .seconds(1)
    let trial = try admit()
    #expect(trial.isTrial)
    #expect(breaker.state == .halfOpen)
    #expect(!isAdmitted())
    breaker.succeed(trial)
    #expect(breaker.state == .closed)
    let next = try admit()
    #expect(!next.isTrial)
  }

  @Test
  mutating func eachTrialThatFailsDoublesTheBackOffUpToItsLimit() throws {
    try open()
    for backOff in [2, 4, 4] {
      now = try #require(breaker.trialTime)
      let hasOpened = try fail()
      #expect(hasOpened)
      #expect(breaker.trialTime == now + .seconds(backOff))
    }
    now = try #require(breaker.trialTime)
    try succeed()
    try open()
    #expect(breaker.trialTime == now + .seconds(1))
  }

  /// Three failures are worth 12 milliseconds.
  @Test(arguments: [(1, 12), (3, 4), (4, 3), (5, 3), (6, 2), (200, 2)])
  mutating func lateCallsCountByTheTimeThatTheyCost(milliseconds: Int, limit: Int) throws {
    for count in 1...limit {
      let ticket = try admit()
      now += .milliseconds(milliseconds)
      let hasOpened = breaker.tarry(ticket, costing: .milliseconds(milliseconds), at: now)
      #expect(hasOpened == (count == limit))
    }
    #expect(breaker.state == .open)
  }

  @Test
  mutating func ofCallsThatAreLateTogetherOneCounts() throws {
    let tickets = [try admit(), try admit(), try admit(), try admit()]
    now = .milliseconds(10)
    for ticket in tickets {
      let hasOpened = breaker.tarry(ticket, costing: .milliseconds(9), at: now)
      #expect(!hasOpened)
    }
    let next = try admit()
    now = .milliseconds(20)
    let hasOpened = breaker.tarry(next, costing: .milliseconds(9), at: now)
    #expect(hasOpened)
  }

  @Test
  mutating func aTrialThatIsLateDecidesAgainstTheTier() throws {
    try open()
    now = .seconds(1)
    let hasOpened = breaker.tarry(try admit(), costing: .milliseconds(8), at: now)
    #expect(hasOpened)
    #expect(breaker.trialTime == .seconds(3))
    now = .seconds(3)
    try succeed()
    #expect(breaker.state == .closed)
  }

  @Test
  mutating func aCallThatIsFastForgivesThoseThatWereSlow() throws {
    for _ in 0..<10 {
      for _ in 0..<2 {
        let hasOpened = breaker.tarry(try admit(), costing: .milliseconds(5), at: now)
        #expect(!hasOpened)
      }
      try succeed()
    }
    #expect(breaker.state == .closed)
  }

  @Test
  mutating func aCallFromBeforeItOpenedChangesNothing() throws {
    let (early, late) = (try admit(), try admit())
    try open()
    breaker.succeed(early)
    #expect(breaker.state == .open)
    now = .seconds(1)
    let trial = try admit()
    let hasOpened = breaker.fail(late, at: now)
    #expect(!hasOpened)
    #expect(breaker.state == .halfOpen)
    breaker.succeed(trial)
    #expect(breaker.state == .closed)
  }

  @Test
  mutating func aTrialThatIsGivenUpMakesRoomForAnother() throws {
    try open()
    now = .seconds(5)
    let trial = try admit()
    breaker.forget(trial, at: now)
    let next = try admit()
    #expect(next.isTrial)
  }
}
