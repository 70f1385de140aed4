import Testing
import VitrineRuntime
import VitrineTestSupport
import VitrineTesting

@testable import VitrineHTTP

@Suite(.patient)
struct RetryTests {
  private let clock = ManualClock()
  private let fake = FakeLoader()
  private let url = "http://a.example/a"

  /// Each wait as long as it can be.
  private func loader(_ maxAttempts: Int = 3) -> RetryingLoader {
    RetryingLoader(fake, .exponential(maxAttempts: maxAttempts, base: .seconds(1), random: { 1 }), clock: clock)
  }

  private func start(_ sink: RecordingSink, on loader: RetryingLoader) throws -> any LoadHandle {
    loader.load(try HTTPRequest(url), into: sink)
  }

  private func error(_ code: HTTPError.Code, status: Int? = nil) -> HTTPError {
    HTTPError(code, url: url, status: status, "a")
  }

  private func attempt(
    _ number: Int,
    _ error: HTTPError,
    elapsed: Duration = .zero,
    after: Duration? = nil,
  )
    -> RetryAttempt
  {
    RetryAttempt(number: number, elapsed: elapsed, error: error, retryAfter: after)
  }

  // MARK: The policy

  @Test
  func waitsDoubleUpToTheirLimitAndAreChosenAtRandom() {
    let lost = error(.connectionLost)
    func waits(_ random: Double) -> [Duration?] {
      let policy = RetryPolicy.exponential(
        maxAttempts: 6,
        base: .seconds(1),
        limit: .seconds(5),
        totalTime: .seconds(1000),
        random: { random },
      )
      return (1...6).map { policy.delay(attempt($0, lost)) }
    }
    #expect(waits(1) == [.seconds(1), .seconds(2), .seconds(4), .seconds(5), .seconds(5), nil])
    #expect(waits(0.5) == [.seconds(0.5), .seconds(1), .seconds(2), .seconds(2.5), .seconds(2.5), nil])
    #expect(waits(0).dropLast().allSatisfy { $0 == .zero })
    #expect(RetryPolicy.exponential(maxAttempts: .max, random: { 1 }).delay(attempt(100, lost)) == .seconds(30))
  }

  @Test
  func theTotalTimeIsNotExceeded() {
    let policy = RetryPolicy.exponential(base: .seconds(10), totalTime: .seconds(15), random: { 1 })
    #expect(policy.delay(attempt(1, error(.timedOut), elapsed: .seconds(5))) == .seconds(10))
    #expect(policy.delay(attempt(1, error(.timedOut), elapsed: .seconds(6))) == nil)
    #expect(policy.delay(attempt(1, error(.badStatus, status: 503), after: .seconds(60))) == nil)
  }

  @Test
  func aServersWishIsWaitedForAndALittleLonger() {
    let policy = RetryPolicy.exponential(base: .seconds(2), random: { 0.5 })
    #expect(policy.delay(attempt(1, error(.badStatus, status: 429), after: .seconds(20))) == .seconds(21))
  }

  @Test
  func onlyWhatMayGoAwayByItselfIsTriedAgain() {
    let policy = RetryPolicy.exponential()
    for status in [408, 429, 500, 502, 503, 504] {
      #expect(policy.delay(attempt(1, error(.badStatus, status: status))) != nil)
    }
    for status in [400, 401, 403, 404, 410, 501] {
      #expect(policy.delay(attempt(1, error(.badStatus, status: status))) == nil)
    }
    for code: HTTPError.Code in [.timedOut, .cannotResolve, .cannotConnect, .connectionLost, .truncated] {
      #expect(policy.delay(attempt(1, error(code))) != nil)
    }
    for code: HTTPError.Code in [
      .cancelled, .invalidURL, .invalidRequest, .tls, .redirectRefused, .tooManyRedirects, .tooLarge, .protocolError,
      .addressRefused, .preparationFailed,
    ] {
      #expect(policy.delay(attempt(1, error(code))) == nil)
    }
    #expect(RetryPolicy.never.delay(attempt(1, error(.timedOut))) == nil)
  }

