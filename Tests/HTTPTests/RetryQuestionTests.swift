import Testing
import VitrineHTTP
import VitrineRuntime
import VitrineTestSupport
import VitrineTesting

/// Policies of one's own, which are asked where no transfer waits for them.
@Suite(.patient)
struct RetryQuestionTests {
  private let url = "http://a.example/a"
  private let clock = ManualClock()
  private let inner = HandingLoader()
  private let question = Gate()
  private let asked = Record<Int>()

  /// One that waits for the gate, and then says the same to all.
  private func policy(_ delay: Duration?) -> RetryPolicy {
    RetryPolicy { [question, asked] attempt in
      asked.add(attempt.number)
      question.wait()
      return delay
    }
  }

  private func start(_ sink: RecordingSink, _ delay: Duration?) throws -> any LoadHandle {
    RetryingLoader(inner, policy(delay), clock: clock).load(try HTTPRequest(url), into: sink)
  }

  @Test
  func oneThatBlocksHoldsBackNoTransfer() async throws {
    let server = try LoopbackServer()
    server.route("/a", LoopbackResponse(status: 503, body: bytes(30)))
    server.route("/b", LoopbackResponse(body: bytes(20)))
    let loader = RetryingLoader(makeLoader(), policy(nil))
    let sink = RecordingSink()
    loader.load(try HTTPRequest.patient(server.url("/a")), into: sink)
    await asked.reaches(1)
    #expect(try await loader.data(server.url("/b")).1.count == 20)
    #expect(sink.events.isEmpty)
    question.open()
    #expect(await sink.end() == .some(nil))
    #expect(sink.events.first == .head(503))
    #expect(sink.byteCount == 30)
  }

  @Test
  func oneMayLoadWithTheSameLoaderAndWaitForThat() async throws {
    let server = try LoopbackServer()
    server.route("/b", LoopbackResponse(body: bytes(20)))
    server.route("/a") { exchange in
      exchange.respond(LoopbackResponse(status: exchange.request["X-Key"] == nil ? 503 : 200, body: bytes(5)))
    }
    let curl = makeLoader()
    let key = Record<Int>()
    let request = try HTTPRequest.patient(server.url("/b"))
    let policy = RetryPolicy { attempt in
      let sink = RecordingSink()
      let ended = Record<Int>()
      curl.load(request, into: sink)
      Task {
        _ = await sink.end()
        ended.add(sink.byteCount)
      }
      ended.wait(for: 1)
      for count in ended.events { key.add(count) }
      return attempt.number < 2 ? .zero : nil
    }
    let (response, data) = try await RetryingLoader(curl, policy).data(server.url("/a"))
    #expect(response.status == 503)
    #expect(data.count == 5)
    #expect(key.events == [20, 20])
  }

  @Test
  func aResponseIsHeldUntilItAnswersAndThenDelivered() async throws {
    let sink = RecordingSink()
    _ = try start(sink, nil)
    #expect(try inner.respond(503) == .pause)
    await asked.reaches(1)
    #expect(sink.events.isEmpty)
    question.open()
    await inner.told.reaches(1)
    #expect(inner.told.events == ["resume"])
    #expect(inner.sink?.receive(bytes(7)) == .proceed)
    inner.sink?.finish(nil)
    #expect(sink.events == [.head(503), .bytes(7), .end(nil)])
  }

  @Test
  func aResponseThatIsTriedAgainIsReadToItsEndAndDropped() async throws {
    let sink = RecordingSink()
    _ = try start(sink, .seconds(1))
    try inner.respond(503)
    question.open()
    await inner.told.reaches(1)
    #expect(inner.sink?.receive(bytes(7)) == .proceed)
    inner.sink?.finish(nil)
    clock.advance(by: .seconds(1))
    #expect(inner.loadCount == 2)
    try inner.respond(200)
    inner.sink?.finish(nil)
    #expect(sink.events == [.head(200), .end(nil)])
  }

