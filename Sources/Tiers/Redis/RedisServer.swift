import VitrineRuntime

/// The address of a Redis or Valkey server, with user, password and database.
///
/// ```swift
/// let server = try RedisServer("redis://vitrine:secret@cache.internal:6379/0")
/// ```
/// - `redis://[[user]:password@]host[:port][/database]` is a server over TCP. The port defaults to 6379, the database to
///   0. User and password may be percent-encoded.
/// - `unix://[[user]:password@]/path/of/socket[?db=database]` is a server on this machine.
///
/// TLS is not supported. Use a tunnel to a remote server, such as stunnel or WireGuard.
public struct RedisServer: Sendable, Hashable, CustomStringConvertible {
  enum Place: Sendable, Hashable {
    case tcp(host: String, port: Int)
    case unix(path: String)
  }

  let place: Place
  let user: String?
  let password: String?
  let database: Int

  /// Creates a server from a URL.
  ///
  /// - Parameter url: The URL.
  /// - Throws: ``RedisError`` if the URL has neither of the forms above. The error does not contain the password.
  public init(_ url: String) throws(RedisError) {
    let scheme = url.prefix { $0 != ":" }.lowercased()
    guard url.dropFirst(scheme.count).hasPrefix("://") else { throw Self.invalid("it has no scheme") }
    switch scheme {
    case "redis", "unix": break
    case "rediss", "valkeys":
      throw Self.error(
        "TLS is not supported; run a TLS tunnel on this machine, such as stunnel, and use redis:// with its port"
      )
    default: throw Self.invalid("the scheme is neither redis nor unix")
    }
    var rest = url.dropFirst(scheme.count + 3)
    (user, password) = try Self.takeCredentials(from: &rest)
    (place, database) = scheme == "unix" ? try Self.socket(rest) : try Self.host(rest)
  }

  /// The URL without user and password.
  public var description: String {
    switch place {
    case .tcp(let host, let port): "redis://\(host.contains(":") ? "[\(host)]" : host):\(port)/\(database)"
    case .unix(let path): "unix://\(path)?db=\(database)"
    }
  }

  private static func invalid(_ reason: String) -> RedisError {
    error("\(reason); it must be redis://user:password@host:port/database or unix:///path?db=database")
  }

  private static func error(_ reason: String) -> RedisError {
    RedisError(.configure, "the URL of a Redis server", reason)
  }

  private static func takeCredentials(from rest: inout Substring) throws(RedisError) -> (String?, String?) {
    let authority = rest.prefix { $0 != "/" && $0 != "?" }
    guard let at = authority.lastIndex(of: "@") else { return (nil, nil) }
    let parts = authority[..<at].split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
    rest = rest[rest.index(after: at)...]
    guard parts.count == 2, !parts[1].isEmpty else { throw invalid("there is a user, but no password") }
    guard let user = decoded(parts[0]), let password = decoded(parts[1])
    else { throw invalid("the user or the password is not percent-encoded text") }
    return (user.isEmpty ? nil : user, password)
  }

  private static func host(_ rest: Substring) throws(RedisError) -> (Place, Int) {
    let parts = rest.split(separator: "/", maxSplits: 1, omittingEmptySubsequences: false)
    var host = parts.first ?? ""
    var port = 6379
    let colon = host.lastIndex(of: ":")
    if let colon, host.last != "]", !host[..<colon].contains(":") || host[..<colon].last == "]" {
      guard let number = Int(host[host.index(after: colon)...]), (1...65_535).contains(number) else {
        throw invalid("the port is not a number from 1 to 65535")
      }
      port = number
      host = host[..<colon]
    }
    if host.first == "[", host.last == "]" { host = host.dropFirst().dropLast() }
    guard !host.isEmpty, !host.utf8.contains(0) else { throw invalid("it names no host") }
    guard parts.count == 2, !parts[1].isEmpty else { return (.tcp(host: String(host), port: port), 0) }
    return (.tcp(host: String(host), port: port), try database(parts[1]))
  }

  private static func socket(_ rest: Substring) throws(RedisError) -> (Place, Int) {
    let parts = rest.split(separator: "?", maxSplits: 1, omittingEmptySubsequences: false)
    // The system limits the length of a socket's name.
    guard let path = parts.first.flatMap({ decoded($0) }), path.hasPrefix("/"),
      path.utf8.count < 108, !path.utf8.contains(0)
    else { throw invalid("it has no absolute path of at most 107 bytes") }
    guard parts.count == 2 else { return (.unix(path: path), 0) }
    guard parts[1].hasPrefix("db=") else { throw invalid("only the parameter db is known") }
    return (.unix(path: path), try database(parts[1].dropFirst(3)))
  }

  /// Returns the decoded text, or `nil` if its percent-encoding is invalid.
  private static func decoded(_ text: Substring) -> String? {
    var bytes: [UInt8] = []
    var rest = text.utf8[...]
    while let byte = rest.popFirst() {
      guard byte == UInt8(ascii: "%") else {
        bytes.append(byte)
        continue
      }
      guard rest.count >= 2, let value = UInt8(String(decoding: rest.prefix(2), as: UTF8.self), radix: 16) else {
        return nil
      }
      bytes.append(value)
      rest = rest.dropFirst(2)
    }
    return String(validating: bytes, as: UTF8.self)
  }

  private static func database(_ text: Substring) throws(RedisError) -> Int {
    guard let number = Int(text), number >= 0 else { throw invalid("the database is not a number") }
    return number
  }
}
