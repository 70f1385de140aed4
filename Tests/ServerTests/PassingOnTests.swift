import Testing
import Vitrine
import VitrineHTTP
import VitrineImaging
import VitrineRuntime
import VitrineTestSupport
import VitrineTesting

@testable import VitrineServing

/// The words of a source's server that reach the clients, and those of a client's that reach no other server.
@Suite(.patient)
struct PassingOnTests {
  private let cat = TestServer.source

  private func loader(_ headers: HTTPFields) -> FakeLoader {
    let loader = FakeLoader()
    loader.answer(cat, with: TestServer.photograph, headers: headers)
    return loader
  }

  @Test(arguments: [
    "private, max-age=600", "max-age=600, private=\"set-cookie\"", "s-maxage=900, private, max-age=600",
  ])
  func whatIsPrivateStaysPrivate(_ control: String) async throws {
    let folder = try TemporaryFolder()
    func start(_ loader: FakeLoader) throws -> TestServer {
      try TestServer(loader) { ($0.cacheFolder, $0.clock) = (folder.path + "/cache", ManualClock()) }
    }
    let first = try start(loader(["Cache-Control": control]))
    // Made, from memory, and from disk.
    for tier in ["network", "memory"] {
      let response = try await first.get().response
      #expect(response.headers["Server-Timing"]?.hasPrefix(tier) == true)
      #expect(response.headers["Cache-Control"]?.hasPrefix("private, max-age=600") == true)
    }
    await first.server.stop()
    let second = try start(FakeLoader())
    let response = try await second.get().response
    #expect(response.headers["Server-Timing"]?.hasPrefix("disk") == true)
    let passed = try #require(response.headers["Cache-Control"])
    #expect(passed.hasPrefix("private, max-age=600") && !passed.contains("public") && !passed.contains("s-maxage"))
    await second.server.stop()
  }

  @Test
  func theLastChangeIsThatOfTheSource() async throws {
    let folder = try TemporaryFolder()
    let date = "Sun, 06 Nov 1994 08:49:37 GMT"
    func start(_ loader: FakeLoader) throws -> TestServer {
      try TestServer(loader) { $0.cacheFolder = folder.path + "/cache" }
    }
    let first = try start(loader(["Cache-Control": "max-age=600", "Last-Modified": date]))
    #expect(try await first.get().response.headers["Last-Modified"] == date)
    #expect(try await first.get(TestServer.target(), ["If-Modified-Since": date]).response.status == 304)
    let earlier = "Sun, 06 Nov 1994 08:49:36 GMT"
    #expect(try await first.get(TestServer.target(), ["If-Modified-Since": earlier]).response.status == 200)
    // RFC 9110 13.1.3: what is no date is ignored.
    let wrong = "Sun, 6 Nov 1994 08:49:37 GMT"
    #expect(try await first.get(TestServer.target(), ["If-Modified-Since": wrong]).response.status == 200)
    await first.server.stop()
    let second = try start(FakeLoader())
    #expect(try await second.get().response.headers["Last-Modified"] == date)
    #expect(second.loader.counts.loads == 0)
    await second.server.stop()
  }

  @Test
  func aLastChangeThatNobodyCanWriteIsNoneOfTheServersTrouble() async throws {
    let clock = ManualClock()
    func modified(_ date: String) async throws -> String? {
      let server = try TestServer(loader(["Last-Modified": date, "Cache-Control": "max-age=600"])) { $0.clock = clock }
      let field = try await server.get().response.headers["Last-Modified"]
      await server.server.stop()
      return field
    }
    #expect(try await modified("Mon, 01 Jan 0001 00:00:00 GMT") == "Thu, 01 Jan 1970 00:00:00 GMT")
    // None is later than the answer.
    #expect(try await modified("Fri, 31 Dec 9999 23:59:59 GMT") == HTTPTime.http(clock.now))
    #expect(try await modified("soon") == HTTPTime.http(clock.now))
  }

