import Testing
import VitrineHTTP
import VitrineRuntime
import VitrineTestSupport
import VitrineTesting

/// What servers and networks do wrong: a typed error each, that names the URL.
@Suite(.patient)
struct FaultTests {
  let server: LoopbackServer
  let loader = makeLoader()

  init() throws { server = try LoopbackServer() }

  private func expectFailure(_ code: HTTPError.Code, _ change: (inout HTTPRequest) -> Void = { _ in }) async throws {
    let error = try await loader.failure(server.url("/a"), change)
    #expect(error.code == code)
    #expect(error.url == server.url("/a"))
    #expect(error.description.hasPrefix(server.url("/a")))
    #expect(!error.detail.isEmpty)
    // And the loader goes on.
    server.route("/b", LoopbackResponse(body: bytes(10)))
    #expect(try await loader.data(server.url("/b")).1.count == 10)
  }

  @Test
  func aBodyOverTheLimitIsRefusedByItsLength() async throws {
    server.route("/a", LoopbackResponse(body: bytes(1001)))
    try await expectFailure(.tooLarge) { $0.maxResponseBytes = 1000 }
    var request = try HTTPRequest.patient(server.url("/a"))
    request.maxResponseBytes = 1001
    #expect(try await loader.data(for: request).1.count == 1001)
  }

  @Test(arguments: ["chunked", "endless", "lying"])
  func aBodyOverTheLimitIsStoppedWithoutAnHonestLength(kind: String) async throws {
    server.route("/a") { exchange in
      switch kind {
      case "chunked":
        exchange.sendHead(200, ["Transfer-Encoding": "chunked"])
        while exchange.sendChunk(bytes(10_000)) {}
      case "lying":
        exchange.sendHead(200, ["Content-Length": "100000000000"])
        exchange.sendEndlessly(bytes(10_000))
      default:
        exchange.sendHead(200)
        exchange.sendEndlessly(bytes(10_000))
      }
    }
    try await expectFailure(.tooLarge) { $0.maxResponseBytes = 100_000 }
    await server.wait { $0.running == 0 }
  }

  @Test
  func theLimitIsAHundredMegabytesByDefault() throws {
    let request = try HTTPRequest("http://a.example")
    #expect(request.maxResponseBytes == 100_000_000)
    let timeouts = request.timeouts
    #expect((timeouts.connect, timeouts.idle, timeouts.total) == (.seconds(10), .seconds(30), nil))
    #expect(request.redirectPolicy == .follow(limit: 10))
    #expect(request.priority == .normal)
  }

  @Test
  func aBodyThatEndsBeforeItsLengthIsTruncated() async throws {
    server.route("/a", LoopbackResponse(body: bytes(1000), claimedLength: 2000))
    try await expectFailure(.truncated)
  }

  @Test
  func aChunkedBodyWithoutItsEndIsTruncated() async throws {
    server.route("/a") { exchange in
      exchange.sendHead(200, ["Transfer-Encoding": "chunked"])
      exchange.sendChunk(bytes(1000))
    }
    try await expectFailure(.truncated)
  }

  @Test
  func aResetInTheBodyIsTruncated() async throws {
    server.route("/a") { exchange in
      exchange.sendHead(200, ["Content-Length": "2000"])
      exchange.send(bytes(1000))
      exchange.reset()
    }
    try await expectFailure(.truncated)
  }

  @Test(arguments: [false, true])
  func anEndBeforeTheHeadIsALostConnection(withReset: Bool) async throws {
    server.route("/a") { if withReset { $0.reset() } }
    try await expectFailure(.connectionLost)
  }

  @Test(arguments: ["no HTTP at all\r\n\r\n", "\u{0}\u{1}\u{2}", "<html></html>"])
  func garbageIsAProtocolError(answer: String) async throws {
    server.route("/a") { $0.send(Data(answer.utf8)) }
    try await expectFailure(.protocolError)
  }

  @Test
  func aHeadThatEndsInItsMiddleIsAnError() async throws {
    server.route("/a") { $0.send(Data("HTTP/1.1 200 OK\r\nContent-Le".utf8)) }
    let error = try await loader.failure(server.url("/a"))
    #expect([.protocolError, .connectionLost, .truncated].contains(error.code))
  }

  @Test(arguments: ["one long field", "many fields", "a NUL"])
  func aMonstrousHeadIsAProtocolError(kind: String) async throws {
    server.route("/a") { exchange in
      let field = Data("X-A: \(String(repeating: "a", count: kind == "one long field" ? 1_000_000 : 90))\r\n".utf8)
      exchange.send(Data("HTTP/1.1 200 OK\r\n".utf8))
      if kind == "a NUL" {
        exchange.send(Data("X-A: a\u{0}b\r\n\r\n".utf8))
      } else {
        for _ in 0..<(kind == "one long field" ? 1 : 10_000) { guard exchange.send(field) else { return } }
        exchange.send(Data("\r\n".utf8))
      }
    }
    let error = try await loader.failure(server.url("/a"))
    #expect(error.code == .protocolError)
  }

