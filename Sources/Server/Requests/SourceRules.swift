public import VitrineHTTP
import VitrineRuntime

/// The originals that a server may load.
///
/// ```swift
/// var rules = SourceRules()
/// rules.prefixes = [try SourcePrefix("https://images.example.org/uploads/"), try SourcePrefix("*.example.net")]
/// ```
/// They hold for redirects, too. Names are resolved by the loader: give it the same ``addressGuard``, so that no name leads
/// into a private network.
public struct SourceRules: Sendable {
  /// A Boolean value that indicates whether http and https URLs are loaded.
  ///
  /// Defaults to `true`.
  public var allowsURLs = true
  /// The beginnings of URLs, one of which must fit.
  ///
  /// Defaults to none: all URLs are allowed.
  public var prefixes: [SourcePrefix] = []
  /// The guard that addresses and ports in URLs must pass; `nil` for none.
  ///
  /// Defaults to `AddressGuard()`.
  public var addressGuard: AddressGuard? = AddressGuard()
  /// Hosts that are refused whatever the prefixes say, in lower case.
  ///
  /// Defaults to none.
  public var refusedHosts: Set<String> = []
  /// A Boolean value that indicates whether files below a local root are served.
  ///
  /// Defaults to `false`.
  public var allowsLocalFiles = false
  /// The buckets of which objects are served, as `s3://bucket/key` or `gs://bucket/key`.
  ///
  /// Defaults to none.
  public var buckets: Set<String> = []
  /// True for a program that does not know the buckets of the server.
  package var allowsAllBuckets = false
  /// The beginnings of sources that are replaced before anything else, in order.
  ///
  /// Defaults to none.
  public var replacements: [SourceReplacement] = []
  /// The beginning of sources that are neither URLs nor begin with `local://`; `nil` for none.
  ///
  /// A source is appended as it is.
  public var base: String?

  /// Makes the default rules.
  public init() {}

  /// Returns the source that a text names.
  ///
  /// - Parameter text: The text, decoded.
  /// - Returns: The source.
  /// - Throws: ``RequestError`` of status 400 if the text names no source, 403 if the source is not allowed.
  public func source(_ text: String) throws(RequestError) -> ThumbnailRequest.Source {
    let text = replacements.reduce(text) { $1.applied(to: $0) }
    guard !text.isEmpty else { throw RequestError(400, "the source is missing") }
    let whole = Self.hasScheme(text) ? text : (base ?? "") + text
    if let path = Self.path(whole, after: "local://") { return try local(path) }
    // Google's buckets are read by the protocol of Amazon's.
    for scheme in ["s3://", "gs://"] {
      if let path = Self.path(whole, after: scheme) { return try object("s3://\(path)") }
    }
    for (scheme, place) in [("abs://", "Azure"), ("swift://", "Swift")] where Self.path(whole, after: scheme) != nil {
      throw RequestError(400, "sources in \(place) are not supported; use the https URL of the object")
    }
    return try remote(whole)
  }

  private func object(_ text: String) throws(RequestError) -> ThumbnailRequest.Source {
    guard let object = ObjectURL(text) else { throw RequestError(400, "the source is not valid: not an object") }
    guard allowsAllBuckets || buckets.contains(object.bucket) else {
      throw Self.refused("the bucket is none of the allowed ones")
    }
    return .url(object.standIn.string)
  }

  private static func path(_ text: String, after scheme: String) -> String? {
    // By bytes: a combining mark after a slash makes another character.
    text.utf8.starts(with: scheme.utf8) ? String(decoding: text.utf8.dropFirst(scheme.utf8.count), as: UTF8.self) : nil
  }

  private static func hasScheme(_ text: String) -> Bool {
    guard let end = text.utf8.firstIndex(where: { ":/?#".utf8.contains($0) }) else { return false }
    return text.utf8[end...].starts(with: "://".utf8)
  }

  private func remote(_ text: String) throws(RequestError) -> ThumbnailRequest.Source {
    guard allowsURLs else { throw RequestError(403, "URLs are not allowed as sources", code: "sourceNotAllowed") }
    let url: HTTPURL
    do throws(HTTPError) {
      url = try HTTPURL(text)
    } catch {
      throw RequestError(400, "the source is not valid: \(error.detail)")
    }
    if let objection = rule(against: url) { throw Self.refused(objection) }
    if let objection = addressGuard?.objection(to: url) { throw Self.refused(objection, code: "addressRefused") }
    return .url(url.string)
  }

  /// The client does not learn the reason, which would tell it about the server's network.
  private static func refused(_ reason: String, code: String = "sourceNotAllowed") -> RequestError {
    RequestError(403, "the source is not allowed", code: code, reason: reason)
  }

  /// Returns the reason why a URL is not loaded, nor followed as a redirect; `nil` if it may be.
  package func objection(to url: HTTPURL) -> String? { rule(against: url) ?? addressGuard?.objection(to: url) }

