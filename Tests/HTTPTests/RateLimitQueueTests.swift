import Testing
import VitrineRuntime
import VitrineTestSupport

@testable import VitrineHTTP

/// Which load is sent next, and when, without a clock.
struct RateLimitQueueTests {
  private static func queue(_ total: RateLimit? = nil, perHost: RateLimit? = nil) -> AdmissionQueue<Int> {
    AdmissionQueue(rate: total, hostRate: perHost, hostsTakeTurns: false)
  }

  private func second(_ number: Double) -> Duration { .seconds(number) }

  // MARK: Limits

  @Test(
    arguments: [
      (10.0, nil, 10.0, 10), (0.5, nil, 0.5, 1), (2.5, nil, 2.5, 3), (1.0, 5, 1.0, 5), (1.0, 0, 1.0, 1),
      (1.0, -5, 1.0, 1),
      (0.0, nil, 1.0 / 86_400, 1), (-1.0, nil, 1.0 / 86_400, 1), (.nan, nil, 1.0 / 86_400, 1),
      (.infinity, nil, 1e6, 1_000_000),
      (1.0, .max, 1.0, 1_000_000_000),
    ] as [(Double, Int?, Double, Int)]
  )
  func whatIsOutOfBoundsIsTheNearestBound(rate: Double, burst: Int?, thenRate: Double, thenBurst: Int) {
    let limit = RateLimit(requestsPerSecond: rate, burst: burst)
    #expect((limit.requestsPerSecond, limit.burst) == (thenRate, thenBurst))
    // No bound is too large to reckon with.
    var queue = Self.queue(limit, perHost: limit)
    queue.add(1, host: "a", priority: .normal)
    #expect(queue.admit(now: .seconds(1 << 40)) == 1)
  }

  @Test
  func aBurstIsSentAtOnceAndThenOneInEachInterval() {
    var queue = Self.queue(RateLimit(requestsPerSecond: 2, burst: 3))
    for number in 0..<6 { queue.add(number, host: "a", priority: .normal) }
    #expect((0..<4).map { _ in queue.admit(now: .zero) } == [0, 1, 2, nil])
    #expect(queue.due(now: .zero) == second(0.5))
    #expect(queue.admit(now: second(0.499)) == nil)
    #expect(queue.admit(now: second(0.5)) == 3)
    #expect(queue.admit(now: second(0.5)) == nil)
    #expect(queue.due(now: second(0.5)) == second(1))
    // Tokens come back while nobody waits for one, and no more than the burst.
    #expect((0..<3).map { _ in queue.admit(now: second(100)) } == [4, 5, nil])
    #expect(queue.due(now: second(100)) == nil)
    for number in 6..<10 { queue.add(number, host: "a", priority: .normal) }
    #expect((0..<3).map { _ in queue.admit(now: second(200)) } == [6, 7, 8])
    #expect(queue.admit(now: second(200)) == nil)
  }

  @Test
  func hostsHaveTokensOfTheirOwn() {
    var queue = Self.queue(perHost: RateLimit(requestsPerSecond: 1, burst: 1))
    for number in 0..<3 { queue.add(number, host: "a", priority: .high) }
    queue.add(10, host: "b", priority: .low)
    #expect((0..<3).map { _ in queue.admit(now: .zero) } == [0, 10, nil])
    #expect(queue.due(now: .zero) == second(1))
    queue.add(11, host: "b", priority: .low)
    #expect(queue.admit(now: second(0.5)) == nil)
    #expect((0..<3).map { _ in queue.admit(now: second(1)) } == [1, 11, nil])
  }

  @Test
  func bothLimitsHold() {
    let (total, perHost) = (RateLimit(requestsPerSecond: 2, burst: 2), RateLimit(requestsPerSecond: 1, burst: 1))
    var queue = Self.queue(total, perHost: perHost)
    for (number, host) in ["a", "a", "b", "c"].enumerated() { queue.add(number, host: host, priority: .normal) }
    #expect((0..<3).map { _ in queue.admit(now: .zero) } == [0, 2, nil])
    #expect(queue.due(now: .zero) == second(0.5))
    #expect(queue.admit(now: second(0.5)) == 3)
    // Now it is the host that is waited for.
    #expect(queue.admit(now: second(0.5)) == nil)
    #expect(queue.due(now: second(0.5)) == second(1))
    #expect(queue.admit(now: second(1)) == 1)
  }

  @Test
  func theMostUrgentIsFirstAndTheFirstAmongEquals() {
    var queue = Self.queue(RateLimit(requestsPerSecond: 1, burst: 1))
    let priorities: [Priority] = [.low, .normal, .high, .normal, .high]
    for (number, priority) in priorities.enumerated() { queue.add(number, host: "a", priority: priority) }
    queue.reprioritize(0, .veryHigh)
    queue.reprioritize(2, .low)
    queue.reprioritize(2, .high)
    queue.reprioritize(4, .veryLow)
    let order = (0..<5).map { queue.admit(now: second(Double($0))) }
    #expect(order == [0, 2, 1, 3, 4])
    #expect(queue.admit(now: second(100)) == nil)
  }

