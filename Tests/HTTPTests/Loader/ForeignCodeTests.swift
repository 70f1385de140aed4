import Testing
import VitrineRuntime
import VitrineTestSupport
import VitrineTesting

@testable import VitrineHTTP

/// What is not Vitrine's may call back, block, or go for good, wherever it is called or released.
@Suite(.patient)
struct ForeignCodeTests {
  private let url = "http://a.example/a"
  private let retries = RetryPolicy.exponential(base: .seconds(1), random: { 1 })

  // MARK: Clocks

  @Test
  func aClockMayUseTheLoadFromWithinSchedule() async throws {
    let (clock, fake, sink) = (CallingClock(), FakeLoader(), RecordingSink())
    let loader = RetryingLoader(fake, retries, clock: clock)
    let handle = loader.load(try HTTPRequest(url), into: sink)
    clock.onSchedule = {
      #expect(handle.priority == .normal)
      handle.priority = .high
      handle.cancel()
    }
    (try await fake.nextLoad(of: url)).fail(.connectionLost)
    #expect(await sink.end() == .cancelled)
    // What was scheduled although the load had been cancelled meanwhile is called off.
    #expect(clock.cancelCount == 1)
    clock.fire()
    #expect(fake.counts.loads == 1)
    #expect(sink.ends.count == 1)
  }

  @Test
  func aClockMayUseTheLoadFromWithinCallingAnAlarmOff() async throws {
    let (clock, fake, sink) = (CallingClock(), FakeLoader(), RecordingSink())
    let loader = RetryingLoader(fake, retries, clock: clock)
    let handle = loader.load(try HTTPRequest(url), into: sink)
    (try await fake.nextLoad(of: url)).fail(.connectionLost)
    clock.onCancel = {
      handle.priority = .high
      handle.cancel()
      handle.resume()
    }
    handle.cancel()
    #expect(await sink.end() == .cancelled)
    #expect(clock.cancelCount == 1)
  }

  @Test
  func anAlarmIsReleasedWithTheLockOpen() async throws {
    let (clock, fake, sink, released) = (CallingClock(), FakeLoader(), RecordingSink(), Record<Priority>())
    let loader = RetryingLoader(fake, retries, clock: clock)
    let handle = loader.load(try HTTPRequest(url), into: sink)
    clock.onRelease = { released.add(handle.priority) }
    (try await fake.nextLoad(of: url)).fail(.connectionLost)
    clock.fire()
    #expect(fake.counts.loads == 2)
    #expect(released.events == [.normal])
    handle.cancel()
    _ = await sink.end()
    clock.onRelease = nil
  }

  // MARK: Handles and sinks

  @Test
  func aHandleThatIsReleasedBetweenAttemptsMayUseItsLoad() async throws {
    let (clock, inner, sink) = (ManualClock(), HandingLoader(), RecordingSink())
    let handle = RetryingLoader(inner, retries, clock: clock).load(try HTTPRequest(url), into: sink)
    let released = Record<Priority>()
    inner.onRelease = { released.add(handle.priority) }
    inner.fail(.connectionLost)
    #expect(released.events == [.normal])
    clock.advance(by: .seconds(1))
    inner.fail(.cancelled)
    #expect(released.events == [.normal, .normal])
    #expect(sink.ends == [.cancelled])
    inner.onRelease = nil
  }

  @Test
  func aHandleThatBlocksHoldsNobodyBackAndIsToldInOrder() async throws {
    let (inner, gate) = (HandingLoader(), Gate())
    let load = RetryingLoader(inner, retries).load(try HTTPRequest(url), into: RecordingSink())
    inner.onPriority = { if $0 == .low { gate.wait() } }
    let first = Task { await blocking { load.priority = .low } }
    await inner.told.reaches(1)
    // The one that is told is still at it.
    load.priority = .high
    load.resume()
    load.cancel()
    #expect(load.priority == .high)
    #expect(inner.told.events == ["low"])
    gate.open()
    await first.value
    #expect(inner.told.events == ["low", "high", "resume", "cancel"])
    inner.fail(.cancelled)
  }

