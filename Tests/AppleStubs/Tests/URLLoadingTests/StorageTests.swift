import Testing
import UmbrellaForTests

extension URLLoadingTests {
  struct Storages {
    private static let cookies: LoopbackServer.Script = { peer in
      while let request = peer.read() {
        peer.respond(
          "200 OK",
          "Set-Cookie: a=1; Path=/\r\nSet-Cookie: b=2\r\n",
          body: request.fields["Cookie"] ?? "none",
        )
      }
    }

    private static let counted: LoopbackServer.Script = { peer in
      var count = 0
      while peer.read() != nil {
        count += 1
        peer.respond("200 OK", "Cache-Control: public, max-age=3600\r\n", body: "\(count)")
      }
    }

    @Test
    func cookiesAreStoredAndSent() async throws {
      let bench = Bench(try LoopbackServer(Self.cookies))
      let first = try await bench.load()
      let second = try await bench.load()
      let third = try await bench.load { $0.httpShouldHandleCookies = false }
      #expect(bench.recorder.body(first) == "none")
      #expect(bench.recorder.body(second) == "a=1; b=2")
      #expect(bench.recorder.body(third) == "none")
      await bench.end()
    }

    @Test
    func withoutAStorageThereAreNoCookies() async throws {
      let bench = Bench(try LoopbackServer(Self.cookies)) { $0.httpCookieStorage = nil }
      try await bench.load()
      let second = try await bench.load()
      #expect(bench.recorder.body(second) == "none")
      #expect(second.http?.value(forHTTPHeaderField: "set-cookie") == "a=1; Path=/, b=2")
      await bench.end()
    }

    @Test
    func freshResponsesComeFromTheCache() async throws {
      let bench = Bench(try LoopbackServer(Self.counted))
      let tasks = [
        try await bench.load(), try await bench.load(),
        try await bench.load { $0.cachePolicy = .reloadIgnoringLocalCacheData },
        try await bench.load { $0.cachePolicy = .returnCacheDataDontLoad },
        try await bench.load("/other") { $0.cachePolicy = .returnCacheDataDontLoad },
      ]
      #expect(tasks.map { bench.recorder.body($0) } == ["1", "1", "2", "2", ""])
      #expect(tasks.last?.code == .resourceUnavailable)
      let figures = bench.recorder.metrics(tasks[1])?.transactionMetrics.last
      #expect(figures?.resourceFetchType == .localCache)
      #expect(figures?.networkProtocolName == nil)
      await bench.end()
    }

    @Test
    func withoutACacheAllIsLoaded() async throws {
      let bench = Bench(try LoopbackServer(Self.counted)) { $0.urlCache = nil }
      try await bench.load()
      let second = try await bench.load()
      #expect(bench.recorder.body(second) == "2")
      await bench.end()
    }

    @Test
    func aCacheForgetsTheOldest() throws {
      let cache = URLCache(memoryCapacity: 10, diskCapacity: 0)
      let urls = ["http://h/a", "http://h/b", "http://h/c"].compactMap { URL(string: $0) }
      for url in urls {
        let response = URLResponse(url: url, mimeType: nil, expectedContentLength: 5, textEncodingName: nil)
        cache.storeCachedResponse(
          CachedURLResponse(response: response, data: Data("12345".utf8)),
          for: URLRequest(url: url),
        )
      }
      #expect(urls.map { cache.cachedResponse(for: URLRequest(url: $0)) != nil } == [false, true, true])
      #expect(cache.currentMemoryUsage == 10)
      cache.removeAllCachedResponses()
      #expect(cache.currentMemoryUsage == 0)
    }

