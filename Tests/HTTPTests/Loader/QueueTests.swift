import Testing
import VitrineRuntime
import VitrineTestSupport
import VitrineTesting

@testable import VitrineHTTP

struct AdmissionQueueTests {
  /// Starts all, one after the other ends.
  private func order(_ queue: inout AdmissionQueue<Int>, hosts: [Int: String]) -> [Int] {
    var order: [Int] = []
    while let id = queue.admit() {
      order.append(id)
      queue.release(host: hosts[id] ?? "a")
    }
    return order
  }

  private func admit(_ count: Int, from queue: inout AdmissionQueue<Int>) -> [Int?] {
    var admitted: [Int?] = []
    for _ in 0..<count { admitted.append(queue.admit()) }
    return admitted
  }

  @Test
  func theMostUrgentStartFirstAndEqualsInTheOrderTheyCame() {
    var queue = AdmissionQueue<Int>(limit: 1, hostLimit: 1)
    let priorities: [Priority] = [.low, .normal, .veryHigh, .normal, .veryLow, .high, .veryHigh]
    for (id, priority) in priorities.enumerated() { queue.add(id, host: "a", priority: priority) }
    #expect(order(&queue, hosts: [:]) == [2, 6, 5, 1, 3, 0, 4])
    #expect(queue.running == 0)
  }

  @Test
  func aHostAtItsLimitHoldsUpNoOther() {
    var queue = AdmissionQueue<Int>(limit: 10, hostLimit: 2)
    for id in 0..<4 { queue.add(id, host: "a", priority: .high) }
    queue.add(4, host: "b", priority: .low)
    #expect(admit(4, from: &queue) == [0, 1, 4, nil])
    queue.release(host: "a")
    #expect(admit(2, from: &queue) == [2, nil])
  }

  @Test
  func theTotalLimitHolds() {
    var queue = AdmissionQueue<Int>(limit: 3, hostLimit: 2)
    for id in 0..<10 { queue.add(id, host: "\(id)", priority: .normal) }
    #expect(admit(4, from: &queue) == [0, 1, 2, nil])
  }

  @Test
  func aChangedPriorityCountsAlsoForOneHeldUpByItsHost() {
    var queue = AdmissionQueue<Int>(limit: 10, hostLimit: 1)
    for id in 0..<4 { queue.add(id, host: "a", priority: .normal) }
    #expect(admit(2, from: &queue) == [0, nil])
    queue.reprioritize(3, .high)
    queue.reprioritize(1, .low)
    queue.release(host: "a")
    #expect(order(&queue, hosts: [:]) == [3, 2, 1])
  }

  @Test
  func aRemovedOneNeverStartsAndHoldsNoSlot() {
    var queue = AdmissionQueue<Int>(limit: 1, hostLimit: 1)
    for id in 0..<3 { queue.add(id, host: "a", priority: .normal) }
    #expect(admit(1, from: &queue) == [0])
    #expect(admit(1, from: &queue) == [nil])
    let removals = [queue.remove(1), queue.remove(1)]
    #expect(removals == [true, false])
    queue.release(host: "a")
    #expect(order(&queue, hosts: [:]) == [2])
  }

  @Test
  func oneThatReturnsTakesItsOldPlace() {
    var queue = AdmissionQueue<Int>(limit: 1, hostLimit: 1)
    let place = queue.add(0, host: "a", priority: .normal)
    queue.add(1, host: "a", priority: .normal)
    #expect(admit(1, from: &queue) == [0])
    queue.release(host: "a")
    queue.add(0, host: "b", priority: .normal, place: place)
    #expect(admit(1, from: &queue) == [0])
  }

  @Test
  func oneThatReturnsForAnotherHostStartsInNoSlotOfTheFormer() {
    var queue = AdmissionQueue<Int>(limit: 10, hostLimit: 1)
    queue.add(2, host: "b", priority: .normal)
    let place = queue.add(0, host: "a", priority: .normal)
    queue.reprioritize(0, .high)
    queue.add(1, host: "a", priority: .high)
    queue.add(4, host: "a", priority: .low)
    #expect(admit(3, from: &queue) == [0, 2, nil])
    queue.release(host: "a")
    queue.add(0, host: "b", priority: .normal, place: place)
    #expect(admit(2, from: &queue) == [1, nil])
    queue.release(host: "a")
    #expect(admit(2, from: &queue) == [4, nil])
    queue.release(host: "b")
    #expect(admit(1, from: &queue) == [0])
  }

  @Test
  func slotsAndRatesHoldTogether() {
    var queue = AdmissionQueue<Int>(limit: 2, hostLimit: 1, hostRate: RateLimit(requestsPerSecond: 1, burst: 1))
    for id in 0..<3 { queue.add(id, host: "a", priority: .normal) }
    queue.add(3, host: "b", priority: .normal)
    #expect((0..<3).map { _ in queue.admit(now: .zero) } == [0, 3, nil])
    // A slot without a token lets no load start, and neither does a token without a slot.
    queue.release(host: "a")
    #expect(queue.admit(now: .zero) == nil)
    #expect(queue.due(now: .zero) == .seconds(1))
    #expect((0..<2).map { _ in queue.admit(now: .seconds(2)) } == [1, nil])
    queue.release(host: "a")
    #expect(queue.admit(now: .seconds(2)) == nil)
    #expect(queue.admit(now: .seconds(3)) == 2)
  }

