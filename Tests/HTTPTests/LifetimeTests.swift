import Testing
import VitrineHTTP
import VitrineRuntime
import VitrineTesting

@Suite(.timeLimit(.minutes(20)))
struct LifetimeTests {
  @Test
  func withoutTheLibraryEveryLoadSaysSo() async throws {
    let loader = CurlLoader(CurlLoader.Options(), failure: "no such file")
    let request = try HTTPRequest(HTTPURL("https://example.org/a.jpg"))

    let error = await #expect(throws: HTTPError.self) { try await loader.data(for: request) }
    loader.stopAndWait()

    #expect(error?.code == .preparationFailed)
    #expect(error?.url == "https://example.org/a.jpg")
    #expect(error?.detail == "libcurl cannot be used: no such file")
  }

  @Test
  func releasingTheLoaderEndsWhatRunsAndWhatWaits() async throws {
    let server = try LoopbackServer()
    server.route("*") { $0.waitForDisconnect() }
    let sinks = (0..<5).map { _ in RecordingSink() }
    var handles: [any LoadHandle] = []
    do {
      let loader = makeLoader { $0.connectionLimit = 2 }
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
    let held = Lock<CurlLoader?>(makeLoader())
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

  @Test
  func aStoppedLoaderRefusesAtOnce() async throws {
    let loader = makeLoader()
    loader.stopAndWait()
    let sink = RecordingSink()
    loader.load(try HTTPRequest.patient("http://127.0.0.1:1/a"), into: sink)
    #expect(sink.events == [.end(.cancelled)])
  }

  /// In a process of its own, since it counts what the whole process has open.
  @Test
  func loadersThatComeAndGoLeaveNoDescriptorAndNoThread() async {
    await #expect(processExitsWith: .success) {
      func count(_ folder: String) throws -> Int { try FileManager.default.contentsOfDirectory(atPath: folder).count }
      let server = try LoopbackServer()
      server.route("/a", LoopbackResponse(body: bytes(100)))
      server.route("/silent") { $0.waitForDisconnect() }
      func run() async throws {
        let loader = makeLoader()
        _ = try await loader.data(server.url("/a"))
        let handle = loader.load(try HTTPRequest.patient(server.url("/silent")), into: RecordingSink())
        loader.load(try HTTPRequest.patient("http://nothing.invalid/"), into: RecordingSink()).cancel()
        handle.cancel()
        loader.stopAndWait()
        await server.wait { $0.openConnections == 0 }
      }
      for _ in 0..<3 { try await run() }
      let descriptors = try count("/proc/self/fd")
      let threads = try count("/proc/self/task")
      for _ in 0..<40 { try await run() }
      // A look-up that was left to itself may still be at it.
      await until { ((try? count("/proc/self/fd")) ?? .max) <= descriptors + 1 }
      await until { ((try? count("/proc/self/task")) ?? .max) <= threads + 2 }
    }
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
