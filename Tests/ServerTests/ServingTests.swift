import Testing
import Vitrine
import VitrineHTTP
import VitrineImaging
import VitrineRuntime
import VitrineTestSupport
import VitrineTesting

@testable import VitrineServing

@Suite(.patient)
struct ServingTests {
  private let cat = TestServer.source

  private func loader(_ headers: HTTPFields = ["Cache-Control": "max-age=600", "ETag": "\"1\""]) -> FakeLoader {
    let loader = FakeLoader()
    loader.answer(cat, with: TestServer.photograph, headers: headers)
    return loader
  }

  @Test
  func aThumbnailIsMadeAndThenServedFromMemory() async throws {
    let server = try TestServer(loader())
    let first = try await server.get()
    #expect(first.response.status == 200)
    #expect(first.response.headers["Content-Type"] == "image/jpeg")
    #expect(first.response.headers["X-Content-Type-Options"] == "nosniff")
    #expect(first.response.headers["Content-Security-Policy"]?.contains("sandbox") == true)
    #expect(first.response.headers["X-Request-ID"] != nil)
    let info = try DecoderRegistry.standard.info(of: first.body)
    #expect((info.width, info.height) == (64, 48))
    let second = try await server.get()
    #expect(second.body == first.body)
    #expect(second.response.headers["Server-Timing"] == "memory")
    #expect(server.loader.counts.loads == 1)
    await server.server.stop()
  }

  @Test
  func twoHundredClientsCauseOneFetchOneDecodeOneEncode() async throws {
    let server = try TestServer()
    try await withThrowingTaskGroup(of: Data.self) { group in
      for _ in 0..<200 { group.addTask { try await server.get().body } }
      let load = try await server.loader.nextLoad(of: cat)
      // All have arrived before the source answers.
      try await until { server.metrics.counts.joined >= 199 }
      load.respond(headers: ["Cache-Control": "max-age=600"])
      load.send(TestServer.photograph)
      load.finish()
      var bodies: Set<Data> = []
      for try await body in group { bodies.insert(body) }
      #expect(bodies.count == 1)
    }
    #expect(server.loader.counts.loads == 1)
    // The observer's thread may be a moment behind.
    try await until { server.metrics.count(of: .encode) >= 1 }
    #expect(server.metrics.count(of: .decode) == 1)
    #expect(server.metrics.count(of: .encode) == 1)
    await server.server.stop()
  }

  @Test
  func aKnownImageIsNotSentAgain() async throws {
    let server = try TestServer(loader())
    let tag = try #require(try await server.get().response.headers["ETag"])
    for value in [tag, "W/\(tag)", "\"other\", \(tag)", "*"] {
      let (response, body) = try await server.get(TestServer.target(), ["If-None-Match": value])
      #expect(response.status == 304 && body.isEmpty, "\(value)")
      #expect(response.headers["ETag"] == tag)
    }
    #expect(try await server.get(TestServer.target(), ["If-None-Match": "\"other\""]).response.status == 200)
    let other = try await server.get(TestServer.target("rs:fit:32:32"), ["If-None-Match": tag])
    #expect(other.response.status == 200)
    await server.server.stop()
  }

  @Test
  func aHeadHasTheFieldsAndNoBody() async throws {
    let server = try TestServer(loader())
    let (whole, body) = try await server.get()
    let (head, nothing) = try await server.get(method: .head)
    #expect(head.status == 200 && nothing.isEmpty)
    #expect(head.headers["Content-Length"] == "\(body.count)")
    #expect(head.headers["ETag"] == whole.headers["ETag"])
    await server.server.stop()
  }

  @Test
  func otherMethodsAreRefusedAndOptionsAnswered() async throws {
    let server = try TestServer(loader()) { $0.allowedOrigin = "https://shop.invalid" }
    let options = try await server.get(method: HTTPMethod("OPTIONS")).response
    #expect(options.status == 204)
    #expect(options.headers["Access-Control-Allow-Origin"] == "https://shop.invalid")
    let put = try await server.get(method: .put).response
    #expect(put.status == 405)
    #expect(put.headers["Allow"] == "GET, HEAD, OPTIONS")
    #expect(try await server.get().response.headers["Access-Control-Allow-Origin"] == "https://shop.invalid")
    await server.server.stop()
  }

