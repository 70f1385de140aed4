import Testing
import VitrineHTTP
import VitrineRuntime
import VitrineTestSupport
import VitrineTesting
import VitrineTiers

@testable import VitrineS3

/// A server of objects within the process, which can go wrong on demand.
///
/// It checks no signatures: SeaweedFS does, in other tests.
final class FakeS3: Sendable {
  struct Stored: Sendable {
    var body: Data
    var fields: HTTPFields
    var tag: String
  }

  struct State: Sendable {
    /// By path, percent-encoded and with the bucket.
    var objects: [String: Stored] = [:]
    var count = 0
    /// What happens to the next requests instead of an answer; `nil` lets one pass.
    var faults: [(@Sendable (LoopbackExchange) -> Void)?] = []
    var pageLimit = 1000
    var removesAtOnce = true
  }

  let server: LoopbackServer
  let state: Lock<State>

  init() throws {
    (server, state) = (try LoopbackServer(), Lock(State()))
    server.route("*") { [state] exchange in
      let fault = state.withLock { $0.faults.isEmpty ? nil : $0.faults.removeFirst() }
      if let fault { return fault(exchange) }
      Self.answer(exchange, state)
    }
  }

  func makeClient(
    clock: any TimeSource = .system,
    random: Double = 0,
    _ change: (inout S3Configuration) -> Void = { _ in },
  ) throws -> S3Client {
    let keys = S3Credentials(accessKeyID: "AKID", secretAccessKey: "hush-secret", sessionToken: "hush-token")
    var configuration = S3Configuration(endpoint: try HTTPURL(server.url("")), credentials: .fixed(keys))
    change(&configuration)
    return try S3Client(configuration, makeLoader { $0.connectionLimitPerHost = 16 }, clock) { random }
  }

  /// Lets the next requests end in something else; `nil` lets one pass.
  func fail(_ faults: (@Sendable (LoopbackExchange) -> Void)?...) { state.withLock { $0.faults += faults } }

  var paths: [String] { state.withLock { $0.objects.keys.sorted() } }

  /// Changes all objects.
  func change(_ body: (inout Stored) -> Void) {
    state.withLock { state in
      for path in state.objects.keys {
        guard var object = state.objects[path] else { continue }
        body(&object)
        state.objects[path] = object
      }
    }
  }

  /// A refusal with the XML of S3.
  static func refusal(
    _ status: Int,
    _ code: String,
    region: String? = nil,
    headers: HTTPFields = [:],
  ) -> @Sendable (LoopbackExchange) -> Void {
    { exchange in
      let region = region.map { "<Region>\($0)</Region>" } ?? ""
      let body = "<Error><Code>\(code)</Code><Message>hm</Message>\(region)</Error>"
      exchange.respond(
        LoopbackResponse(
          status: status,
          headers: headers,
          body: exchange.request.method == "HEAD" ? Data() : Data(body.utf8),
        )
      )
    }
  }

  // MARK: Answers

  private static func answer(_ exchange: LoopbackExchange, _ state: Lock<State>) {
    let request = exchange.request
    let query = items(of: request)
    switch request.method {
    case "GET" where query["list-type"] == "2": exchange.respond(list(request, query, state))
    case "GET", "HEAD": read(exchange, state)
    case "PUT": exchange.respond(write(request, state))
    case "DELETE":
      state.withLock { $0.objects[request.path] = nil }
      exchange.respond(LoopbackResponse(status: 204))
    case "POST" where query["delete"] != nil: exchange.respond(removal(request, state))
    default: refusal(405, "MethodNotAllowed")(exchange)
    }
  }

  private static func items(of request: LoopbackRequest) -> [String: String] {
    var items: [String: String] = [:]
    for item in request.target.drop(while: { $0 != "?" }).dropFirst().split(separator: "&") {
      let parts = item.split(separator: "=", omittingEmptySubsequences: false)
      items[String(parts[0])] = parts.count > 1 ? PercentEncoding.decode(parts[1]) : ""
    }
    return items
  }

  private static func read(_ exchange: LoopbackExchange, _ state: Lock<State>) {
    guard let object = state.withLock({ $0.objects[exchange.request.path] }) else {
      return refusal(404, "NoSuchKey")(exchange)
    }
    if let wanted = exchange.request["If-Match"], wanted != object.tag {
      return refusal(412, "PreconditionFailed")(exchange)
    }
    exchange.respond(LoopbackResponse(headers: object.fields, body: object.body, entityTag: object.tag))
  }

  private static func write(_ request: LoopbackRequest, _ state: Lock<State>) -> LoopbackResponse {
    let fields = request.headers.filter { field in
      let name = field.name.lowercased()
      return ["content-type", "cache-control"].contains(name) || name.hasPrefix("x-amz-meta-")
    }
    return state.withLock { state in
      state.count += 1
      var object = Stored(body: request.body, fields: fields, tag: "\"\(state.count)\"")
      if let source = request["x-amz-copy-source"] {
        guard let old = state.objects[source] else { return LoopbackResponse(status: 404) }
        guard request["x-amz-copy-source-if-match"] == old.tag else { return LoopbackResponse(status: 412) }
        object.body = old.body
      }
      state.objects[request.path] = object
      return LoopbackResponse(headers: ["ETag": object.tag], body: Data("<CopyObjectResult/>".utf8))
    }
  }

  private static func list(
    _ request: LoopbackRequest,
    _ query: [String: String],
    _ state: Lock<State>,
  ) -> LoopbackResponse {
    let (all, limit) = state.withLock { ($0.objects.mapValues(\.body.count), $0.pageLimit) }
    let start = "\(request.path)/\(PercentEncoding.encode(query["prefix"] ?? "", keeping: "/"))"
    let found = all.keys.filter { $0.hasPrefix(start) && $0 > query["continuation-token"] ?? "" }.sorted()
    let page = found.prefix(min(limit, query["max-keys"].flatMap { Int($0) } ?? 1000))
    let contents = page.map { path in
      "<Contents><Key>\(path.dropFirst(request.path.count + 1))</Key><Size>\(all[path] ?? 0)</Size></Contents>"
    }
    let next =
      page.count < found.count
      ? "<IsTruncated>true</IsTruncated><NextContinuationToken>\(page.last ?? "")</NextContinuationToken>"
      : "<IsTruncated>false</IsTruncated>"
    let text = "<ListBucketResult><EncodingType>url</EncodingType>\(next)\(contents.joined())</ListBucketResult>"
    return LoopbackResponse(body: Data(text.utf8))
  }

  private static func removal(_ request: LoopbackRequest, _ state: Lock<State>) -> LoopbackResponse {
    guard state.withLock({ $0.removesAtOnce }) else { return LoopbackResponse(status: 501) }
    let hash = Data(SHA256.hash(request.body)).base64EncodedString()
    guard request["x-amz-checksum-sha256"] == hash else { return LoopbackResponse(status: 400) }
    var reader = XMLReader(request.body)
    while let element = try? reader.next() {
      guard element.path == ["Delete", "Object", "Key"] else { continue }
      state.withLock { $0.objects["\(request.path)/\(PercentEncoding.encode(element.text, keeping: "/"))"] = nil }
    }
    return LoopbackResponse(body: Data("<DeleteResult/>".utf8))
  }
}
