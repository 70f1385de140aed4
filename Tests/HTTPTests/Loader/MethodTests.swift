import Testing
import VitrineRuntime
import VitrineTestSupport
import VitrineTesting

@testable import VitrineHTTP

/// Methods and bodies of requests, as they arrive at a server.
@Suite(.patient)
struct MethodTests {
  private let server: LoopbackServer
  private let loader = makeLoader()

  init() throws {
    server = try LoopbackServer()
    server.route("/a", LoopbackResponse(body: bytes(10)))
  }

  @discardableResult
  private func send(_ path: String = "/a", _ change: (inout HTTPRequest) -> Void) async throws -> LoopbackRequest {
    var request = try HTTPRequest.patient(server.url(path))
    change(&request)
    _ = try await loader.data(for: request)
    return try #require(server.requests.last)
  }

  @Test(arguments: ["POST", "PUT", "PATCH", "DELETE", "OPTIONS", "PROPFIND"] + (isLibcurl ? ["Get", "GET"] : []))
  func aBodyArrivesWithItsLengthAndNothingIsSaidOfIt(method: String) async throws {
    let request = try await send {
      $0.method = HTTPMethod(method)
      $0.body = Data("{}".utf8)
    }
    #expect(request.method == method)
    #expect(request.body == Data("{}".utf8))
    #expect(request["Content-Length"] == "2")
    #expect(request["Content-Type"] == nil)
    #expect(request["Transfer-Encoding"] == nil)
  }

  @Test(arguments: [("POST", "0"), ("PUT", "0"), ("PATCH", "0"), ("DELETE", nil), ("OPTIONS", nil), ("GET", nil)])
  func whereABodyIsUsualItsAbsenceIsSaid(method: String, length: String?) async throws {
    for body in [nil, Data()] {
      let request = try await send { ($0.method, $0.body) = (HTTPMethod(method), body) }
      #expect(request.method == method)
      #expect(request["Content-Length"] == length)
      #expect(request.body.isEmpty)
    }
  }

  @Test
  func aLongBodyArrivesWholeAndWithoutAWaitForLeave() async throws {
    let body = bytes(3_000_000)
    let request = try await send { ($0.method, $0.body) = (.post, body) }
    #expect(request.body == body)
    #expect(request["Expect"] == nil)
  }

  @Test
  func whoWantsLeaveToSendGetsIt() async throws {
    let request = try await send {
      ($0.method, $0.body) = (.post, bytes(1000))
      $0.headers["Expect"] = "100-continue"
    }
    #expect(request.body == bytes(1000))
  }

  /// RFC 9112 11.2: a wrong length would let the body be read as the next request.
  @Test(arguments: ["Content-Length", "transfer-encoding"])
  func fieldsThatFrameTheBodyAreRefused(name: String) async throws {
    let error = try await loader.failure(server.url("/a")) {
      ($0.method, $0.body) = (.post, bytes(10))
      $0.headers = [name: "10"]
    }
    #expect(error.code == .invalidRequest)
    #expect(error.detail.contains("cannot be set"))
    #expect(server.counts.requests == 0)
  }

  @Test(arguments: ["", "GE T", "GET\r\nX-A: b", "GET / HTTP/1.1", "PÖST", "CONNECT"])
  func whatIsNoMethodIsNotSent(method: String) async throws {
    let error = try await loader.failure(server.url("/a")) { $0.method = HTTPMethod(method) }
    #expect(error.code == .invalidRequest)
    #expect(server.counts.connections == 0)
  }

  @Test(arguments: [HTTPMethod.head, HTTPMethod("TRACE")])
  func aBodyThatAMethodCannotHaveIsNotSent(method: HTTPMethod) async throws {
    let error = try await loader.failure(server.url("/a")) { ($0.method, $0.body) = (method, bytes(1)) }
    #expect(error.code == .invalidRequest)
    #expect(error.detail.contains(method.name))
    #expect(server.counts.connections == 0)
  }

  @Test
  func methodsSayWhatTheyDo() {
    let all: [HTTPMethod] = [.get, .head, .options, .put, .delete, .post, .patch, HTTPMethod("X"), HTTPMethod("get")]
    #expect(all.filter(\.isSafe) == [.get, .head, .options])
    #expect(all.filter(\.isIdempotent) == [.get, .head, .options, .put, .delete])
    #expect("\(HTTPMethod.patch)" == "PATCH")
  }

  @Test
  func aRequestMayBeIdempotentWhateverItsMethod() throws {
    var request = try HTTPRequest("http://a.example/")
    #expect(request.isIdempotent && request.body == nil)
    request.method = .post
    #expect(!request.isIdempotent)
    request.isIdempotent = true
    #expect(request.isIdempotent)
    (request.method, request.isIdempotent) = (.get, false)
    #expect(!request.isIdempotent)
  }

  // MARK: Redirects

