public import VitrineRuntime

/// A store of cookies in memory, each only for the host that set it (RFC 6265, host-only).
///
/// The `Domain` attribute is ignored. No list of public suffixes is needed, and no host sees another's cookies. A
/// loader without a jar stores and sends none. Several loaders may share a jar.
public final class CookieJar: Sendable {
  private struct Cookie {
    let name: String
    let value: String
    let path: String
    let isSecure: Bool
    let expires: Date?
  }

  private static let limitPerHost = 50
  private static let limit = 3000

  private let clock: any TimeSource
  /// The cookies by host, the oldest first.
  private let cookies = Lock<[String: [Cookie]]>([:])

  /// Creates an empty jar, with the system clock by default.
  public init(clock: any TimeSource = .system) {
    self.clock = clock
  }

  /// The number of cookies, including expired ones.
  package var count: Int { Self.count(cookies.withLock { $0 }) }

  private static func count(_ cookies: [String: [Cookie]]) -> Int { cookies.values.reduce(0) { $0 + $1.count } }

  /// Removes all cookies.
  public func removeAll() {
    cookies.withLock { $0 = [:] }
  }

  /// Returns the value of the `Cookie` field for a URL, or `nil` if there is no cookie to send.
  package func header(for url: HTTPURL) -> String? {
    let now = clock.now
    let sent = (cookies.withLock { $0[url.host] } ?? []).filter { cookie in
      (cookie.expires.map { $0 > now } ?? true) && (url.isSecure || !cookie.isSecure)
        && Self.path(url.path, isWithin: cookie.path)
    }
    guard !sent.isEmpty else { return nil }
    // Longer paths come first, and older cookies first among equals (RFC 6265 5.4).
    let inOrder = sent.enumerated().sorted { one, other in
      (other.element.path.utf8.count, one.offset) < (one.element.path.utf8.count, other.offset)
    }
    return inOrder.map { "\($0.element.name)=\($0.element.value)" }.joined(separator: "; ")
  }

  /// Stores the cookies of a response's `Set-Cookie` fields, and ignores invalid ones.
  ///
  /// Stores at most 50 cookies of a host, and drops the oldest first. Stores at most 3,000 in all, and accepts no new
  /// ones above that.
  package func store(_ fields: [String], from url: HTTPURL) {
    guard !fields.isEmpty else { return }
    let now = clock.now
    for field in fields where field.utf8.count <= 8192 { store(field, from: url, now: now) }
  }

  private func store(_ field: String, from url: HTTPURL, now: Date) {
    let parts = field.split(separator: ";", omittingEmptySubsequences: false)
    guard let pair = parts.first, let equals = pair.utf8.firstIndex(of: UInt8(ascii: "=")) else { return }
    let name = String(pair[..<equals].trimmed)
    let value = String(pair[equals...].dropFirst().trimmed)
    guard !name.isEmpty, (name + value).utf8.allSatisfy({ $0 > 31 && $0 != 127 }) else { return }

    var path = Self.folder(of: url.path)
    var isSecure = false
    var expires: Date?
    var maxAge: Date?
    for attribute in parts.dropFirst() {
      let key = attribute.prefix { $0 != "=" }.trimmed
      let text = attribute.drop { $0 != "=" }.dropFirst().trimmed
      if key.equalsIgnoringCase("Path"), text.hasPrefix("/") { path = String(text) }
      if key.equalsIgnoringCase("Secure") { isSecure = true }
      if key.equalsIgnoringCase("Expires") { expires = HTTPDate.parse(String(text), now: now) }
      if key.equalsIgnoringCase("Max-Age"), let seconds = Int(text) {
        maxAge = now.addingTimeInterval(Double(min(max(seconds, -1), 400 * 86_400)))
      }
    }
    // A response over http may neither set nor replace a secure cookie.
    guard url.isSecure || !isSecure else { return }
    let end = maxAge ?? expires
    let cookie = Cookie(name: name, value: value, path: path, isSecure: isSecure, expires: end)
    cookies.withLock { all in
      var cookies = all[url.host] ?? []
      defer { all[url.host] = cookies.isEmpty ? nil : cookies }
      let old = cookies.firstIndex { $0.name == name && $0.path == path }
      if let old, cookies[old].isSecure, !url.isSecure { return }
      if let old { cookies.remove(at: old) }
      if let end, end <= now { return }
      guard Self.count(all) - (old == nil ? 0 : 1) < Self.limit else { return }
      if cookies.count >= Self.limitPerHost { cookies.removeFirst() }
      // A new value has the age of the older one.
      cookies.insert(cookie, at: old ?? cookies.count)
    }
  }

  private static func folder(of path: String) -> String {
    let folder = path[..<(path.lastIndex(of: "/") ?? path.startIndex)]
    return folder.isEmpty ? "/" : String(folder)
  }

  private static func path(_ path: String, isWithin folder: String) -> Bool {
    guard path.hasPrefix(folder) else { return false }
    return folder.hasSuffix("/") || path.utf8.count == folder.utf8.count
      || path.dropFirst(folder.count).hasPrefix("/")
  }
}

extension HTTPURL {
  /// The path without the query.
  var path: String {
    let rest = string.dropFirst(isSecure ? 8 : 7)
    return String(rest[(rest.firstIndex(of: "/") ?? rest.startIndex)...].prefix { $0 != "?" })
  }
}
