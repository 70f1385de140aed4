import Testing
import VitrineHTTP
import VitrineImaging
import VitrineRuntime
import VitrineTestSupport
import VitrineTesting

@testable import VitrineServing

@Suite(.patient)
struct BoundsTests {
  private func url(_ name: String) -> String { "http://images.invalid/\(name)" }

  private func finish(_ load: FakeLoad) {
    load.respond(headers: ["Cache-Control": "max-age=600"])
    load.send(TestServer.photograph)
    load.finish()
  }

  @Test
  func beyondTheQueueIs503AtOnceAndWhatRunsGoesOn() async throws {
    let server = try TestServer { $0.maxImages = 1 }
    async let first = server.get(TestServer.target(of: url("first")))
    let load = try await server.loader.nextLoad(of: url("first"))
    let refused = try await server.get(TestServer.target(of: url("second")))
    #expect(refused.response.status == 503)
    #expect(refused.response.headers["Retry-After"] == "1")
    finish(load)
    #expect(try await first.response.status == 200)
    #expect(server.metrics.counts.refused == 1)
    await server.server.stop()
  }

  @Test
  func aClientThatLeavesStopsItsLoad() async throws {
    let server = try TestServer()
    var connection: RawConnection? = try RawConnection(to: server.server.port)
    connection?.send("GET \(TestServer.target(of: url("slow"))) HTTP/1.1\r\nHost: a\r\n\r\n")
    let load = try await server.loader.nextLoad(of: url("slow"))
    connection = nil
    await load.wait { $0.isCancelled }
    #expect(try await server.get("/health").response.status == 200)
    await server.server.stop()
  }

  @Test
  func aClientThatLeavesTakesNothingFromOthers() async throws {
    let server = try TestServer()
    var connection: RawConnection? = try RawConnection(to: server.server.port)
    connection?.send("GET \(TestServer.target(of: url("slow"))) HTTP/1.1\r\nHost: a\r\n\r\n")
    let load = try await server.loader.nextLoad(of: url("slow"))
    async let other = server.get(TestServer.target(of: url("slow")))
    try await until { server.metrics.counts.joined >= 1 }
    connection = nil
    try await until { server.metrics.counts.left >= 1 }
    finish(load)
    #expect(try await other.response.status == 200)
    await server.server.stop()
  }

  @Test
  func aHeadOfAMegabyteIsRefusedAndOthersAreServed() async throws {
    let server = try TestServer()
    let connection = try RawConnection(to: server.server.port)
    connection.send("GET /health HTTP/1.1\r\nHost: a\r\n")
    let field = "X-Long: \(String(repeating: "x", count: 1000))\r\n"
    for _ in 0..<1000 { connection.send(field) }
    connection.send("\r\n")
    let answer = await connection.readAll()
    #expect(answer.isEmpty || answer.hasPrefix("HTTP/1.1 4"), "\(answer.prefix(60))")
    #expect(try await server.get("/health").response.status == 200)
    await server.server.stop()
  }

  @Test
  func halfARequestIsCutWhenItsTimeIsOver() async throws {
    let clock = ManualClock()
    // One thread, which accepts connections in the order in which they come.
    let server = try TestServer { ($0.clock, $0.headTime, $0.threads) = (clock, .seconds(10), 1) }
    let connection = try RawConnection(to: server.server.port)
    connection.send("GET /health HTTP/1.1\r\nHost: a\r\nX-Dr")
    // It has been accepted once another one, which came later, is answered.
    #expect(try await server.get("/health").response.status == 200)
    clock.advance(by: .seconds(9))
    connection.send("ip: 1")
    clock.advance(by: .seconds(2))
    #expect(await connection.readAll().isEmpty)
    #expect(try await server.get("/health").response.status == 200)
    await server.server.stop()
  }

  @Test
  func anAnswerThatIsNotReadIsCut() async throws {
    let clock = ManualClock()
    let server = try TestServer { ($0.clock, $0.sendTime) = (clock, .seconds(20)) }
    let connection = try RawConnection(to: server.server.port)
    // More answers than the socket's buffers hold, none of which is read.
    let request = "GET /metrics HTTP/1.1\r\nHost: a\r\n\r\n"
    let isCut = Watched(false)
    _ = startThread(named: "sender") {
      // Returns when the server has closed the connection.
      connection.send(String(repeating: request, count: 20_000))
      isCut.change { $0 = true }
    }
    try await until {
      clock.advance(by: .seconds(1))
      return isCut.value
    }
    #expect(try await server.get("/health").response.status == 200)
    await server.server.stop()
  }

