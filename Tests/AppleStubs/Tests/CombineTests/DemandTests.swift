import Combine
import Testing

@Suite
struct DemandTests {
  typealias Demand = Subscribers.Demand

  @Test
  func arithmetic() {
    #expect(Demand.max(2) + .max(3) == .max(5))
    #expect(Demand.max(2) + .unlimited == .unlimited)
    #expect(Demand.unlimited - .max(1) == .unlimited)
    #expect(Demand.unlimited - .unlimited == .unlimited)
    #expect(Demand.max(3) - .unlimited == .none)
    #expect(Demand.max(3) - 5 == .none)
    #expect(Demand.max(3) - 1 == 2)
    #expect(Demand.max(3) * 4 == 12)
    #expect(Demand.unlimited * 2 == .unlimited)
    #expect(Demand.max(.max) + 1 == .unlimited)
    #expect(Demand.none.max == 0)
    #expect(Demand.unlimited.max == nil)
  }

  @Test
  func comparison() {
    #expect(Demand.max(.max) < .unlimited)
    #expect(Demand.unlimited > 1_000_000)
    #expect(Demand.max(1) > 0)
    #expect(!(Demand.none > 0))
    #expect(3 < Demand.unlimited)
    #expect(3 >= Demand.max(3))
    #expect(Demand.max(3) != 4)
    #expect("\(Demand.max(3)) \(Demand.unlimited)" == "max(3) unlimited")
  }
}
