import Testing
import VitrineHTTP
import VitrineRuntime
import VitrineTestSupport
import VitrineTesting

@Suite(.patient)
struct HookTests {
  let server: LoopbackServer

  init() throws { server = try LoopbackServer() }

  private struct Refused: Error {}

  private func data(
    _ loader: SystemLoader,
    _ path: String,
    headers: HTTPFields = [:],
    _ change: (inout LoadHooks) -> Void,
  ) async throws -> (HTTPResponse, Data) {
    var hooks = LoadHooks()
    change(&hooks)
    return try await loader.data(for: try HTTPRequest.patient(server.url(path), headers: headers), hooks: hooks)
  }

  private func sink(_ change: (inout LoadHooks) -> Void) -> RecordingSink {
    var hooks = LoadHooks()
    change(&hooks)
    return RecordingSink(hooks: hooks)
  }

  // MARK: willSend

  @Test
  func theRequestIsSentAsTheHookHasChangedIt() async throws {
    server.route("/b", LoopbackResponse(body: bytes(10)))
    let (response, data) = try await data(makeLoader(), "/a", headers: ["X-A": "1"]) {
      $0.willSend = { [server] request in
        await Task.yield()
        request.headers["Authorization"] = "signed"
        request.url = try HTTPURL(server.url("/b?signature=2"))
      }
    }
    #expect(data.count == 10)
    #expect(response.url.string == server.url("/b?signature=2"))
    let sent = try #require(server.requests.first)
    #expect(sent["Authorization"] == "signed")
    #expect(sent["X-A"] == "1")
    #expect(server.counts.requests == 1)
  }

