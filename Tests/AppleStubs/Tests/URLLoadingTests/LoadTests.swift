import Testing
import UmbrellaForTests

extension URLLoadingTests {
  struct Loads {
    @Test
    func aLoadTellsItsDelegateInOrder() async throws {
      let bench = Bench(
        try LoopbackServer { peer in
          peer.read()
          peer.respond("200 OK", "x-FOO: a\r\nContent-type: text/plain; charset=UTF-8\r\nX-Foo: b\r\n", body: "hello")
        }
      )
      let task = try bench.task()
      #expect(task.state == .suspended)
      task.resume()
      await bench.recorder.end(of: task)
      #expect(bench.recorder.events == ["response 200", "metrics", "complete"])
      #expect(bench.recorder.body(task) == "hello")
      #expect(task.state == .completed)
      #expect(task.error == nil)
      #expect(task.countOfBytesReceived == 5)
      #expect(task.countOfBytesExpectedToReceive == 5)
      #expect(task.http?.allHeaderFields["x-FOO"] as? String == "a, b", "the spelling is the server's")
      #expect(task.http?.value(forHTTPHeaderField: "X-fOO") == "a, b")
      #expect(task.response?.mimeType == "text/plain")
      #expect(task.response?.textEncodingName == "utf-8")
      await bench.end()
    }

    @Test
    func theSessionFillsInHeaderFields() async throws {
      let (requests, continuation) = AsyncStream.makeStream(of: Peer.Request.self)
      let bench = Bench(
        try LoopbackServer { peer in
          while let request = peer.read() {
            continuation.yield(request)
            peer.respond()
          }
          continuation.finish()
        }
      ) { $0.httpAdditionalHeaders = ["X-Extra": "all", "X-Own": "session"] }
      try await bench.load("/a%20b?c=d#e") { $0.setValue("request", forHTTPHeaderField: "X-Own") }
      try await bench.load {
        $0.httpMethod = "POST"
        $0.httpBody = Data("body".utf8)
        $0.setValue("me", forHTTPHeaderField: "User-Agent")
        $0.setValue("a\r\nEvil: b", forHTTPHeaderField: "X-Split")
      }
      let last = try await bench.load { $0.httpMethod = "POST" }
      #expect(last.originalRequest?.httpMethod == "POST")
      await bench.end()
      var seen: [Peer.Request] = []
      for await request in requests { seen.append(request) }
      try #require(seen.count == 3)
      #expect(seen[0].line == "GET /a%20b?c=d HTTP/1.1")
      #expect(seen[0].fields["Host"] == "127.0.0.1:\(bench.server.port)")
      #expect(seen[0].fields["Accept"] == "*/*")
      #expect(seen[0].fields["Accept-Language"] != nil)
      #expect(seen[0].fields["User-Agent"] != nil)
      #expect(seen[0].fields["Connection"] == "keep-alive")
      #expect(seen[0].fields["Accept-Encoding"] == nil)
      #expect(seen[0].fields["Content-Length"] == nil)
      #expect(seen[0].fields["X-Extra"] == "all")
      #expect(seen[0].fields["X-Own"] == "request")
      #expect(seen[1].body == "body")
      #expect(seen[1].fields["User-Agent"] == "me")
      #expect(seen[1].fields["X-Split"] == nil)
      #expect(seen[1].fields["Evil"] == nil)
      #expect(seen[2].fields["Content-Length"] == "0")
    }

    @Test(
      arguments: [
        ("Content-Length: 3\r\n\r\nabc", "abc", Int64(3)),
        ("Transfer-Encoding: chunked\r\n\r\n2;x=y\r\nab\r\n1\r\nc\r\n0\r\nTrailer: x\r\n\r\n", "abc", -1),
        ("\r\nabc", "abc", -1),
        ("Content-Length: 0\r\n\r\n", "", 0),
      ]
    )
    func bodiesOfEachKindArriveWhole(_ response: String, _ body: String, _ expected: Int64) async throws {
      let bench = Bench(
        try LoopbackServer { peer in
          peer.read()
          peer.send("HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\nHTTP/1.1 200 OK\r\n")
          peer.send(response)
        }
      )
      let task = try await bench.load()
      #expect(task.error == nil)
      #expect(task.http?.statusCode == 200)
      #expect(bench.recorder.body(task) == body)
      #expect(task.countOfBytesExpectedToReceive == expected)
      await bench.end()
    }

