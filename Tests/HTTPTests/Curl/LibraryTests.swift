import Testing
import VitrineHTTP
import VitrineRuntime
import VitrineTestSupport
import VitrineTesting

@Suite(.patient)
struct LibraryTests {
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
