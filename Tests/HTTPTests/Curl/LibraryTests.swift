import Testing
import VitrineHTTP
import VitrineRuntime
import VitrineTestSupport
import VitrineTesting

@Suite(.patient)
struct LibraryTests {
  @Test
  func withoutTheLibraryEveryLoadSaysSo() async throws {
    let openings = Counter()
    let loader = CurlLoader(CurlLoader.Options()) {
      openings.increase()
      return "no such file"
    }
    #expect(openings.count == 0)
    let request = try HTTPRequest(HTTPURL("https://example.org/a.jpg"))

    for _ in 0..<2 {
      let error = await #expect(throws: HTTPError.self) { try await loader.data(for: request) }
      #expect(error?.code == .preparationFailed)
      #expect(error?.url == "https://example.org/a.jpg")
      #expect(error?.detail == "libcurl cannot be used: no such file")
    }
    loader.stopAndWait()

    #expect(openings.count == 1)
  }

  /// If the caller's thread opened the library, it would wait for the gate for ever.
  @Test
  func theFirstLoadDoesNotWaitForTheLibrary() async throws {
    let server = try LoopbackServer()
    server.route("/a", LoopbackResponse(body: bytes(100)))
    // The library is open from here on.
    _ = try await makeLoader().data(server.url("/a"))
    let gate = Gate()
    var loader: CurlLoader? = CurlLoader(CurlLoader.Options()) {
      gate.wait()
      return nil
    }
    let (first, cancelled, released) = (RecordingSink(), RecordingSink(), RecordingSink())

    loader?.load(try HTTPRequest.patient(server.url("/a")), into: first)
    loader?.load(try HTTPRequest.patient(server.url("/a")), into: cancelled).cancel()
    gate.open()

    #expect(await first.end() == nil)
    #expect(await cancelled.end() == .cancelled)
    #expect(server.counts.requests == 2)

    let second = Gate()
    loader = CurlLoader(CurlLoader.Options()) {
      second.wait()
      return nil
    }
    loader?.load(try HTTPRequest.patient(server.url("/a")), into: released)
    loader = nil
    second.open()

    #expect(await released.end() == .cancelled)
    #expect(server.counts.requests == 2)
  }

  /// OpenSSL would free what the loader's thread is setting up.
  @Test
  func exitingWhileTheLibraryIsBeingOpenedIsClean() async {
    await #expect(processExitsWith: .exitCode(7)) {
      let loader = CurlLoader()
      loader.load(try HTTPRequest.patient("https://127.0.0.1:1/a"), into: RecordingSink())
      exit(7)
    }
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
  func loadersThatComeAndGoLeaveNoDescriptorAndNoThread() async throws {
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
      try await until { ((try? count("/proc/self/fd")) ?? .max) <= descriptors + 1 }
      try await until { ((try? count("/proc/self/task")) ?? .max) <= threads + 2 }
    }
  }
}