  @Test(arguments: [
    ("120", 120.0), ("0", 0.0), ("Sun, 09 Sep 2001 01:47:40 GMT", 60.0), ("Sun, 09 Sep 2001 01:00:00 GMT", 0.0),
    ("99999999999999999999", 31_536_000.0),
  ])
  func retryAfterIsReadInSecondsAndAsADate(value: String, seconds: Double) throws {
    let response = HTTPResponse(status: 503, headers: ["Retry-After": value], url: try HTTPURL(url))
    #expect(response.retryAfter(now: clock.now) == .seconds(seconds))
  }

  @Test(arguments: ["", "soon", "-5", "1.5", "5 seconds"])
  func aRetryAfterThatIsNoneIsIgnored(value: String) throws {
    let response = HTTPResponse(status: 503, headers: ["Retry-After": value], url: try HTTPURL(url))
    #expect(response.retryAfter(now: clock.now) == nil)
  }

  // MARK: The loader

  @Test
  func aFailureIsTriedAgainAfterAWaitAndTheSinkSeesOneLoad() async throws {
    let sink = RecordingSink()
    let loader = loader()
    let handle = try start(sink, on: loader)
    (try await fake.nextLoad(of: url)).fail(.connectionLost)
    #expect(sink.events.isEmpty)
    #expect(clock.pendingCount == 1)
    clock.advance(by: .milliseconds(999))
    #expect(fake.counts.loads == 1)
    clock.advance(by: .milliseconds(1))
    handle.priority = .high
    let second = try await fake.nextLoad(of: url)
    #expect(second.status.priority == .high)
    second.respond(with: FakeResponse(body: bytes(100)))
    #expect(sink.events == [.head(200), .bytes(100), .end(nil)])
    #expect(sink.beginCount == 1)
  }

  @Test
  func attemptsAreCountedAndTheLastResponseIsDelivered() async throws {
    let sink = RecordingSink()
    let loader = loader()
    _ = try start(sink, on: loader)
    for number in 1...3 {
      let load = try await fake.nextLoad(of: url)
      load.respond(with: FakeResponse(status: 503, body: bytes(number)))
      clock.advance(by: .seconds(10))
    }
    #expect(sink.events == [.head(503), .bytes(3), .end(nil)])
    #expect(fake.counts.loads == 3)
    #expect(clock.pendingCount == 0)
  }

  @Test
  func retryAfterIsWaitedFor() async throws {
    let sink = RecordingSink()
    let loader = loader()
    _ = try start(sink, on: loader)
    (try await fake.nextLoad(of: url)).respond(with: FakeResponse(status: 429, headers: ["Retry-After": "40"]))
    clock.advance(by: .seconds(40))
    #expect(fake.counts.loads == 1)
    clock.advance(by: .seconds(1))
    #expect(fake.counts.loads == 2)
  }

  @Test(arguments: [404, 410, 301, 200])
  func otherStatusesAreDeliveredAtOnce(status: Int) async throws {
    let sink = RecordingSink()
    let loader = loader()
    _ = try start(sink, on: loader)
    (try await fake.nextLoad(of: url)).respond(with: FakeResponse(status: status, body: bytes(5)))
    #expect(sink.events == [.head(status), .bytes(5), .end(nil)])
    #expect(clock.pendingCount == 0)
  }

  @Test
  func cancellingDuringTheWaitEndsTheLoadAndNothingIsSent() async throws {
    let sink = RecordingSink()
    let loader = loader()
    let handle = try start(sink, on: loader)
    (try await fake.nextLoad(of: url)).fail(.timedOut)
    handle.cancel()
    handle.cancel()
    #expect(await sink.end() == .cancelled)
    clock.advance(by: .seconds(60))
    #expect(fake.counts.loads == 1)
    #expect(sink.ends.count == 1)
  }