    @Test
    func cookiesGoWhereTheyBelong() throws {
      let url = try #require(URL(string: "http://a.example.com/dir/x"))
      let other = try #require(URL(string: "http://b.example.com/"))
      let storage = HTTPCookieStorage.shared
      let fields = ["Set-Cookie": "n=v; Domain=example.com; Path=/dir; Secure; HttpOnly; Max-Age=60"]
      let secure = try #require(HTTPCookie.cookies(withResponseHeaderFields: fields, for: url).first)
      #expect(secure.isSecure && secure.isHTTPOnly && !secure.isSessionOnly)
      #expect(secure.domain == ".example.com" && secure.path == "/dir")
      let properties: [HTTPCookiePropertyKey: Any] = [.name: "n", .value: "v", .path: "/", .domain: ".example.com"]
      let wide = try #require(HTTPCookie(properties: properties))
      storage.setCookies([secure, wide], for: url, mainDocumentURL: nil)
      #expect(storage.cookies(for: url) == [wide])
      #expect(storage.cookies(for: other) == [wide])
      storage.deleteCookie(secure)
      storage.deleteCookie(wide)
      #expect(storage.cookies?.isEmpty == true)
      #expect(HTTPCookie.cookies(withResponseHeaderFields: ["Set-Cookie": "n=v; Domain=evil.com"], for: url).isEmpty)
    }
  }

  struct Networks {
    @Test(
      arguments: [
        (_NetworkConditions(_isSatisfied: false), URLError.NetworkUnavailableReason?.none),
        (_NetworkConditions(_isConstrained: true), .constrained), (_NetworkConditions(_isExpensive: true), .expensive),
      ]
    )
    func aNetworkThatIsNotAllowedFails(
      _ conditions: _NetworkConditions,
      _ reason: URLError.NetworkUnavailableReason?,
    ) async throws {
      let bench = Bench(
        try LoopbackServer { peer in
          peer.read()
          peer.respond()
        }
      )
      _URLLoading._setNetwork(conditions, port: bench.server.port)
      let task = try await bench.load {
        $0.allowsConstrainedNetworkAccess = false
        $0.allowsExpensiveNetworkAccess = false
      }
      #expect(task.code == .notConnectedToInternet)
      #expect((task.error as? URLError)?.networkUnavailableReason == reason)
      guard conditions._isSatisfied else { return await bench.end() }
      let allowed = try await bench.load()
      #expect(allowed.error == nil)
      let figures = bench.recorder.metrics(allowed)?.transactionMetrics.last
      #expect(figures?.isExpensive == conditions._isExpensive)
      #expect(figures?.isConstrained == conditions._isConstrained)
      await bench.end()
    }

    @Test
    func aTaskMayWaitForANetwork() async throws {
      let bench = Bench(
        try LoopbackServer { peer in
          peer.read()
          peer.respond()
        }
      ) { $0.waitsForConnectivity = true }
      _URLLoading._setNetwork(_NetworkConditions(_isSatisfied: false), port: bench.server.port)
      let task = try bench.task()
      task.resume()
      await bench.recorder.waiting.pass()
      _URLLoading._setNetwork(_NetworkConditions(), port: bench.server.port)
      await bench.recorder.end(of: task)
      #expect(task.error == nil)
      #expect(bench.recorder.events == ["waiting", "response 200", "metrics", "complete"])
      await bench.end()
    }
  }

  struct Requests {
    @Test
    func headerFieldsIgnoreCase() throws {
      var request = URLRequest(url: try #require(URL(string: "http://h/")), timeoutInterval: 5)
      #expect(request.allHTTPHeaderFields == nil)
      #expect(request.httpMethod == "GET")
      #expect(request.timeoutInterval == 5)
      request.setValue("1", forHTTPHeaderField: "X-One")
      request.addValue("2", forHTTPHeaderField: "x-one")
      #expect(request.value(forHTTPHeaderField: "X-ONE") == "1,2")
      request.setValue(nil, forHTTPHeaderField: "X-one")
      #expect(request.allHTTPHeaderFields == [:])
    }

    @Test
    func responsesTellOfTheirFields() throws {
      let url = try #require(URL(string: "http://h/dir/name.png?x"))
      let response = HTTPURLResponse(
        url: url,
        statusCode: 200,
        httpVersion: "HTTP/1.1",
        headerFields: ["content-TYPE": "Image/PNG", "CONTENT-length": "12"],
      )
      #expect(response?.mimeType == "image/png")
      #expect(response?.expectedContentLength == 12)
      #expect(response?.suggestedFilename == "name.png")
      #expect(response?.allHeaderFields["content-TYPE"] as? String == "Image/PNG")
      #expect(HTTPURLResponse.localizedString(forStatusCode: 404) == "not found")
    }
  }
}
