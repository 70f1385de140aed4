import Testing
import UmbrellaForTests

extension URLLoadingTests {
  struct Redirects {
    @Test
    func aRedirectIsFollowedOnTheSameConnection() async throws {
      let bench = Bench(
        try LoopbackServer { peer in
          peer.read()
          peer.respond("302 Found", "Location: /b?c#d\r\n", body: "moved")
          let next = peer.read()
          peer.respond(body: next?.line ?? "")
        }
      )
      let task = try await bench.load("/a/x")
      #expect(bench.recorder.body(task) == "GET /b?c HTTP/1.1")
      #expect(bench.recorder.events == ["redirect 302", "response 200", "metrics", "complete"])
      #expect(task.originalRequest?.url?.path == "/a/x")
      #expect(task.currentRequest?.url?.path == "/b")
      #expect(task.response?.url?.path == "/b")
      let metrics = bench.recorder.metrics(task)
      #expect(metrics?.redirectCount == 1)
      #expect(metrics?.transactionMetrics.map { $0.isReusedConnection } == [false, true])
      #expect(metrics?.transactionMetrics.map { ($0.response as? HTTPURLResponse)?.statusCode } == [302, 200])
      await bench.end()
    }

    @Test
    func withoutANewRequestTheRedirectIsTheResponse() async throws {
      let bench = Bench(
        try LoopbackServer { peer in
          peer.read()
          peer.respond("301 Moved", "Location: /b\r\n", body: "moved")
          peer.readToEnd()
        },
        Recorder.Hooks(redirect: { _ in nil }),
      )
      let task = try await bench.load()
      #expect(task.error == nil)
      #expect(task.http?.statusCode == 301)
      #expect(bench.recorder.body(task) == "moved")
      #expect(bench.recorder.events == ["redirect 301", "response 301", "metrics", "complete"])
      #expect(bench.recorder.metrics(task)?.redirectCount == 0)
      await bench.end()
    }

    @Test(
      arguments: [
        (301, "POST", "GET"), (302, "POST", "GET"), (303, "POST", "GET"), (303, "PUT", "GET"), (303, "HEAD", "HEAD"),
        (307, "POST", "POST"), (308, "POST", "POST"), (302, "PUT", "PUT"),
      ]
    )
    func redirectsChangeTheMethod(_ status: Int, _ method: String, _ next: String) async throws {
      let (requests, continuation) = AsyncStream.makeStream(of: Peer.Request.self)
      let bench = Bench(
        try LoopbackServer { peer in
          peer.read()
          peer.send("HTTP/1.1 \(status) X\r\nLocation: /b\r\nContent-Length: 0\r\n\r\n")
          if let request = peer.read() { continuation.yield(request) }
          peer.send("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")
        }
      )
      try await bench.load {
        $0.httpMethod = method
        if method != "HEAD" { $0.httpBody = Data("body".utf8) }
      }
      var seen = requests.makeAsyncIterator()
      let request = await seen.next()
      #expect(request?.line == "\(next) /b HTTP/1.1")
      #expect(request?.body == (next == "GET" || next == "HEAD" ? "" : "body"))
      await bench.end()
    }

    @Test
    func redirectsGoToOtherHosts() async throws {
      let other = try LoopbackServer { peer in
        let request = peer.read()
        peer.respond(body: request?.fields["Authorization"] ?? "none")
      }
      let target = try other.url("/there").absoluteString
      let bench = Bench(
        try LoopbackServer { peer in
          peer.read()
          peer.respond("307 Temporary", "Location: \(target)\r\n")
        }
      )
      let task = try await bench.load { $0.setValue("secret", forHTTPHeaderField: "Authorization") }
      #expect(task.response?.url?.absoluteString == target)
      #expect(bench.recorder.body(task) == "none")
      await bench.end()
      other.stop()
    }

    @Test
    func redirectsThatCannotBeFollowedEnd() async throws {
      let bench = Bench(
        try LoopbackServer { peer in
          while let request = peer.read() {
            switch request.line {
            case "GET /loop HTTP/1.1": peer.respond("302 Found", "Location: /loop\r\n")
            case "GET /tls HTTP/1.1": peer.respond("302 Found", "Location: https://127.0.0.1/\r\n")
            case "GET /file HTTP/1.1": peer.respond("302 Found", "Location: file:///etc\r\n")
            default: peer.respond("302 Found")
            }
          }
        } _: { peer in
          while peer.read() != nil { peer.respond("302 Found", "Location: https://127.0.0.1/\r\n") }
        } _: { peer in
          while peer.read() != nil { peer.respond("302 Found", "Location: file:///etc\r\n") }
        } _: { peer in
          while peer.read() != nil { peer.respond("302 Found") }
        }
      )
      #expect(try await bench.load("/loop").code == .httpTooManyRedirects)
      #expect(try await bench.load("/tls").code == .secureConnectionFailed)
      #expect(try await bench.load("/file").code == .unsupportedURL)
      #expect(try await bench.load("/nowhere").http?.statusCode == 302)
      await bench.end()
    }
  }

  struct Challenges {
    private static let script: LoopbackServer.Script = { peer in
      while let request = peer.read() {
        let isKnown = request.fields["Authorization"] == "Basic dTpw"
        let field = "WWW-Authenticate: Basic realm=\"here\"\r\n"
        if isKnown { peer.respond(body: "in") } else { peer.respond("401 Unauthorized", field, body: "out") }
      }
    }

    @Test
    func aChallengeIsTheResponseByDefault() async throws {
      let bench = Bench(try LoopbackServer(Self.script))
      let task = try await bench.load()
      #expect(task.http?.statusCode == 401)
      #expect(bench.recorder.body(task) == "out")
      #expect(bench.recorder.events == ["challenge 0", "response 401", "metrics", "complete"])
      await bench.end()
    }

    @Test
    func aCredentialIsSentAndKept() async throws {
      let bench = Bench(
        try LoopbackServer(Self.script),
        Recorder.Hooks(
          challenge: { challenge in
            #expect(challenge.protectionSpace.realm == "here")
            #expect(challenge.protectionSpace.authenticationMethod == NSURLAuthenticationMethodHTTPBasic)
            let password = challenge.previousFailureCount == 0 ? "wrong" : "p"
            if let proposal = challenge.proposedCredential { return (.useCredential, proposal) }
            return (.useCredential, URLCredential(user: "u", password: password, persistence: .forSession))
          }
        ),
      )
      let task = try await bench.load()
      #expect(bench.recorder.body(task) == "in")
      #expect(bench.recorder.events == ["challenge 0", "challenge 1", "response 200", "metrics", "complete"])
      let again = try await bench.load()
      #expect(bench.recorder.body(again) == "in")
      #expect(bench.recorder.events.filter { $0.hasPrefix("challenge") }.count == 3)
      await bench.end()
    }

    @Test
    func aChallengeMayBeRefusedOrCancelled() async throws {
      let bench = Bench(
        try LoopbackServer(Self.script),
        Recorder.Hooks(challenge: { _ in (.cancelAuthenticationChallenge, nil) }),
      )
      #expect(try await bench.load().code == .cancelled)
      await bench.end()
      let other = Bench(
        try LoopbackServer(Self.script),
        Recorder.Hooks(challenge: { _ in (.rejectProtectionSpace, nil) }),
      )
      #expect(try await other.load().http?.statusCode == 401)
      await other.end()
    }
  }
}
