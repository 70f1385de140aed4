import Testing
import VitrineHTTP
import VitrineRuntime
import VitrineTestSupport
import VitrineTesting

@Suite(.patient)
struct LoadTests {
  let server: LoopbackServer
  let loader = makeLoader()

  init() throws { server = try LoopbackServer() }

  @Test
  func aGetDeliversHeadAndBody() async throws {
    let body = bytes(50_000)
    server.route(
      "/a",
      LoopbackResponse(headers: ["Content-Type": "image/png", "X-A": "1", "x-a": "2"], body: body),
    )
    let (response, data) = try await loader.data(server.url("/a"))
    #expect(response.status == 200)
    #expect(response.headers["content-type"] == "image/png")
    #expect(response.headers.values(for: "X-A") == (isLibcurl ? ["1", "2"] : ["1, 2"]))
    #expect(response.headers["x-A"] == "1, 2")
    #expect(response.contentLength == 50_000)
    #expect(response.url.string == server.url("/a"))
    #expect(response.redirectCount == 0)
    #expect(data == body)
  }

  @Test
  func itSendsWhatItIsToldToAndAsksForNoCompression() async throws {
    server.route("/a", LoopbackResponse())
    _ = try await loader.data(server.url("/a?q=1"), headers: ["Accept": "image/webp", "X-Empty": "", "X-Key": "k"])
    let request = try #require(server.requests.first)
    #expect(request.method == "GET")
    #expect(request.target == "/a?q=1")
    #expect(request["accept"] == "image/webp")
    #expect(request["x-empty"] == "")
    #expect(request["x-key"] == "k")
    #expect(request["user-agent"] == "Vitrine")
    #expect(request["accept-encoding"] == "identity")
    #expect(request["cookie"] == nil)
  }

  @Test
  func cookiesAreNotKept() async throws {
    server.route("/a", LoopbackResponse(headers: ["Set-Cookie": "a=b; Path=/"]))
    _ = try await loader.data(server.url("/a"))
    _ = try await loader.data(server.url("/a"))
    #expect(server.requests.map { $0["cookie"] } == [nil, nil])
  }

  @Test
  func aHeadRequestHasNoBody() async throws {
    server.route("/a", LoopbackResponse(body: bytes(500)))
    var request = try HTTPRequest.patient(server.url("/a"))
    request.method = .head
    request.maxResponseBytes = 10
    let (response, data) = try await loader.data(for: request)
    #expect(response.contentLength == 500)
    #expect(data.isEmpty)
  }

  @Test
  func chunkedAndEmptyBodiesArrive() async throws {
    let body = bytes(10_500)
    server.route("/chunked", LoopbackResponse(body: body, isChunked: true))
    server.route("/empty", LoopbackResponse())
    #expect(try await loader.data(server.url("/chunked")).1 == body)
    #expect(try await loader.data(server.url("/empty")).1.isEmpty)
  }

  @Test
  func aBodyThatEndsWithTheConnectionArrives() async throws {
    server.route("/a") { exchange in
      exchange.sendHead(200)
      exchange.send(bytes(3000))
    }
    #expect(try await loader.data(server.url("/a")).1 == bytes(3000))
  }

  @Test(arguments: [404, 500, 304, 204])
  func everyStatusIsDelivered(status: Int) async throws {
    server.route("/a") { exchange in
      exchange.sendHead(status, ["Content-Length": "0"])
      exchange.complete()
    }
    #expect(try await loader.data(server.url("/a")).0.status == status)
  }

