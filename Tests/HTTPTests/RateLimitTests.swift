import Testing
import VitrineRuntime
import VitrineTestSupport
import VitrineTesting

@testable import VitrineHTTP

/// Loads that wait for their turn, by a clock that the tests are.
@Suite(.patient)
struct RateLimitTests {
  private let clock = ManualClock()
  private let fake = FakeLoader()

  private func loader(_ limit: RateLimit? = nil, perHost: RateLimit? = nil) -> RateLimitedLoader {
    RateLimitedLoader(fake, limit, perHost: perHost, clock: clock)
  }

  private static let oneASecond = RateLimit(requestsPerSecond: 1, burst: 1)

  private func request(_ name: String, host: String = "a.example", priority: Priority = .normal) throws -> HTTPRequest {
    var request = try HTTPRequest("http://\(host)/\(name)")
    request.priority = priority
    return request
  }

  private var sent: [String] { fake.requests.map { String($0.url.string.split(separator: "/").last ?? "") } }

  @Test
  func whatIsOverTheLimitWaitsForTheClock() async throws {
    let loader = loader(Self.oneASecond)
    let sinks = (0..<3).map { _ in RecordingSink() }
    for (number, sink) in sinks.enumerated() { loader.load(try request("\(number)"), into: sink) }
    #expect(sent == ["0"])
    #expect(clock.pendingCount == 1)
    clock.advance(by: .milliseconds(999))
    #expect(sent == ["0"])
    clock.advance(by: .milliseconds(1))
    #expect(sent == ["0", "1"])
    clock.advance(by: .seconds(10))
    #expect(sent == ["0", "1", "2"])
    #expect(clock.pendingCount == 0)
    #expect(sinks.map(\.beginCount) == [1, 1, 1])
  }

  @Test
  func withoutALimitNothingWaits() throws {
    let loader = loader()
    for number in 0..<100 { loader.load(try request("\(number)"), into: RecordingSink()) }
    #expect(fake.counts.loads == 100)
    #expect(clock.pendingCount == 0)
  }

  @Test
  func aHostIsOneWhateverSchemeAndPort() throws {
    let loader = loader(perHost: Self.oneASecond)
    for url in ["http://a.example/1", "https://a.example/2", "http://a.example:81/3", "http://b.example/4"] {
      loader.load(try HTTPRequest(url), into: RecordingSink())
    }
    #expect(sent == ["1", "4"])
    clock.advance(by: .seconds(2))
    #expect(sent == ["1", "4", "2", "3"])
  }

  @Test
  func aChangeOfPriorityReordersAndIsWhatTheLoaderSees() async throws {
    let loader = loader(Self.oneASecond)
    loader.load(try request("first"), into: RecordingSink())
    let slow = loader.load(try request("slow"), into: RecordingSink())
    let quick = loader.load(try request("quick"), into: RecordingSink())
    quick.priority = .high
    slow.priority = .low
    #expect(quick.priority == .high)
    clock.advance(by: .seconds(1))
    #expect(sent == ["first", "quick"])
    let load = try await fake.nextLoad(of: "http://a.example/quick")
    #expect(load.status.priority == .high)
    // Once it is sent, the loader is told.
    quick.priority = .veryHigh
    #expect(load.status.priority == .veryHigh)
    clock.advance(by: .seconds(1))
    #expect(sent == ["first", "quick", "slow"])
  }

  @Test
  func oneThatIsCancelledInTheQueueEndsAndTakesNoToken() async throws {
    let loader = loader(Self.oneASecond)
    loader.load(try request("first"), into: RecordingSink())
    let (left, next) = (RecordingSink(), RecordingSink())
    let handle = loader.load(try request("left"), into: left)
    loader.load(try request("next"), into: next)
    handle.cancel()
    handle.cancel()
    #expect(await left.end() == .cancelled)
    #expect(left.events == [.end(.cancelled)])
    #expect(left.beginCount == 0)
    clock.advance(by: .seconds(1))
    #expect(sent == ["first", "next"])
  }