  @Test
  func freshnessOfTheSourceIsPassedOnWithinBounds() async throws {
    func control(_ headers: HTTPFields) async throws -> String? {
      let server = try TestServer(loader(headers)) {
        ($0.minAge, $0.maxAge, $0.clock) = (.seconds(60), .seconds(1000), ManualClock())
      }
      let control = try await server.get().response.headers["Cache-Control"]
      await server.server.stop()
      return control
    }
    #expect(
      try await control(["Cache-Control": "max-age=600, stale-while-revalidate=30, stale-if-error=90"])
        == "public, max-age=600, stale-while-revalidate=30, stale-if-error=90"
    )
    #expect(try await control(["Cache-Control": "max-age=1"])?.hasPrefix("public, max-age=60,") == true)
    #expect(try await control(["Cache-Control": "max-age=100000"])?.hasPrefix("public, max-age=1000,") == true)
    #expect(try await control(["Cache-Control": "no-store"]) == "no-store")
  }

  @Test
  func errorsAreShortAndSayNothingOfTheInside() async throws {
    let loader = loader()
    loader.answer("http://images.invalid/text", with: Data("no image at all".utf8))
    loader.answer("http://images.invalid/gone", FakeResponse(status: 404))
    loader.answer("http://images.invalid/broken", FakeResponse(status: 500))
    let server = try TestServer(loader) { $0.localRoot = "/" }
    for (source, status) in [
      ("http://images.invalid/text", 422), ("http://images.invalid/gone", 404), ("http://images.invalid/broken", 502),
      ("local:///no/such/file", 404), ("ftp://images.invalid/a", 400), ("http://127.0.0.1/a", 403),
      ("http://local.vitrine.invalid/etc/passwd", 403),
    ] {
      let (response, body) = try await server.get(TestServer.target(of: source))
      let text = String(decoding: body, as: UTF8.self)
      #expect(response.status == status, "\(source): \(text)")
      #expect(text.utf8.count < 200 && text.contains("(request \(response.headers["X-Request-ID"] ?? "?"))"))
      #expect(!text.contains("images.invalid"))
    }
    await server.server.stop()
  }

  @Test
  func anImageThatCannotBeDecodedIsRefusedWithItsReason() async throws {
    let (loader, photograph) = (loader(), TestServer.photograph)
    loader.answer("http://images.invalid/text", with: Data("no image at all".utf8))
    loader.answer("http://images.invalid/half", with: photograph.prefix(photograph.count / 2))
    let server = try TestServer(loader) { ($0.maxSourcePixels, $0.showsDamaged) = (640 * 480, false) }
    let wide = try EncoderRegistry.standard.encode(Bitmap.testPattern(width: 641, height: 480), as: .png())
    loader.answer("http://images.invalid/wide", with: wide)
    for (source, reason) in [
      ("text", "the source is no image that can be read"), ("half", "the source is incomplete or damaged"),
      ("wide", "the source is too large to be decoded"),
    ] {
      let (response, body) = try await server.get(TestServer.target(of: "http://images.invalid/\(source)"))
      let text = String(decoding: body, as: UTF8.self)
      #expect(response.status == 422)
      #expect(text.hasPrefix(reason), "\(text)")
    }
    await server.server.stop()
  }

  @Test
  func aDamagedSourceIsShownSaysSoAndIsSoonAskedForAgain() async throws {
    let loader = FakeLoader()
    let (source, photograph) = ("http://images.invalid/half", TestServer.photograph)
    let headers: HTTPFields = ["Cache-Control": "max-age=600, stale-if-error=900", "ETag": "\"1\""]
    loader.answer(source, with: photograph.prefix(photograph.count / 2), headers: headers)
    let server = try TestServer(loader) { $0.clock = ManualClock() }

    // The second answer is from memory.
    for _ in 0..<2 {
      let (response, body) = try await server.get(TestServer.target(of: source, ""))
      #expect(response.status == 200)
      #expect(response.headers["Vitrine-Damage"] == "truncated")
      #expect(response.headers["Cache-Control"] == "public, max-age=60")
      #expect(response.headers["Content-Type"] == "image/jpeg")
      let bitmap = try DecoderRegistry.standard.decode(body).bitmap
      #expect(bitmap[32, 47].isWithin(3, of: SIMD4(255, 255, 255, 255)))
    }
    #expect(server.metrics.counts.damaged == 1)
    await server.server.stop()
  }

  @Test
  func aPlaceholderStandsInForAnError() async throws {
    let folder = try TemporaryFolder()
    try TestServer.photograph.write(to: URL(filePath: folder.path + "/placeholder.jpg"))
    let loader = FakeLoader()
    loader.answer(cat, FakeResponse(status: 404))
    let server = try TestServer(loader) { $0.placeholder = folder.path + "/placeholder.jpg" }
    let (response, body) = try await server.get()
    #expect(response.status == 404)
    #expect(response.headers["Content-Type"] == "image/jpeg")
    #expect(try DecoderRegistry.standard.info(of: body).width == 64)
    await server.server.stop()
  }

  @Test
  func factsAreJSON() async throws {
    let server = try TestServer(loader())
    let (response, body) = try await server.get("/info/_/plain/\(cat)")
    #expect(response.headers["Content-Type"] == "application/json")
    let text = String(decoding: body, as: UTF8.self)
    #expect(text.hasPrefix("{\"format\":\"jpeg\",\"width\":640,\"height\":480,"), "\(text)")
    await server.server.stop()
  }

  @Test
  func healthReadinessAndMetricsAreThere() async throws {
    let server = try TestServer(loader()) { $0.metricsToken = "secret" }
    _ = try await server.get()
    #expect(try await server.get("/health").response.status == 200)
    #expect(try await server.get("/ready").response.status == 200)
    #expect(try await server.get("/metrics").response.status == 401)
    let (response, body) = try await server.get("/metrics", ["Authorization": "Bearer secret"])
    #expect(response.status == 200)
    let text = String(decoding: body, as: UTF8.self)
    #expect(text.contains("vitrine_images_total{tier=\"network\"} 1\n"))
    #expect(text.contains("vitrine_requests_total{status=\"401\"} 1\n"))
    #expect(text.contains("vitrine_request_duration_seconds_count"))
    #expect(text.contains("process_resident_memory_bytes "))
    await server.server.stop()
  }

  /// An operator counts errors by what failed, which clients do not learn.
  @Test
  func errorsAreCountedAndLoggedByTheirKind() async throws {
    let folder = try TemporaryFolder()
    let path = folder.path + "/log"
    let log = unsafe open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0o600)
    defer { close(log) }
    let loader = FakeLoader()
    loader.answer("http://images.invalid/gone", FakeResponse(status: 404))
    loader.answer("http://images.invalid/text", with: Data("no image".utf8))
    loader.answer("http://images.invalid/cut", with: TestServer.photograph.prefix(3_000))
    let server = try TestServer(loader, log: log) {
      $0.showsDamaged = false
      $0.urls.sources.refusedHosts = ["refused.invalid"]
    }
    let expected = [
      ("http://images.invalid/gone", 404, "badStatus"), ("http://images.invalid/text", 422, "unrecognised"),
      ("http://images.invalid/cut", 422, "truncated"), ("http://10.0.0.1/a", 403, "addressRefused"),
      ("http://refused.invalid/a", 403, "sourceNotAllowed"), ("local:///a", 403, "sourceNotAllowed"),
    ]
    for (source, status, code) in expected {
      let (response, body) = try await server.get(TestServer.target(of: source))
      #expect(response.status == status, "\(source)")
      // Nothing of the server's network is told.
      #expect(!String(decoding: body, as: UTF8.self).contains("10.0.0"))
      // An answer is counted once it was sent.
      try await until { server.metrics.counts.byError[code] ?? 0 >= 1 }
    }
    _ = try await server.get("/_/rs:no/plain/\(cat)")
    try await until {
      let counts = server.metrics.counts.byError
      return counts["badRequest"] == 1 && counts["sourceNotAllowed"] == 2
    }
    let metrics = String(decoding: try await server.get("/metrics").body, as: UTF8.self)
    #expect(metrics.contains("vitrine_errors_total{code=\"truncated\"} 1\n"))
    await server.server.stop()
    let lines = try String(decoding: Data(contentsOf: URL(filePath: path)), as: UTF8.self).split(separator: "\n")
    #expect(lines.contains { $0.contains("\"code\":\"addressRefused\"") && $0.contains("which is private") })
    #expect(lines.contains { $0.contains("the host is refused") })
    #expect(lines.count { $0.contains("\"code\":") } == expected.count + 1)
  }

  @Test
  func theCacheAndTheProcessHaveMetrics() async throws {
    let folder = try TemporaryFolder()
    let server = try TestServer(loader()) { $0.cacheFolder = folder.path + "/cache" }
    _ = try await server.get()
    await server.server.pipeline.cache.flush()
    let text = String(decoding: try await server.get("/metrics").body, as: UTF8.self)
    for line in [
      "vitrine_cache_limit_bytes 1000000000", "vitrine_cache_warnings_total 0", "vitrine_build_info{version=\"",
    ] {
      #expect(text.contains("\n\(line)"), "\(line)")
    }
    func number(_ name: String) -> Double? {
      text.split(separator: "\n").first { $0.hasPrefix("\(name) ") }.flatMap { Double($0.dropFirst(name.count + 1)) }
    }
    #expect(number("vitrine_cache_entries") ?? 0 >= 1)
    #expect(number("vitrine_cache_bytes") ?? 0 > 1_000)
    #expect(number("process_open_fds") ?? 0 > 3)
    #expect(number("process_max_fds") ?? 0 > number("process_open_fds") ?? .infinity)
    #expect(number("process_cpu_seconds_total") ?? 0 > 0)
    #expect(number("process_start_time_seconds") ?? 0 > 1.7e9)
    await server.server.stop()
  }
}