  @Test
  func idleConnectionsDoNotKeepOthersOut() async throws {
    let server = try TestServer { $0.maxConnections = 16 }
    var idle: [RawConnection] = []
    for _ in 0..<200 { idle.append(try RawConnection(to: server.server.port)) }
    for _ in 0..<5 { #expect(try await server.get("/health").response.status == 200) }
    #expect(server.server.service.connectionCount.withLock { $0 }() <= 16 + 4 + 128)
    withExtendedLifetime(idle) {}
    await server.server.stop()
  }

  @Test
  func oneConnectionTooManyCutsAFewAndNotMoreUntilTheyAreClosed() throws {
    let watch = try #require(DisconnectWatch())
    let table = ConnectionTable(limit: 32)
    var records: [ConnectionRecord] = []
    func open() throws {
      let record = ConnectionRecord(try #require(openStreamSocket()), watch, deadline: .seconds(records.count + 1))
      records.append(record)
      table.add(record)
    }
    func cut() -> [Int] { records.indices.filter { records[$0].activity == .cut } }
    for _ in 0..<33 { try open() }
    // The oldest two.
    #expect(cut() == [0, 1])
    try open()
    #expect(cut() == [0, 1])
    table.remove(records[0])
    table.remove(records[1])
    try open()
    #expect(cut() == [0, 1, 2, 3])
    for record in records { close(record.socket) }
  }

  @Test
  func aRequestWithABodyIsRefused() async throws {
    let server = try TestServer()
    let connection = try RawConnection(to: server.server.port)
    connection.send("GET /health HTTP/1.1\r\nHost: a\r\nContent-Length: 1000000\r\n\r\nabc")
    #expect(await connection.readAll().hasPrefix("HTTP/1.1 413"))
    await server.server.stop()
  }

  @Test
  func oneConnectionServesManyRequests() async throws {
    let server = try TestServer()
    let connection = try RawConnection(to: server.server.port)
    let long = (0..<40).map { "X-\($0): \(String(repeating: "a", count: 5 * $0)) \r\n" }.joined()
    for fields in ["", "Content-Length: 0\r\n", "Accept:\r\nX:  b \r\n", long, ""] {
      connection.send("GET /health HTTP/1.1\r\nHost: a\r\n\(fields)\r\n")
      #expect(await connection.read().hasPrefix("HTTP/1.1 200"), "\(fields)")
    }
    // Byte by byte.
    for byte in "GET /health HTTP/1.1\r\nHost: a\r\nAccept: image/png\r\n\(long)\r\n" { connection.send(String(byte)) }
    #expect(await connection.read().hasPrefix("HTTP/1.1 200"))
    // Bytes that are no UTF-8.
    connection.send(bytes: "GET /health HTTP/1.1\r\nHost: a\r\nX: ".utf8 + [0xE9, 0xFF] + "\r\nY: b\r\n\r\n".utf8)
    #expect(await connection.read().hasPrefix("HTTP/1.1 200"))
    // Two at once.
    connection.send(String(repeating: "GET /health HTTP/1.1\r\nHost: a\r\nConnection: keep-alive\r\n\r\n", count: 2))
    var text = ""
    while text.ranges(of: "HTTP/1.1 200").count < 2 {
      let more = await connection.read()
      guard !more.isEmpty else { break }
      text += more
    }
    #expect(text.ranges(of: "HTTP/1.1 200").count == 2)
    await server.server.stop()
  }

  /// A proxy in front may see a body, or another request, where this server sees none.
  @Test(arguments: [
    "Content-Length: 0\r\nContent-Length: 5\r\n", "Content-Length: 0\r\ncontent-length: 0\r\n",
    "Content-Length: 0, 5\r\n", "Content-Length: +0\r\n", "Content-Length:\r\n", "Content-Length : 5\r\n",
    "Accept : image/png\r\n", "X: b\r\n Content-Length: 5\r\n", "X: b\r\n\tc\r\nY: d\r\n", "X: a\0b\r\nY: c\r\n",
    "X\0y: ab\r\n", "X: a\rContent-Length: 5\r\n", "Host: b\r\n", "X(y: ab\r\n", ": ab\r\n", "X y\r\n",
    "X: a\0b\r\n", "X: a\0\0b\r\n", "X: a\nY: b\r\n", "X: \u{E9}\r\n b\r\n",
  ])
  func aHeadThatCanBeReadInTwoWaysIsRefused(fields: String) async throws {
    let server = try TestServer()
    let connection = try RawConnection(to: server.server.port)
    connection.send("GET /health HTTP/1.1\r\nHost: a\r\n\(fields)\r\nGET /health HTTP/1.1\r\nHost: a\r\n\r\n")
    let text = await connection.readAll()
    #expect(text.hasPrefix("HTTP/1.1 400") && !text.contains("HTTP/1.1 200"), "\(text)")
    await server.server.stop()
  }

  @Test(arguments: ["GET /health\0x HTTP/1.1", "GET /health HTTP/1.1\0x", "GET /health", "\0GET /health HTTP/1.1"])
  func aLineWithAZeroByteIsRefused(line: String) async throws {
    let server = try TestServer()
    let connection = try RawConnection(to: server.server.port)
    connection.send("\(line)\r\nHost: a\r\nConnection: close\r\n\r\n")
    let text = await connection.readAll()
    #expect(!text.contains("HTTP/1.1 200"), "\(text)")
    await server.server.stop()
  }

  /// libmicrohttpd waits for 128 events at a time, and its own threads for one more where exactly that many come.
  @Test(arguments: [127, 128, 129, 256])
  func soManyRequestsAtOnceAreAnswered(count: Int) async throws {
    let clock = HeldClock()
    let server = try TestServer { ($0.threads, $0.clock) = (1, clock) }
    let request = "GET /health HTTP/1.1\r\nHost: a\r\n\r\n"
    let connections = try (0..<count).map { _ in try RawConnection(to: server.server.port) }
    let holder = try RawConnection(to: server.server.port)
    holder.send(request)
    // All have been accepted, and read in vain, before this one is answered.
    try await until { server.metrics.counts.byStatus[200] == 1 }
    clock.hold()
    holder.send(request)
    try await until { clock.isHeld }
    for connection in connections { connection.send(request) }
    clock.letGo()
    try await until { server.metrics.counts.byStatus[200] == count + 2 }
    await server.server.stop()
  }

  @Test
  func drainingLetsRunningRequestsEnd() async throws {
    let server = try TestServer()
    async let answer = server.get(TestServer.target(of: url("slow")))
    let load = try await server.loader.nextLoad(of: url("slow"))
    async let drained: Void = server.server.drain(within: .seconds(30))
    // The port is closed as soon as draining has begun.
    try await until { (try? RawConnection(to: server.server.port)) == nil }
    finish(load)
    let response = try await answer.response
    #expect(response.status == 200)
    #expect(response.headers["Connection"]?.lowercased() == "close")
    await drained
  }

  /// A balancer that asks `/ready` sends its clients elsewhere meanwhile.
  @Test
  func drainingMayBeginWithATimeInWhichRequestsAreTaken() async throws {
    let clock = ManualClock()
    let server = try TestServer { $0.clock = clock }
    let hasEnded = Lock(false)
    let drain = Task {
      await server.server.drain(within: .seconds(30), after: .seconds(5))
      hasEnded.withLock { $0 = true }
    }
    try await until { (try? await server.get("/ready").response.status) == 503 }
    #expect(try await server.get("/health").response.status == 200)
    #expect(try await server.get(TestServer.target(of: "ftp://images.invalid/a")).response.status == 400)
    try await until {
      clock.advance(by: .seconds(1))
      return hasEnded.withLock { $0 }
    }
    await drain.value
    #expect((try? RawConnection(to: server.server.port)) == nil)
  }

  @Test
  func aStopAnswersWhatRuns() async throws {
    let server = try TestServer()
    async let answer = server.get(TestServer.target(of: url("slow")))
    _ = try await server.loader.nextLoad(of: url("slow"))
    await server.server.stop()
    #expect(try await answer.response.status == 503)
  }

  @Test
  func aSlowSourceIsGivenUp() async throws {
    let clock = ManualClock()
    let server = try TestServer { ($0.clock, $0.requestTime) = (clock, .seconds(5)) }
    async let answer = server.get(TestServer.target(of: url("slow")))
    let load = try await server.loader.nextLoad(of: url("slow"))
    clock.advance(by: .seconds(6))
    #expect(try await answer.response.status == 504)
    await load.wait { $0.isCancelled }
    await server.server.stop()
  }
}

/// A clock that holds up the thread that asks for the time, when a test says so.
private final class HeldClock: TimeSource {
  private enum Phase { case free, armed, held }

  private let phase = Monitor(Phase.free)
  private let clock = ManualClock()

  var isHeld: Bool { phase.withLock { $0 == .held } }

  /// Holds up the next thread.
  func hold() { phase.withLock { $0 = .armed } }

  func letGo() {
    phase.withLock { $0 = .free }
    phase.broadcast()
  }

  var now: Date { clock.now }

  var uptime: Duration {
    let isHeld = phase.withLock { phase in
      guard phase == .armed else { return false }
      phase = .held
      return true
    }
    if isHeld { phase.wait { $0 == .held ? .wait : .leave(()) } }
    return clock.uptime
  }

  func schedule(after delay: Duration, _ action: @escaping @Sendable () -> Void) -> ScheduledAction {
    clock.schedule(after: delay, action)
  }

  @Test
  func resultsFitIntoTheMemory() async throws {
    let server = try TestServer { ($0.memory, $0.localRoot) = (64 << 20, nil) }
    server.loader.answer(TestServer.source, with: TestServer.photograph)
    func status(_ options: String, _ ending: String) async throws -> Int {
      try await server.get(TestServer.target(options, of: TestServer.source, ending)).response.status
    }
    #expect(try await status("rs:force:1500:1500:1", "@jpg") == 400)
    #expect(try await status("w:1/pd:700:700:700:700", "@png") == 200)
    #expect(try await status("rs:force:1400:1400:1", "@jpg") == 200)
    await server.server.stop()
  }
}