  @Test
  func whatWaitsForItsHostIsReorderedToo() {
    var queue = Self.queue(perHost: RateLimit(requestsPerSecond: 1, burst: 1))
    for number in 0..<4 { queue.add(number, host: "a", priority: .normal) }
    #expect(queue.admit(now: .zero) == 0)
    #expect(queue.admit(now: .zero) == nil)
    queue.reprioritize(3, .high)
    queue.add(4, host: "a", priority: .veryHigh)
    #expect((1..<5).map { queue.admit(now: second(Double($0))) } == [4, 3, 1, 2])
  }

  @Test
  func whoLeavesTakesNoToken() {
    var queue = Self.queue(perHost: RateLimit(requestsPerSecond: 1, burst: 1))
    for number in 0..<4 { queue.add(number, host: "a", priority: .normal) }
    #expect(queue.admit(now: .zero) == 0)
    #expect(queue.admit(now: .zero) == nil)
    #expect([1, 1, 0].map { queue.remove($0) } == [true, false, false])
    #expect(queue.admit(now: second(1)) == 2)
    queue.remove(3)
    #expect(queue.due(now: second(1)) == nil)
    // One that had its turn and was not sent gives it to the next.
    queue.add(5, host: "a", priority: .normal)
    #expect(queue.admit(now: second(1)) == nil)
    queue.giveBack(host: "a")
    #expect(queue.admit(now: second(1)) == 5)
  }

  @Test
  func aSlotThatIsNotUsedIsGivenToTheNext() {
    var queue = AdmissionQueue<Int>(limit: 1)
    for id in [1, 2] { queue.add(id, host: "a", priority: .normal) }
    #expect(queue.admit() == 1)
    #expect(queue.admit() == nil)
    queue.giveBack(host: "a")
    #expect(queue.admit() == 2)
    #expect(queue.running == 1)
  }

  // MARK: Memory

  @Test
  func hostsThatHaveAllTheirTokensAreForgotten() {
    var queue = Self.queue(perHost: RateLimit(requestsPerSecond: 1, burst: 1))
    var most = 0
    for number in 0..<100_000 {
      queue.add(number, host: "\(number)", priority: .normal)
      // Ten hosts a second, so that ten of them lack a token at any time.
      #expect(queue.admit(now: .milliseconds(100 * number)) == number)
      most = max(most, queue.hostCount)
    }
    #expect(most <= 64)
    #expect(queue.waitingCount == 0)
  }

  // MARK: Against a model

  /// The same by looking at everything each time.
  private struct Model {
    var waiting: [(id: Int, host: String, priority: Priority)] = []
    let total: RateLimit
    let perHost: RateLimit
    var tokens: [String: (left: Duration, at: Duration)] = [:]

    /// Tokens in units of the time in which they come back.
    func left(_ name: String, _ limit: RateLimit, _ now: Duration) -> Duration {
      let all = limit.interval * limit.burst
      guard let (left, at) = tokens[name] else { return all }
      return min(all, left + (now - at))
    }

    mutating func admit(_ now: Duration) -> Int? {
      guard left("", total, now) >= total.interval else { return nil }
      let free = waiting.filter { left($0.host, perHost, now) >= perHost.interval }
      guard let best = free.map(\.priority).max(), let next = free.first(where: { $0.priority == best }) else {
        return nil
      }
      tokens[""] = (left("", total, now) - total.interval, now)
      tokens[next.host] = (left(next.host, perHost, now) - perHost.interval, now)
      waiting.removeAll { $0.id == next.id }
      return next.id
    }
  }

  @Test(arguments: 0..<20)
  func itDoesWhatAPlainListWould(seed: UInt64) {
    var random = SplitMix64(seed: seed)
    let total = RateLimit(
      requestsPerSecond: Double.random(in: 0.5...20, using: &random),
      burst: Int.random(in: 1...10, using: &random),
    )
    let perHost = RateLimit(
      requestsPerSecond: Double.random(in: 0.5...5, using: &random),
      burst: Int.random(in: 1...4, using: &random),
    )
    var (queue, model) = (Self.queue(total, perHost: perHost), Model(total: total, perHost: perHost))
    var now = Duration.zero
    for id in 0..<2000 {
      switch Int.random(in: 0..<10, using: &random) {
      case 0..<5:
        let host = "host \(Int.random(in: 0..<5, using: &random))"
        let priority = Priority.allCases.randomElement(using: &random) ?? .normal
        queue.add(id, host: host, priority: priority)
        model.waiting.append((id, host, priority))
      case 5:
        guard let left = model.waiting.randomElement(using: &random) else { continue }
        queue.remove(left.id)
        model.waiting.removeAll { $0.id == left.id }
      case 6:
        guard let index = model.waiting.indices.randomElement(using: &random) else { continue }
        model.waiting[index].priority = Priority.allCases.randomElement(using: &random) ?? .normal
        queue.reprioritize(model.waiting[index].id, model.waiting[index].priority)
      case 7:
        // To the moment that was promised: then there is one, and before there is none.
        guard let due = queue.due(now: now), due > now else { continue }
        #expect(model.admit(due - .nanoseconds(1)) == nil)
        now = due
        #expect(model.waiting.isEmpty == false)
      default: now += .milliseconds(Int.random(in: 0...500, using: &random))
      }
      while true {
        let (got, wanted) = (queue.admit(now: now), model.admit(now))
        #expect(got == wanted)
        guard got != nil, got == wanted else { break }
      }
      #expect(queue.waitingCount == model.waiting.count)
    }
  }
}