  private func rule(against url: HTTPURL) -> String? {
    guard prefixes.isEmpty || prefixes.contains(where: { $0.contains(url) }) else {
      return "the URL begins like none of the allowed sources"
    }
    // What stands in for an object is no URL of a client's, nor of another server's.
    if ObjectURL.isStandIn(url) { return "the host is that of objects in buckets" }
    return refusedHosts.contains(url.host.withoutFinalDot) ? "the host is refused" : nil
  }

  private func local(_ path: String) throws(RequestError) -> ThumbnailRequest.Source {
    guard allowsLocalFiles else {
      throw RequestError(403, "local files are not allowed as sources", code: "sourceNotAllowed")
    }
    // One slash belongs to `local:///`.
    let relative = path.utf8.dropFirst(path.utf8.first == UInt8(ascii: "/") ? 1 : 0)
    let parts = relative.split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false)
    let isPlain = parts.allSatisfy { part in
      !part.isEmpty && !part.elementsEqual(".".utf8) && !part.elementsEqual("..".utf8) && part.count <= 255
        && part.allSatisfy { $0 >= 32 && $0 != 127 }
    }
    guard isPlain, relative.count < 4096 else { throw RequestError(400, "the path of the source is not valid") }
    return .localFile(String(decoding: relative, as: UTF8.self))
  }
}

/// The beginning of URLs: a scheme, a host and the first components of a path.
///
/// ```swift
/// try SourcePrefix("https://images.example.org/uploads")   // and all below, but not /uploads2
/// try SourcePrefix("*.example.net")                        // all hosts below example.net, http and https
/// ```
/// It is compared by its meaning and not its spelling: case, a dot at the end of the host, the default port and escapes
/// make no difference. A host is compared as a whole, a path component by component.
public struct SourcePrefix: Sendable, Hashable, CustomStringConvertible {
  private let isSecure: Bool?
  private let host: String
  private let includesSubdomains: Bool
  private let port: Int?
  private let path: [ByteString]

  /// The text that it was made of.
  public let description: String

  /// Reads a prefix.
  ///
  /// - Throws: ``ConfigurationError`` if the text is none.
  public init(_ text: String) throws(ConfigurationError) {
    func refuse(_ why: String) -> ConfigurationError { ConfigurationError("the allowed source '\(text)' \(why)") }
    let hasScheme = text.contains("://")
    var rest = hasScheme ? text : "https://\(text)"
    includesSubdomains = rest.contains("://*.")
    if includesSubdomains { rest = rest.replacing("://*.", with: "://") }
    guard !rest.contains("*") else { throw refuse("may have a * only as the first label of the host") }
    guard !rest.contains("?"), !rest.contains("#") else { throw refuse("may not have a query or a fragment") }
    let url: HTTPURL
    do throws(HTTPError) {
      url = try HTTPURL(rest)
    } catch {
      throw refuse("is not the beginning of a URL: \(error.detail)")
    }
    guard !includesSubdomains || !url.isNumeric else { throw refuse("may not have a * before an address") }
    (isSecure, port) = hasScheme ? (url.isSecure, url.port) : (nil, url.port == 443 ? nil : url.port)
    host = url.host.withoutFinalDot
    guard let components = url.components else { throw refuse("has an escaped slash in its path") }
    path = components.last?.isEmpty == true ? components.dropLast() : components
    description = text
  }

  /// Returns whether a URL begins with the prefix.
  public func contains(_ url: HTTPURL) -> Bool {
    if let isSecure, url.isSecure != isSecure { return false }
    guard url.port == port ?? (url.isSecure ? 443 : 80) else { return false }
    let other = url.host.withoutFinalDot
    guard includesSubdomains ? other.hasSuffix(".\(host)") : other == host else { return false }
    guard !path.isEmpty else { return true }
    // What another server may take for a slash or a step upwards is not compared.
    guard let components = url.components else { return false }
    return components.starts(with: path)
  }
}

extension HTTPURL {
  /// The decoded components of the path; `nil` if one has a slash, a backslash, or is a step upwards once decoded.
  fileprivate var components: [ByteString]? {
    let rest = string.dropFirst(isSecure ? 8 : 7)
    let page = rest.prefix { $0 != "?" }
    var components: [ByteString] = []
    for part in page.split(separator: "/", omittingEmptySubsequences: false).dropFirst() {
      guard let text = PercentEncoding.decode(part), !text.utf8.contains(where: { "/\\".utf8.contains($0) }),
        !Self.isStep(text), !text.lowercased().contains("%2f"), !text.lowercased().contains("%5c"),
        !text.lowercased().contains("%2e")
      else { return nil }
      components.append(ByteString(text))
    }
    return components
  }

  /// Returns true for `.`, `..`, and the same with parameters, which some servers cut off first: `..;a=1`.
  private static func isStep(_ component: String) -> Bool {
    let name = component.utf8.prefix { $0 != UInt8(ascii: ";") }
    return name.elementsEqual(".".utf8) || name.elementsEqual("..".utf8)
  }

  fileprivate var isNumeric: Bool { host.hasPrefix("[") || host.utf8.allSatisfy { "0123456789.".utf8.contains($0) } }
}

extension String {
  fileprivate var withoutFinalDot: String { hasSuffix(".") ? String(dropLast()) : self }
}
