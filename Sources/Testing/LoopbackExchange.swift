public import VitrineHTTP
import VitrineRuntime

/// A request that a ``LoopbackServer`` has received.
public struct LoopbackRequest: Sendable, Hashable {
  /// The method, such as `GET`.
  public let method: String
  /// The target as sent: the path and the query.
  public let target: String
  /// The header fields, in order.
  public let headers: HTTPFields
  /// The number of the server's connection that it arrived on, counted from 1.
  public let connection: Int
  /// The whole body; empty if the request has no `Content-Length`.
  public internal(set) var body = Data()

  /// The target without its query.
  public var path: String { String(target.prefix { $0 != "?" }) }

  /// Returns the value of a header field, ignoring the case of its name; of the first one if it is repeated.
  public subscript(name: String) -> String? {
    headers.values(for: name).first
  }

  init(head: String, connection: Int) {
    var lines = head.split(separator: "\r\n", omittingEmptySubsequences: false)[...]
    let words = (lines.popFirst() ?? "").split(separator: " ")
    method = words.first.map(String.init) ?? ""
    target = words.dropFirst().first.map(String.init) ?? ""
    headers = HTTPFields(
      lines.map { line in
        let name = line.prefix { $0 != ":" }
        return (String(name), String(line[name.endIndex...].dropFirst().drop { $0 == " " }))
      }
    )
    self.connection = connection
  }
}

/// A response of a ``LoopbackServer``, given in advance.
public struct LoopbackResponse: Sendable {
  /// The status.
  ///
  /// Defaults to 200.
  public var status: Int
  /// The header fields, without the length.
  public var headers: HTTPFields
  /// The body.
  public var body: Data
  /// A Boolean value that indicates whether the body is sent in chunks, without a declared length.
  ///
  /// Defaults to `false`.
  public var isChunked: Bool
  /// The declared length.
  ///
  /// Defaults to `nil`: the true one.
  public var claimedLength: Int?
  /// The entity tag of the response.
  ///
  /// A client that has it gets status 304. Defaults to `nil`: none.
  public var entityTag: String?

  /// Creates a response.
  public init(
    status: Int = 200,
    headers: HTTPFields = [:],
    body: Data = Data(),
    isChunked: Bool = false,
    claimedLength: Int? = nil,
    entityTag: String? = nil,
  ) {
    self.status = status
    self.headers = headers
    self.body = body
    self.isChunked = isChunked
    self.claimedLength = claimedLength
    self.entityTag = entityTag
  }

  /// Creates a redirect.
  public static func redirect(to location: String, status: Int = 302) -> LoopbackResponse {
    LoopbackResponse(status: status, headers: ["Location": location])
  }
}

/// One request and its response, which a route sends in pieces or at once.
///
/// It may only be used on the thread of its connection. Every call that sends returns `true` unless the client has
/// gone.
public final class LoopbackExchange {
  /// The request.
  public let request: LoopbackRequest

  private let connection: LoopbackConnection
  private(set) var isComplete = false

  init(request: LoopbackRequest, connection: LoopbackConnection) {
    self.request = request
    self.connection = connection
  }

  /// A Boolean value that indicates whether the client is still connected, as far as is known without sending.
  public var isOpen: Bool { connection.isOpen }

  /// Sends a whole response, and keeps the connection unless the declared length is wrong.
  ///
  /// A `Range` gets 206 and that part (only the forms `bytes=N-` and `bytes=N-M`). An `If-Range` that is not the
  /// entity tag gets the whole. An `If-None-Match` that is the entity tag gets 304.
  @discardableResult
  public func respond(_ response: LoopbackResponse) -> Bool {
    var (status, body, headers) = (response.status, response.body, response.headers)
    if let tag = response.entityTag {
      headers.append(name: "ETag", value: tag)
      if request["If-None-Match"] == tag { return sendHead(304, headers) && complete() }
    }
    let isSame = request["If-Range"].map { $0 == response.entityTag } ?? true
    if status == 200, isSame, let range = requestedRange(of: body.count) {
      guard !range.isEmpty else {
        headers.append(contentsOf: ["Content-Range": "bytes */\(body.count)", "Content-Length": "0"])
        return sendHead(416, headers) && complete()
      }
      headers.append(
        name: "Content-Range",
        value: "bytes \(range.lowerBound)-\(range.upperBound - 1)/\(body.count)",
      )
      (status, body) = (206, body.dropFirst(range.lowerBound).prefix(range.count))
    }
    if response.isChunked {
      guard sendHead(status, headers + ["Transfer-Encoding": "chunked"]) else { return false }
      for start in stride(from: 0, to: body.count, by: 1000) where !sendChunk(body.dropFirst(start).prefix(1000)) {
        return false
      }
      return sendLastChunk()
    }
    guard sendHead(status, headers + ["Content-Length": "\(response.claimedLength ?? body.count)"]) else {
      return false
    }
    if request.method != "HEAD", !send(body) { return false }
    return response.claimedLength.map { $0 == body.count } ?? true ? complete() : connection.isOpen
  }

  /// Sends a status and header fields, exactly as given.
  @discardableResult
  public func sendHead(_ status: Int, _ headers: HTTPFields = [:]) -> Bool {
    var head = "HTTP/1.1 \(status) Status\r\n"
    for field in headers { head += "\(field.name): \(field.value)\r\n" }
    return send(Data((head + "\r\n").utf8))
  }

  /// Sends raw bytes.
  @discardableResult
  public func send(_ bytes: Data) -> Bool {
    connection.write([UInt8](bytes))
  }

  /// Sends a chunk of a body with `Transfer-Encoding: chunked`.
  @discardableResult
  public func sendChunk(_ bytes: Data) -> Bool {
    send(Data("\(String(bytes.count, radix: 16))\r\n".utf8) + bytes + Data("\r\n".utf8))
  }

  /// Ends a body with `Transfer-Encoding: chunked`.
  @discardableResult
  public func sendLastChunk() -> Bool {
    send(Data("0\r\n\r\n".utf8)) && complete()
  }

  /// Marks the response as complete, so that the connection can serve another request; otherwise it is closed.
  @discardableResult
  public func complete() -> Bool {
    isComplete = true
    return connection.isOpen
  }

  /// Sends the same bytes for as long as the client accepts them.
  public func sendEndlessly(_ bytes: Data) {
    while send(bytes) {}
  }

  /// Closes the connection with a reset when the route returns.
  public func reset() {
    connection.closeSoon(withReset: true)
  }

  /// Blocks, without sending, until the client closes the connection or the server stops.
  public func waitForDisconnect() {
    connection.waitForEnd()
  }

  /// Returns `nil` if no range is requested, and an empty range if none of it exists.
  private func requestedRange(of count: Int) -> Range<Int>? {
    guard let range = request["Range"], range.hasPrefix("bytes=") else { return nil }
    let ends = range.dropFirst(6).split(separator: "-", omittingEmptySubsequences: false)
    guard ends.count == 2, let first = Int(ends[0]) else { return nil }
    let last = min(Int(ends[1]) ?? count - 1, count - 1)
    return first <= last ? first..<(last + 1) : 0..<0
  }
}