  @Test
  func aPortWithoutAServerIsNoConnection() async throws {
    // Its port is held, so that nobody else listens there.
    let port = try DeafPort(takesConnections: false)
    let error = try await loader.failure(port.url)
    #expect(error.code == .cannotConnect)
    #expect(error.isWorthRetrying)
    withExtendedLifetime(port) {}
  }

  @Test
  func aNameThatDoesNotExistIsNotResolved() async throws {
    let error = try await loader.failure("http://nothing.invalid/a")
    #expect(error.code == .cannotResolve)
    #expect(error.url == "http://nothing.invalid/a")
  }

  @Test
  func aServerWithoutTLSIsATLSError() async throws {
    server.route("*", LoopbackResponse(status: 400))
    let error = try await loader.failure(server.url("/a").replacing("http:", with: "https:"))
    #expect(error.code == .tls)
  }

  @Test
  func silenceBeforeTheHeadTimesOut() async throws {
    server.route("/a") { $0.waitForDisconnect() }
    let error = try await loader.failure(server.url("/a")) { $0.timeouts.idle = .milliseconds(60) }
    #expect(error.code == .timedOut)
    #expect(error.timeout == .idle)
    await server.wait { $0.openConnections == 0 }
  }

  @Test
  func silenceInTheBodyTimesOut() async throws {
    server.route("/a") { exchange in
      exchange.sendHead(200, ["Content-Length": "2000"])
      exchange.send(bytes(1000))
      exchange.waitForDisconnect()
    }
    let error = try await loader.failure(server.url("/a")) { $0.timeouts.idle = .milliseconds(60) }
    #expect(error.timeout == .idle)
    await server.wait { $0.openConnections == 0 }
  }

  @Test
  func aBodyThatTakesTooLongTimesOutHoweverLivelyItIs() async throws {
    server.route("/a") { exchange in
      exchange.sendHead(200)
      exchange.sendEndlessly(bytes(1000))
    }
    let error = try await loader.failure(server.url("/a")) {
      $0.timeouts.total = .milliseconds(100)
      $0.maxResponseBytes = .max
    }
    #expect(error.code == .timedOut)
    #expect(error.timeout == .total)
    await server.wait { $0.openConnections == 0 }
  }

  @Test(.enabled(if: isLibcurl))
  func aHandshakeThatNeverComesTimesOut() async throws {
    server.route("*") { $0.waitForDisconnect() }
    let url = server.url("/a").replacing("http:", with: "https:")
    let error = try await loader.failure(url) { $0.timeouts.connect = .milliseconds(80) }
    #expect(error.code == .timedOut)
    #expect(error.timeout == .connect)
  }

  @Test
  func aPausedLoadDoesNotTimeOutForSilence() async throws {
    server.route("/slow", LoopbackResponse(body: bytes(100)))
    server.route("/silent") { $0.waitForDisconnect() }
    var sink = RecordingSink(onHead: { .pause })
    var request = try HTTPRequest.patient(server.url("/slow"))
    request.timeouts.idle = .milliseconds(500)
    var handle = loader.load(request, into: sink)
    await sink.wait { $0.count == 1 }
    // A busy machine may not bring the head in that time.
    while sink.events != [.head(200)] {
      sink = RecordingSink(onHead: { .pause })
      handle = loader.load(request, into: sink)
      await sink.wait { $0.count == 1 }
    }
    // More than that passes at the server's other path.
    #expect(try await loader.failure(server.url("/silent")) { $0.timeouts.idle = .milliseconds(800) }.timeout == .idle)
    handle.resume()
    #expect(await sink.end() == nil)
  }
}

/// Answers that are wrong in a way that only bytes can say.
@Suite(.patient)
struct MalformedAnswerTests {
  let server: LoopbackServer
  let loader = makeLoader()

  init() throws { server = try LoopbackServer() }

  private static let answer = "HTTP/1.1 200 OK\r\nContent-Type: image/png\r\nContent-Length: 100\r\n\r\n"

  @Test(arguments: [false, true])
  func aBreakAtEachTenthByteIsATypedErrorAndFreesTheConnection(withReset: Bool) async throws {
    let whole = Data(Self.answer.utf8) + bytes(100)
    for length in stride(from: 0, to: whole.count, by: 10) {
      server.route("/\(length)") { exchange in
        exchange.send(whole.prefix(length))
        if withReset { exchange.reset() }
      }
      let error = try await loader.failure(server.url("/\(length)"))
      #expect([.connectionLost, .truncated, .protocolError].contains(error.code), "after \(length) bytes: \(error)")
      #expect(error.url == server.url("/\(length)"))
    }
    await server.wait { $0.openConnections == 0 }
  }

