import Testing
import Vitrine
import VitrineHTTP
import VitrineImaging
import VitrineRuntime
import VitrineTestSupport
import VitrineTesting

/// The rules of HTTP caching, over a real server.
@Suite(.patient)
struct HTTPCachingTests {
  private let server: LoopbackServer
  private let parts = PipelineParts()
  private let loader: PatientLoader
  private let file = TestPicture.png

  init() throws {
    server = try LoopbackServer()
    loader = PatientLoader()
  }

  private func makePipeline(_ configure: (inout ImagePipeline.Configuration) -> Void = { _ in }) -> ImagePipeline {
    .testing(parts) {
      $0.loader = loader
      configure(&$0)
    }
  }

  private func request(_ path: String, _ fields: HTTPFields = [:]) -> ImageRequest {
    var request = ImageRequest(url: server.url(path))
    request.headers = fields
    return request
  }

  private func paths() -> [String] { server.requests.map(\.path) }

  private func answer(_ path: String, _ control: String? = nil, status: Int = 200, _ more: HTTPFields = [:]) {
    let headers = control.map { ["Cache-Control": $0] + more } ?? more
    let (body, tag) = status == 200 ? (file, "\"1\"") : (Data(), nil)
    server.route(path, LoopbackResponse(status: status, headers: headers, body: body, entityTag: tag))
  }

  private func redirect(_ path: String, to other: String, _ control: String? = nil, status: Int = 302) {
    var response = LoopbackResponse.redirect(to: other, status: status)
    if let control { response.headers.append(name: "Cache-Control", value: control) }
    server.route(path, response)
  }

  private func failure(_ request: ImageRequest, _ pipeline: ImagePipeline) async -> LoadError? {
    await #expect(throws: LoadError.self) { try await pipeline.image(for: request) }
  }

  // MARK: Redirects (RFC 9111 4.2, RFC 9110 15.4)

  @Test(arguments: [302, 303, 307])
  func aTemporaryRedirectWithoutFreshnessIsAskedAgain(status: Int) async throws {
    let pipeline = makePipeline()
    answer("/b", "max-age=31536000, immutable")
    redirect("/a", to: "/b", status: status)
    _ = try await pipeline.image(for: request("/a"))
    await pipeline.cache.flush()

    let response = try await pipeline.imageTask(for: request("/a")).response

    #expect(response.origin == .revalidated)
    #expect(paths() == ["/a", "/b", "/a", "/b"])
    // The target itself is fresh, and so is what is stored under its own URL.
    _ = try await pipeline.image(for: request("/b"))
    _ = try await pipeline.image(for: request("/b"))
    #expect(paths().count == 5)
  }

  @Test(
    arguments: [(302, "max-age=60", 60), (301, nil, 4 * 3600), (308, "max-age=10", 10)] as [(Int, String?, Int)]
  )
  func aRedirectIsFollowedWithoutARequestWhileItIsFresh(status: Int, control: String?, lifetime: Int) async throws {
    let pipeline = makePipeline()
    answer("/b", "max-age=31536000, immutable")
    redirect("/a", to: "/b", control, status: status)
    _ = try await pipeline.image(for: request("/a"))
    await pipeline.cache.flush()
    // The redirect came a moment before the response.
    parts.clock.advance(by: .seconds(lifetime - 1))
    #expect(try await pipeline.imageTask(for: request("/a")).response.origin == .memory)
    #expect(try await makePipeline().imageTask(for: request("/a")).response.origin == .disk)
    #expect(server.counts.requests == 2)

    parts.clock.advance(by: .seconds(1))
    #expect(try await pipeline.imageTask(for: request("/a")).response.origin == .revalidated)
    #expect(server.counts.requests == 4)
  }

  @Test
  func whatComesOverARedirectThatMustNotBeStoredIsKeptNowhere() async throws {
    let pipeline = makePipeline()
    answer("/c", "max-age=31536000, immutable")
    redirect("/a", to: "/b", "no-store")
    redirect("/b", to: "/c", "max-age=60")
    for _ in 0..<2 { _ = try await pipeline.image(for: request("/a")) }
    await pipeline.cache.flush()

    #expect(await !pipeline.cache.contains(request("/a")))
    #expect(server.counts.requests == 6)
  }

  /// RFC 9111 3 and 4.3.4: a 304 updates the fields of what is stored, and with these nothing may be stored.
  @Test(arguments: [("no-store", [:]), ("max-age=60", ["Vary": "*"])] as [(String, HTTPFields)])
  func whatAConfirmationForbidsToStoreIsServedOnceMoreAndKeptNowhere(
    control: String,
    more: HTTPFields,
  ) async throws {
    let pipeline = makePipeline { $0.storagePolicy = .both }
    let small = ImageRequest(url: server.url("/a"), size: .pixels(16, 16))
    answer("/a", "max-age=60")
    _ = try await pipeline.image(for: small)
    await pipeline.cache.flush()
    #expect(await parts.diskCache.entries().count == 2)
    parts.clock.advance(by: .seconds(70))

    answer("/a", control, more)
    #expect(try await pipeline.imageTask(for: small).response.origin == .revalidated)
    await pipeline.cache.flush()

    #expect(await parts.diskCache.entries().isEmpty)
    #expect(pipeline.cachedImage(for: small) == nil)
    #expect(try await pipeline.imageTask(for: small).response.origin == .network)
    #expect(server.requests.map { $0["If-None-Match"] } == [nil, "\"1\"", nil])
  }