  @Test
  func whenTheLastOneLeavesTheClockHasNothingToDo() async throws {
    let loader = loader(Self.oneASecond)
    loader.load(try request("first"), into: RecordingSink())
    let sink = RecordingSink()
    let handle = loader.load(try request("left"), into: sink)
    #expect(clock.pendingCount == 1)
    handle.cancel()
    #expect(clock.pendingCount == 0)
    #expect(await sink.end() == .cancelled)
    clock.advance(by: .seconds(5))
    #expect(sent == ["first"])
  }

  @Test
  func aLoadThatIsUnderWayIsCancelledAndResumedThroughItsHandle() async throws {
    let loader = loader(Self.oneASecond)
    let sink = RecordingSink(onHead: { .pause })
    let handle = loader.load(try request("a"), into: sink)
    let load = try await fake.nextLoad(of: "http://a.example/a")
    load.respond(headers: ["Content-Length": "10"])
    load.send(bytes(5))
    #expect(sink.events == [.head(200)])
    handle.resume()
    await sink.wait { $0 == [.head(200), .bytes(5)] }
    handle.cancel()
    #expect(await sink.end() == .cancelled)
    #expect(load.status.isCancelled)
  }

  @Test
  func eachAttemptTakesAToken() async throws {
    let retrying = RetryingLoader(
      loader(RateLimit(requestsPerSecond: 0.1, burst: 1)),
      .exponential(base: .seconds(1), random: { 1 }),
      clock: clock,
    )
    let sink = RecordingSink()
    retrying.load(try request("a"), into: sink)
    (try await fake.nextLoad(of: "http://a.example/a")).fail(.connectionLost)
    clock.advance(by: .seconds(9))
    #expect(fake.counts.loads == 1)
    clock.advance(by: .seconds(1))
    (try await fake.nextLoad(of: "http://a.example/a")).respond(with: FakeResponse(body: bytes(5)))
    #expect(sink.events == [.head(200), .bytes(5), .end(nil)])
    #expect(sink.beginCount == 1)
  }

  @Test
  func whoMeasuresIsToldOfAWait() throws {
    let loader = loader(Self.oneASecond)
    let told = Lock(0)
    var hooks = LoadHooks()
    hooks.onRateLimited = { told.withLock { $0 += 1 } }
    loader.load(try request("0"), into: RecordingSink(hooks: hooks))
    #expect(told.withLock { $0 } == 0)
    loader.load(try request("1"), into: RecordingSink(hooks: hooks))
    #expect(told.withLock { $0 } == 1)
    clock.advance(by: .seconds(1))
    #expect(told.withLock { $0 } == 1)
  }

  @Test
  func whatWaitsIsSentAlthoughItsLoaderIsGone() async throws {
    var loader: RateLimitedLoader? = loader(Self.oneASecond)
    let sink = RecordingSink()
    loader?.load(try request("0"), into: RecordingSink())
    loader?.load(try request("1"), into: sink)
    loader = nil
    clock.advance(by: .seconds(1))
    (try await fake.nextLoad(of: "http://a.example/1")).respond(with: FakeResponse(body: bytes(5)))
    #expect(await sink.end() == nil)
  }

  @Test
  func aGuardIsObeyedIfItIsWithin() {
    let addressGuard = AddressGuard()
    #expect(loader().obeys(addressGuard))
    #expect(!RateLimitedLoader(ClosureLoader { _, _ in }).obeys(addressGuard))
  }

  // MARK: Others' code

  /// A loader that does what a test says within the call.
  private struct ClosureLoader: DataLoader {
    let body: @Sendable (HTTPRequest, any LoadSink) -> Void

    init(_ body: @escaping @Sendable (HTTPRequest, any LoadSink) -> Void) { self.body = body }

    func load(_ request: HTTPRequest, into sink: any LoadSink) -> any LoadHandle {
      body(request, sink)
      return NoLoadHandle()
    }
  }