  @Test
  func cancellingDuringAnAttemptIsNotTriedAgain() async throws {
    let sink = RecordingSink()
    let loader = loader()
    let handle = try start(sink, on: loader)
    let load = try await fake.nextLoad(of: url)
    load.send(bytes(10))
    handle.cancel()
    #expect(await sink.end() == .cancelled)
    #expect(clock.pendingCount == 0)
    #expect(load.status.isCancelled)
  }

  @Test
  func cancellingTheTaskStopsTheAttempts() async throws {
    let loader = loader()
    let request = try HTTPRequest(url)
    let task = Task { try await loader.data(for: request) }
    (try await fake.nextLoad(of: url)).fail(.timedOut)
    task.cancel()
    await #expect(throws: HTTPError.self) { try await task.value }
    // The alarm is called off by the handle that the task has, a moment later at most.
    try await until { clock.pendingCount == 0 }
    #expect(fake.counts.loads == 1)
  }

  // MARK: Going on where it ended

  /// Breaks the first attempt off after `delivered` bytes and gives the second.
  private func second(
    _ sink: RecordingSink,
    on loader: RetryingLoader,
    headers: HTTPFields = ["ETag": "\"1\"", "Content-Length": "100"],
    delivered: Int = 60,
  ) async throws -> FakeLoad {
    _ = try start(sink, on: loader)
    let first = try await fake.nextLoad(of: url)
    first.respond(headers: headers)
    if delivered > 0 { first.send(bytes(100).prefix(delivered)) }
    first.fail(.connectionLost)
    clock.advance(by: .seconds(1))
    return try await fake.nextLoad(of: url)
  }

  @Test
  func theRestIsAskedForAndTheSinkSeesOneBody() async throws {
    let sink = RecordingSink()
    let loader = loader()
    let load = try await second(sink, on: loader)
    #expect(load.request.headers["Range"] == "bytes=60-")
    #expect(load.request.headers["If-Range"] == "\"1\"")
    load.respond(status: 206, headers: ["Content-Range": "bytes 60-99/100", "ETag": "\"1\""])
    load.send(bytes(100).dropFirst(60))
    load.finish()
    #expect(sink.events == [.head(200), .bytes(60), .bytes(40), .end(nil)])
    #expect(sink.body == bytes(100))
  }

  @Test
  func aServerWithoutRangesSendsAgainAndNothingComesTwice() async throws {
    let sink = RecordingSink()
    let loader = loader()
    let load = try await second(sink, on: loader)
    load.respond(headers: ["ETag": "\"1\"", "Content-Length": "100"])
    for start in stride(from: 0, to: 100, by: 25) { load.send(bytes(100).dropFirst(start).prefix(25)) }
    load.finish()
    #expect(sink.events == [.head(200), .bytes(60), .bytes(15), .bytes(25), .end(nil)])
    #expect(sink.body == bytes(100))
  }

  @Test
  func itGoesOnAfterEachOfSeveralBreaks() async throws {
    let sink = RecordingSink()
    let loader = loader(5)
    let load = try await second(sink, on: loader, delivered: 10)
    load.respond(status: 206, headers: ["Content-Range": "bytes 10-99/100", "ETag": "\"1\""])
    load.send(bytes(100).dropFirst(10).prefix(20))
    load.fail(.timedOut)
    clock.advance(by: .seconds(2))
    let third = try await fake.nextLoad(of: url)
    #expect(third.request.headers["Range"] == "bytes=30-")
    third.respond(status: 206, headers: ["Content-Range": "bytes 30-99/100", "ETag": "\"1\""])
    third.send(bytes(100).dropFirst(30))
    third.finish()
    #expect(sink.body == bytes(100))
    #expect(sink.ends == [nil])
  }

  @Test(arguments: [
    HTTPFields(dictionaryLiteral: ("ETag", "\"2\"")), [:], ["ETag": "W/\"1\""],
  ])
  func aFileThatHasChangedFailsWithWhatWentWrongFirst(headers: HTTPFields) async throws {
    let sink = RecordingSink()
    let loader = loader()
    let load = try await second(sink, on: loader)
    load.respond(headers: headers)
    #expect(await sink.end() == .connectionLost)
    #expect(sink.events == [.head(200), .bytes(60), .end(.connectionLost)])
    #expect(clock.pendingCount == 0)
  }