  @Test(arguments: [
    (301, "POST", "GET"), (302, "POST", "GET"), (303, "POST", "GET"), (307, "POST", "POST"), (308, "POST", "POST"),
    (301, "PUT", "PUT"), (302, "DELETE", "DELETE"), (303, "PUT", "GET"), (303, "DELETE", "GET"), (307, "PUT", "PUT"),
    (303, "GET", "GET"), (303, "HEAD", "HEAD"), (302, "HEAD", "HEAD"),
  ])
  func aRedirectTurnsAMethodAsBrowsersDo(status: Int, method: String, then: String) async throws {
    server.route("/from", .redirect(to: "/a", status: status))
    let hasBody = !["GET", "HEAD"].contains(method)
    let request = try await send("/from") {
      ($0.method, $0.body) = (HTTPMethod(method), hasBody ? Data("{}".utf8) : nil)
      $0.headers = ["Content-Type": "application/json", "X-A": "b"]
    }
    #expect(request.path == "/a")
    #expect(request.method == then)
    #expect(request["X-A"] == "b")
    let isKept = hasBody && then == method
    #expect(request.body == (isKept ? Data("{}".utf8) : Data()))
    if hasBody { #expect(request["Content-Type"] == (isKept ? "application/json" : nil)) }
  }

  @Test
  func aBodyGoesToAnotherOriginWithItsTypeAndWithoutSecrets() async throws {
    let other = try LoopbackServer()
    other.route("/b", LoopbackResponse())
    server.route("/from", .redirect(to: other.url("/b"), status: 307))
    try await send("/from") {
      ($0.method, $0.body) = (.post, Data("{}".utf8))
      $0.headers = ["Content-Type": "application/json", "Authorization": "x"]
    }
    let request = try #require(other.requests.last)
    #expect(request.body == Data("{}".utf8))
    #expect(request["Content-Type"] == "application/json")
    #expect(request["Authorization"] == nil)
  }

  // MARK: Sent again

  @Test
  func theAnswerToAChallengeBringsTheBodyAgain() async throws {
    server.route("/secret") { exchange in
      exchange.respond(LoopbackResponse(status: exchange.request["Authorization"] == nil ? 401 : 200))
    }
    var request = try HTTPRequest.patient(server.url("/secret"))
    (request.method, request.body) = (.post, bytes(100))
    var hooks = LoadHooks()
    hooks.challenge = { _ in ["Authorization": "x"] }
    #expect(try await loader.data(for: request, hooks: hooks).0.status == 200)
    #expect(server.requests.map(\.body) == [bytes(100), bytes(100)])
    #expect(server.requests.map(\.method) == ["POST", "POST"])
  }

  @Test
  func aHookMayChangeMethodAndBody() async throws {
    var hooks = LoadHooks()
    hooks.willSend = { ($0.method, $0.body) = (.put, Data("signed".utf8)) }
    _ = try await loader.data(for: try HTTPRequest.patient(server.url("/a")), hooks: hooks)
    #expect(server.requests.map(\.method) == ["PUT"])
    #expect(server.requests.map(\.body) == [Data("signed".utf8)])
  }

  @Test
  func whatIsNotIdempotentIsNotSentAgainWhereAConnectionWasClosed() async throws {
    server.route("/closes") { $0.reset() }
    // A connection to be used again.
    try await send { _ in }
    let error = try await loader.failure(server.url("/closes")) { ($0.method, $0.body) = (.post, bytes(10)) }
    #expect(error.code == .connectionLost)
    #expect(server.requests.count { $0.method == "POST" } == 1)
  }

  @Test
  func anUploadThatNobodyReadsIsIdle() async throws {
    let port = try DeafPort()
    let error = try await loader.failure(port.url) {
      ($0.method, $0.body, $0.timeouts.idle) = (.post, bytes(16_000_000), .milliseconds(300))
    }
    #expect((error.code, error.timeout) == (.timedOut, .idle))
    withExtendedLifetime(port) {}
  }

  @Test(arguments: [HTTPMethod.head, .get])
  func theLimitIsForBodiesThatCome(method: HTTPMethod) async throws {
    var request = try HTTPRequest.patient(server.url("/a"))
    (request.method, request.maxResponseBytes) = (method, 5)
    let response: HTTPResponse? = try? await loader.data(for: request).0
    #expect(response?.contentLength == (method == .head ? 10 : nil))
  }
}

/// A port that takes connections and reads nothing, or takes none.
final class DeafPort {
  let url: String
  private let socket: CInt

  init(takesConnections: Bool = true) throws {
    socket = try #require(openStreamSocket())
    var address = sockaddr_in()
    (address.sin_family, address.sin_addr.s_addr) = (sa_family_t(AF_INET), UInt32(0x7F00_0001).bigEndian)
    var size = socklen_t(MemoryLayout<sockaddr_in>.size)
    // The address outlives the calls, and a `sockaddr_in` is a `sockaddr` to those who read its family.
    let status = unsafe withUnsafeMutablePointer(to: &address) { [socket] pointer in
      unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
        guard unsafe bind(socket, address, size) == 0, !takesConnections || listen(socket, 8) == 0 else {
          return CInt(-1)
        }
        return unsafe getsockname(socket, address, &size)
      }
    }
    try #require(status == 0)
    url = "http://127.0.0.1:\(UInt16(bigEndian: address.sin_port))/"
  }

  deinit { close(socket) }
}