    @Test
    func someResponsesHaveNoBody() async throws {
      let bench = Bench(
        try LoopbackServer { peer in
          peer.read()
          peer.send("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n")
          peer.read()
          peer.send("HTTP/1.1 204 No Content\r\n\r\n")
          peer.read()
          peer.send("HTTP/1.1 304 Not Modified\r\nContent-Length: 9\r\n\r\n")
          peer.read()
          peer.respond(body: "end")
        }
      )
      #expect(try await bench.load { $0.httpMethod = "HEAD" }.http?.expectedContentLength == 9)
      #expect(try await bench.load().http?.statusCode == 204)
      #expect(try await bench.load().http?.statusCode == 304)
      let last = try await bench.load()
      #expect(bench.recorder.body(last) == "end")
      #expect(bench.recorder.metrics(last)?.transactionMetrics.last?.isReusedConnection == true)
      await bench.end()
    }

    @Test
    func aConnectionIsUsedAgain() async throws {
      let bench = Bench(
        try LoopbackServer { peer in
          while peer.read() != nil { peer.respond(body: "x") }
        }
      )
      let first = try await bench.load()
      let second = try await bench.load()
      let (before, after) = (bench.recorder.metrics(first), bench.recorder.metrics(second))
      let fresh = try #require(before?.transactionMetrics.first)
      let reused = try #require(after?.transactionMetrics.first)
      #expect(!fresh.isReusedConnection && reused.isReusedConnection)
      #expect(fresh.connectStartDate != nil && fresh.connectEndDate != nil && fresh.domainLookupEndDate != nil)
      #expect(reused.connectStartDate == nil && reused.domainLookupStartDate == nil)
      #expect(reused.fetchStartDate != nil && reused.requestStartDate != nil && reused.requestEndDate != nil)
      #expect(reused.responseStartDate != nil && reused.responseEndDate != nil)
      #expect(reused.secureConnectionStartDate == nil)
      #expect(reused.networkProtocolName == "http/1.1")
      #expect(reused.remoteAddress == "127.0.0.1")
      #expect(reused.remotePort == bench.server.port)
      #expect(reused.countOfResponseBodyBytesReceived == 1)
      #expect(reused.resourceFetchType == .networkLoad)
      #expect(!reused.isProxyConnection && !reused.isExpensive && !reused.isConstrained)
      await bench.end()
    }

    @Test
    func aDeadConnectionIsReplacedOnceForSafeMethods() async throws {
      let script: LoopbackServer.Script = { peer in
        peer.read()
        peer.respond(body: "x")
        // The next request gets no answer.
        peer.read()
      }
      let bench = Bench(try LoopbackServer(script, script, script))
      #expect(try await bench.load().error == nil)
      let again = try await bench.load()
      #expect(again.error == nil)
      #expect(bench.recorder.metrics(again)?.transactionMetrics.last?.isReusedConnection == false)
      let post = try await bench.load {
        $0.httpMethod = "POST"
        $0.httpBody = Data("x".utf8)
      }
      #expect(post.code == .networkConnectionLost)
      await bench.end()
    }

    @Test
    func tasksShareTheConnectionsOfAHostByPriority() async throws {
      let gate = Gate()
      let (lines, continuation) = AsyncStream.makeStream(of: String.self)
      let bench = Bench(
        try LoopbackServer { peer in
          while let request = peer.read() {
            continuation.yield(request.line)
            gate.block()
            peer.respond()
          }
          continuation.finish()
        }
      ) { $0.httpMaximumConnectionsPerHost = 1 }
      var seen = lines.makeAsyncIterator()
      let first = try bench.task("/first")
      first.resume()
      #expect(await seen.next() == "GET /first HTTP/1.1")
      let tasks = try ["/a", "/b", "/low", "/high", "/late", "/gone", "/paused"].map { try bench.task($0) }
      tasks[2].priority = URLSessionTask.lowPriority
      tasks[3].priority = URLSessionTask.highPriority
      for task in tasks { task.resume() }
      tasks[4].priority = 0.9
      tasks[5].cancel()
      tasks[6].suspend()
      await bench.recorder.end(of: tasks[5])
      #expect(tasks[5].code == .cancelled, "a task that waits is cancelled at once")
      gate.open()
      for path in ["/late", "/high", "/a", "/b", "/low"] { #expect(await seen.next() == "GET \(path) HTTP/1.1") }
      for task in tasks.prefix(5) { await bench.recorder.end(of: task) }
      #expect(tasks[6].state == .suspended)
      tasks[6].resume()
      #expect(await seen.next() == "GET /paused HTTP/1.1")
      await bench.end()
    }
  }
}