  @Test(arguments: [
    (206, "bytes 59-99/100"), (206, "bytes 60-199/200"), (206, "nonsense"), (416, "bytes */100"), (304, ""), (204, ""),
  ])
  func aPartThatDoesNotFitFails(status: Int, range: String) async throws {
    let sink = RecordingSink()
    let loader = loader()
    let load = try await second(sink, on: loader)
    load.respond(status: status, headers: ["Content-Range": range, "ETag": "\"1\""])
    #expect(await sink.end() == .connectionLost)
    #expect(sink.byteCount == 60)
  }

  /// RFC 9110 15.3.7: the rest of the same version has its tag.
  @Test(arguments: [nil, "\"2\"", "W/\"1\""])
  func aPartOfAnotherOrNoTagIsNotGluedOn(tag: String?) async throws {
    let sink = RecordingSink()
    let loader = loader()
    let load = try await second(sink, on: loader)
    var fields: HTTPFields = ["Content-Range": "bytes 60-99/100"]
    fields["ETag"] = tag
    load.respond(status: 206, headers: fields)
    #expect(await sink.end() == .connectionLost)
    #expect(sink.byteCount == 60)
  }

  // MARK: Beginning anew

  /// Whether the policy is known to be short; one that may block is asked on a thread of its own.
  private func loader(_ maxAttempts: Int = 3, isShort: Bool) -> RetryingLoader {
    guard !isShort else { return loader(maxAttempts) }
    return RetryingLoader(fake, RetryPolicy { $0.number < maxAttempts ? .seconds(1) : nil }, clock: clock)
  }

  /// Waits until an attempt waits for its time, and lets that pass.
  private func pass() async throws {
    try await until { clock.pendingCount == 1 }
    clock.advance(by: .seconds(10))
  }

  @Test(arguments: [
    HTTPFields(dictionaryLiteral: ("ETag", "\"2\"")), [:], ["ETag": "W/\"1\""],
    ["ETag": "\"1\"", "Content-Length": "90"],
  ])
  func aWholeResponseToARequestForTheRestIsTheFile(headers: HTTPFields) async throws {
    let sink = RecordingSink(canStartOver: true)
    let loader = loader()
    let load = try await second(sink, on: loader)
    load.respond(headers: headers)
    load.send(bytes(90))
    load.finish()
    #expect(sink.events == [.head(200), .bytes(60), .head(200), .bytes(90), .end(nil)])
    #expect(sink.body == bytes(90))
    #expect(fake.counts.loads == 2)
    #expect(clock.pendingCount == 0)
  }

  @Test(
    arguments: [
      (206, "bytes 59-99/100", "\"1\""), (206, "bytes 60-199/200", "\"1\""), (206, "nonsense", "\"1\""),
      (206, "bytes 60-100/100", "\"1\""), (206, "bytes 60-99/*x", "\"1\""), (206, "bytes 60-99/100", "\"2\""),
      (206, "bytes 60-99/100", nil), (416, "bytes */100", "\"1\""),
    ],
    [true, false],
  )
  func afterAPartThatDoesNotFitTheWholeIsAskedFor(answer: (Int, String, String?), isShort: Bool) async throws {
    let sink = RecordingSink(canStartOver: true)
    let loader = loader(isShort: isShort)
    _ = try start(sink, on: loader)
    let first = try await fake.nextLoad(of: url)
    first.respond(headers: ["ETag": "\"1\"", "Content-Length": "100"])
    first.send(bytes(60))
    first.fail(.connectionLost)
    try await pass()
    let load = try await fake.nextLoad(of: url)
    #expect(load.request.headers["Range"] == "bytes=60-")
    var fields: HTTPFields = ["Content-Range": answer.1]
    fields["ETag"] = answer.2
    load.respond(status: answer.0, headers: fields)
    load.finish()
    try await pass()
    let third = try await fake.nextLoad(of: url)
    #expect(third.request.headers["Range"] == nil)
    #expect(third.request.headers["If-Range"] == nil)
    third.respond(headers: ["ETag": "\"2\""])
    third.send(bytes(80))
    third.finish()
    #expect(await sink.end() == nil)
    #expect(sink.events == [.head(200), .bytes(60), .head(200), .bytes(80), .end(nil)])
    #expect(sink.body == bytes(80))
  }