  @Test
  func aRaisedLimitLetsThoseStartThatWaited() {
    var queue = AdmissionQueue<Int>(limit: 100, hostLimit: 1)
    for id in 0..<10 { queue.add(id, host: "a", priority: .normal) }
    #expect(admit(2, from: &queue) == [0, nil])
    queue.raiseLimit(ofHost: "a", to: 5)
    #expect(admit(5, from: &queue) == [1, 2, 3, 4, nil])
  }

  /// Whatever is added, removed, changed and released: everything that was not removed starts once, within the limits.
  @Test(arguments: 0..<20)
  func nothingIsLostAndNoLimitIsPassed(seed: Int) {
    var random = SplitMix64(seed: UInt64(seed))
    var queue = AdmissionQueue<Int>(limit: 5, hostLimit: 2)
    var (hosts, waiting, running) = ([Int: String](), Set<Int>(), [Int]())
    var started = Set<Int>()
    for id in 0..<2000 {
      switch Int.random(in: 0..<6, using: &random) {
      case 0, 1:
        hosts[id] = "\(Int.random(in: 0..<4, using: &random))"
        waiting.insert(id)
        queue.add(id, host: hosts[id]!, priority: Priority.allCases.randomElement(using: &random)!)
      case 2:
        if let id = waiting.sorted().randomElement(using: &random) {
          queue.reprioritize(id, Priority.allCases.randomElement(using: &random)!)
        }
      case 3:
        if let id = waiting.sorted().randomElement(using: &random) {
          let wasThere = queue.remove(id)
          #expect(wasThere)
          waiting.remove(id)
        }
      case 4:
        if !running.isEmpty {
          queue.release(host: hosts[running.remove(at: Int.random(in: 0..<running.count, using: &random))]!)
        }
      default: break
      }
      while let id = queue.admit() {
        let (wasWaiting, isFirst) = (waiting.remove(id) != nil, started.insert(id).inserted)
        #expect(wasWaiting && isFirst)
        running.append(id)
      }
      #expect(running.count <= 5)
      #expect(Dictionary(grouping: running) { hosts[$0]! }.values.allSatisfy { $0.count <= 2 })
      // Nothing waits beside a free slot of its host.
      if running.count < 5 {
        #expect(waiting.allSatisfy { id in running.count { hosts[$0] == hosts[id] } == 2 })
      }
    }
  }
}

@Suite(.patient)
struct QueueTests {
  let server: LoopbackServer

  init() throws { server = try LoopbackServer() }

  @Test
  func withOneConnectionTheMostUrgentStartFirst() async throws {
    let gate = server.makeGate()
    server.route("/first") { exchange in
      gate.wait()
      exchange.respond(LoopbackResponse())
    }
    server.route("*", LoopbackResponse())
    let loader = makeLoader { $0.connectionLimitPerHost = 1 }
    loader.load(try HTTPRequest.patient(server.url("/first")), into: RecordingSink())
    await server.wait(forRequests: 1)
    var handles: [any LoadHandle] = []
    for (number, priority) in [Priority.low, .normal, .veryHigh, .normal, .veryLow].enumerated() {
      var request = try HTTPRequest.patient(server.url("/\(number)"))
      request.priority = priority
      handles.append(loader.load(request, into: RecordingSink()))
    }
    handles[4].priority = .high
    #expect(handles[4].priority == .high)
    gate.open()
    await server.wait(forRequests: 6)
    #expect(server.requests.map(\.path) == ["/first", "/2", "/4", "/1", "/3", "/0"])
  }

  @Test(.enabled(if: isLibcurl))
  func aSinkIsToldWhenItsLoadLeavesTheQueueAndNotBefore() async throws {
    let gate = server.makeGate()
    server.route("/first") { exchange in
      gate.wait()
      exchange.respond(.redirect(to: "/second"))
    }
    server.route("/second", LoopbackResponse())
    let loader = makeLoader { $0.connectionLimitPerHost = 1 }
    let sinks = (0..<3).map { _ in RecordingSink() }
    loader.load(try HTTPRequest.patient(server.url("/first")), into: sinks[0])
    await server.wait(forRequests: 1)
    loader.load(try HTTPRequest.patient(server.url("/second")), into: sinks[1])
    loader.load(try HTTPRequest.patient(server.url("/second")), into: sinks[2]).cancel()

    #expect(await sinks[2].end() == .cancelled)
    #expect(sinks.map(\.beginCount) == [1, 0, 0])
    gate.open()
    #expect(await sinks[0].end() == nil)
    #expect(await sinks[1].end() == nil)
    #expect(sinks.map(\.beginCount) == [1, 1, 0])
  }

  @Test
  func aHostGetsNoMoreThanItsLimit() async throws {
    let gate = server.makeGate()
    server.route("*") { exchange in
      gate.wait()
      exchange.respond(LoopbackResponse())
    }
    let other = try LoopbackServer()
    other.route("*", LoopbackResponse())
    let loader = makeLoader { $0.connectionLimitPerHost = 3 }
    let sinks = (0..<20).map { _ in RecordingSink() }
    for (number, sink) in sinks.enumerated() {
      loader.load(try HTTPRequest.patient(server.url("/\(number)")), into: sink)
    }
    // Another host is served although this one is full.
    _ = try await loader.data(other.url("/"))
    await server.wait(forRequests: 3)
    #expect(server.counts.requests == 3)
    gate.open()
    for sink in sinks { #expect(await sink.end() == nil) }
    #expect(server.counts.mostRunning <= 3)
    #expect(server.counts.connections <= 3)
  }
}