  @Test
  func aBadStatusIsAnErrorThatHasIt() throws {
    let response = HTTPResponse(status: 503, url: try HTTPURL("http://a.example/"))
    #expect {
      try response.requireSuccess()
    } throws: { error in
      let error = error as? HTTPError
      return error?.code == .badStatus && error?.status == 503 && error?.url == "http://a.example/"
        && error?.isWorthRetrying == true
    }
    try HTTPResponse(status: 204, url: response.url).requireSuccess()
  }

  @Test
  func interimResponsesAndTrailersAreSkipped() async throws {
    server.route("/a") { exchange in
      exchange.sendHead(103, ["Link": "</x>; rel=preload"])
      exchange.sendHead(200, ["Transfer-Encoding": "chunked", "X-A": "b"])
      exchange.sendChunk(bytes(10))
      exchange.send(Data("0\r\nX-Trailer: c\r\n\r\n".utf8))
      exchange.complete()
    }
    let (response, data) = try await loader.data(server.url("/a"))
    #expect(response.status == 200)
    #expect(response.headers.map(\.name).sorted() == ["Transfer-Encoding", "X-A"])
    #expect(data == bytes(10))
  }

  @Test
  func aConnectionIsUsedAgain() async throws {
    server.route("/a", LoopbackResponse(body: bytes(100)))
    for _ in 0..<5 { _ = try await loader.data(server.url("/a")) }
    #expect(server.counts.requests == 5)
    #expect(server.counts.connections == 1)
  }

  @Test
  func twoHundredSmallFilesArriveOverSixConnections() async throws {
    server.route("*") { exchange in
      exchange.respond(LoopbackResponse(body: Data(exchange.request.target.utf8) + bytes(5000)))
    }
    let whole = try await withThrowingTaskGroup(of: Bool.self) { group in
      for number in 0..<200 {
        group.addTask {
          try await loader.data(server.url("/\(number)")).1 == Data("/\(number)".utf8) + bytes(5000)
        }
      }
      return try await group.reduce(into: 0) { $0 += $1 ? 1 : 0 }
    }
    #expect(whole == 200)
    #expect(server.counts.requests == 200)
    #expect(server.counts.connections <= 6)
  }

  @Test
  func aPartThatWasAskedForArrivesAndOneThatWasNotIsAnError() async throws {
    server.route("/a", LoopbackResponse(body: bytes(1000), entityTag: "\"1\""))
    let (response, data) = try await loader.data(
      server.url("/a"),
      headers: ["Range": "bytes=600-", "If-Range": "\"1\""],
    )
    #expect(response.status == 206)
    #expect(response.headers["content-range"] == "bytes 600-999/1000")
    #expect(data == bytes(1000).dropFirst(600))
    server.route("/b") { exchange in
      exchange.sendHead(206, ["Content-Range": "bytes 0-9/100", "Content-Length": "10"])
      exchange.send(bytes(10))
      exchange.complete()
    }
    #expect(try await loader.failure(server.url("/b")).code == .protocolError)
  }

  @Test
  func aFieldThatCannotBeSentIsAnErrorAndNothingIsSent() async throws {
    let error = try await loader.failure(server.url("/a")) { $0.headers = ["X-A": "b\r\nHost: evil"] }
    #expect(error.code == .invalidRequest)
    #expect(try await loader.failure(server.url("/a")) { $0.headers = ["X A": "b"] }.code == .invalidRequest)
    #expect(server.counts.connections == 0)
  }

  @Test
  func aPausedLoadHoldsTheServerBackUntilItIsResumed() async throws {
    server.route("/a", LoopbackResponse(body: bytes(8_000_000)))
    let isFirst = Lock(true)
    let sink = RecordingSink(onBytes: {
      isFirst.withLock { isFirst in
        defer { isFirst = false }
        return isFirst ? .pause : .proceed
      }
    })
    let handle = loader.load(try HTTPRequest.patient(server.url("/a")), into: sink)
    await sink.wait { $0.count == 2 }
    // Another load goes through meanwhile, so the engine has had its rounds.
    server.route("/b", LoopbackResponse())
    _ = try await loader.data(server.url("/b"))
    #expect(sink.events.count == 2)
    handle.resume()
    #expect(await sink.end() == nil)
    #expect(sink.byteCount == 8_000_000)
  }

  @Test
  func aLoadPausedAtItsHeadDeliversNothingElse() async throws {
    server.route("/a", LoopbackResponse(body: bytes(100)))
    let sink = RecordingSink(onHead: { .pause })
    let handle = loader.load(try HTTPRequest.patient(server.url("/a")), into: sink)
    await sink.wait { $0.count == 1 }
    server.route("/b", LoopbackResponse())
    _ = try await loader.data(server.url("/b"))
    #expect(sink.events == [.head(200)])
    handle.resume()
    #expect(await sink.end() == nil)
    #expect(sink.byteCount == 100)
  }
}
