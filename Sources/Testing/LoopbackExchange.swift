public import VitrineRuntime

/// A request as a ``LoopbackServer`` has read it.
public struct LoopbackRequest: Sendable, Hashable {
  /// The method, such as `GET`.
  public let method: String
  /// What was asked for, as it was sent: the path and the query.
  public let target: String
  /// The names and values of the header fields, in order.
  public let headers: [[String]]
  /// Which of the server's connections it came over, from 1.
  public let connection: Int
  /// The body, all of it; empty where no length was said.
  public internal(set) var body = Data()

  /// The target without its query.
  public var path: String { String(target.prefix { $0 != "?" }) }

  /// Returns the value of a header field, its name in any case; the first one's if it is repeated.
  public subscript(name: String) -> String? {
    headers.first { $0[0].lowercased() == name.lowercased() }?[1]
  }

  init(head: String, connection: Int) {
    var lines = head.split(separator: "\r\n", omittingEmptySubsequences: false)[...]
    let words = (lines.popFirst() ?? "").split(separator: " ")
    method = words.first.map(String.init) ?? ""
    target = words.dropFirst().first.map(String.init) ?? ""
    headers = lines.map { line in
      let name = line.prefix { $0 != ":" }
      return [String(name), String(line[name.endIndex...].dropFirst().drop { $0 == " " })]
    }
    self.connection = connection
  }
}

/// An answer of a ``LoopbackServer`` that can be said beforehand.
public struct LoopbackResponse: Sendable {
  /// The status; 200 by default.
  public var status: Int
  /// The header fields, beside the length.
  public var headers: [(name: String, value: String)]
  /// The body.
  public var body: Data
  /// Whether the body goes in chunks, without its length being said before; false by default.
  public var isChunked: Bool
  /// The length that is claimed; by default the true one.
  public var claimedLength: Int?
  /// The answer has this entity tag, and the status is 304 where the client has it; none by default.
  public var entityTag: String?

  /// Creates an answer.
  public init(
    status: Int = 200,
    headers: [(name: String, value: String)] = [],
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

  /// Points elsewhere.
  public static func redirect(to location: String, status: Int = 302) -> LoopbackResponse {
    LoopbackResponse(status: status, headers: [("Location", location)])
  }
}

/// One request and the answer to it, which a route gives piece by piece or at once.
///
/// Used by the thread of its connection only. Every call that sends returns whether the client is still there.
public final class LoopbackExchange {
  /// What was asked.
  public let request: LoopbackRequest

  private let connection: LoopbackConnection
  private(set) var isComplete = false

  init(request: LoopbackRequest, connection: LoopbackConnection) {
    self.request = request
    self.connection = connection
  }

  /// Whether the client is still there, as far as is known without sending.
  public var isOpen: Bool { connection.isOpen }

  /// Sends a whole answer, and keeps the connection unless the length was a lie.
  ///
  /// A `Range` is answered with 206 and that part (only the form `bytes=N-` and `bytes=N-M`), an `If-Range`
  /// that is not the entity tag with the whole, an `If-None-Match` that is the entity tag with 304.
  @discardableResult
  public func respond(_ response: LoopbackResponse) -> Bool {
    var (status, body, headers) = (response.status, response.body, response.headers)
    if let tag = response.entityTag {
      headers.append(("ETag", tag))
      if request["If-None-Match"] == tag { return sendHead(304, headers) && complete() }
    }
    let isSame = request["If-Range"].map { $0 == response.entityTag } ?? true
    if status == 200, isSame, let range = requestedRange(of: body.count) {
      guard !range.isEmpty else {
        headers.append(("Content-Range", "bytes */\(body.count)"))
        headers.append(("Content-Length", "0"))
        return sendHead(416, headers) && complete()
      }
      headers.append(("Content-Range", "bytes \(range.lowerBound)-\(range.upperBound - 1)/\(body.count)"))
      (status, body) = (206, body.dropFirst(range.lowerBound).prefix(range.count))
    }
    if response.isChunked {
      guard sendHead(status, headers + [("Transfer-Encoding", "chunked")]) else { return false }
      for start in stride(from: 0, to: body.count, by: 1000) where !sendChunk(body.dropFirst(start).prefix(1000)) {
        return false
      }
      return sendLastChunk()
    }
    guard sendHead(status, headers + [("Content-Length", "\(response.claimedLength ?? body.count)")]) else {
      return false
    }
    if request.method != "HEAD", !send(body) { return false }
    return response.claimedLength.map { $0 == body.count } ?? true ? complete() : connection.isOpen
  }

  /// Sends a status and header fields, exactly these.
  @discardableResult
  public func sendHead(_ status: Int, _ headers: [(name: String, value: String)] = []) -> Bool {
    var head = "HTTP/1.1 \(status) Status\r\n"
    for (name, value) in headers { head += "\(name): \(value)\r\n" }
    return send(Data((head + "\r\n").utf8))
  }

  /// Sends bytes as they are, whatever they mean.
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

  /// Says that the answer is whole, so that the connection may serve another request; else it is closed.
  @discardableResult
  public func complete() -> Bool {
    isComplete = true
    return connection.isOpen
  }

  /// Sends the same bytes for as long as the client takes them.
  public func sendEndlessly(_ bytes: Data) {
    while send(bytes) {}
  }

  /// Closes the connection with a reset, not in order, when the route returns.
  public func reset() {
    connection.closeSoon(withReset: true)
  }

  /// Blocks, silent, until the client closes the connection or the server stops.
  public func waitForDisconnect() {
    connection.waitForEnd()
  }

  /// Nil where no range is asked for; empty where none of it exists.
  private func requestedRange(of count: Int) -> Range<Int>? {
    guard let range = request["Range"], range.hasPrefix("bytes=") else { return nil }
    let ends = range.dropFirst(6).split(separator: "-", omittingEmptySubsequences: false)
    guard ends.count == 2, let first = Int(ends[0]) else { return nil }
    let last = min(Int(ends[1]) ?? count - 1, count - 1)
    return first <= last ? first..<(last + 1) : 0..<0
  }
}
