import Testing
import VitrineCaching
import VitrineRuntime
import VitrineTesting

@testable import VitrineServing

@Suite
struct FlightsTests {
  typealias Work = Flights<Int>

  private static let group = CacheKey { $0.append("group") }
  private let clock = ManualClock()
  private let results = Watched<[UInt64: Result<Int, Work.Failure>]>([:])

  private func flights(_ limit: Int) -> Work { Work(limit: limit, time: .seconds(60), clock: clock) }

  private func join(_ flights: Work, _ key: String, client: String = "a", _ number: UInt64, _ gate: Watched<Int?>) {
    flights.join(ByteString(key), of: Self.group, client: ByteString(client), as: number) {
      await Self.opened(gate)
    } _: { [results] result in
      results.change { $0[number] = result }
    }
  }

  private static func opened(_ gate: Watched<Int?>) async -> Int {
    await gate.wait { $0 != nil }
    return gate.value ?? 0
  }

  private func result(_ number: UInt64) async -> Result<Int, Work.Failure>? {
    await results.wait { $0[number] != nil }
    return results.value[number]
  }

  @Test
  func equalWorkIsDoneOnceForAll() async {
    let (flights, gate) = (flights(1), Watched<Int?>(nil))
    for number in 0..<200 { join(flights, "cat", UInt64(number), gate) }
    #expect(flights.count == 1)
    gate.change { $0 = 7 }
    for number in 0..<200 { #expect(await result(UInt64(number)) == .success(7)) }
    #expect(flights.count == 0)
  }

  @Test
  func workBeyondTheQueueIsRefusedAtOnce() async {
    let (flights, gate) = (flights(2), Watched<Int?>(nil))
    for number in 0..<3 { join(flights, "\(number)", UInt64(number), gate) }
    #expect(results.value[2] == .failure(.overloaded))
    #expect(flights.count == 2)
    #expect(flights.isFull(for: "new", client: "a"))
    // What is under way takes all who want the same.
    #expect(!flights.isFull(for: "1", client: "a"))
  }

  @Test
  func aClientWithManyImagesGivesWayToAnother() async {
    let (flights, gate) = (flights(5), Watched<Int?>(nil))
    for number in 0..<5 { join(flights, "greedy \(number)", client: "greedy", UInt64(number), gate) }
    #expect(!flights.isFull(for: "modest", client: "modest"))
    #expect(flights.isFull(for: "another", client: "greedy"))
    join(flights, "modest", client: "modest", 9, gate)
    // The place of the greedy one's last.
    #expect(results.value[4] == .failure(.overloaded))
    #expect(results.value[9] == nil)
    #expect(flights.count == 5)
  }

  @Test
  func theLastOneWhoLeavesStopsTheWork() async {
    let flights = flights(2)
    let stopped = Deferred<Void>()
    for number in [UInt64(1), 2] {
      flights.join("cat", of: Self.group, client: "a", as: number) {
        await withTaskCancellationHandler {
          await stopped.value()
        } onCancel: {
          stopped.resolve(())
        }
        return 0
      } _: { [results] result in
        results.change { $0[number] = result }
      }
    }
    flights.leave("cat", as: 1)
    #expect(results.value[1] == .failure(.left))
    #expect(flights.count == 1)
    flights.leave("cat", as: 2)
    #expect(flights.count == 0)
    #expect(await result(2) == .failure(.left))
  }

  @Test
  func detachedWorkIsNotJoinedAndEndsAsItWould() async {
    let (flights, gate) = (flights(2), Watched<Int?>(nil))
    for number in 0..<2 { join(flights, "cat", UInt64(number), gate) }
    flights.detach(Self.group)
    join(flights, "cat", 2, gate)
    #expect(flights.count == 2)
    // One who has joined before leaves; the others stay.
    flights.leave("cat", as: 1)
    #expect(await result(1) == .failure(.left))
    gate.change { $0 = 7 }
    #expect(await result(0) == .success(7))
    #expect(await result(2) == .success(7))
    #expect(flights.count == 0)
  }

  @Test
  func keysAreBytes() async {
    let (flights, gate) = (flights(4), Watched<Int?>(nil))
    for (number, key) in ["caf\u{E9}", "cafe\u{301}", "K", "\u{212A}"].enumerated() {
      join(flights, key, UInt64(number), gate)
    }
    #expect(flights.count == 4)
    gate.change { $0 = 7 }
    for number in 0..<4 { #expect(await result(UInt64(number)) == .success(7)) }
  }

  @Test
  func workThatTakesTooLongIsGivenUp() async {
    let (flights, gate) = (flights(2), Watched<Int?>(nil))
    join(flights, "slow", 1, gate)
    join(flights, "waiting", 2, gate)
    clock.advance(by: .seconds(60))
    #expect(await result(1) == .failure(.outOfTime))
    #expect(await result(2) == .failure(.outOfTime))
    #expect(flights.count == 0)
  }

  @Test
  func anEndRefusesEverything() async {
    let (flights, gate) = (flights(2), Watched<Int?>(nil))
    for number in 0..<2 { join(flights, "\(number)", UInt64(number), gate) }
    flights.end()
    join(flights, "late", 2, gate)
    for number in 0..<3 { #expect(await result(UInt64(number)) == .failure(.ending)) }
  }
}