  @Test(arguments: [nil, Duration.seconds(1)])
  func anEndThatComesWhileItIsAskedWaitsForTheAnswer(delay: Duration?) async throws {
    let sink = RecordingSink()
    _ = try start(sink, delay)
    try inner.respond(503)
    inner.sink?.finish(nil)
    #expect(sink.events.isEmpty)
    question.open()
    if delay == nil {
      #expect(await sink.end() == .some(nil))
      #expect(sink.events == [.head(503), .end(nil)])
    } else {
      await clock.pendingCount(reaches: 1)
      clock.advance(by: .seconds(1))
      #expect(inner.loadCount == 2)
      #expect(sink.events.isEmpty)
      inner.fail(.cancelled)
    }
  }

  @Test
  func aLoadThatIsCancelledWhileItIsAskedAboutAResponseEndsWithoutItsAnswer() async throws {
    let sink = RecordingSink()
    let handle = try start(sink, .zero)
    try inner.respond(503)
    await asked.reaches(1)
    handle.cancel()
    #expect(inner.told.events == ["cancel"])
    inner.fail(.cancelled)
    #expect(sink.events == [.end(.cancelled)])
    question.open()
    clock.advance(by: .seconds(1))
    #expect(inner.loadCount == 1)
  }

  @Test
  func aLoadThatIsCancelledWhenTheResponseHasEndedEndsWithoutItsAnswer() async throws {
    let sink = RecordingSink()
    let handle = try start(sink, .zero)
    try inner.respond(503)
    inner.sink?.finish(nil)
    await asked.reaches(1)
    handle.cancel()
    #expect(await sink.end() == .cancelled)
    question.open()
    #expect(sink.events == [.end(.cancelled)])
  }

  @Test
  func aLoadThatIsCancelledWhileItIsAskedAboutAFailureEndsWithoutItsAnswer() async throws {
    let sink = RecordingSink()
    let handle = try start(sink, .zero)
    inner.fail(.connectionLost)
    await asked.reaches(1)
    handle.cancel()
    #expect(await sink.end() == .cancelled)
    question.open()
    clock.advance(by: .seconds(1))
    #expect(inner.loadCount == 1)
    #expect(sink.ends.count == 1)
  }

  @Test
  func aFailureIsTriedAgainWhenItSaysSo() async throws {
    let sink = RecordingSink()
    _ = try start(sink, .seconds(1))
    inner.fail(.connectionLost)
    question.open()
    await clock.pendingCount(reaches: 1)
    clock.advance(by: .seconds(1))
    #expect(inner.loadCount == 2)
    try inner.respond(200)
    inner.sink?.finish(nil)
    #expect(sink.events == [.head(200), .end(nil)])
  }

  @Test
  func aFailureThatItGivesUpIsToldToTheSink() async throws {
    let sink = RecordingSink()
    _ = try start(sink, nil)
    inner.fail(.connectionLost)
    question.open()
    #expect(await sink.end() == .connectionLost)
  }

  @Test
  func aSinkThatWantsNoMoreOfAResponseThatWasHeldEndsTheAttempt() async throws {
    let sink = RecordingSink(onHead: { .stop })
    _ = try start(sink, nil)
    try inner.respond(503)
    question.open()
    await inner.told.reaches(1)
    #expect(inner.told.events == ["cancel"])
    inner.fail(.cancelled)
    #expect(sink.events == [.head(503), .end(.cancelled)])
    #expect(asked.events == [1])
  }

  @Test
  func aSinkThatPausesAtAResponseThatWasHeldDecidesWhenItGoesOn() async throws {
    let sink = RecordingSink(onHead: { .pause })
    let handle = try start(sink, nil)
    try inner.respond(503)
    await asked.reaches(1)
    // It is not the sink that holds the attempt now.
    handle.resume()
    #expect(inner.told.events.isEmpty)
    question.open()
    await sink.wait { !$0.isEmpty }
    handle.resume()
    await inner.told.reaches(1)
    inner.sink?.finish(nil)
    #expect(sink.events == [.head(503), .end(nil)])
  }
}
