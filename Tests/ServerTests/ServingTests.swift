import Testing
import Vitrine
import VitrineHTTP
import VitrineImaging
import VitrineRuntime
import VitrineSandbox
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
        $0.defaultAge = .seconds(700)
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
    // A server is a shared cache.
    #expect(try await control(["Cache-Control": "max-age=600, s-maxage=300"])?.hasPrefix("public, max-age=300") == true)
    #expect(try await control([:])?.hasPrefix("public, max-age=700,") == true)
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

  /// A GIF of two frames, red and blue.
  private static let moving =
    Data(
      base64Encoded:
        "R0lGODlhEAAMAIEAAP8AAAAA/wAAAAAAACH/C05FVFNDQVBFMi4wAwEAAAAh+QQACgAAACwAAAAAEAAMAAAIGQABCBxIsKDBgwgTKlzIsKHDhxAjSpwoMCAAIfkEAQoAAQAsAAAAABAADACBAAD/AAAAAAAAAAAACBkAAQgcSLCgwYMIEypcyLChw4cQI0qcKDAgADs="
    ) ?? Data()

  /// Without an extension the source's format stays where browsers show it, and `Accept` may choose a smaller one.
  @Test(arguments: [
    ("png", "", "image/png"), ("webp", "", "image/webp"), ("jpeg", "", "image/jpeg"), ("gif", "", "image/gif"),
    ("qoi", "", "image/jpeg"), ("gif", "image/webp", "image/webp"), ("png", "image/webp,*/*", "image/webp"),
    ("gif", "image/webp;q=0", "image/gif"),
  ])
  func theFormatIsTheSourcesOrTheClients(source: String, accept: String, type: String) async throws {
    let loader = FakeLoader()
    let url = "http://images.invalid/a.\(source)"
    let format = try #require(ImageFormat(fileExtension: source))
    let still = try EncoderRegistry.standard.encode(
      Bitmap.testPattern(width: 64, height: 48),
      as: ImageEncoding(format),
    )
    loader.answer(url, with: source == "gif" ? Self.moving : still)
    let server = try TestServer(loader)
    let (response, body) = try await server.get(TestServer.target("rs:fit:10:10", of: url, ""), ["Accept": accept])
    #expect(response.headers["Content-Type"] == type)
    let info = try DecoderRegistry.standard.info(of: body)
    #expect((info.frameCount > 1) == (source == "gif"))
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

  /// A picture of 10 by 10 pixels, of which fallbacks make larger ones.
  private static let sign = Data((try? Bitmap.testPattern(width: 10, height: 10).encoded(as: .png())) ?? Data())

  @Test(arguments: [(nil, nil), (200, nil), (410, Duration.seconds(9))] as [(Int?, Duration?)])
  func aURLStandsInForAnError(status: Int?, age: Duration?) async throws {
    let loader = FakeLoader()
    for url in [cat, "http://images.invalid/dog.jpg"] { loader.answer(url, FakeResponse(status: 404)) }
    loader.answer(
      "http://images.invalid/sign.png",
      FakeResponse(headers: ["Cache-Control": "max-age=600"], body: Self.sign),
    )
    let server = try TestServer(loader) {
      $0.placeholder = "http://images.invalid/sign.png"
      // An operator's own need not be allowed.
      $0.urls.sources.prefixes = [try! SourcePrefix("http://images.invalid/dog.jpg"), try! SourcePrefix(cat)]
      ($0.placeholderStatus, $0.placeholderAge) = (status, age)
    }
    for source in [cat, "http://images.invalid/dog.jpg"] {
      let (response, body) = try await server.get(TestServer.target("s:6:6", of: source, ""))
      #expect(response.status == status ?? 404)
      #expect(response.headers["Cache-Control"] == "public, max-age=\(age == nil ? 10 : 9)")
      #expect(response.headers["Content-Type"] == "image/png")
      #expect(response.headers["Fallback-Image"] == "1")
      #expect(try DecoderRegistry.standard.info(of: body).width == 6)
    }
    #expect(loader.requests.count { $0.url.string == "http://images.invalid/sign.png" } == 1)
    // They are counted once they are sent.
    try await until { server.metrics.counts.byError.values.reduce(0, +) == 2 }
    await server.server.stop()
  }

  @Test
  func aURLNamesWhatStandsInForItsErrors() async throws {
    let folder = try TemporaryFolder()
    try TestServer.photograph.write(to: URL(filePath: folder.path + "/placeholder.jpg"))
    let loader = FakeLoader()
    for url in [cat, "http://images.invalid/none.png"] { loader.answer(url, FakeResponse(status: 404)) }
    loader.answer("http://images.invalid/sign.png", FakeResponse(body: Self.sign))
    let server = try TestServer(loader) { $0.placeholder = folder.path + "/placeholder.jpg" }
    func type(_ fallback: String) async throws -> String? {
      let name = Data(fallback.utf8).base64EncodedString().replacing("=", with: "").replacing("+", with: "-")
      let (response, _) = try await server.get(TestServer.target("s:6:6/fiu:\(name)", of: cat, ""))
      #expect(response.status == 404)
      return response.headers["Content-Type"]
    }
    #expect(try await type("http://images.invalid/sign.png") == "image/png")
    // The server's own is the last resort.
    #expect(try await type("http://images.invalid/none.png") == "image/jpeg")
    await server.server.stop()
  }

  /// None of them holds a place for which the source for errors waits.
  @Test
  func manyBrokenFilesHaveAFileThatStandsInForAll() async throws {
    let folder = try TemporaryFolder()
    try Self.sign.write(to: URL(filePath: folder.path + "/sign.png"))
    for number in 0..<12 {
      try Data("no image \(number)".utf8).write(to: URL(filePath: folder.path + "/\(number).jpg"))
    }
    let server = try TestServer {
      ($0.localRoot, $0.placeholder, $0.maxConcurrentDecodes) = (folder.path, "local:///sign.png", 1)
    }
    try await withThrowingTaskGroup { group in
      for number in 0..<12 {
        group.addTask {
          let (response, body) = try await server.get(TestServer.target("s:5:5", of: "local:///\(number).jpg", "@png"))
          #expect(response.status == 422)
          #expect(try DecoderRegistry.standard.info(of: body).width == 5)
        }
      }
      try await group.waitForAll()
    }
    await server.server.stop()
  }

  @Test(arguments: ["http://127.0.0.1/a.png", "ftp://images.invalid/a.png", "local:///a.png", "s3://none/a.png"])
  func aSourceForErrorsThatCannotBeLoadedKeepsTheServerFromStarting(place: String) {
    let error = #expect(throws: ServerError.self) { try TestServer { $0.placeholder = place } }
    #expect(error?.description.hasPrefix("the placeholder \(place) cannot be used: ") == true)
  }

  @Test
  func aFileIsPassedOnAsItIs() async throws {
    let loader = FakeLoader()
    loader.answer(cat, FakeResponse(headers: ["Cache-Control": "max-age=600"], body: Self.sign))
    let server = try TestServer(loader) { $0.negotiation.formats = [.webp] }
    for (options, ending, isPassedOn) in [
      ("s:5:5/skp:png", "", true), ("s:5:5/skp:png:gif/kcr:0", "@png", true), ("s:5:5/skp:png", "@jpg", false),
      ("s:5:5/skp:gif", "", false), ("s:5:5", "@png", false),
    ] {
      let target = TestServer.target(options, of: cat, ending)
      let (response, body) = try await server.get(target, ["Accept": "image/webp"])
      #expect(response.status == 200)
      #expect((body == Self.sign) == isPassedOn, "\(target)")
      if isPassedOn {
        #expect(response.headers["Content-Type"] == "image/png")
        let tag = try #require(response.headers["ETag"])
        #expect(try await server.get(target, ["If-None-Match": tag, "Accept": "image/webp"]).response.status == 304)
      }
    }
    // The 304 came from memory.
    #expect(loader.counts.loads == 5)
    await server.server.stop()
  }

  @Test(.enabled(if: BuiltProgram.path("vitrine-codecs") != nil))
  func aDrawingIsPassedOnUnlessAFormatIsAskedForOrItIsCompressed() async throws {
    let drawing = Data(
      "<svg xmlns='http://www.w3.org/2000/svg' width='8' height='8'><script>alert(1)</script></svg>".utf8
    )
    // Of `gzip -n`.
    let packed = try #require(
      Data(
        base64Encoded:
          "H4sIAAAAAAACA7MpLktXqMjNySu2Vc8oKSmw0tcvLy/XKzfWyy9K1zcyMDDQB6pQVyjPTCnJsFW3UFfISM1MzygBMfXtAHp6QFs+AAAA"
      )
    )
    for rasterizes in [false, true] {
      let loader = FakeLoader()
      loader.answer("http://images.invalid/a.svg", FakeResponse(body: drawing))
      loader.answer("http://images.invalid/a.svgz", FakeResponse(body: packed))
      let server = try TestServer(loader) {
        ($0.sandbox, $0.codecsProgram) = (.external, BuiltProgram.path("vitrine-codecs"))
        $0.rasterizesDrawings = rasterizes
      }
      let (response, body) = try await server.get(TestServer.target("w:4", of: "http://images.invalid/a.svg", ""))
      #expect(response.headers["Content-Type"] == (rasterizes ? "image/png" : "image/svg+xml"))
      #expect((body == drawing) != rasterizes)
      #expect(response.headers["Content-Security-Policy"]?.contains("default-src 'none'") == true)
      for target in [
        TestServer.target("w:4", of: "http://images.invalid/a.svg", "@png"),
        TestServer.target("w:4", of: "http://images.invalid/a.svgz", ""),
      ] {
        #expect(try await server.get(target).response.headers["Content-Type"] == "image/png", "\(target)")
      }
      await server.server.stop()
    }
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

  /// A proxy in front names the request and the client, and the log has both.
  @Test
  func aRequestKeepsItsIDAndItsClientInTheLog() async throws {
    let folder = try TemporaryFolder()
    let path = folder.path + "/log"
    let log = unsafe open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0o600)
    defer { close(log) }
    let trusting = try TestServer(loader(), log: log) { $0.trustsForwardedFor = true }
    let id = "4bf92f35-77b3_4da6.9"
    let fields: HTTPFields = ["X-Request-ID": id, "X-Forwarded-For": "203.0.113.1, 198.51.100.7"]
    #expect(try await trusting.get(TestServer.target(), fields).response.headers["X-Request-ID"] == id)
    // What could be more than a name is replaced.
    for bad in ["a b", "a\"b", "ä", String(repeating: "a", count: 65), ""] {
      let answered = try await trusting.get(TestServer.target(), ["X-Request-ID": bad]).response.headers["X-Request-ID"]
      #expect(answered != bad && answered?.isEmpty == false, "\(bad)")
    }
    await trusting.server.stop()
    let lines = try String(decoding: Data(contentsOf: URL(filePath: path)), as: UTF8.self).split(separator: "\n")
    #expect(lines.contains { $0.contains("\"id\":\"\(id)\",\"client\":\"198.51.100.7\"") })
    #expect(lines.filter { $0.contains("\"client\":\"127.0.0.1\"") }.count == 5)
  }

  /// An operator learns why a file is refused; clients do not, so that they cannot ask what there is.
  @Test
  func refusedFilesAreCountedByTheReason() async throws {
    let folder = try TemporaryFolder()
    let (root, log) = (folder.path + "/root", folder.path + "/log")
    let files = FileManager.default
    try files.createDirectory(atPath: root + "/folder.jpg", withIntermediateDirectories: true)
    try files.createSymbolicLink(atPath: root + "/link.jpg", withDestinationPath: "/etc/passwd")
    try files.createSymbolicLink(atPath: root + "/way", withDestinationPath: "folder.jpg")
    try TestServer.photograph.write(to: URL(filePath: root + "/secret.jpg"))
    unsafe chmod(root + "/secret.jpg", 0)
    let output = unsafe open(log, O_WRONLY | O_CREAT | O_CLOEXEC, 0o600)
    defer { close(output) }
    let server = try TestServer(log: output) { $0.localRoot = root }
    var expected = ["none.jpg": "fileMissing", "none/a.jpg": "fileMissing", "link.jpg": "fileIsLink"]
    expected.merge(["way/a.jpg": "fileIsLink", "folder.jpg": "fileUnreadable"]) { $1 }
    // Root reads everything.
    if getuid() != 0 { expected["secret.jpg"] = "filePermission" }
    var texts: Set<String> = []
    for (name, _) in expected {
      let (response, body) = try await server.get(TestServer.target(of: "local:///\(name)"))
      #expect(response.status == 404)
      texts.insert(String(String(decoding: body, as: UTF8.self).prefix { $0 != "(" }))
    }
    #expect(texts == ["the source does not exist "])
    try await until { server.metrics.counts.byError.values.reduce(0, +) == expected.count }
    let counts = server.metrics.counts.byError
    #expect(counts == Dictionary(expected.values.map { ($0, 1) }) { $0 + $1 })
    await server.server.stop()
    let lines = try String(decoding: Data(contentsOf: URL(filePath: log)), as: UTF8.self)
    #expect(lines.contains("Too many levels of symbolic links") && lines.contains("it is a folder"))
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