  @Test
  func aLoaderMayLoadCancelAndEndWithinTheCall() async throws {
    let (handles, sent) = (Lock<[any LoadHandle]>([]), Lock<[String]>([]))
    let outer = Lock<RateLimitedLoader?>(nil)
    let inner = ClosureLoader { request, sink in
      sent.withLock { $0.append(request.url.string) }
      // One that waits leaves, and another comes, while this one is being sent.
      let waiting = handles.withLock { $0 }
      for handle in waiting { handle.cancel() }
      if request.url.string.hasSuffix("first"), let more = try? HTTPRequest("http://a.example/more") {
        outer.withLock { $0 }?.load(more, into: RecordingSink())
      }
      sink.finish(HTTPError(.cannotConnect, url: request.url.string, "no"))
    }
    let loader = RateLimitedLoader(inner, RateLimit(requestsPerSecond: 1, burst: 2), clock: clock)
    outer.withLock { $0 = loader }
    let sink = RecordingSink()
    loader.load(try request("first"), into: sink)
    #expect(sink.events == [.end(.cannotConnect)])
    #expect(sent.withLock { $0 } == ["http://a.example/first", "http://a.example/more"])
    let left = RecordingSink()
    let handle = loader.load(try request("left"), into: left)
    handles.withLock { $0 = [handle] }
    loader.load(try request("urgent", priority: .high), into: RecordingSink())
    clock.advance(by: .seconds(1))
    #expect(await left.end() == .cancelled)
    clock.advance(by: .seconds(10))
    #expect(sent.withLock { $0 }.last == "http://a.example/urgent")
    outer.withLock { $0 = nil }
  }

  /// A clock that asks and does things with the loader whenever it is asked.
  private final class MeddlingClock: TimeSource {
    private let clock = ManualClock()
    let meddle = Lock<(@Sendable () -> Void)?>(nil)

    var now: Date { clock.now }

    var uptime: Duration {
      meddle.withLock { $0 }?()
      return clock.uptime
    }

    func schedule(after delay: Duration, _ action: @escaping @Sendable () -> Void) -> ScheduledAction {
      meddle.withLock { $0 }?()
      return clock.schedule(after: delay, action)
    }

    func advance(by duration: Duration) { clock.advance(by: duration) }
  }

  @Test
  func aClockMayChangeAndCancelLoads() async throws {
    let clock = MeddlingClock()
    let loader = RateLimitedLoader(fake, Self.oneASecond, clock: clock)
    loader.load(try request("0"), into: RecordingSink())
    let sink = RecordingSink()
    let handle = loader.load(try request("1"), into: sink)
    clock.meddle.withLock { $0 = { handle.priority = handle.priority == .low ? .high : .low } }
    loader.load(try request("2"), into: RecordingSink())
    clock.meddle.withLock { $0 = { handle.cancel() } }
    loader.load(try request("3"), into: RecordingSink())
    #expect(await sink.end() == .cancelled)
    clock.meddle.withLock { $0 = nil }
    for _ in 0..<3 { clock.advance(by: .seconds(1)) }
    #expect(sent == ["0", "2", "3"])
  }

  @Test
  func aStormOfLoadsAndCancelsLosesNone() async throws {
    let loader = loader(RateLimit(requestsPerSecond: 100, burst: 10), perHost: RateLimit(requestsPerSecond: 20))
    fake.answer("*", with: bytes(10))
    let ended = Lock(0)
    try await withThrowingTaskGroup(of: Void.self) { group in
      for number in 0..<200 {
        group.addTask {
          let sink = RecordingSink()
          let handle = loader.load(try request("\(number)", host: "\(number % 7).example"), into: sink)
          handle.priority = Priority.allCases[number % Priority.allCases.count]
          if number % 3 == 0 { handle.cancel() }
          let end = await sink.end()
          #expect(end == nil || end == .cancelled)
          #expect(sink.ends.count == 1)
          ended.withLock { $0 += 1 }
        }
      }
      try await until {
        clock.advance(by: .milliseconds(10))
        return ended.withLock { $0 } == 200
      }
      try await group.waitForAll()
    }
    #expect(clock.pendingCount == 0)
  }
}
