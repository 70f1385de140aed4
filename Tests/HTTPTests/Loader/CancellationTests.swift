import Testing
import VitrineHTTP
import VitrineRuntime
import VitrineTestSupport
import VitrineTesting

@Suite(.patient)
struct CancellationTests {
  let server: LoopbackServer

  init() throws { server = try LoopbackServer() }

  @Test
  func aQueuedLoadThatIsCancelledIsNeverSent() async throws {
    let gate = server.makeGate()
    server.route("/first") { exchange in
      gate.wait()
      exchange.respond(LoopbackResponse())
    }
    server.route("*", LoopbackResponse())
    let loader = makeLoader { $0.connectionLimitPerHost = 1 }
    let (first, second, third) = (RecordingSink(), RecordingSink(), RecordingSink())
    loader.load(try HTTPRequest.patient(server.url("/first")), into: first)
    await server.wait(forRequests: 1)
    let handle = loader.load(try HTTPRequest.patient(server.url("/second")), into: second)
    loader.load(try HTTPRequest.patient(server.url("/third")), into: third)
    handle.cancel()
    #expect(await second.end() == .cancelled)
    gate.open()
    #expect(await third.end() == nil)
    #expect(server.requests.map(\.path) == ["/first", "/third"])
    #expect(second.events == [.end(.cancelled)])
  }

  @Test
  func cancellingBeforeTheHeadClosesTheConnection() async throws {
    server.route("/a") { $0.waitForDisconnect() }
    let loader = makeLoader()
    let sink = RecordingSink()
    let handle = loader.load(try HTTPRequest.patient(server.url("/a")), into: sink)
    await server.wait(forRequests: 1)
    handle.cancel()
    #expect(await sink.end() == .cancelled)
    await server.wait { $0.openConnections == 0 }
    #expect(sink.events == [.end(.cancelled)])
  }

  @Test
  func cancellingInTheBodyClosesTheConnection() async throws {
    server.route("/a") { exchange in
      exchange.sendHead(200, ["Content-Length": "1000000"])
      exchange.send(bytes(1000))
      exchange.waitForDisconnect()
    }
    let loader = makeLoader()
    let sink = RecordingSink()
    let handle = loader.load(try HTTPRequest.patient(server.url("/a")), into: sink)
    await sink.wait { $0.count >= 2 }
    handle.cancel()
    handle.cancel()
    #expect(await sink.end() == .cancelled)
    await server.wait { $0.openConnections == 0 }
    #expect(sink.ends == [.cancelled])
  }

  @Test
  func cancellingAPausedLoadClosesTheConnection() async throws {
    server.route("/a") { $0.respond(LoopbackResponse(body: bytes(20_000_000))) }
    let loader = makeLoader()
    let sink = RecordingSink(onBytes: { .pause })
    let handle = loader.load(try HTTPRequest.patient(server.url("/a")), into: sink)
    await sink.wait { $0.count == 2 }
    handle.cancel()
    #expect(await sink.end() == .cancelled)
    await server.wait { $0.openConnections == 0 }
  }

  @Test
  func aCancelAfterTheEndChangesNothing() async throws {
    server.route("/a", LoopbackResponse(body: bytes(10)))
    let loader = makeLoader()
    let sink = RecordingSink()
    let handle = loader.load(try HTTPRequest.patient(server.url("/a")), into: sink)
    #expect(await sink.end() == nil)
    handle.cancel()
    handle.resume()
    handle.priority = .high
    _ = try await loader.data(server.url("/a"))
    #expect(sink.ends == [nil])
    #expect(server.counts.connections == 1)
  }

  @Test(arguments: [true, false])
  func aSinkThatWantsNoMoreEndsTheLoad(atHead: Bool) async throws {
    server.route("/a") {
      $0.sendHead(200, ["Content-Length": "100000000"]); $0.sendEndlessly(bytes(100_000))
    }
    let loader = makeLoader()
    let sink = RecordingSink(onHead: { atHead ? .stop : .proceed }, onBytes: { .stop })
    loader.load(try HTTPRequest.patient(server.url("/a")), into: sink)
    #expect(await sink.end() == .cancelled)
    #expect(sink.events.count == (atHead ? 2 : 3))
    await server.wait { $0.openConnections == 0 }
  }

  @Test
  func cancellingTheTaskThrowsAndClosesTheConnection() async throws {
    server.route("/a") { $0.waitForDisconnect() }
    let loader = makeLoader()
    let request = try HTTPRequest.patient(server.url("/a"))
    let task = Task { try await loader.data(for: request) }
    await server.wait(forRequests: 1)
    task.cancel()
    await #expect {
      _ = try await task.value
    } throws: { error in
      (error as? HTTPError)?.isCancellation == true && (error as? HTTPError)?.url == request.url.string
    }
    await server.wait { $0.openConnections == 0 }
  }

  @Test
  func aTaskCancelledBeforehandSendsNothing() async throws {
    let loader = makeLoader()
    let request = try HTTPRequest.patient(server.url("/a"))
    let (ready, isReady) = (Deferred<Void>(), Deferred<Void>())
    let task = Task {
      isReady.resolve(())
      await ready.value()
      return try await loader.data(for: request)
    }
    await isReady.value()
    task.cancel()
    ready.resolve(())
    await #expect(throws: HTTPError.self) { try await task.value }
    #expect(server.counts.connections == 0)
  }

  @Test
  func aLookUpThatIsCancelledHoldsUpNobody() async throws {
    server.route("/a", LoopbackResponse(body: bytes(10)))
    let loader = makeLoader()
    let sinks = (0..<40).map { _ in RecordingSink() }
    for (number, sink) in sinks.enumerated() {
      loader.load(try HTTPRequest.patient("http://h\(number).invalid/"), into: sink).cancel()
    }
    for sink in sinks {
      // A resolver may know that there is no such host before the loader knows of the cancel.
      let end = await sink.end()
      #expect(end == .cancelled || end == .cannotResolve)
    }
    #expect(try await loader.data(server.url("/a")).1.count == 10)
  }

  @Test
  func ofAThousandStartedAndNinetyPercentCancelledEveryOneEndsOnce() async throws {
    server.route("*", LoopbackResponse(body: bytes(2000)))
    let loader = makeLoader()
    var handles: [any LoadHandle] = []
    let sinks = (0..<1000).map { _ in RecordingSink() }
    for (number, sink) in sinks.enumerated() {
      handles.append(loader.load(try HTTPRequest.patient(server.url("/\(number)")), into: sink))
    }
    for (number, handle) in handles.enumerated() where number % 10 != 0 { handle.cancel() }
    for (number, sink) in sinks.enumerated() {
      let code = await sink.end()
      #expect(number % 10 == 0 ? code == nil : code == nil || code == .cancelled)
    }
    _ = try await loader.data(server.url("/last"))
    #expect(sinks.allSatisfy { $0.ends.count == 1 })
  }

  @Test
  func ofAThousandTasksOfWhichNinetyPercentAreCancelledEveryOneIsResumed() async throws {
    server.route("*", LoopbackResponse(body: bytes(2000)))
    let loader = makeLoader()
    let requests = try (0..<1000).map { try HTTPRequest.patient(server.url("/\($0)")) }
    let tasks = requests.map { request in Task { try await loader.data(for: request).1.count } }
    for (number, task) in tasks.enumerated() where number % 10 != 0 { task.cancel() }
    for (number, task) in tasks.enumerated() {
      switch await task.result {
      case .success(let count): #expect(count == 2000)
      case .failure(let error): #expect(number % 10 != 0 && (error as? HTTPError)?.isCancellation == true)
      }
    }
  }
}