  @Test
  func prioritiesOfEightThreadsReachTheHandleInTheOrderInWhichTheyWereSet() async throws {
    let inner = HandingLoader()
    let load = RetryingLoader(inner, retries).load(try HTTPRequest(url), into: RecordingSink())
    await withTaskGroup { group in
      for thread in 0..<8 {
        group.addTask {
          await blocking {
            for step in 0..<200 { load.priority = Priority.allCases[(thread + step) % 5] }
          }
        }
      }
    }
    #expect(inner.told.events.count == 1600)
    #expect(inner.told.events.last == "\(load.priority)")
    inner.fail(.cancelled)
  }

  @Test
  func aCancelThatComesBeforeTheHandleIsToldToIt() throws {
    let (inner, sink) = (HandingLoader(), RecordingSink())
    // From within the loader's load, when there is no handle yet.
    let load = Lock<(any LoadHandle)?>(nil)
    let retrying = RetryingLoad(
      try HTTPRequest(url),
      sink: sink,
      of: RetryingLoader(inner, retries, clock: ManualClock()),
    )
    load.withLock { $0 = retrying }
    inner.onLoad = {
      let load = load.withLock { $0 }
      load?.priority = .veryHigh
      load?.cancel()
    }
    retrying.startAttempt()
    #expect(inner.told.events == ["veryHigh", "cancel"])
    inner.fail(.cancelled)
    #expect(sink.ends == [.cancelled])
  }

  @Test
  func aSinkMayCancelAnotherLoadAndItsOwnWhenItIsReleased() async throws {
    let (fake, other, own) = (FakeLoader(), RecordingSink(), Lock<(any LoadHandle)?>(nil))
    let loader = RetryingLoader(fake, retries, clock: ManualClock())
    let second = loader.load(try HTTPRequest("http://a.example/b"), into: other)
    let handle = loader.load(
      try HTTPRequest(url),
      into: ReleasingSink {
        second.cancel()
        own.withLock { $0 }?.cancel()
      },
    )
    own.withLock { $0 = handle }
    (try await fake.nextLoad(of: url)).fail(.tls)
    #expect(await other.end() == .cancelled)
    own.withLock { $0 = nil }
  }

  @Test
  func theLastHandleOfDataThatIsLoadedMayCancelItWhenItIsReleased() async throws {
    let (inner, released, request) = (HandingLoader(), Record<Int>(), try HTTPRequest(url))
    let task = Task { try await inner.data(for: request) }
    try await until { inner.loadCount == 1 }
    inner.onRelease = {
      task.cancel()
      released.add(1)
    }
    #expect(released.events.isEmpty)
    inner.fail(.connectionLost)
    let error = await #expect(throws: HTTPError.self) { try await task.value }
    #expect(error?.code == .connectionLost)
    await released.reaches(1)
    inner.onRelease = nil
  }

  // MARK: Hooks of a loader with one thread