  @Test
  func beginningAnewIsAnAttemptLikeOthers() async throws {
    let sink = RecordingSink(canStartOver: true)
    let loader = loader(2)
    let load = try await second(sink, on: loader)
    load.respond(status: 416, headers: ["Content-Range": "bytes */100"])
    load.finish()
    #expect(await sink.end() == .connectionLost)
    #expect(sink.byteCount == 60)
    #expect(clock.pendingCount == 0)
  }

  @Test(arguments: [HTTPFields(), ["ETag": "W/\"1\""]], [true, false])
  func withoutAStrongTagABodyThatHasBegunBeginsAnew(headers: HTTPFields, isShort: Bool) async throws {
    let sink = RecordingSink(canStartOver: true)
    let loader = loader(isShort: isShort)
    _ = try start(sink, on: loader)
    let first = try await fake.nextLoad(of: url)
    first.respond(headers: headers)
    first.send(bytes(10))
    first.fail(.connectionLost)
    try await pass()
    let second = try await fake.nextLoad(of: url)
    #expect(second.request.headers["Range"] == nil)
    second.respond(headers: headers)
    second.send(bytes(50))
    second.finish()
    #expect(await sink.end() == nil)
    #expect(sink.body == bytes(50))
  }

  @Test(arguments: [404, 403, 304, 204])
  func anAnswerThatIsNoFileIsNotTakenForOne(status: Int) async throws {
    let sink = RecordingSink(canStartOver: true)
    let loader = loader()
    let load = try await second(sink, on: loader)
    load.respond(status: status, headers: ["ETag": "\"1\""])
    #expect(await sink.end() == .connectionLost)
    #expect(sink.events == [.head(200), .bytes(60), .end(.connectionLost)])
  }

  // MARK: Going on, once more

  @Test
  func aServerThatIsDownInBetweenIsAskedOnceMore() async throws {
    let sink = RecordingSink()
    let loader = loader()
    let load = try await second(sink, on: loader)
    load.respond(with: FakeResponse(status: 503, body: bytes(500)))
    clock.advance(by: .seconds(2))
    let third = try await fake.nextLoad(of: url)
    #expect(third.request.headers["Range"] == "bytes=60-")
    third.respond(status: 206, headers: ["Content-Range": "bytes 60-99/100", "ETag": "\"1\""])
    third.send(bytes(100).dropFirst(60))
    third.finish()
    #expect(sink.body == bytes(100))
  }

  @Test
  func withoutAStrongTagABodyThatHasBegunIsNotTriedAgain() async throws {
    for headers: HTTPFields in [[:], ["ETag": "W/\"1\""]] {
      let sink = RecordingSink()
      let loader = loader()
      _ = try start(sink, on: loader)
      let load = try await fake.nextLoad(of: url)
      load.respond(headers: headers)
      load.send(bytes(10))
      load.fail(.connectionLost)
      #expect(sink.ends == [.connectionLost])
      #expect(clock.pendingCount == 0)
    }
  }

  @Test
  func aBodyThatHasNotBegunMayComeFromAnEqualResponse() async throws {
    let sink = RecordingSink()
    let loader = loader()
    let load = try await second(sink, on: loader, headers: ["Content-Length": "100"], delivered: 0)
    #expect(load.request.headers["Range"] == nil)
    load.respond(headers: ["Content-Length": "100"])
    load.send(bytes(100))
    load.finish()
    #expect(sink.events == [.head(200), .bytes(100), .end(nil)])
  }