  @Test
  func theSameBytesUnderNoStoreTakeAwayWhatWasStored() async throws {
    let pipeline = makePipeline()
    answer("/a", "max-age=60")
    _ = try await pipeline.image(for: request("/a"))
    await pipeline.cache.flush()

    answer("/a", "no-store")
    var anew = request("/a")
    anew.cachePolicy = .reload
    _ = try await pipeline.image(for: anew)
    await pipeline.cache.flush()

    #expect(await parts.diskCache.entries().isEmpty)
    #expect(pipeline.cachedImage(for: request("/a")) == nil)
  }

  // MARK: Errors

  /// RFC 9111 3 and 4.2.
  @Test
  func anErrorIsReusedWhileItIsFreshWithItsAge() async throws {
    let pipeline = makePipeline()
    answer("/a", "max-age=60", status: 404, ["Age": "50, 0"])
    #expect(await failure(request("/a"), pipeline)?.status == 404)
    parts.clock.advance(by: .seconds(4))

    let error = await failure(request("/a"), pipeline)
    #expect(error?.code == .badStatus)
    #expect(error?.status == 404)
    #expect(error?.detail == "answered 54 s ago, fresh for 6 s: the server answered with status 404")
    #expect(server.counts.requests == 1)

    parts.clock.advance(by: .seconds(6))
    answer("/a", "max-age=60")
    #expect(try await pipeline.image(for: request("/a")).width == 64)
  }

  /// RFC 9111 4.2.2 and 9110 15.1.
  @Test
  func anErrorWithADateIsReusedHeuristically() async throws {
    let pipeline = makePipeline()
    // Ten hours before, by the clock of the test.
    let dates: HTTPFields = [
      "Last-Modified": "Sat, 08 Sep 2001 15:46:40 GMT", "Date": "Sun, 09 Sep 2001 01:46:40 GMT",
    ]
    answer("/gone", status: 410, dates)
    answer("/forbidden", status: 403, dates)
    for path in ["/gone", "/gone", "/forbidden", "/forbidden"] { _ = await failure(request(path), pipeline) }
    #expect(paths() == ["/gone", "/forbidden", "/forbidden"])
    parts.clock.advance(by: .seconds(3600))
    _ = await failure(request("/gone"), pipeline)
    #expect(server.counts.requests == 4)
  }

  /// RFC 9111 5.2.2: what the answer says of its freshness decides, also where failures are remembered.
  @Test(arguments: [
    ("no-store", 0), ("no-cache", 0), ("max-age=0", 0), ("max-age=5", 5), ("no-store, max-age=60", 0),
  ])
  func aRememberedFailureBlocksNoRequestThatItsAnswerLetsThrough(control: String, lifetime: Int) async {
    let pipeline = makePipeline { $0.remembersFailures = true }
    answer("/a", control, status: 404)
    _ = await failure(request("/a"), pipeline)
    _ = await failure(request("/a"), pipeline)
    #expect(server.counts.requests == (lifetime > 0 ? 1 : 2))
    parts.clock.advance(by: .seconds(lifetime))
    _ = await failure(request("/a"), pipeline)
    #expect(server.counts.requests == (lifetime > 0 ? 2 : 3))
  }

  @Test
  func anErrorThatSaysNothingIsNotReused() async {
    let pipeline = makePipeline()
    answer("/a", status: 404)
    for _ in 0..<3 { _ = await failure(request("/a"), pipeline) }
    #expect(server.counts.requests == 3)
  }

  /// RFC 9111 4.1.
  @Test
  func anErrorThatVariesIsForThoseWhoAskTheSameWay() async throws {
    let pipeline = makePipeline()
    answer("/a", "max-age=60", status: 404, ["Vary": "Accept-Language"])
    for language in ["eo", "eo", "de"] { _ = await failure(request("/a", ["Accept-Language": language]), pipeline) }
    #expect(server.counts.requests == 2)
  }

  @Test(arguments: [false, true])
  func aRefusalDoesNotOutliveANewToken(remembers: Bool) async throws {
    let token = Lock("old")
    let pipeline = makePipeline {
      $0.remembersFailures = remembers
      $0.willSend = { request in request.headers["Authorization"] = token.withLock { $0 } }
    }
    let file = file
    server.route("/a") { exchange in
      let isNew = exchange.request["Authorization"] == "new"
      let headers: HTTPFields = remembers ? [:] : ["Cache-Control": "max-age=600"]
      exchange.respond(LoopbackResponse(status: isNew ? 200 : 401, headers: headers, body: isNew ? file : Data()))
    }
    _ = await failure(request("/a"), pipeline)
    let again = await failure(request("/a"), pipeline)
    #expect(again?.code == .badStatus)
    #expect(again?.status == 401)
    #expect(server.counts.requests == 1)

    token.withLock { $0 = "new" }
    #expect(try await pipeline.image(for: request("/a")).width == 64)
    #expect(server.counts.requests == 2)
  }