  @Test
  func aFileHasTheTimeOfItsLastChange() async throws {
    let folder = try TemporaryFolder()
    let path = folder.path + "/a.jpg"
    try TestServer.photograph.write(to: URL(filePath: path))
    let time = Date(timeIntervalSince1970: 784_111_777)
    try FileManager.default.setAttributes([.modificationDate: time], ofItemAtPath: path)
    let server = try TestServer { $0.localRoot = folder.path }
    let response = try await server.get(TestServer.target(of: "local:///a.jpg")).response
    #expect(response.headers["Last-Modified"] == "Sun, 06 Nov 1994 08:49:37 GMT")
    await server.server.stop()
  }

  @Test
  func theTimesOfStagesAreThoseOfTheWork() async throws {
    let server = try TestServer(loader(["Cache-Control": "max-age=600"]))
    let made = try #require(
      try await server.get(TestServer.target("rs:fit:64:64/bl:2")).response.headers["Server-Timing"]
    )
    #expect(made.hasPrefix("network;dur="))
    for stage in ["fetch", "decode", "process", "encode"] { #expect(made.contains(", \(stage);dur="), "\(made)") }
    let known = try await server.get(TestServer.target("rs:fit:64:64/bl:2")).response.headers["Server-Timing"]
    #expect(known == "memory")
    await server.server.stop()
  }

  @Test
  func aPlaceholderIsEncodedOnceForAllErrors() async throws {
    let folder = try TemporaryFolder()
    try TestServer.photograph.write(to: URL(filePath: folder.path + "/placeholder.jpg"))
    let server = try TestServer { $0.placeholder = folder.path + "/placeholder.jpg" }
    var bodies: Set<Data> = []
    for number in 0..<5 {
      let url = "http://images.invalid/\(number)"
      server.loader.answer(url, FakeResponse(status: 404))
      let (response, body) = try await server.get(TestServer.target(of: url))
      #expect(response.status == 404)
      bodies.insert(body)
    }
    #expect(bodies.count == 1)
    let small = try await server.get(TestServer.target("rs:fit:32:32", of: "http://images.invalid/0"))
    #expect(try DecoderRegistry.standard.info(of: small.body).width == 32)
    await server.server.pipeline.flushEvents()
    #expect(server.metrics.count(of: .encode) == 2)
    await server.server.stop()
  }

  // MARK: Redirects

  private func server(allowing prefix: String) throws -> TestServer {
    var allowed = AddressGuard()
    (allowed.ports, allowed.allowed) = (nil, [try #require(IPNetwork("127.0.0.0/8"))])
    let rule = try SourcePrefix(prefix)
    return try TestServer { [allowed] in
      ($0.loader, $0.addressGuard, $0.urls.sources.prefixes) = (nil, allowed, [rule])
    }
  }

  @Test
  func aRedirectToWhatIsNotAllowedIsNotFollowed() async throws {
    let source = try LoopbackServer()
    let other = try LoopbackServer()
    for server in [source, other] { server.route("*", LoopbackResponse(body: TestServer.photograph)) }
    source.route("/open/a", .redirect(to: "/closed"))
    source.route("/open/b", .redirect(to: other.url("/open/b")))
    source.route("/open/c", .redirect(to: "http://local.vitrine.invalid/etc/passwd"))
    source.route("/open/d", .redirect(to: "/open/fine"))
    let server = try server(allowing: source.url("/open/"))
    for name in ["a", "b", "c"] {
      #expect(try await server.get(TestServer.target(of: source.url("/open/\(name)"))).response.status == 403)
    }
    #expect(try await server.get(TestServer.target(of: source.url("/open/d"))).response.status == 200)
    #expect(try await server.get(TestServer.target(of: source.url("/closed"))).response.status == 403)
    #expect(source.requests.map(\.path) == ["/open/a", "/open/b", "/open/c", "/open/d", "/open/fine"])
    #expect(other.counts.requests == 0)
    await server.server.stop()
  }
}
