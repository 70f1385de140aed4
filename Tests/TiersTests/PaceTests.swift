import Testing
import VitrineCaching
import VitrineRuntime

@testable import VitrineTiers

struct PaceTests {
  private var pace = Pace(within: .milliseconds(10) ... .milliseconds(200))

  private mutating func note(_ milliseconds: Double, _ count: Int = 1) {
    for _ in 0..<count { pace.note(.microseconds(Int(milliseconds * 1000))) }
  }

  @Test
  mutating func aCallerWaitsAsLongAsItMayUntilEnoughIsKnown() {
    note(5, Pace.least - 1)
    #expect(pace.patience == .milliseconds(200))
    note(5)
    #expect(pace.patience == .milliseconds(20))
  }

  @Test(arguments: [(0, 10), (1, 10), (2.5, 10), (2.75, 11), (40, 160), (50, 200), (3000, 200)])
  mutating func aCallerWaitsFourTimesAsLongAsCallsUsuallyTakeWithinBounds(time: Double, patience: Int) {
    note(time, 16)
    #expect(pace.patience == .milliseconds(patience))
  }

  @Test
  mutating func onlyMostOfTheLastCallsChangeThePace() {
    note(1, 1000)
    note(100, Pace.memory / 2 - Pace.least)
    #expect(pace.patience == .milliseconds(10))
    note(100, Pace.least)
    #expect(pace.patience == .milliseconds(200))
    note(1, Pace.memory / 2)
    #expect(pace.patience == .milliseconds(200))
    note(1, Pace.least)
    #expect(pace.patience == .milliseconds(10))
  }

  @Test
  mutating func aFewThatAreSlowChangeNothingWhateverTheirOrder() {
    for number in 0..<500 { note(number % 3 == 0 ? 400 : 6) }
    #expect(pace.patience == .milliseconds(24))
  }
}