  @Test
  func figuresAreToldOnTheLoadersThread() async throws {
    let server = try LoopbackServer()
    server.route("/a", LoopbackResponse(body: bytes(10)))
    let (threads, order) = (Lock(Set<UInt>()), Record<String>())
    var hooks = LoadHooks()
    hooks.didTransfer = { _ in
      _ = threads.withLock { $0.insert(currentThread()) }
      order.add("figures")
    }
    let sink = RecordingSink(
      onHead: {
        _ = threads.withLock { $0.insert(currentThread()) }
        return .proceed
      },
      hooks: hooks,
    )
    let loader = makeLoader()
    loader.load(try HTTPRequest.patient(server.url("/a")), into: sink)
    #expect(await sink.end() == .some(nil))
    withExtendedLifetime(loader) {}
    // URLSession's delegate has a queue, which may run on any thread.
    if isLibcurl { #expect(threads.withLock { $0.count } == 1) }
    #expect(order.events == ["figures"])
  }

  @Test
  func aHookThatBlocksWhenItsTaskIsCancelledHoldsBackNoTransfer() async throws {
    let server = try LoopbackServer()
    server.route("/b", LoopbackResponse(body: bytes(20)))
    let (loader, gate, entered) = (makeLoader(), Gate(), Record<Int>())
    var hooks = LoadHooks()
    let never = Deferred<Void>()
    hooks.willSend = { _ in
      await withTaskCancellationHandler {
        entered.add(1)
        await never.value()
      } onCancel: {
        entered.add(2)
        gate.wait()
        never.resolve(())
      }
    }
    let sink = RecordingSink(hooks: hooks)
    let handle = loader.load(try HTTPRequest.patient(server.url("/a")), into: sink)
    await entered.reaches(1)
    handle.cancel()
    #expect(await sink.end() == .cancelled)
    await entered.reaches(2)
    #expect(try await loader.data(server.url("/b")).1.count == 20)
    gate.open()
  }

  @Test
  func theLastPriorityThatWasSetIsTheOneThatCounts() async throws {
    let server = try LoopbackServer()
    let gate = server.makeGate()
    server.route("/first") { exchange in
      gate.wait()
      exchange.respond(LoopbackResponse(body: bytes(1)))
    }
    for path in ["/a", "/b"] { server.route(path, LoopbackResponse(body: bytes(1))) }
    let loader = makeLoader { $0.connectionLimitPerHost = 1 }
    let (first, a, b) = (RecordingSink(), RecordingSink(), RecordingSink())
    loader.load(try HTTPRequest.patient(server.url("/first")), into: first)
    await server.wait(forRequests: 1)
    loader.load(try HTTPRequest.patient(server.url("/a")), into: a)
    let second = loader.load(try HTTPRequest.patient(server.url("/b")), into: b)
    for priority in [Priority.low, .veryLow, .high] { second.priority = priority }
    gate.open()
    _ = await a.end()
    _ = await b.end()
    #expect(server.requests.map(\.path) == ["/first", "/b", "/a"])
  }
}

private func currentThread() -> UInt { UInt(bitPattern: pthread_self().hashValue) }

/// A clock that calls back from wherever it is called.
private final class CallingClock: TimeSource {
  private struct State {
    var actions: [@Sendable () -> Void] = []
    var cancelCount = 0
    var onSchedule: (@Sendable () -> Void)?
    var onCancel: (@Sendable () -> Void)?
    var onRelease: (@Sendable () -> Void)?
  }

  private let state = Lock(State())
  let now = Date(timeIntervalSince1970: 0)
  let uptime = Duration.zero

  var cancelCount: Int { state.withLock { $0.cancelCount } }

  var onSchedule: (@Sendable () -> Void)? {
    get { state.withLock { $0.onSchedule } }
    set { state.withLock { $0.onSchedule = newValue } }
  }

  var onCancel: (@Sendable () -> Void)? {
    get { state.withLock { $0.onCancel } }
    set { state.withLock { $0.onCancel = newValue } }
  }

  /// Called when the handle of an action is released.
  var onRelease: (@Sendable () -> Void)? {
    get { state.withLock { $0.onRelease } }
    set { state.withLock { $0.onRelease = newValue } }
  }

  func schedule(after delay: Duration, _ action: @escaping @Sendable () -> Void) -> ScheduledAction {
    onSchedule?()
    state.withLock { $0.actions.append(action) }
    let last = ReleaseCallback { [weak self] in self?.onRelease?() }
    return ScheduledAction { [self] in
      withExtendedLifetime(last) {
        state.withLock { $0.cancelCount += 1 }
        onCancel?()
        return true
      }
    }
  }

  /// Calls all that has been scheduled.
  func fire() {
    let actions = state.withLock { state in
      defer { state.actions = [] }
      return state.actions
    }
    for action in actions { action() }
  }
}

/// A sink that does nothing until it is released.
private final class ReleasingSink: LoadSink {
  private let last: ReleaseCallback

  init(_ body: @escaping @Sendable () -> Void) { last = ReleaseCallback(body) }

  func receive(_ response: HTTPResponse) -> LoadFlow { .proceed }

  func receive(_ bytes: RawSpan) -> LoadFlow { .proceed }

  func finish(_ error: HTTPError?) {}
}
