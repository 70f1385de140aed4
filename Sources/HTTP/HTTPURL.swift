import VitrineRuntime

/// A URL of http or https in the one form that servers, caches and comparisons share.
///
/// The scheme and the host are in lower case, international names in Punycode, the default port and the
/// fragment dropped, `.` and `..` resolved, an empty path is `/`, and what may not stand in a URL is
/// percent-encoded as browsers do. Two strings that differ only in those are one URL.
///
/// International names are mapped to lower case and otherwise taken as they are: not composed (NFC),
/// and not checked against IDNA's tables, which the name's registry does.
public struct HTTPURL: Sendable, Hashable, CustomStringConvertible {
  /// The canonical form.
  public let string: String
  /// The host: a name, an IPv4 address, or an IPv6 address in brackets.
  public let host: String
  /// The port, also where it is the scheme's own.
  public let port: Int
  /// Whether the scheme is https.
  public let isSecure: Bool

  /// Scheme, host and port, which decide who may see a secret (RFC 6454).
  public var origin: String { "\(isSecure ? "https" : "http")://\(host):\(port)" }

  /// Whether the host is an address and needs no look-up.
  var isAddress: Bool {
    host.hasPrefix("[") || host.utf8.last?.isDigit == true && host.utf8.allSatisfy { $0.isDigit || $0 == 46 }
  }

  /// The canonical form.
  public var description: String { string }

  /// Brings a string into the canonical form; spaces around it are ignored.
  ///
  /// - Throws: ``HTTPError`` with ``HTTPError/Code/invalidURL``; also for a URL with a user's name, since a
  ///   password there ends up in logs: send an `Authorization` field instead.
  public init(_ string: String) throws(HTTPError) {
    if let canonical = HTTPURL(canonical: string) {
      self = canonical
    } else {
      try self.init(parsing: string)
    }
  }

  init(string: String, host: String, port: Int, isSecure: Bool) {
    (self.string, self.host, self.port, self.isSecure) = (string, host, port, isSecure)
  }

  /// Brings a string into the canonical form step by step, whatever it is.
  init(parsing string: String) throws(HTTPError) {
    func invalid(_ why: String) -> HTTPError { HTTPError(.invalidURL, url: string, why) }

    let text = string.trimmed
    guard !text.utf8.contains(where: { $0 < 32 || $0 == 127 }) else { throw invalid("a control character in a URL") }
    guard let colon = text.utf8.firstIndex(of: UInt8(ascii: ":")) else { throw invalid("not a URL: no scheme") }
    let scheme = text[..<colon].lowercased()
    guard scheme == "http" || scheme == "https" else { throw invalid("not a URL of http or https") }
    var rest = text[colon...].dropFirst()
    guard rest.hasPrefix("//") else { throw invalid("not a URL: no // after the scheme") }
    rest = rest.dropFirst(2)

    // By bytes: a mark that combines with what stands before it makes another character of a slash, but no other URL.
    let end = rest.utf8.firstIndex { "/?#".utf8.contains($0) } ?? rest.endIndex
    let authority = rest[..<end]
    guard !authority.utf8.contains(UInt8(ascii: "@")) else { throw invalid("a user's name in a URL is not supported") }
    let (name, digits) = Self.split(authority)
    guard let host = HostName.canonical(name) else { throw invalid("not a host: \"\(name)\"") }
    let standard = scheme == "https" ? 443 : 80
    guard let port = digits.isEmpty ? standard : Self.port(digits) else { throw invalid("not a port: \"\(digits)\"") }

    let beforeFragment = rest[end..<(rest.utf8.firstIndex(of: UInt8(ascii: "#")) ?? rest.endIndex)]
    let path = beforeFragment[..<(beforeFragment.utf8.firstIndex(of: UInt8(ascii: "?")) ?? beforeFragment.endIndex)]
    let query = beforeFragment[path.endIndex...]
    isSecure = scheme == "https"
    self.host = host
    self.port = port
    self.string =
      "\(scheme)://\(host)\(port == standard ? "" : ":\(port)")"
      + Self.withoutDotSegments(Self.encoded(path, escaping: "\"<>`{}^\\"))
      + Self.encoded(query, escaping: "\"<>'")
  }