  // MARK: Stale responses (RFC 9111 4.2.4, RFC 5861 4)

  @Test
  func onAServersErrorAStaleImageIsServedOnlyWherePermitted() async throws {
    var freshness = Freshness()
    freshness.staleIfServerError = .seconds(600)
    for (control, freshness, isServed) in [
      ("max-age=60", Freshness(), false), ("max-age=60, stale-if-error=600", Freshness(), true),
      ("max-age=60", freshness, true), ("max-age=60, must-revalidate", freshness, false),
      ("max-age=60, stale-if-error=5", freshness, false),
    ] {
      for isInMemory in [true, false] {
        let path = "/\(UUID().uuidString)"
        let first = makePipeline { $0.freshness = freshness }
        answer(path, control)
        _ = try await first.image(for: request(path))
        await first.cache.flush()
        parts.clock.advance(by: .seconds(70))
        answer(path, status: 503)
        let pipeline = isInMemory ? first : makePipeline { $0.freshness = freshness }
        let result = try? await pipeline.imageTask(for: request(path)).response
        #expect(result?.isStale == (isServed ? true : nil), "\(control), \(isInMemory)")
      }
    }
  }

  @Test
  func aServerThatCannotBeReachedHasADayOrAsLongAsConfigured() async throws {
    for (stale, isServed) in [(86_400, true), (5, false)] {
      let pipeline = makePipeline { $0.freshness.staleIfError = .seconds(stale) }
      let path = "/\(stale)"
      answer(path, "max-age=60")
      _ = try await pipeline.image(for: request(path))
      parts.clock.advance(by: .seconds(70))
      server.route(path) { $0.reset() }
      let response = try? await pipeline.imageTask(for: request(path)).response
      #expect(response?.isStale == (isServed ? true : nil))
    }
  }

  @Test
  func withoutAnyHeaderTheConfigurationDecides() async throws {
    for (lifetime, count) in [(Duration.seconds(4 * 3600), 1), (.zero, 2)] {
      let pipeline = makePipeline { $0.freshness.defaultLifetime = lifetime }
      let path = "/\(count)"
      answer(path)
      for _ in 0..<2 {
        _ = try await pipeline.image(for: request(path))
        await pipeline.cache.flush()
      }
      #expect(paths().filter { $0 == path }.count == count)
    }
  }

  // MARK: Cache-Control of requests (RFC 9111 5.2.1)

  @Test
  func whoeverInsistsSendsAMaximumAgeOfZero() async throws {
    let pipeline = makePipeline()
    answer("/a", "max-age=600")
    _ = try await pipeline.image(for: request("/a"))
    await pipeline.cache.flush()
    parts.clock.advance(by: .seconds(1))
    var insisting = request("/a")
    insisting.cachePolicy = .maxAge(.zero)
    #expect(try await pipeline.imageTask(for: insisting).response.origin == .revalidated)
    insisting.cachePolicy = .reload
    _ = try await pipeline.image(for: insisting)
    #expect(server.requests.map { $0["Cache-Control"] } == [nil, "max-age=0", "no-cache"])
    #expect(server.requests.map { $0["If-None-Match"] } == [nil, "\"1\"", nil])
  }

  @Test
  func cacheControlOfARequestMeansWhatItSays() async throws {
    let pipeline = makePipeline()
    answer("/a", "max-age=60")
    func origin(_ control: String) async throws -> ImageResponse.Origin {
      try await pipeline.imageTask(for: request("/a", ["Cache-Control": control])).response.origin
    }

    #expect(await failure(request("/a", ["Cache-Control": "only-if-cached"]), pipeline)?.code == .notCached)
    #expect(try await origin("no-store") == .network)
    await pipeline.cache.flush()
    #expect(await !pipeline.cache.contains(request("/a")))

    _ = try await pipeline.image(for: request("/a"))
    await pipeline.cache.flush()
    parts.clock.advance(by: .seconds(20))
    #expect(try await origin("only-if-cached") == .memory)
    #expect(try await origin("max-age=30") != .revalidated)
    #expect(try await origin("min-fresh=30") != .revalidated)
    #expect(server.counts.requests == 2)
    for (control, count) in [("no-cache", 3), ("max-age=10", 4), ("min-fresh=50", 5)] {
      // Each confirmation makes it fresh again.
      parts.clock.advance(by: .seconds(20))
      #expect(try await origin(control) == .revalidated)
      #expect(server.counts.requests == count)
      #expect(server.requests.last?["Cache-Control"] == control)
    }

    await pipeline.cache.flush()
    parts.clock.advance(by: .seconds(70))
    let stale = try await pipeline.imageTask(for: request("/a", ["Cache-Control": "max-stale=20"])).response
    #expect(stale.isStale)
    #expect(await failure(request("/a", ["Cache-Control": "only-if-cached"]), pipeline)?.code == .notCached)
    #expect(server.counts.requests == 5)
    #expect(try await origin("max-stale=5") == .revalidated)
  }
}
