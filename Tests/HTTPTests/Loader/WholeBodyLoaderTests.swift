import Testing
import VitrineRuntime
import VitrineTestSupport
import VitrineTesting

@testable import VitrineHTTP

/// A loader of a program's own, of one function.
@Suite(.patient)
struct WholeBodyLoaderTests {
  private struct Trouble: Error, CustomStringConvertible {
    let description = "the line is dead"
  }

  private static let body = Data("hello".utf8)

  private func request(_ path: String = "a", priority: Priority = .normal) throws -> HTTPRequest {
    var request = try HTTPRequest("https://pictures.invalid/\(path)")
    request.priority = priority
    return request
  }

  private func outcome(
    of loader: WholeBodyLoader,
    hooks: LoadHooks = LoadHooks(),
    change: (inout HTTPRequest) -> Void = { _ in },
  ) async throws -> Result<(HTTPResponse, Data), HTTPError> {
    var request = try request()
    change(&request)
    do throws(HTTPError) {
      return .success(try await loader.data(for: request, hooks: hooks))
    } catch {
      return .failure(error)
    }
  }

  private func failure(
    of loader: WholeBodyLoader,
    hooks: LoadHooks = LoadHooks(),
    change: (inout HTTPRequest) -> Void = { _ in },
  ) async throws -> HTTPError? {
    guard case .failure(let error) = try await outcome(of: loader, hooks: hooks, change: change) else { return nil }
    return error
  }

  @Test
  func theResponseAndTheBodyAreDelivered() async throws {
    let loader = WholeBodyLoader { request in
      (HTTPResponse(status: 203, headers: ["ETag": "\"1\""], url: request.url), Self.body)
    }
    let (response, data) = try await outcome(of: loader).get()
    #expect(response.status == 203)
    #expect(response.headers["ETag"] == "\"1\"")
    #expect(data == Self.body)
  }

  @Test
  func anErrorNamesTheURLAndKeepsItsCause() async throws {
    let error = try #require(try await failure(of: WholeBodyLoader { _ in throw Trouble() }))
    #expect(error.code == .loaderFailed)
    #expect(error.description == "https://pictures.invalid/a: the loader threw: the line is dead")
    #expect(error.cause is Trouble)
    #expect(!error.isWorthRetrying)
    let own = HTTPError(.cannotConnect, url: "x", "no route")
    #expect(try await failure(of: WholeBodyLoader { _ in throw own }) == own)
  }

  @Test
  func aBodyOverTheLimitIsRefused() async throws {
    let loader = WholeBodyLoader { (HTTPResponse(status: 200, url: $0.url), Data(count: 101)) }
    let error = try await failure(of: loader) { $0.maxResponseBytes = 100 }
    #expect(error?.code == .tooLarge)
    #expect(error?.detail == "101 bytes came, more than the limit of 100")
  }

  @Test
  func aFunctionThatIgnoresItsCancellationIsNotAwaited() async throws {
    let (begun, gate, isCancelled) = (Gate(), Gate(), Gate())
    let loader = WholeBodyLoader { request in
      await withTaskCancellationHandler {
        begun.open()
        await gate.value()
      } onCancel: {
        isCancelled.open()
      }
      return (HTTPResponse(status: 200, url: request.url), Self.body)
    }
    let sink = RecordingSink()
    let load = loader.load(try request(), into: sink)
    await begun.value()
    load.cancel()
    await sink.end()
    #expect(sink.heard == ["cancelled"])
    await isCancelled.value()
    // Its late response is dropped.
    gate.open()
    #expect(sink.heard == ["cancelled"])
  }

  @Test
  func theTotalTimeIsLimitedByTheClock() async throws {
    let clock = ManualClock()
    let gate = Gate()
    let loader = WholeBodyLoader(clock: clock) { request in
      await gate.value()
      return (HTTPResponse(status: 200, url: request.url), Self.body)
    }
    async let late = failure(of: loader) { $0.timeouts.total = .seconds(5) }
    await clock.pendingCount(reaches: 1)
    clock.advance(by: .seconds(5))
    let error = try await late
    #expect(error?.code == .timedOut)
    #expect(error?.timeout == .total)
    gate.open()
  }

  @Test
  func theMostUrgentLoadGoesNextAndACancelledOneNever() async throws {
    let order = Record<String>()
    let gates = ["a", "b", "c", "d"].reduce(into: [String: Gate<Void>]()) { $0[$1] = Gate() }
    let loader = WholeBodyLoader(maxConcurrentLoads: 1) { request in
      let name = String(request.url.string.suffix(1))
      order.add(name)
      await gates[name]?.value()
      return (HTTPResponse(status: 200, url: request.url), Self.body)
    }
    let sinks = ["a", "b", "c", "d"].map { _ in RecordingSink() }
    loader.load(try request("a"), into: sinks[0])
    await order.reaches(1)
    loader.load(try request("b", priority: .low), into: sinks[1])
    let dropped = loader.load(try request("c"), into: sinks[2])
    let raised = loader.load(try request("d", priority: .low), into: sinks[3])
    dropped.cancel()
    await sinks[2].end()
    raised.priority = .veryHigh
    for name in ["a", "d", "b"] { gates[name]?.open() }
    for sink in sinks { await sink.end() }
    #expect(order.events == ["a", "d", "b"])
    #expect(
      sinks.map(\.heard) == [
        ["head 200", "5 bytes", "end"], ["head 200", "5 bytes", "end"], ["cancelled"], ["head 200", "5 bytes", "end"],
      ]
    )
  }

  @Test
  func hooksSignAndAnswerChallenges() async throws {
    let sent = Record<String>()
    let loader = WholeBodyLoader { request in
      let token = request.headers["Authorization"] ?? "none"
      sent.add(token)
      return (HTTPResponse(status: token == "new" ? 200 : 401, url: request.url), Self.body)
    }
    var hooks = LoadHooks()
    hooks.willSend = { $0.headers["Authorization"] = "old" }
    hooks.challenge = { $0.previousAnswers == 0 ? ["Authorization": "new"] : nil }
    #expect(try await outcome(of: loader, hooks: hooks).get().0.status == 200)
    #expect(sent.events == ["old", "new"])

    hooks.willSend = { _ in throw Trouble() }
    let error = try await failure(of: loader, hooks: hooks)
    #expect(error?.code == .preparationFailed)
    #expect(error?.detail == "the hook before sending threw: the line is dead")
  }

  @Test
  func aPausedLoadGoesOnWhenItIsResumed() async throws {
    let paused = Gate()
    let sink = RecordingSink(onBytes: {
      paused.open()
      return .pause
    })
    let loader = WholeBodyLoader { (HTTPResponse(status: 200, url: $0.url), Self.body) }
    let load = loader.load(try request(), into: sink)
    await paused.value()
    #expect(!sink.heard.contains("end"))
    load.resume()
    await sink.end()
    #expect(sink.heard == ["head 200", "5 bytes", "end"])
    let stopped = RecordingSink([.stop])
    loader.load(try request(), into: stopped)
    await stopped.end()
    #expect(stopped.heard == ["head 200", "cancelled"])
  }
}
