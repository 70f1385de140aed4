import Testing
import VitrineHTTP
import VitrineRuntime
import VitrineTestSupport
import VitrineTesting

@Suite(.patient)
struct RedirectTests {
  let server: LoopbackServer
  let loader = makeLoader()

  init() throws { server = try LoopbackServer() }

  @Test(arguments: [301, 302, 303, 307, 308])
  func aRedirectIsFollowed(status: Int) async throws {
    server.route("/a", .redirect(to: "/b/../c?q", status: status))
    server.route("/c", LoopbackResponse(body: bytes(10)))
    let (response, data) = try await loader.data(server.url("/a"))
    #expect(response.status == 200)
    #expect(response.url.string == server.url("/c?q"))
    #expect(response.redirectCount == 1)
    #expect(data == bytes(10))
    #expect(server.counts.connections == 1)
  }

  @Test
  func theBodyOfARedirectIsNotDelivered() async throws {
    var redirect = LoopbackResponse.redirect(to: "/b")
    redirect.body = bytes(500_000)
    server.route("/a", redirect)
    server.route("/b", LoopbackResponse(body: bytes(10)))
    #expect(try await loader.data(server.url("/a")).1 == bytes(10))
  }

  @Test
  func withinAnOriginAllFieldsGoAlong() async throws {
    server.route("/a", .redirect(to: "/b"))
    server.route("/b", LoopbackResponse())
    _ = try await loader.data(server.url("/a"), headers: ["Authorization": "x", "X-Api-Key": "y"])
    #expect(server.requests.last?["authorization"] == "x")
    #expect(server.requests.last?["x-api-key"] == "y")
  }

  @Test
  func toAnotherOriginOnlyFieldsWithoutSecretsGoAlong() async throws {
    let other = try LoopbackServer()
    server.route("/a", .redirect(to: other.url("/b")))
    // Not even back at the first origin do they return: the other one chose the way there.
    other.route("/b", .redirect(to: server.url("/c")))
    server.route("/c", LoopbackResponse())
    let headers: HTTPFields = [
      "Authorization": "x", "X-Api-Key": "y", "Cookie": "z", "Proxy-Authorization": "p", "Referer": "r",
      "Accept": "image/*", "If-None-Match": "\"1\"",
    ]
    _ = try await loader.data(server.url("/a"), headers: headers)
    for request in other.requests + [try #require(server.requests.last)] {
      #expect(request["accept"] == "image/*")
      #expect(request["if-none-match"] == "\"1\"")
      for name in ["authorization", "x-api-key", "cookie", "proxy-authorization", "referer"] {
        #expect(request[name] == nil)
      }
    }
    #expect(server.requests.first?["authorization"] == "x")
  }

  @Test
  func aLoopEndsAfterTenRedirects() async throws {
    server.route("/a", .redirect(to: "/a"))
    let error = try await loader.failure(server.url("/a"))
    #expect(error.code == .tooManyRedirects)
    #expect(error.url == server.url("/a"))
    #expect(server.counts.requests == 11)
  }

  @Test
  func theLimitIsTheRequests() async throws {
    server.route("/a", .redirect(to: "/b"))
    server.route("/b", LoopbackResponse())
    #expect(
      try await loader.failure(server.url("/a")) { $0.redirectPolicy = .follow(limit: 0) }.code == .tooManyRedirects
    )
    var request = try HTTPRequest.patient(server.url("/a"))
    request.redirectPolicy = .deliver
    #expect(try await loader.data(for: request).0.status == 302)
  }

  @Test(arguments: [
    "file:///etc/passwd", "ftp://127.0.0.1/a", "gopher://127.0.0.1/", "data:text/plain,a", "javascript:alert(1)",
    "http://user:password@127.0.0.1/", "http://127.0.0.1:99999/", "http://",
  ])
  func aRedirectToWhatIsNoURLOfTheWebIsRefused(location: String) async throws {
    server.route("/a", .redirect(to: location))
    let error = try await loader.failure(server.url("/a"))
    #expect(error.code == .redirectRefused)
    #expect(error.url == server.url("/a"))
    #expect(server.counts.requests == 1)
  }

  @Test
  func aStatusWithoutALocationIsAResponse() async throws {
    server.route("/a", LoopbackResponse(status: 302, body: bytes(5)))
    let (response, data) = try await loader.data(server.url("/a"))
    #expect(response.status == 302)
    #expect(data.count == 5)
  }

  @Test
  func aRedirectKeepsTheConnectionsWithinTheLimitOfTheHost() async throws {
    server.route("*") { exchange in
      let target = exchange.request.target
      let isFirst = target.hasPrefix("/from")
      exchange.respond(isFirst ? .redirect(to: "/to\(target.dropFirst(5))") : LoopbackResponse(body: bytes(100)))
    }
    let loader = makeLoader { $0.connectionLimitPerHost = 2 }
    let sinks = (0..<30).map { _ in RecordingSink() }
    for (number, sink) in sinks.enumerated() {
      loader.load(try HTTPRequest.patient(server.url("/from\(number)")), into: sink)
    }
    for sink in sinks { #expect(await sink.end() == nil) }
    #expect(server.counts.requests == 60)
    #expect(server.counts.mostRunning <= 2)
  }
}
