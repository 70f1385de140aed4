import VitrineRuntime

/// An http or https URL in canonical form.
///
/// Scheme and host are in lower case. International names are in Punycode. The default port and the fragment are
/// dropped, and `.` and `..` are resolved. An empty path is `/`. Characters that a URL cannot contain are
/// percent-encoded as browsers do. Strings that differ only in these points are one URL.
///
/// International names are mapped to lower case and otherwise unchanged. They are neither composed (NFC) nor checked
/// against IDNA's tables, which is the task of the name's registry.
public struct HTTPURL: Sendable, Hashable, CustomStringConvertible {
  /// The canonical form.
  public let string: String
  /// The host: a name, an IPv4 address, or an IPv6 address in brackets.
  public let host: String
  /// The port, including the default of the scheme.
  public let port: Int
  /// A Boolean value that indicates whether the scheme is https.
  package let isSecure: Bool

  /// The origin: scheme, host and port, which bound the use of a secret (RFC 6454).
  package var origin: String { "\(isSecure ? "https" : "http")://\(host):\(port)" }

  /// A Boolean value that indicates whether the host is an address and needs no look-up.
  var isAddress: Bool {
    host.hasPrefix("[") || host.utf8.last?.isDigit == true && host.utf8.allSatisfy { $0.isDigit || $0 == 46 }
  }

  /// The canonical form.
  public var description: String { string }

  /// Parses a string and brings it into canonical form.
  ///
  /// It ignores surrounding spaces.
  ///
  /// - Throws: ``HTTPError`` with ``HTTPError/Code/invalidURL``. A user name in the URL is an error too, since a
  ///   password in a URL ends up in logs. Send an `Authorization` field instead.
  public init(_ string: String) throws(HTTPError) {
    if let canonical = HTTPURL(canonical: string) {
      self = canonical
    } else {
      try self.init(parsing: string)
    }
  }

  /// Creates a URL of parts that are already in canonical form.
  ///
  /// The path keeps `.` and `..`, which are significant in names of objects.
  package init(string: String, host: String, port: Int, isSecure: Bool) {
    (self.string, self.host, self.port, self.isSecure) = (string, host, port, isSecure)
  }

  /// Parses any string, step by step.
  init(parsing string: String) throws(HTTPError) {
    func invalid(_ why: String) -> HTTPError { HTTPError(.invalidURL, url: string, why) }

    let text = string.trimmed
    guard !text.utf8.contains(where: { $0 < 32 || $0 == 127 }) else { throw invalid("a control character") }
    guard let colon = text.utf8.firstIndex(of: UInt8(ascii: ":")) else { throw invalid("not a URL: no scheme") }
    let scheme = text[..<colon].lowercased()
    guard scheme != "s3" else {
      throw invalid("not the URL of an object, which is s3://bucket/key")
    }
    guard scheme == "http" || scheme == "https" else { throw invalid("not an http or https URL") }
    var rest = text[colon...].dropFirst()
    guard rest.hasPrefix("//") else { throw invalid("not a URL: no // after the scheme") }
    rest = rest.dropFirst(2)

    // The search is by bytes: a combining mark after a slash makes another character, but not another URL.
    let end = rest.utf8.firstIndex { "/?#".utf8.contains($0) } ?? rest.endIndex
    let authority = rest[..<end]
    guard !authority.utf8.contains(UInt8(ascii: "@")) else { throw invalid("user names in URLs are not supported") }
    let (name, digits) = Self.split(authority)
    guard let host = HostName.canonical(name) else { throw invalid("invalid host \"\(name)\"") }
    let standard = scheme == "https" ? 443 : 80
    guard let port = digits.isEmpty ? standard : digits.digits, port <= 65_535 else {
      throw invalid("invalid port \"\(digits)\"")
    }

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

  /// Resolves a reference relative to this URL, such as a `Location` field (RFC 3986 5.2).
  ///
  /// - Throws: ``HTTPError`` with ``HTTPError/Code/invalidURL`` if the result is not an http or https URL.
  func resolving(_ reference: String) throws(HTTPError) -> HTTPURL {
    let reference = reference.trimmed
    let scheme = string.prefix { $0 != ":" }
    let page = string.prefix { $0 != "?" }
    switch reference.unicodeScalars.first(where: { "/:?#".unicodeScalars.contains($0) }) {
    // The first of these characters decides: text before a colon is a scheme.
    case ":": return try HTTPURL(String(reference))
    case "/" where reference.utf8.starts(with: "//".utf8): return try HTTPURL("\(scheme):\(reference)")
    case "/" where reference.utf8.starts(with: "/".utf8): return try HTTPURL(origin + reference)
    case "?" where reference.utf8.starts(with: "?".utf8): return try HTTPURL(String(page + reference))
    case "#" where reference.utf8.starts(with: "#".utf8), nil where reference.isEmpty: return self
    default: return try HTTPURL(String(page[...(page.lastIndex(of: "/") ?? page.startIndex)] + reference))
    }
  }

  /// Returns a Boolean value that indicates whether two URLs have the same canonical form.
  public static func == (left: HTTPURL, right: HTTPURL) -> Bool {
    left.string == right.string
  }

  /// Hashes the canonical form.
  public func hash(into hasher: inout Hasher) {
    hasher.combine(string)
  }

  private static func split(_ authority: Substring) -> (host: Substring, port: Substring) {
    // An IPv6 address has its own colons, within the brackets.
    let afterHost = authority.lastIndex(of: "]") ?? authority.startIndex
    guard let colon = authority[afterHost...].lastIndex(of: ":") else { return (authority, "") }
    return (authority[..<colon], authority[colon...].dropFirst())
  }

  /// Percent-encodes non-ASCII bytes, spaces, `escaped`, and a percent sign that encodes nothing.
  private static func encoded(_ part: Substring, escaping escaped: String) -> String {
    PercentEncoding.encode(part) { byte, rest in
      if byte == UInt8(ascii: "%") { return rest.count < 2 || !rest.prefix(2).allSatisfy(\.isHexDigit) }
      return byte <= 32 || byte >= 127 || escaped.utf8.contains(byte)
    }
  }

  /// Resolves `.` and `..` (RFC 3986 5.2.4).
  private static func withoutDotSegments(_ path: String) -> String {
    guard !path.isEmpty else { return "/" }
    // A dot segment begins with a dot, plain or percent-encoded; nearly no URL has one.
    guard path.contains("/.") || path.contains("/%") else { return path }
    var segments: [Substring] = []
    let all = path.split(separator: "/", omittingEmptySubsequences: false).dropFirst()
    for (index, segment) in zip(all.indices, all) {
      let plain = segment.lowercased().replacing("%2e", with: ".")
      if plain == ".." { _ = segments.popLast() }
      if plain != ".", plain != ".." {
        segments.append(segment)
      } else if index == all.endIndex - 1 {
        segments.append("")
      }
    }
    return "/" + segments.joined(separator: "/")
  }
}
