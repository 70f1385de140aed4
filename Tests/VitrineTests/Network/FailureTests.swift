import Testing
import Vitrine
import VitrineHTTP
import VitrineImaging
import VitrineRuntime
import VitrineTestSupport
import VitrineTesting

/// What has failed is not asked for again for a while.
@Suite(.patient)
struct RecentFailureTests {
  private let parts = PipelineParts()
  private let pipeline: ImagePipeline
  private let url = "https://example.org/a.png"
  private let file = TestPicture.png

  init() {
    pipeline = .testing(parts) { $0.remembersFailures = true }
  }

  private var request: ImageRequest { ImageRequest(url: url) }

  private func failure(_ request: ImageRequest? = nil, _ other: ImagePipeline? = nil) async -> LoadError? {
    await #expect(throws: LoadError.self) { try await (other ?? pipeline).image(for: request ?? self.request) }
  }

  @Test
  func byDefaultOnlyWhatAHeaderSaysIsRemembered() {
    _ = ImagePipeline(.ephemeral) { #expect(!$0.remembersFailures) }
    _ = ImagePipeline.testing { #expect(!$0.remembersFailures) }
  }

  @Test
  func whatIsGoneIsNotAskedForAgainForFiveMinutes() async throws {
    parts.loader.answer(url, FakeResponse(status: 404))
    #expect(await failure()?.detail == "the server answered with status 404")
    parts.clock.advance(by: .seconds(3))

    let error = await failure()
    #expect(error?.code == .badStatus)
    #expect(error?.status == 404)
    #expect(error?.stage == .fetch)
    #expect(error?.source == url)
    #expect(
      error?.detail == "failed 3 s ago, not retried for 297 s: the server answered with status 404"
    )
    // In no size either, nor as bytes.
    _ = await failure(ImageRequest(url: url, size: .pixels(8, 8)))
    await #expect(throws: LoadError.self) { try await pipeline.data(for: request) }
    #expect(parts.loader.counts.loads == 1)

    parts.clock.advance(by: .seconds(297))
    parts.loader.answer(url, with: file)
    #expect(try await pipeline.image(for: request).width == 64)
    #expect(parts.loader.counts.loads == 2)
    #expect(pipeline.loadCount == 0)
  }

  @Test
  func whatWorkedIsForgottenAndBeginsAnew() async throws {
    parts.loader.answer(url, failing: .cannotConnect)
    _ = await failure()
    parts.clock.advance(by: .seconds(10))
    _ = await failure()
    parts.clock.advance(by: .seconds(20))
    parts.loader.answer(url, with: file, headers: ["Cache-Control": "no-store"])
    _ = try await pipeline.image(for: request)
    parts.loader.answer(url, failing: .cannotConnect)
    _ = await failure()
    // The first failure again, and not the third.
    #expect(await failure()?.detail.contains("for 10 s") == true)
    #expect(parts.loader.counts.loads == 4)
  }

  @Test
  func whatIsConfirmedIsForgottenToo() async throws {
    // Nothing of it may stand in for an error.
    let headers: HTTPFields = ["Cache-Control": "max-age=60, must-revalidate", "ETag": "\"a\""]
    parts.loader.answer(url, with: file, headers: headers)
    _ = try await pipeline.image(for: request)
    await pipeline.cache.flush()
    parts.clock.advance(by: .seconds(61))
    parts.loader.answer(url, failing: .cannotConnect)
    _ = await failure()
    parts.clock.advance(by: .seconds(10))
    _ = await failure()
    parts.clock.advance(by: .seconds(20))
    parts.loader.answer(url, with: file, headers: headers)
    #expect(try await pipeline.imageTask(for: request).response.origin == .revalidated)
    await pipeline.cache.flush()
    parts.clock.advance(by: .seconds(61))
    parts.loader.answer(url, failing: .cannotConnect)
    _ = await failure()
    #expect(await failure()?.detail.contains("for 10 s") == true)
    #expect(parts.loader.counts.loads == 5)
  }

  @Test
  func reloadingAsksAndForgets() async throws {
    parts.loader.answer(url, failing: .cannotResolve)
    _ = await failure()
    parts.loader.answer(url, with: file)
    _ = await failure()
    #expect(parts.loader.counts.loads == 1)
    var reload = request
    reload.cachePolicy = .reload
    #expect(try await pipeline.image(for: reload).width == 64)
    #expect(parts.loader.counts.loads == 2)
  }

  @Test
  func clearingTheCachesForgets() async throws {
    parts.loader.answer(url, failing: .cannotResolve)
    _ = await failure()
    await pipeline.cache.remove(request)
    _ = await failure()
    #expect(parts.loader.counts.loads == 2)
    await pipeline.cache.removeAll()
    _ = await failure()
    #expect(parts.loader.counts.loads == 3)
    pipeline.forgetFailures()
    _ = await failure()
    #expect(parts.loader.counts.loads == 4)
    _ = await failure()
    #expect(parts.loader.counts.loads == 4)
  }

  @Test
  func whatIsStoredStandsInWithoutAsking() async throws {
    parts.loader.answer(url, with: file, headers: ["Cache-Control": "max-age=60, stale-if-error=600"])
    _ = try await pipeline.image(for: request)
    await pipeline.cache.flush()
    parts.clock.advance(by: .seconds(61))
    parts.loader.answer(url, FakeResponse(status: 503))
    #expect(try await pipeline.imageTask(for: request).response.isStale)
    #expect(parts.loader.counts.loads == 2)

    // From memory, and from disk after a start.
    #expect(try await pipeline.imageTask(for: request).response.isStale)
    #expect(parts.loader.counts.loads == 2)
    let restarted = ImagePipeline.testing(parts) { $0.remembersFailures = true }
    for _ in 0..<2 { #expect(try await restarted.imageTask(for: request).response.isStale) }
    #expect(parts.loader.counts.loads == 3)
    // What may not stand in any more does not.
    parts.clock.advance(by: .seconds(595))
    parts.loader.answer(url, FakeResponse(status: 503, headers: ["Retry-After": "30"]))
    _ = try await restarted.imageTask(for: request).response
    parts.clock.advance(by: .seconds(10))
    #expect(await failure(nil, restarted)?.detail.contains("not retried for 20 s") == true)
    #expect(parts.loader.counts.loads == 4)
  }

  @Test
  func theNextSourceIsAskedAtOnce() async throws {
    parts.loader.answer(url, FakeResponse(status: 410))
    parts.loader.answer("https://b.example/", with: file)
    let either = ImageRequest(.first(of: [.url(url), .url("https://b.example/")]))
    for size in [8, 16] {
      var request = either
      request.size = .pixels(Double(size), Double(size))
      #expect(try await pipeline.image(for: request).height <= size)
    }
    #expect(parts.loader.requests.filter { $0.url.string == url }.count == 1)
  }

  @Test
  func usersAndScopesFailForThemselves() async throws {
    parts.loader.answer(url) { [file] request in
      request.headers["Authorization"] == "b" ? FakeResponse(body: file) : FakeResponse(status: 403)
    }
    var (first, second, third) = (request, request, request)
    first.headers["Authorization"] = "a"
    second.headers["Authorization"] = "b"
    third.cachePartition = "c"
    _ = await failure(first)
    #expect(try await pipeline.image(for: second).width == 64)
    _ = await failure(third)
    _ = await failure(first)
    #expect(parts.loader.counts.loads == 3)
  }

  @Test
  func cancellingIsNoFailure() async throws {
    let task = pipeline.imageTask(for: request)
    let load = try await parts.loader.nextLoad(of: url)
    task.cancel()
    await load.wait { $0.isEnded }
    parts.loader.answer(url, with: file)
    #expect(try await pipeline.image(for: request).width == 64)
  }

  @Test
  func switchedOffEachLoadAsks() async {
    let pipeline = ImagePipeline.testing(parts)
    parts.loader.answer(url, FakeResponse(status: 404))
    for _ in 0..<3 { _ = await failure(nil, pipeline) }
    #expect(parts.loader.counts.loads == 3)
  }
}
