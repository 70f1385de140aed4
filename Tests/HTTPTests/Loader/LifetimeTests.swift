import Testing
import VitrineHTTP
import VitrineRuntime
import VitrineTestSupport
import VitrineTesting

@Suite(.patient)
struct LifetimeTests {
  @Test
  func releasingTheLoaderEndsWhatRunsAndWhatWaits() async throws {
    let server = try LoopbackServer()
    server.route("*") { $0.waitForDisconnect() }
    let sinks = (0..<5).map { _ in RecordingSink() }
    var handles: [any LoadHandle] = []
    do {
      let loader = makeLoader { $0.connectionLimitPerHost = 2 }
      for sink in sinks { handles.append(loader.load(try HTTPRequest.patient(server.url("/a")), into: sink)) }
      await server.wait(forRequests: 2)
    }
    for sink in sinks { #expect(await sink.end() == .cancelled) }
    await server.wait { $0.openConnections == 0 }
    // The handles are of no use now, and do no harm.
    for handle in handles {
      handle.cancel()
      handle.resume()
      handle.priority = .high
    }
    #expect(sinks.allSatisfy { $0.ends == [.cancelled] })
  }

  @Test
  func aSinkMayReleaseTheLoader() async throws {
    let server = try LoopbackServer()
    server.route("/a", LoopbackResponse(body: bytes(100)))
    let held = Lock<SystemLoader?>(makeLoader())
    let sink = RecordingSink(onHead: {
      let loader = held.withLock { loader in
        defer { loader = nil }
        return loader
      }
      _ = consume loader
      return .proceed
    })
    let request = try HTTPRequest.patient(server.url("/a"))
    held.withLock { $0 }?.load(request, into: sink)
    let code = await sink.end()
    #expect(code == nil || code == .cancelled)
  }

  /// Without the handler at exit OpenSSL's own pulls the ground from under the thread.
  @Test
  func exitingWhileLoadsRunIsClean() async {
    await #expect(processExitsWith: .exitCode(7)) {
      let server = try LoopbackServer()
      server.route("*") {
        $0.sendHead(200); $0.sendEndlessly(bytes(10_000))
      }
      let loader = makeLoader()
      let sink = RecordingSink()
      for _ in 0..<6 { loader.load(try HTTPRequest.patient(server.url("/a")), into: sink) }
      loader.load(try HTTPRequest.patient(server.url("/a").replacing("http:", with: "https:")), into: RecordingSink())
      await sink.wait { $0.count >= 12 }
      exit(7)
    }
  }

  @Test
  func thirtyLoadersHeldAtOnceAllEnd() async throws {
    let server = try LoopbackServer()
    server.route("/a", LoopbackResponse(body: bytes(100)))
    var loaders = (0..<30).map { _ in makeLoader() }
    for loader in loaders { #expect(try await loader.data(server.url("/a")).1.count == 100) }
    loaders = []
    await server.wait { $0.openConnections == 0 }
  }
}
