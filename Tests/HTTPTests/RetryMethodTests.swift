import Testing
import VitrineRuntime
import VitrineTestSupport
import VitrineTesting

@testable import VitrineHTTP

/// What is sent again, by what is asked for.
@Suite(.patient)
struct RetryMethodTests {
  private let clock = ManualClock()
  private let fake = FakeLoader()
  private let url = "http://a.example/a"

  private func start(_ sink: RecordingSink, _ change: (inout HTTPRequest) -> Void) throws {
    let policy = RetryPolicy.exponential(maxAttempts: 3, base: .seconds(1), random: { 1 })
    let loader = RetryingLoader(fake, policy, clock: clock)
    var request = try HTTPRequest(url)
    change(&request)
    loader.load(request, into: sink)
  }

  @Test(arguments: [HTTPMethod.post, .patch, HTTPMethod("X")])
  func whatIsNotIdempotentHasOneAttempt(method: HTTPMethod) async throws {
    let sink = RecordingSink()
    try start(sink) { ($0.method, $0.body) = (method, bytes(10)) }
    (try await fake.nextLoad(of: url)).fail(.connectionLost)
    #expect(sink.events == [.end(.connectionLost)])
    let answered = RecordingSink()
    try start(answered) { ($0.method, $0.body) = (method, bytes(10)) }
    (try await fake.nextLoad(of: url)).respond(with: FakeResponse(status: 503, body: bytes(5)))
    #expect(answered.events == [.head(503), .bytes(5), .end(nil)])
    #expect(clock.pendingCount == 0)
    #expect(fake.counts.loads == 2)
  }

  @Test(arguments: [(HTTPMethod.put, nil), (.delete, nil), (.post, true)])
  func whatIsIdempotentIsSentAgainWithItsBody(method: HTTPMethod, isIdempotent: Bool?) async throws {
    let sink = RecordingSink()
    try start(sink) {
      ($0.method, $0.body) = (method, bytes(10))
      if let isIdempotent { $0.isIdempotent = isIdempotent }
    }
    (try await fake.nextLoad(of: url)).fail(.connectionLost)
    clock.advance(by: .seconds(1))
    let load = try await fake.nextLoad(of: url)
    #expect((load.request.method, load.request.body) == (method, bytes(10)))
    load.respond(with: FakeResponse(body: bytes(5)))
    #expect(sink.events == [.head(200), .bytes(5), .end(nil)])
  }

  @Test
  func aGetOfWhichItIsSaidIsNotSentAgain() async throws {
    let sink = RecordingSink()
    try start(sink) { $0.isIdempotent = false }
    (try await fake.nextLoad(of: url)).fail(.timedOut)
    #expect(sink.events == [.end(.timedOut)])
  }

  @Test(arguments: [HTTPMethod.post, .get])
  func onlyWhatHasNoBodyIsAskedForFromTheMiddle(method: HTTPMethod) async throws {
    let sink = RecordingSink()
    try start(sink) {
      ($0.method, $0.body) = (method, bytes(10))
      $0.isIdempotent = true
    }
    let load = try await fake.nextLoad(of: url)
    load.respond(headers: ["ETag": "\"1\"", "Content-Length": "100"])
    load.send(bytes(50))
    load.fail(.truncated)
    #expect(sink.events == [.head(200), .bytes(50), .end(.truncated)])
    #expect(clock.pendingCount == 0)
  }
}
