public import Foundation

/// The name of a property of a cookie.
public struct HTTPCookiePropertyKey: RawRepresentable, Hashable, Sendable {
  /// The name as text.
  public var rawValue: String

  /// Creates a key of its text.
  public init(rawValue: String) { self.rawValue = rawValue }
  /// Creates a key of its text.
  public init(_ rawValue: String) { self.rawValue = rawValue }

  /// The name.
  public static let name = HTTPCookiePropertyKey("Name")
  /// The value.
  public static let value = HTTPCookiePropertyKey("Value")
  /// The domain, which begins with a dot if its subdomains get the cookie too.
  public static let domain = HTTPCookiePropertyKey("Domain")
  /// The path.
  public static let path = HTTPCookiePropertyKey("Path")
  /// The URL that set the cookie, in place of a domain.
  public static let originURL = HTTPCookiePropertyKey("OriginURL")
  /// The time when the cookie ends, as a `Date`.
  public static let expires = HTTPCookiePropertyKey("Expires")
  /// The time in seconds after which the cookie ends.
  public static let maximumAge = HTTPCookiePropertyKey("Max-Age")
  /// Whether only secure connections get the cookie.
  public static let secure = HTTPCookiePropertyKey("Secure")
}

// Sendable, since nothing in it changes after its creation.
/// A cookie.
open class HTTPCookie: NSObject, @unchecked Sendable {
  struct Values: Equatable {
    var name: String
    var value: String
    var domain: String
    var path = "/"
    var expires: Date?
    var isSecure = false
    var isHTTPOnly = false
  }

  let values: Values

  init(_ values: Values) { self.values = values }

  /// Creates a cookie, or returns `nil` if a name, value, path, or both of domain and origin are missing.
  public init?(properties: [HTTPCookiePropertyKey: Any]) {
    guard let name = properties[.name] as? String, let value = properties[.value] as? String,
      let path = properties[.path] as? String
    else { return nil }
    let origin = properties[.originURL] as? URL ?? (properties[.originURL] as? String).flatMap { URL(string: $0) }
    guard let domain = properties[.domain] as? String ?? origin?.host() else { return nil }
    values = Values(
      name: name,
      value: value,
      domain: domain.lowercased(),
      path: path,
      expires: properties[.expires] as? Date
        ?? (properties[.maximumAge] as? String).flatMap { TimeInterval($0) }.map { Date(timeIntervalSinceNow: $0) },
      isSecure: (properties[.secure] as? String)?.lowercased() == "true",
    )
  }

  /// The name.
  open var name: String { values.name }
  /// The value.
  open var value: String { values.value }
  /// The domain, which begins with a dot if its subdomains get the cookie too.
  open var domain: String { values.domain }
  /// The path.
  open var path: String { values.path }
  /// The time when it ends, or `nil` if that is the end of the session.
  open var expiresDate: Date? { values.expires }
  /// Whether it ends with the session.
  open var isSessionOnly: Bool { values.expires == nil }
  /// Whether only secure connections get it.
  open var isSecure: Bool { values.isSecure }
  /// Whether scripts do not get it.
  open var isHTTPOnly: Bool { values.isHTTPOnly }

  /// Returns the header field that sends cookies.
  open class func requestHeaderFields(with cookies: [HTTPCookie]) -> [String: String] {
    cookies.isEmpty ? [:] : ["Cookie": cookies.map { "\($0.name)=\($0.value)" }.joined(separator: "; ")]
  }

  /// Returns the cookies of a response.
  ///
  /// Only one cookie for each field is found here.
  open class func cookies(withResponseHeaderFields headerFields: [String: String], for URL: URL) -> [HTTPCookie] {
    headerFields.filter { $0.key.isSameField(as: "Set-Cookie") }.compactMap { HTTPCookie(field: $0.value, from: URL) }
  }

  /// Creates the cookie of a `Set-Cookie` field, or returns `nil` if the host may not set it.
  convenience init?(field: String, from url: URL) {
    let parts = field.split(separator: ";").map { $0.trimmingCharacters(in: .whitespaces) }
    guard let pair = parts.first, let equals = pair.firstIndex(of: "="), equals != pair.startIndex,
      let host = url.host()?.lowercased()
    else { return nil }
    var values = Values(
      name: String(pair[..<equals]),
      value: String(pair[pair.index(after: equals)...]),
      domain: host,
    )
    for part in parts.dropFirst() {
      let halves = part.split(separator: "=", maxSplits: 1).map(String.init)
      let value = halves.count > 1 ? halves[1] : ""
      switch halves.first?.lowercased() {
      case "path": values.path = value.hasPrefix("/") ? value : "/"
      case "secure": values.isSecure = true
      case "httponly": values.isHTTPOnly = true
      case "max-age": values.expires = TimeInterval(value).map { Date(timeIntervalSinceNow: $0) }
      case "domain":
        let domain = String(value.lowercased().drop { $0 == "." })
        guard host == domain || host.hasSuffix(".\(domain)") else { return nil }
        values.domain = ".\(domain)"
      default: break
      }
    }
    self.init(values)
  }

  /// Returns `true` if a request to the URL sends it.
  func isSent(to url: URL) -> Bool {
    guard let host = url.host()?.lowercased() else { return false }
    let bare = String(domain.drop { $0 == "." })
    let isHost = host == bare || domain.hasPrefix(".") && host.hasSuffix(domain)
    let target = url.path().isEmpty ? "/" : url.path()
    let isPath = target == path || target.hasPrefix(path.hasSuffix("/") ? path : "\(path)/")
    return isHost && isPath && (!isSecure || url.scheme?.lowercased() == "https") && !isOver
  }

  /// Returns `true` if it ended.
  var isOver: Bool { expiresDate.map { $0 <= Date() } ?? false }
}