  @Test(arguments: [
    "HTTP/1.1 200 OK\r\nContent-Length: -5\r\n\r\n", "HTTP/1.1 200 OK\r\nContent-Length: many\r\n\r\n",
    "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n", "HTTP/1.1 99999 OK\r\n\r\n",
    "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nFFFFFFFFFFFFFFFFFF\r\n", "HTTP/3.7 200 OK\r\n\r\n",
  ])
  func aHeadOrAChunkThatMeansNothingIsAnError(answer: String) async throws {
    server.route("/a") { $0.send(Data(answer.utf8)) }
    let error = try await loader.failure(server.url("/a"))
    #expect([.protocolError, .truncated, .connectionLost].contains(error.code), "\(error)")
    await server.wait { $0.openConnections == 0 }
  }

  @Test
  func whatComesBeyondTheLengthIsNoPartOfTheBodyNorOfTheNextAnswer() async throws {
    server.route("/a") { exchange in
      exchange.send(Data(Self.answer.utf8) + bytes(100) + Data("HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nevil".utf8))
      exchange.complete()
    }
    server.route("/b", LoopbackResponse(body: bytes(10)))
    for _ in 0..<5 {
      #expect(try await loader.data(server.url("/a")).1 == bytes(100))
      #expect(try await loader.data(server.url("/b")).1 == bytes(10))
    }
  }

  /// `ContentCodingTests` has bombs that are gzip.
  @Test(arguments: ["Content-Encoding", "Transfer-Encoding"])
  func bytesThatAreNotTheGzipTheyAreCalledAreAnError(field: String) async throws {
    let packed = Data([0x1F, 0x8B, 8, 0, 0, 0, 0, 0, 0, 3]) + bytes(1000)
    server.route("/a") { exchange in
      let length: HTTPFields = field == "Content-Encoding" ? ["Content-Length": "\(packed.count)"] : [:]
      exchange.sendHead(200, [field: "gzip"] + length)
      exchange.send(packed)
    }
    var request = try HTTPRequest.patient(server.url("/a"))
    request.maxResponseBytes = 2000
    do throws(HTTPError) {
      let (_, data) = try await loader.data(for: request)
      // The stub of URLSession leaves it as it is.
      #expect(!isLibcurl && data == packed)
    } catch {
      #expect(error.code == .protocolError, "\(error)")
    }
  }

  @Test(.enabled(if: isLibcurl))
  func aDripThatIsNeverSilentEnds() async throws {
    let gate = server.makeGate()
    server.route("/a") { exchange in
      exchange.sendHead(200, ["Content-Length": "100000"])
      while exchange.send(Data([0])) { gate.wait() }
    }
    let clock = SystemClock()
    let isOver = Lock(false)
    @Sendable
    func drip() {
      gate.pass()
      if !isOver.withLock({ $0 }) { clock.schedule(after: .milliseconds(100)) { drip() } }
    }
    drip()
    let error = try await loader.failure(server.url("/a")) {
      ($0.timeouts.minimumRate, $0.timeouts.minimumRateWindow) = (1024, .milliseconds(500))
    }
    #expect(error.code == .timedOut)
    #expect(error.timeout == .minimumRate)
    await server.wait { $0.openConnections == 0 }
    isOver.withLock { $0 = true }
  }

  /// The short form of `make bench NAME=http`'s 60,000; in a process of its own, since it counts what the whole process has.
  ///
  /// Not under the address sanitizer, which holds freed memory back.
  @Test(.enabled(if: ProcessInfo.processInfo.environment["ASAN_OPTIONS"] == nil))
  func eightHundredGoodAndBadLoadsLeaveNoMemoryAndNoDescriptor() async throws {
    await #expect(processExitsWith: .success) {
      func descriptors() throws -> Int { try FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd").count }
      func resident() throws -> Int {
        let words = try String(contentsOfFile: "/proc/self/statm", encoding: .utf8).split(separator: " ")
        return (Int(words[1]) ?? 0) * 4096
      }
      let server = try LoopbackServer()
      server.route("/good", LoopbackResponse(body: bytes(20_000)))
      server.route("/short", LoopbackResponse(body: bytes(500), claimedLength: 1000))
      server.route("/reset") { $0.reset() }
      server.route("/loop", .redirect(to: "/loop"))
      let loader = makeLoader()
      func round() async throws {
        for _ in 0..<20 {
          for path in ["/good", "/good", "/short", "/reset", "/good", "/loop"] {
            _ = try? await loader.data(server.url(path))
          }
        }
      }
      for _ in 0..<2 { try await round() }
      let (before, open) = (try resident(), try descriptors())
      for _ in 0..<5 { try await round() }
      // The server keeps every request that it has read, some 200 bytes each.
      #expect(try resident() < before + (16 << 20))
      try await until { ((try? descriptors()) ?? .max) <= open + 2 }
    }
  }
}
