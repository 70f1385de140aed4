import HTTPTypes
import Logging
import Metrics
import ServiceLifecycle
import Synchronization
import Testing
import Tracing
import Vitrine
import VitrineBridges
import VitrineHTTP
import VitrineServing
import VitrineTesting

@Suite(.serialized)
struct BridgesTests {
  private let url = "https://example.invalid/cat.png"

  private func pipeline(_ change: (inout PipelineConfiguration) -> Void) throws -> ImagePipeline {
    let parts = PipelineParts()
    parts.loader.answer(
      url,
      with: try Bitmap.testPattern(width: 8, height: 8).encoded(as: .png()),
      headers: ["Cache-Control": "max-age=60"],
    )
    parts.loader.answer("https://example.invalid/none.png", FakeResponse(status: 404))
    return ImagePipeline.testing(parts, change)
  }

  @Test
  func entriesReachTheLoggerWithTheirFields() async throws {
    let lines = Mutex<[(Logger.Level, Logger.Message, Logger.Metadata)]>([])
    var logger = Logger { level, message, metadata in lines.withLock { $0.append((level, message, metadata)) } }
    logger.logLevel = .debug
    let pipeline = try pipeline { $0.sendLog(to: logger) }
    _ = try await pipeline.image(for: ImageRequest(url: url))
    await #expect(throws: LoadError.self) {
      try await pipeline.image(for: ImageRequest(url: "https://example.invalid/none.png"))
    }
    await pipeline.flushEvents()
    let found = lines.withLock { $0 }
    let done = try #require(found.first { $0.0 == .debug && $0.2["source"] == .string(url) })
    #expect(done.2["origin"] == .string("network"))
    #expect(found.contains { $0.0 >= .notice && $0.2["error"] != nil })
  }

  @Test
  func requestsAndStagesAreCountedAndTimed() async throws {
    recorded.withLock { $0 = [:] }
    let pipeline = try pipeline { $0.observers = [MetricsObserver()] }
    _ = try await pipeline.image(for: ImageRequest(url: url))
    await #expect(throws: LoadError.self) {
      try await pipeline.image(for: ImageRequest(url: "https://example.invalid/none.png"))
    }
    await pipeline.flushEvents()
    let values = recorded.withLock { $0 }
    #expect(values["vitrine_request_duration outcome=network"]?.count == 1)
    #expect(values["vitrine_request_duration outcome=badStatus"]?.count == 1)
    #expect(values["vitrine_stage_duration stage=decode"] != nil)
  }

  @Test
  func aLoadHasASpanInTheTraceOfItsCaller() async throws {
    ended.withLock { $0 = [] }
    let pipeline = try pipeline { $0.interceptors = [TracingInterceptor()] }
    _ = try await CallersTrace.$id.withValue("trace-7") { try await pipeline.image(for: ImageRequest(url: url)) }
    await #expect(throws: LoadError.self) {
      try await pipeline.image(for: ImageRequest(url: "https://example.invalid/none.png"))
    }
    let spans = ended.withLock { $0 }
    #expect(spans.map(\.hasError) == [false, true])
    #expect(spans[0].trace == "trace-7")
    #expect(spans[0].attributes["vitrine.origin"] == "network")
    #expect(spans[0].attributes["vitrine.source"] == url)
  }

  @Test
  func requestsAndResponsesKeepTheirParts() throws {
    var request = try VitrineHTTP.HTTPRequest(
      "https://example.invalid:8443/a%20b?c=d",
      headers: ["Accept": "image/*", "X-A": "1"],
    )
    request.method = .post
    let other = HTTPTypes.HTTPRequest(request)
    #expect(other.method.rawValue == "POST")
    #expect((other.scheme, other.authority, other.path) == ("https", "example.invalid:8443", "/a%20b?c=d"))
    #expect(other.headerFields.map { "\($0.name.rawName): \($0.value)" } == ["Accept: image/*", "X-A: 1"])
    #expect(HTTPTypes.HTTPRequest(try VitrineHTTP.HTTPRequest("http://example.invalid")).path == "/")

    var answer = HTTPTypes.HTTPResponse(status: .init(code: 404), headerFields: other.headerFields)
    answer.headerFields.append(HTTPField(name: try #require(.init("ETag")), value: "\"x\""))
    let response = VitrineHTTP.HTTPResponse(answer, to: request)
    #expect(response.status == 404 && response.headers["ETag"] == "\"x\"" && response.url == request.url)
  }

  @Test
  func aServiceListensUntilTheShutdownAndDrains() async throws {
    var configuration = ThumbnailServer.Configuration()
    (configuration.port, configuration.sandbox) = (0, .none)
    let server = try ThumbnailServer(configuration)
    let service = VitrineBridges.ThumbnailService(server)
    let run = Task { try await service.run() }
    while server.port == 0 { await Task.yield() }
    shutdown.begin()
    try await run.value
  }
}