  @Test
  func aHookThatThrowsSendsNothingAndIsNamed() async throws {
    let loader = makeLoader()
    let error = await #expect(throws: HTTPError.self) {
      _ = try await data(loader, "/a") { $0.willSend = { _ in throw Refused() } }
    }
    #expect(error?.code == .preparationFailed)
    #expect(error?.url == server.url("/a"))
    #expect(error?.detail.contains("Refused") == true)
    #expect(error?.cause is Refused)
    #expect(server.counts.connections == 0)
    server.route("/b", LoopbackResponse(body: bytes(10)))
    #expect(try await loader.data(server.url("/b")).1.count == 10)
  }

  @Test
  func aFieldOrAnAddressThatTheHookSpoilsIsRefused() async throws {
    let bad = await #expect(throws: HTTPError.self) {
      _ = try await data(makeLoader(), "/a") { $0.willSend = { $0.headers["X"] = "a\r\nb" } }
    }
    #expect(bad?.code == .invalidRequest)
    let loader = makeLoader { $0.addressGuard = AddressGuard() }
    let refused = await #expect(throws: HTTPError.self) {
      var hooks = LoadHooks()
      hooks.willSend = { $0.url = try HTTPURL("http://10.0.0.1/") }
      _ = try await loader.data(for: try HTTPRequest("http://a.example/"), hooks: hooks)
    }
    #expect(refused?.code == .addressRefused)
  }

  @Test
  func cancellingDuringTheHookSendsNothingCancelsItAndFreesTheTurn() async throws {
    let loader = makeLoader { $0.connectionLimitPerHost = 1 }
    let (entered, wasCancelled) = (Deferred<Void>(), Deferred<Bool>())
    let first = sink {
      $0.willSend = { _ in
        entered.resolve(())
        let outcome = Deferred<Void>()
        await withTaskCancellationHandler {
          await outcome.value()
        } onCancel: {
          outcome.resolve(())
        }
        wasCancelled.resolve(Task.isCancelled)
      }
    }
    let handle = loader.load(try HTTPRequest.patient(server.url("/first")), into: first)
    await entered.value()
    let second = sink { $0.willSend = { $0.headers["X"] = "y" } }
    server.route("*", LoopbackResponse())
    loader.load(try HTTPRequest.patient(server.url("/second")), into: second)
    handle.cancel()
    #expect(await first.end() == .cancelled)
    #expect(await wasCancelled.value())
    #expect(await second.end() == nil)
    #expect(first.events == [.end(.cancelled)])
    #expect(first.beginCount == 0)
    #expect(server.requests.map(\.path) == ["/second"])
  }

  /// With connections held by those who wait for a token, nobody could fetch it.
  @Test
  func aHookMayLoadFromTheSameHostWithTheSameLoader() async throws {
    server.route("*", LoopbackResponse(body: bytes(10)))
    let loader = makeLoader { $0.connectionLimitPerHost = 1 }
    let sinks = try (0..<20).map { number in
      let token = try HTTPRequest.patient(server.url("/token"))
      let sink = sink {
        $0.willSend = { [weak loader] request in
          request.headers["X-Token"] = "\(try await loader?.data(for: token).1.count ?? 0)"
        }
      }
      loader.load(try HTTPRequest.patient(server.url("/\(number)")), into: sink)
      return sink
    }
    for sink in sinks { #expect(await sink.end() == nil) }
    #expect(server.requests.filter { $0.path == "/token" }.count == 20)
    #expect(server.requests.filter { $0["X-Token"] == "10" }.count == 20)
  }

  @Test(.enabled(if: isLibcurl))
  func onlyAsManyHooksOfAHostRunAsLoadsMay() async throws {
    server.route("*", LoopbackResponse())
    let loader = makeLoader { $0.connectionLimitPerHost = 2 }
    let counts = Lock((running: 0, most: 0))
    let sinks = try (0..<30).map { number in
      let sink = sink {
        $0.willSend = { _ in
          counts.withLock { $0 = ($0.running + 1, max($0.most, $0.running + 1)) }
          for _ in 0..<5 { await Task.yield() }
          counts.withLock { $0.running -= 1 }
        }
      }
      loader.load(try HTTPRequest.patient(server.url("/\(number)")), into: sink)
      return sink
    }
    for sink in sinks { #expect(await sink.end() == nil) }
    #expect((1...2).contains(counts.withLock { $0.most }))
  }

  @Test
  func aHookThatNeverEndsRunsOutOfTheTotalTime() async throws {
    let loader = makeLoader()
    var request = try HTTPRequest.patient(server.url("/a"))
    request.timeouts.total = .milliseconds(50)
    let sink = sink {
      $0.willSend = { _ in
        let never = Deferred<Void>()
        await withTaskCancellationHandler {
          await never.value()
        } onCancel: {
          never.resolve(())
        }
      }
    }
    loader.load(request, into: sink)
    #expect(await sink.end() == .timedOut)
    #expect(server.counts.connections == 0)
  }

  @Test
  func aLoadThatEndedDuringAHookIsNotSent() async throws {
    let loader = makeLoader()
    var request = try HTTPRequest.patient(server.url("/late"))
    request.timeouts.total = .milliseconds(50)
    let ended = Deferred<Void>()
    let late = sink {
      // A hook that does not mind that it is cancelled.
      $0.willSend = { _ in await ended.value() }
    }
    loader.load(request, into: late)
    #expect(await late.end() == .timedOut)
    ended.resolve(())

    let next = sink { _ in }
    loader.load(try HTTPRequest.patient(server.url("/next")), into: next)
    #expect(await next.end() == nil)
    #expect(server.requests.map(\.path) == ["/next"])
  }

  @Test
  func releasingTheLoaderDuringAHookEndsTheLoad() async throws {
    let entered = Deferred<Void>()
    let sink = sink {
      $0.willSend = { _ in
        entered.resolve(())
        await untilCancelled()
      }
    }
    do {
      let loader = makeLoader()
      loader.load(try HTTPRequest.patient(server.url("/a")), into: sink)
      await entered.value()
    }
    #expect(await sink.end() == .cancelled)
  }

  // MARK: Challenges

  private func guardPath(_ path: String, password: String) {
    server.route(path) { exchange in
      if exchange.request["Authorization"] == password {
        exchange.respond(LoopbackResponse(body: bytes(10)))
      } else {
        let fields: HTTPFields = ["WWW-Authenticate": "Bearer realm=\"a\""]
        exchange.respond(LoopbackResponse(status: 401, headers: fields, body: Data("who?".utf8)))
      }
    }
  }

  @Test
  func theBodyOfARedirectIsNoPartOfTheUnansweredChallengeBehindIt() async throws {
    guardPath("/b", password: "right")
    var redirect = LoopbackResponse.redirect(to: "/b")
    redirect.body = Data("moved".utf8)
    server.route("/a", redirect)
    let (response, data) = try await data(makeLoader(), "/a") { $0.challenge = { _ in nil } }
    #expect(response.status == 401)
    #expect(data == Data("who?".utf8))
  }

  @Test
  func aChallengeIsAnsweredOnTheSameConnection() async throws {
    guardPath("/a", password: "right")
    let (response, data) = try await data(makeLoader(), "/a", headers: ["Authorization": "wrong"]) {
      $0.challenge = { challenge in
        #expect(challenge.response.headers["www-authenticate"] == "Bearer realm=\"a\"")
        #expect(challenge.sent["authorization"] == "wrong")
        return ["authorization": "right"]
      }
    }
    #expect(response.status == 200)
    #expect(data.count == 10)
    #expect(server.requests.map { $0["Authorization"] } == ["wrong", "right"])
    #expect(server.counts.connections == 1)
  }

  @Test
  func anAnswerIsTriedTwiceAndThenTheResponseDelivered() async throws {
    guardPath("/a", password: "right")
    let answers = Lock([Int]())
    let (response, data) = try await data(makeLoader(), "/a") {
      $0.challenge = { challenge in
        answers.withLock { $0.append(challenge.previousAnswers) }
        return ["Authorization": "wrong"]
      }
    }
    #expect(response.status == 401)
    #expect(data == Data("who?".utf8))
    #expect(answers.withLock { $0 } == [0, 1])
    #expect(server.counts.requests == 3)
  }

  @Test
  func aChallengeThatNobodyAnswersIsDeliveredWithItsBody() async throws {
    guardPath("/a", password: "right")
    let sink = RecordingSink(
      onHead: { .pause },
      hooks: {
        var hooks = LoadHooks()
        hooks.challenge = { _ in nil }
        return hooks
      }(),
    )
    let handle = makeLoaderKept.load(try HTTPRequest.patient(server.url("/a")), into: sink)
    await sink.wait { $0.count == 1 }
    #expect(sink.events == [.head(401)])
    handle.resume()
    #expect(await sink.end() == nil)
    #expect(sink.byteCount == 4)
    #expect(server.counts.requests == 1)
  }

  @Test
  func anUnansweredChallengeEndsOnlyOnceTheSinkResumesThatPausedItsBody() async throws {
    guardPath("/a", password: "right")
    server.route("/b", LoopbackResponse(body: bytes(10)))
    var hooks = LoadHooks()
    hooks.challenge = { _ in nil }
    let sink = RecordingSink(onBytes: { .pause }, hooks: hooks)
    let handle = makeLoaderKept.load(try HTTPRequest.patient(server.url("/a")), into: sink)
    await sink.wait { $0.count == 2 }
    _ = try await makeLoaderKept.data(server.url("/b"))
    #expect(sink.events == [.head(401), .bytes(4)])
    handle.resume()
    #expect(await sink.end() == nil)
  }

  private let makeLoaderKept = makeLoader()

  @Test
  func anAnswerDoesNotGoToAnotherOrigin() async throws {
    let other = try LoopbackServer()
    other.route("/b", LoopbackResponse())
    server.route("/a") { exchange in
      let isAsked = exchange.request["Authorization"] == nil
      exchange.respond(isAsked ? LoopbackResponse(status: 401) : .redirect(to: other.url("/b")))
    }
    _ = try await data(makeLoader(), "/a") { $0.challenge = { _ in ["Authorization": "secret"] } }
    #expect(other.requests.map { $0["Authorization"] } == [nil])
  }

  @Test
  func aChallengeHookThatThrowsFailsTheLoad() async throws {
    guardPath("/a", password: "right")
    let error = await #expect(throws: HTTPError.self) {
      _ = try await data(makeLoader(), "/a") { $0.challenge = { _ in throw Refused() } }
    }
    #expect(error?.code == .preparationFailed)
  }

  // MARK: Metrics

  @Test
  func eachTransferTellsItsFigures() async throws {
    server.route("/a", .redirect(to: "/b"))
    server.route("/b", LoopbackResponse(body: bytes(50_000)))
    let figures = Lock([LoadMetrics]())
    _ = try await data(makeLoader(), "/a") {
      $0.didTransfer = { metrics in figures.withLock { $0.append(metrics) } }
    }
    let all = figures.withLock { $0 }
    try #require(all.count == 2)
    #expect(all.map(\.url.string) == [server.url("/a"), server.url("/b")])
    #expect(all.map(\.status) == [302, 200])
    #expect(all.map(\.isConnectionReused) == [false, true])
    #expect(all.allSatisfy { $0.httpVersion == "1.1" && $0.remoteAddress?.description == "127.0.0.1" })
    #expect(all[1].bytesReceived > 50_000)
    #expect(all[1].bytesReceived < 51_000)
    #expect(all[0].connected != nil && all[0].secured == nil)
    for metrics in all {
      let firstByte = try #require(metrics.firstByte)
      #expect(.zero < firstByte && firstByte <= metrics.total)
    }
  }

  @Test
  func aTransferThatFailsTellsItsFiguresToo() async throws {
    server.route("/a") { _ in }
    let figures = Lock([LoadMetrics]())
    _ = try? await data(makeLoader(), "/a") {
      $0.didTransfer = { metrics in figures.withLock { $0.append(metrics) } }
    }
    #expect(figures.withLock { $0 }.map(\.status) == [nil])
    #expect(figures.withLock { $0 }.first?.firstByte == nil)
  }
}
