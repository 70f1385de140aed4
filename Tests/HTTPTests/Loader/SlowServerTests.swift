import Testing
import VitrineRuntime
import VitrineTestSupport
import VitrineTesting

@testable import VitrineHTTP

/// Servers that hold connections for as long as they can.
@Suite(.patient)
struct SlowServerTests {
  private func makeLoader(_ configure: (inout SystemLoader.Options) -> Void = { _ in }) -> SystemLoader {
    var options = SystemLoader.Options()
    options.usesProxiesOfEnvironment = false
    configure(&options)
    return SystemLoader(options)
  }

  @Test
  func byDefaultATrickleEndsAfterHalfAMinuteAndNothingElseDoes() {
    let timeouts = HTTPTimeouts()
    #expect(timeouts.minimumRate == 1024)
    #expect(timeouts.minimumRateWindow == .seconds(30))
    #expect(timeouts.total == nil)
  }

  @Test(.enabled(if: isLibcurl), arguments: [true, false])
  func aTrickleIsEndedAfterItsWindow(isInHead: Bool) async throws {
    let server = try LoopbackServer()
    server.route("/a") { exchange in
      if isInHead {
        exchange.send(Data("HTTP/1.1 200 OK\r\nX-A: b\r\n".utf8))
      } else {
        exchange.sendHead(200, ["Content-Length": "100000"])
        exchange.send(Data("a".utf8))
      }
      exchange.waitForDisconnect()
    }
    var request = try HTTPRequest.patient(server.url("/a"))
    request.timeouts.minimumRate = 1_000_000
    request.timeouts.minimumRateWindow = .milliseconds(50)

    let error = await #expect(throws: HTTPError.self) { try await makeLoader().data(for: request) }

    #expect(error?.code == .timedOut)
    #expect(error?.timeout == .minimumRate)
    #expect(error?.isWorthRetrying == true)
  }

  @Test(.enabled(if: isLibcurl))
  func aServerMayTakeItsTimeBeforeTheFirstByteAndAQuickBodyIsNoTrickle() async throws {
    let server = try LoopbackServer()
    let gate = server.makeGate()
    server.route("/slow") { exchange in
      gate.wait()
      // In one piece: the window begins with the first byte, and the server may be held up before the next one.
      exchange.send(Data("HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\na".utf8))
      exchange.complete()
    }
    server.route("/trickle") { exchange in
      exchange.sendHead(200, ["Content-Length": "100000"])
      exchange.waitForDisconnect()
    }
    let loader = makeLoader()
    var (slow, trickle) = (
      try HTTPRequest.patient(server.url("/slow")), try HTTPRequest.patient(server.url("/trickle")),
    )
    (slow.timeouts.minimumRate, slow.timeouts.minimumRateWindow) = (1024, .milliseconds(20))
    (trickle.timeouts.minimumRate, trickle.timeouts.minimumRateWindow) = (1024, .milliseconds(60))
    async let answer = loader.data(for: slow)
    await server.wait(forRequests: 1)

    // The other one has had three windows of this one when it is ended.
    await #expect(throws: HTTPError.self) { try await loader.data(for: trickle) }
    gate.open()

    #expect(try await answer.1 == Data("a".utf8))
  }

  @Test
  func elevenSlowHostsHoldUpNoOther() async throws {
    let loader = makeLoader()
    let slow = try (0..<11).map { _ in try LoopbackServer() }
    for server in slow { server.route("*") { $0.waitForDisconnect() } }
    let quick = try LoopbackServer()
    quick.route("*", LoopbackResponse(body: Data("a".utf8)))
    var handles: [any LoadHandle] = []
    for (index, server) in slow.enumerated() {
      for number in 0..<10 {
        let request = try HTTPRequest.patient(server.url("/\(number)"))
        handles.append(loader.load(request, into: RecordingSink()))
      }
      // Eight hosts fill what any load may take. Asked for all at once, the hosts would share it.
      await server.wait(forRequests: index < 8 ? 6 : 1)
    }

    for priority in [Priority.veryHigh, .normal, .veryLow] {
      var request = try HTTPRequest.patient(quick.url("/\(priority)"))
      request.priority = priority
      #expect(try await loader.data(for: request).1 == Data("a".utf8))
    }
    for handle in handles { handle.cancel() }
  }

  /// libcurl calls a line of more than 100 KB "out of memory".
  @Test(.enabled(if: isLibcurl))
  func aHeaderLineOfFiveMegabytesIsCalledWhatItIs() async throws {
    let server = try LoopbackServer()
    server.route("/a") { exchange in
      exchange.send(Data("HTTP/1.1 200 OK\r\nX-A: ".utf8) + Data(repeating: 97, count: 5_000_000))
      exchange.sendHead(200)
    }

    let error = await #expect(throws: HTTPError.self) {
      try await makeLoader().data(server.url("/a"))
    }

    #expect(error?.code == .protocolError)
    #expect(error?.detail == "a line in the head of the response is longer than 100 KB")
  }
}

struct AdmissionShareTests {
  private func fill(_ queue: inout AdmissionQueue<Int>, hosts: Int, _ priority: Priority = .normal) -> Int {
    var count = 0
    for host in 0..<hosts {
      for _ in 0..<20 {
        queue.add(count, host: "slow \(host)", priority: priority)
        count += 1
      }
    }
    var running = 0
    while queue.admit() != nil { running += 1 }
    return running
  }

  @Test
  func aShareIsKeptForOtherHostsAndUrgentLoads() {
    var queue = AdmissionQueue<Int>(limit: 64, hostLimit: 6)
    #expect(fill(&queue, hosts: 11) == 48)
    queue.add(1000, host: "quick", priority: .veryLow)
    queue.add(1001, host: "slow 0", priority: .normal)
    #expect(queue.admit() == 1000)
    #expect(queue.admit() == nil)
    queue.add(1002, host: "other", priority: .veryHigh)
    #expect(queue.admit() == 1002)
  }

  @Test
  func hostsThatAreAllUrgentDoNotFillEverySlotEither() {
    var queue = AdmissionQueue<Int>(limit: 64, hostLimit: 6)
    #expect(fill(&queue, hosts: 10, .veryHigh) < 60)
    queue.add(1000, host: "quick", priority: .veryHigh)
    #expect(queue.admit() == 1000)
  }

  @Test
  func equallyUrgentHostsTakeTurns() {
    var queue = AdmissionQueue<Int>(limit: 1, hostLimit: 1)
    for id in 0..<100 { queue.add(id, host: "a", priority: .normal) }
    for id in 100..<103 { queue.add(id, host: "b", priority: .normal) }
    var order: [Int] = []
    for _ in 0..<8 {
      guard let id = queue.admit() else { break }
      order.append(id)
      queue.release(host: id < 100 ? "a" : "b")
    }
    #expect(order == [0, 100, 1, 101, 2, 102, 3, 4])
    // A host that comes later waits for none of those that came before it but the first.
    queue.add(200, host: "c", priority: .normal)
    var later: [Int] = []
    for _ in 0..<2 {
      guard let id = queue.admit() else { break }
      later.append(id)
      queue.release(host: id < 200 ? "a" : "c")
    }
    #expect(later.contains(200))
  }
}
