import Testing
import VitrineHTTP
import VitrineRuntime
import VitrineTestSupport
import VitrineTesting

@Suite(.patient)
struct FakeLoaderTests {
  private let loader = FakeLoader()
  private let url = "https://example.org/a.jpg"

  private func get(_ url: String, headers: HTTPFields = [:]) async throws -> (HTTPResponse, Data) {
    try await loader.data(for: try HTTPRequest(url, headers: headers))
  }

  // MARK: Loads

  @Test
  func loadsAreGivenOnceInTheOrderInWhichTheyBegan() async throws {
    for value in ["1", "2"] {
      loader.load(try HTTPRequest(url, headers: ["X-Number": value]), into: RecordingSink())
    }
    #expect(try await loader.nextLoad(of: url).request.headers["X-Number"] == "1")
    #expect(try await loader.nextLoad(of: url).request.headers["X-Number"] == "2")
    #expect(loader.requests.map { $0.headers["X-Number"] } == ["1", "2"])
  }

  @Test
  func aLoadThatHasNotBegunCanBeAwaited() async throws {
    async let load = loader.nextLoad(of: url)
    async let answer = get(url)
    try await load.respond(with: FakeResponse(body: Data("abc".utf8)))
    #expect(try await answer.1 == Data("abc".utf8))
  }

  @Test
  func whoWaitsForALoadAndIsCancelledTakesNoneAway() async throws {
    let first = Task { [loader, url] in try await loader.nextLoad(of: url) }
    first.cancel()
    await #expect(throws: CancellationError.self) { try await first.value }
    loader.load(try HTTPRequest(url), into: RecordingSink())
    _ = try await loader.nextLoad(of: url)
  }

  @Test
  func anAddressIsKnownInAnyForm() async throws {
    loader.load(try HTTPRequest("HTTPS://Example.org:443/b/../a.jpg#top"), into: RecordingSink())
    _ = try await loader.nextLoad(of: url)
    loader.answer("https://EXAMPLE.org/a.jpg", with: Data("abc".utf8))
    #expect(try await get(url).1 == Data("abc".utf8))
  }

  @Test
  func loadsAreCountedWhileTheyRun() async throws {
    for _ in 0..<3 { loader.load(try HTTPRequest(url), into: RecordingSink()) }
    try await loader.nextLoad(of: url).finish()
    try await loader.nextLoad(of: url).fail(.timedOut)
    loader.load(try HTTPRequest(url), into: RecordingSink()).cancel()
    await loader.wait { $0.running == 1 }
    #expect(loader.counts.loads == 4)
    #expect(loader.counts.mostRunning == 3)
    #expect(loader.counts.cancelled == 1)
  }

  @Test
  func releasingTheLoaderEndsWhatRuns() async throws {
    var loader: FakeLoader? = FakeLoader()
    let (waiting, taken) = (RecordingSink(), RecordingSink())
    loader?.load(try HTTPRequest(url), into: taken)
    let load = try await loader?.nextLoad(of: url)
    load?.send(Data("abc".utf8))
    loader?.load(try HTTPRequest(url), into: waiting)
    loader = nil
    #expect(await waiting.end() == .cancelled)
    #expect(await taken.end() == .cancelled)
  }

  @Test
  func cancellingTheAwaitingTaskReachesTheLoad() async throws {
    let answer = Task { try await get(url) }
    let load = try await loader.nextLoad(of: url)
    answer.cancel()
    await load.wait { $0.isCancelled && $0.isEnded }
    await #expect(throws: HTTPError.self) { try await answer.value }
  }

  // MARK: Answers

  @Test
  func anAnswerComesWholeWithItsLength() async throws {
    let body = Data((0..<100_000).map { UInt8(truncatingIfNeeded: $0) })
    loader.answer(url, with: body, headers: ["ETag": "\"1\""])
    let (response, data) = try await get(url)
    #expect(response.status == 200)
    #expect(response.headers["Content-Length"] == "100000")
    #expect(response.headers["ETag"] == "\"1\"")
    #expect(data == body)
  }

  @Test
  func whoHasTheEntityTagIsToldThatNothingHasChanged() async throws {
    loader.answer(url, with: Data("abc".utf8), headers: ["ETag": "\"1\"", "Cache-Control": "max-age=5"])
    let (response, data) = try await get(url, headers: ["If-None-Match": "\"1\""])
    #expect(response.status == 304)
    #expect(response.headers["Cache-Control"] == "max-age=5")
    #expect(data.isEmpty)
    #expect(try await get(url, headers: ["If-None-Match": "\"0\""]).0.status == 200)
  }

  @Test
  func anAnswerMayDependOnTheRequest() async throws {
    loader.answer(url) { FakeResponse(status: 203, body: Data("\($0.headers["Accept"] ?? "-")".utf8)) }
    let (response, data) = try await get(url, headers: ["Accept": "image/png"])
    #expect(response.status == 203)
    #expect(data == Data("image/png".utf8))
  }

  @Test
  func whatHasNoAnswerOfItsOwnHasThatOfTheStar() async throws {
    loader.answer("*", with: Data("any".utf8))
    loader.answer(url, with: Data("own".utf8))
    #expect(try await get(url).1 == Data("own".utf8))
    #expect(try await get("https://example.org/b.jpg").1 == Data("any".utf8))
    loader.removeAnswer("*")
    loader.load(try HTTPRequest("https://example.org/c.jpg"), into: RecordingSink())
    try await loader.nextLoad(of: "https://example.org/c.jpg").finish()
  }

  @Test
  func anAnswerMayFailBeforeItsHeadOrAfterSomeBytes() async throws {
    loader.answer(url, failing: .cannotResolve)
    let early = await #expect(throws: HTTPError.self) { try await get(url) }
    #expect(early?.code == .cannotResolve)

    loader.answer(url, FakeResponse(body: Data("abc".utf8), error: .truncated))
    let sink = RecordingSink()
    loader.load(try HTTPRequest(url), into: sink)
    #expect(await sink.end() == .truncated)
    #expect(sink.heard == ["head 200", "3 bytes", "truncated"])
  }

  @Test
  func anAnswerWaitsForAPausedSink() async throws {
    loader.answer(url, with: Data(repeating: 7, count: 40_000))
    let sink = RecordingSink([.proceed, .pause])
    let handle = loader.load(try HTTPRequest(url), into: sink)
    let load = try await loader.nextLoad(of: url)
    await load.wait { $0.isPaused && $0.waiting == 40_000 - (16 << 10) }
    handle.resume()
    #expect(await sink.end() == nil)
    #expect(sink.body.count == 40_000)
  }
}
