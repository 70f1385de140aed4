import Testing
import VitrineHTTP
import VitrineRuntime
import VitrineTestSupport

/// What a real server has to say, over HTTP/1.1 and HTTP/2, plain and over TLS.
@Suite(.patient, .enabled(if: Nginx.isInstalled, "nginx or openssl is not installed: make setup"))
struct NginxTests {
  let nginx: Nginx
  let loader: CurlLoader

  init() throws {
    nginx = try #require(Nginx.shared)
    loader = nginx.makeLoader()
  }

  @Test(arguments: [Nginx.Listener.plain, .http2, .tls])
  func aFileArrivesAsItIs(listener: Nginx.Listener) async throws {
    let figures = Lock(LoadMetrics?.none)
    var hooks = LoadHooks()
    hooks.didTransfer = { metrics in figures.withLock { $0 = metrics } }
    let (response, data) = try await loader.data(
      for: try HTTPRequest.patient(nginx.url("/file", listener)),
      hooks: hooks,
    )
    #expect(response.status == 200)
    #expect(response.headers["Content-Encoding"] == nil)
    #expect(data == Nginx.file)
    let metrics = try #require(figures.withLock { $0 })
    #expect(metrics.httpVersion == (listener == .http2 ? "2" : "1.1"))
    #expect((metrics.secured != nil) == (listener != .plain))
  }

  @Test(arguments: [Nginx.Listener.plain, .http2, .tls])
  func validatorsAndRangesAreUnderstood(listener: Nginx.Listener) async throws {
    let url = nginx.url("/file", listener)
    let tag = try #require(try await loader.data(url).0.headers["ETag"])
    #expect(try await loader.data(url, headers: ["If-None-Match": tag]).0.status == 304)
    let (part, rest) = try await loader.data(url, headers: ["Range": "bytes=40000-", "If-Range": tag])
    #expect(part.status == 206)
    #expect(part.headers["Content-Range"] == "bytes 40000-49999/50000")
    #expect(rest == Nginx.file.dropFirst(40_000))
    let (whole, all) = try await loader.data(url, headers: ["Range": "bytes=40000-", "If-Range": "\"other\""])
    #expect(whole.status == 200)
    #expect(all == Nginx.file)
    #expect(try await loader.data(url, headers: ["Range": "bytes=50000-"]).0.status == 416)
  }

  @Test(arguments: [Nginx.Listener.plain, .http2, .tls])
  func redirectsAndChallengesWork(listener: Nginx.Listener) async throws {
    let (response, data) = try await loader.data(nginx.url("/from", listener))
    #expect(response.redirectCount == 1)
    #expect(data == Nginx.file)
    var hooks = LoadHooks()
    hooks.challenge = { _ in ["Authorization": "Basic bWU6c2VjcmV0"] }
    let request = try HTTPRequest.patient(nginx.url("/private", listener))
    #expect(try await loader.data(for: request).0.status == 401)
    #expect(try await loader.data(for: request, hooks: hooks).1 == Nginx.file)
  }

  @Test
  func aRedirectFromHTTPSToHTTPIsRefused() async throws {
    #expect(try await loader.failure(nginx.url("/downgrade", .http2)).code == .redirectRefused)
  }

  @Test
  func manyLoadsShareOneConnectionOfHTTP2() async throws {
    let url = nginx.url("/file", .http2)
    let connections = try await withThrowingTaskGroup(of: String?.self) { group in
      for _ in 0..<200 {
        group.addTask { [loader] in
          let (response, data) = try await loader.data(url)
          return data == Nginx.file ? response.headers["X-Connection"] : nil
        }
      }
      return try await group.reduce(into: Set<String?>()) { $0.insert($1) }
    }
    #expect(connections.count == 1)
    #expect(!connections.contains(nil))
  }

  @Test
  func aNewConnectionTakesUpTheSessionOfTLS() async throws {
    let url = nginx.url("/file", .tls)
    let close: HTTPFields = ["Connection": "close"]
    #expect(try await loader.data(url, headers: close).0.headers["X-Session"] == ".")
    #expect(try await loader.data(url, headers: close).0.headers["X-Session"] == "r")
  }

  @Test(arguments: [Nginx.Listener.plain, .http2, .tls])
  func halfOfTheLoadsCancelledTheOthersArrive(listener: Nginx.Listener) async throws {
    let url = nginx.url("/file", listener)
    let request = try HTTPRequest.patient(url)
    let sinks = (0..<200).map { _ in RecordingSink() }
    let handles = sinks.map { loader.load(request, into: $0) }
    for (number, handle) in handles.enumerated() where number % 2 == 1 { handle.cancel() }
    for (number, sink) in sinks.enumerated() {
      let code = await sink.end()
      #expect(code == nil || number % 2 == 1 && code == .cancelled)
      if code == nil { #expect(sink.byteCount == 50_000) }
    }
    #expect(try await loader.data(url).1 == Nginx.file)
  }

  @Test
  func aPausedStreamOfHTTP2HoldsUpNoOther() async throws {
    let sink = RecordingSink(onHead: { .pause })
    let handle = loader.load(try HTTPRequest.patient(nginx.url("/file", .http2)), into: sink)
    await sink.wait { $0.count == 1 }
    for _ in 0..<20 { #expect(try await loader.data(nginx.url("/file", .http2)).1 == Nginx.file) }
    #expect(sink.events == [.head(200)])
    handle.resume()
    #expect(await sink.end() == nil)
    #expect(sink.byteCount == 50_000)
  }

  // MARK: Trust

  @Test(arguments: [Nginx.Listener.expired, .wrongHost])
  func aCertificateThatIsNoGoodIsAnErrorThatSaysSo(listener: Nginx.Listener) async throws {
    let error = try await loader.failure(nginx.url("/file", listener))
    #expect(error.code == .tls)
    #expect(error.url == nginx.url("/file", listener))
    #expect(!error.isWorthRetrying)
    #expect(error.detail.contains(listener == .expired ? "expired" : "host name 'localhost'"))
  }

  @Test
  func anUnknownAuthorityIsNotTrusted() async throws {
    #expect(try await makeLoader().failure(nginx.url("/file", .http2)).code == .tls)
  }

  @Test
  func aClientCertificateIsShownWhereItIsAskedFor() async throws {
    let url = nginx.url("/file", .clientCertificate)
    #expect(try await loader.data(url).0.status == 400)
    let known = nginx.makeLoader {
      $0.clientCertificate = .init(file: nginx.folder + "/client.pem", keyFile: nginx.folder + "/client.key")
    }
    #expect(try await known.data(url).1 == Nginx.file)
    let broken = nginx.makeLoader { $0.clientCertificate = .init(file: "/no/such/file") }
    #expect(try await broken.failure(url).code == .tls)
  }
}