  /// Returns what a reference on this page means, such as `Location` (RFC 3986 5.2).
  ///
  /// - Throws: ``HTTPError`` with ``HTTPError/Code/invalidURL`` where that is nothing of http or https.
  func resolving(_ reference: String) throws(HTTPError) -> HTTPURL {
    let reference = reference.trimmed
    let scheme = string.prefix { $0 != ":" }
    let page = string.prefix { $0 != "?" }
    switch reference.unicodeScalars.first(where: { "/:?#".unicodeScalars.contains($0) }) {
    // The first of them decides: what precedes a colon is a scheme.
    case ":": return try HTTPURL(String(reference))
    case "/" where reference.utf8.starts(with: "//".utf8): return try HTTPURL("\(scheme):\(reference)")
    case "/" where reference.utf8.starts(with: "/".utf8): return try HTTPURL(origin + reference)
    case "?" where reference.utf8.starts(with: "?".utf8): return try HTTPURL(String(page + reference))
    case "#" where reference.utf8.starts(with: "#".utf8), nil where reference.isEmpty: return self
    default: return try HTTPURL(String(page[...(page.lastIndex(of: "/") ?? page.startIndex)] + reference))
    }
  }

  /// Compares the canonical forms.
  public static func == (left: HTTPURL, right: HTTPURL) -> Bool {
    left.string == right.string
  }

  /// Hashes the canonical form.
  public func hash(into hasher: inout Hasher) {
    hasher.combine(string)
  }

  private static func split(_ authority: Substring) -> (host: Substring, port: Substring) {
    // An IPv6 address has colons of its own, within brackets.
    let afterHost = authority.lastIndex(of: "]") ?? authority.startIndex
    guard let colon = authority[afterHost...].lastIndex(of: ":") else { return (authority, "") }
    return (authority[..<colon], authority[colon...].dropFirst())
  }

  private static func port(_ digits: Substring) -> Int? {
    guard digits.utf8.allSatisfy(\.isDigit), let port = Int(digits), port <= 65_535 else { return nil }
    return port
  }

  /// Percent-encodes what is not ASCII, spaces, `escaped`, and a percent sign that encodes nothing.
  private static func encoded(_ part: Substring, escaping escaped: String) -> String {
    let bytes = Array(part.utf8)
    var result: [UInt8] = []
    result.reserveCapacity(bytes.count)
    for (index, byte) in bytes.enumerated() {
      let isStray =
        byte == UInt8(ascii: "%")
        && !(index + 2 < bytes.count && bytes[index + 1].isHexDigit && bytes[index + 2].isHexDigit)
      if byte <= 32 || byte >= 127 || isStray || escaped.utf8.contains(byte) {
        result.append(UInt8(ascii: "%"))
        result.append(contentsOf: String(byte, radix: 16, uppercase: true).utf8)
      } else {
        result.append(byte)
      }
    }
    return String(decoding: result, as: UTF8.self)
  }

  /// Resolves `.` and `..` (RFC 3986 5.2.4).
  private static func withoutDotSegments(_ path: String) -> String {
    guard !path.isEmpty else { return "/" }
    guard path.utf8.contains(UInt8(ascii: ".")) || path.contains("%2") else { return path }
    var segments: [Substring] = []
    let all = path.split(separator: "/", omittingEmptySubsequences: false).dropFirst()
    for (index, segment) in zip(all.indices, all) {
      let isLast = index == all.endIndex - 1
      switch segment.lowercased().replacing("%2e", with: ".") {
      case ".":
        if isLast { segments.append("") }
      case "..":
        _ = segments.popLast()
        if isLast { segments.append("") }
      default:
        segments.append(segment)
      }
    }
    return "/" + segments.joined(separator: "/")
  }
}