  @Test
  func aPartThatTheCallerAskedForGoesOnWithinIt() async throws {
    let sink = RecordingSink()
    let loader = loader()
    var request = try HTTPRequest(url)
    request.headers = ["Range": "bytes=100-199", "If-Range": "\"1\""]
    loader.load(request, into: sink)
    let first = try await fake.nextLoad(of: url)
    first.respond(status: 206, headers: ["Content-Range": "bytes 100-199/500", "ETag": "\"1\""])
    first.send(bytes(30))
    first.fail(.connectionLost)
    clock.advance(by: .seconds(1))
    let load = try await fake.nextLoad(of: url)
    #expect(load.request.headers["Range"] == "bytes=130-199")
    load.respond(status: 206, headers: ["Content-Range": "bytes 130-199/500", "ETag": "\"1\""])
    load.send(bytes(70))
    load.finish()
    #expect(sink.events == [.head(206), .bytes(30), .bytes(70), .end(nil)])
  }

  @Test
  func aSinkThatIsPausedIsNotGivenTheNextAttemptUntilItResumes() async throws {
    let breaking = BreakingLoader()
    let loader = RetryingLoader(breaking, .exponential(base: .seconds(1), random: { 1 }), clock: clock)
    let sink = RecordingSink(onBytes: { .pause })
    let handle = loader.load(try HTTPRequest(url), into: sink)
    clock.advance(by: .seconds(1))
    #expect(breaking.requests.count == 1)
    #expect(sink.events == [.head(200), .bytes(10)])
    handle.resume()
    #expect(breaking.requests.map { $0.headers["Range"] } == [nil, "bytes=10-"])
    clock.advance(by: .seconds(2))
    handle.cancel()
    #expect(await sink.end() == .cancelled)
    #expect(breaking.requests.count == 2)
  }

  @Test
  func againstAServerThatBreaksOffAtEachTenthByteTheBodyComesWhole() async throws {
    let server = try LoopbackServer()
    let body = bytes(200)
    server.route("/a") { exchange in
      let first = exchange.request["Range"].flatMap { Int($0.dropFirst(6).dropLast()) } ?? 0
      let fields: HTTPFields = ["ETag": "\"1\"", "Content-Length": "\(200 - first)"]
      let part: HTTPFields = first == 0 ? [:] : ["Content-Range": "bytes \(first)-199/200"]
      exchange.sendHead(first == 0 ? 200 : 206, fields + part)
      exchange.send(body.dropFirst(first).prefix(10))
      if first < 190 { return }
      exchange.complete()
    }
    let loader = RetryingLoader(makeLoader(), RetryPolicy { $0.error.isWorthRetrying ? .zero : nil })
    let (response, data) = try await loader.data(server.url("/a"))
    #expect(response.status == 200)
    #expect(data == body)
    #expect(server.counts.requests == 20)
  }
}

/// Sends ten bytes and breaks off, also where the sink wants to pause.
private final class BreakingLoader: DataLoader {
  private let all = Lock([HTTPRequest]())

  var requests: [HTTPRequest] { all.withLock { $0 } }

  func load(_ request: HTTPRequest, into sink: any LoadSink) -> any LoadHandle {
    let number = all.withLock { all in
      all.append(request)
      return all.count
    }
    let part = "bytes \(10 * number - 10)-99/100"
    let headers: HTTPFields = ["ETag": "\"1\"", "Content-Length": "\(110 - 10 * number)"]
    _ = sink.receive(
      number == 1
        ? HTTPResponse(status: 200, headers: headers, url: request.url)
        : HTTPResponse(status: 206, headers: ["ETag": "\"1\"", "Content-Range": part], url: request.url)
    )
    _ = sink.receive(bytes(10))
    sink.finish(HTTPError(.connectionLost, url: request.url.string, "broke off"))
    return NoLoadHandle()
  }
}
