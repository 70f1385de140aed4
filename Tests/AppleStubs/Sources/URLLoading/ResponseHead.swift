import Foundation

/// The status line and header fields of a response.
struct ResponseHead {
  /// The extent of a body.
  enum Framing: Equatable {
    case none
    case length(Int)
    case chunked
    case untilClose
  }

  var isHTTP11: Bool
  var status: Int
  var fields: [(name: String, value: String)] = []
  /// The number of its bytes.
  var size = 0

  private static let maximumSize = 1 << 18

  /// Reads a head, or returns `nil` if the connection ends before its first byte.
  static func read(_ connection: Connection, _ watch: Watch) throws(Failure) -> ResponseHead? {
    // What does not begin like HTTP is not waited for until its line ends.
    let start = Array("HTTP/1.".utf8)
    while connection.buffer.count < start.count,
      connection.buffer.elementsEqual(start.prefix(connection.buffer.count))
    {
      guard try connection.fill(watch) else {
        if connection.buffer.isEmpty { return nil }
        throw Failure(.networkConnectionLost)
      }
    }
    guard connection.buffer.starts(with: start) else { throw Failure(.cannotParseResponse) }
    var head = try ResponseHead(line: nextLine(connection, watch))
    while true {
      let line = try nextLine(connection, watch)
      head.size += line.count + 2
      guard head.size <= maximumSize else { throw Failure(.badServerResponse) }
      if line.isEmpty { return head }
      try head.add(line)
    }
  }

  private static func nextLine(_ connection: Connection, _ watch: Watch) throws(Failure) -> [UInt8] {
    guard let line = try connection.takeLine(atMost: maximumSize, watch) else {
      throw Failure(.networkConnectionLost)
    }
    return line
  }

  private init(line: [UInt8]) throws(Failure) {
    let parts = line.split(separator: 32, maxSplits: 2, omittingEmptySubsequences: false)
    guard parts.count >= 2, parts[1].count == 3, parts[1].allSatisfy({ $0 >= 48 && $0 <= 57 })
    else {
      throw Failure(.cannotParseResponse)
    }
    status = parts[1].reduce(0) { $0 * 10 + Int($1) - 48 }
    guard status >= 100 else { throw Failure(.cannotParseResponse) }
    isHTTP11 = parts[0].last != 48
    size = line.count + 2
  }

  private mutating func add(_ line: [UInt8]) throws(Failure) {
    if line.first == 32 || line.first == 9, let last = fields.indices.last {
      fields[last].value += " " + Self.text(line[...])
      return
    }
    guard let colon = line.firstIndex(of: 58), colon > 0, !line[..<colon].contains(32) else {
      throw Failure(.cannotParseResponse)
    }
    fields.append((Self.text(line[..<colon]), Self.text(line[(colon + 1)...])))
  }

  /// Returns UTF-8 or else Latin-1 text without the spaces around it.
  private static func text(_ bytes: ArraySlice<UInt8>) -> String {
    let text =
      String(validating: bytes, as: UTF8.self)
      ?? String(String.UnicodeScalarView(bytes.map { UnicodeScalar($0) }))
    return text.trimmingCharacters(in: .whitespaces)
  }

  func values(_ name: String) -> [String] {
    fields.filter { $0.name.isSameField(as: name) }.map(\.value)
  }

  /// The header fields in the first spelling, those of one name joined.
  var joined: [String: String] {
    var names: [String: String] = [:]
    var result: [String: String] = [:]
    for field in fields {
      let key = field.name.lowercased()
      let name = names[key] ?? field.name
      names[key] = name
      result[name] = result[name].map { "\($0), \(field.value)" } ?? field.value
    }
    return result
  }

  private func tokens(_ name: String) -> [String] {
    values(name).flatMap { $0.split(separator: ",") }.map {
      $0.trimmingCharacters(in: .whitespaces).lowercased()
    }
  }

  /// Whether the connection may carry another request.
  var keepsConnection: Bool {
    let tokens = tokens("Connection")
    return isHTTP11 ? !tokens.contains("close") : tokens.contains("keep-alive")
  }

  /// Returns the extent of the body that follows.
  func framing(for method: String) throws(Failure) -> Framing {
    if method == "HEAD" || status < 200 || status == 204 || status == 304 { return .none }
    let codings = tokens("Transfer-Encoding")
    if !codings.isEmpty { return codings.last == "chunked" ? .chunked : .untilClose }
    let lengths = Set(tokens("Content-Length"))
    guard let length = lengths.first else { return .untilClose }
    guard lengths.count == 1, length.utf8.allSatisfy({ $0 >= 48 && $0 <= 57 }),
      let count = Int(length)
    else {
      throw Failure(.badServerResponse)
    }
    return .length(count)
  }
}
