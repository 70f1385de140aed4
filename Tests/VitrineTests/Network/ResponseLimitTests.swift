import Testing
import VitrineHTTP
import VitrineImaging
import VitrineRuntime
import VitrineTestSupport
import VitrineTesting

@testable import Vitrine

/// Responses of more bytes than may come.
@Suite(.patient)
struct ResponseLimitTests {
  private static let url = "https://example.org/a.png"
  private let parts = PipelineParts()
  private let file = TestPicture.png

  private func makePipeline(_ limit: Int, over loader: (any DataLoader)? = nil) -> ImagePipeline {
    .testing(parts) {
      $0.maxResponseBytes = limit
      $0.retryPolicy = .exponential(random: { 0 })
      if let loader { $0.loader = loader }
    }
  }

  private func error(_ request: ImageRequest = ImageRequest(url: url), in pipeline: ImagePipeline) async -> LoadError? {
    do throws(LoadError) {
      _ = try await pipeline.image(for: request)
      return nil
    } catch {
      return error
    }
  }

  @Test
  func aResponseThatAnnouncesTooMuchIsRefusedAtItsHead() async throws {
    let pipeline = makePipeline(1000)
    async let failure = error(in: pipeline)
    let load = try await parts.loader.nextLoad(of: Self.url)
    load.respond(headers: ["Content-Length": "1001"])
    let error = try #require(await failure)
    #expect((error.code, error.stage, error.source) == (.tooLarge, .fetch, Self.url))
    #expect(error.detail.contains("1000") || error.detail.contains("let it fail"))
    #expect(load.status.taken == 0)
    // It would be as large the next time.
    #expect(parts.loader.counts.loads == 1)
    #expect(pipeline.loadCount == 0)
  }

  @Test
  func aBodyIsRefusedAsSoonAsTooMuchHasCome() async throws {
    let pipeline = makePipeline(1000)
    async let failure = error(in: pipeline)
    let load = try await parts.loader.nextLoad(of: Self.url)
    load.respond()
    load.send(Data(count: 1000))
    #expect(!load.status.isEnded)
    load.send(Data(count: 1))
    #expect(await failure?.code == .tooLarge)
    await pipeline.cache.flush()
    #expect(parts.diskCache.counts.writes == 0)
  }

  /// A loader that heeds no limit, and announces no length.
  private struct Careless: DataLoader {
    let headers: HTTPFields
    let status: Int
    let body: Data
    let isEnded = Lock(false)

    func load(_ request: HTTPRequest, into sink: any LoadSink) -> any LoadHandle {
      var flow = sink.receive(HTTPResponse(status: status, headers: headers, url: request.url))
      var rest = body
      while flow == .proceed, !rest.isEmpty {
        flow = sink.receive(Data(rest.prefix(100)))
        rest = rest.dropFirst(100)
      }
      isEnded.withLock { $0 = rest.isEmpty }
      sink.finish(flow == .stop ? HTTPError(.cancelled, url: request.url.string, "stopped") : nil)
      return NoLoadHandle()
    }
  }

  @Test(arguments: [[:], ["Content-Length": "5000"]] as [HTTPFields])
  func aLoaderThatDoesNotCountIsStopped(headers: HTTPFields) async throws {
    let loader = Careless(headers: headers, status: 200, body: Data(count: 5000))
    let error = try #require(await error(in: makePipeline(1000, over: loader)))
    #expect(error.code == .tooLarge)
    #expect(error.detail.hasSuffix("more than the limit of 1000"))
    #expect(!loader.isEnded.withLock { $0 })
  }

  @Test
  func aLongErrorPageHidesNoStatus() async throws {
    let loader = Careless(headers: [:], status: 404, body: Data(count: 5000))
    let error = try #require(await error(in: makePipeline(1000, over: loader)))
    #expect((error.code, error.status) == (.badStatus, 404))
    parts.loader.answer(Self.url, FakeResponse(status: 404, body: Data(count: 5000)))
    let other = try #require(await self.error(in: makePipeline(1000)))
    #expect((other.code, other.status) == (.badStatus, 404))
    let server = try LoopbackServer()
    server.route("/a", LoopbackResponse(status: 404, body: Data(count: 5000)))
    let request = ImageRequest(url: server.url("/a"))
    let real = try #require(await self.error(request, in: makePipeline(1000, over: PatientLoader())))
    #expect((real.code, real.status) == (.badStatus, 404))
  }

  @Test
  func aRequestMayLowerTheLimitAndNotRaiseIt() async throws {
    parts.loader.answer(Self.url, with: file, headers: ["Cache-Control": "no-store"])
    var request = ImageRequest(url: Self.url)
    request.maxResponseBytes = file.count - 1
    #expect(await error(request, in: makePipeline(file.count))?.code == .tooLarge)
    request.maxResponseBytes = .max
    #expect(await error(request, in: makePipeline(file.count - 1))?.code == .tooLarge)
    #expect(await error(request, in: makePipeline(file.count)) == nil)
    request.maxResponseBytes = -1
    #expect(await error(request, in: makePipeline(.max))?.code == .tooLarge)
  }

  @Test
  func whatIsTooLargeIsNoReasonToServeWhatIsStale() async throws {
    parts.loader.answer(Self.url, with: file, headers: ["Cache-Control": "max-age=60"])
    let pipeline = makePipeline(file.count)
    #expect(await error(in: pipeline) == nil)
    parts.clock.advance(by: .seconds(61))
    parts.loader.answer(Self.url, with: file + Data(count: 1), headers: ["Cache-Control": "max-age=60"])
    #expect(await error(in: pipeline)?.code == .tooLarge)
  }

  @Test
  func whatIsContinuedCountsWithItsBeginning() async throws {
    let long = try Bitmap.noise(width: 500, height: 480, seed: 1).encoded(as: .png)
    let (folder, clock) = (try TemporaryFolder(), parts.clock)
    let cache = try folder.cache(clock)
    func makePipeline(_ limit: Int) -> ImagePipeline {
      .testing(parts) { ($0.diskCache, $0.maxResponseBytes) = (cache, limit) }
    }
    let first = makePipeline(long.count)
    let task = first.imageTask(for: ImageRequest(url: Self.url))
    let load = try await parts.loader.nextLoad(of: Self.url)
    load.respond(headers: ["ETag": "\"a\"", "Content-Length": "\(long.count)", "Cache-Control": "max-age=60"])
    for start in stride(from: 0, to: 600_000, by: 100_000) { load.send(long[start..<start + 100_000]) }
    load.fail(.truncated)
    await #expect(throws: LoadError.self) { try await task.image }
    await first.cache.flush()
    // The rest alone would be within the limit.
    for limit in [long.count - 1, long.count] {
      let next = makePipeline(limit)
      async let failure = error(in: next)
      let rest = try await parts.loader.nextLoad(of: Self.url)
      #expect(rest.request.headers["Range"] == "bytes=600000-")
      rest.respond(
        status: 206,
        headers: ["ETag": "\"a\"", "Content-Range": "bytes 600000-\(long.count - 1)/\(long.count)"],
      )
      rest.send(long.dropFirst(600_000))
      rest.finish()
      #expect(await failure?.code == (limit < long.count ? .tooLarge : nil))
    }
    await cache.close()
  }
}
