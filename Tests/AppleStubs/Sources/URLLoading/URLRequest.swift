public import Foundation

/// The namespace of the cache policies, whose class is not needed here.
open class NSURLRequest: NSObject {
  /// The ways in which a request uses cached responses.
  public enum CachePolicy: UInt, Sendable {
    /// Uses a cached response as long as it is fresh.
    case useProtocolCachePolicy = 0
    /// Loads from the server only.
    case reloadIgnoringLocalCacheData = 1
    /// Uses any cached response, and loads if there is none.
    case returnCacheDataElseLoad = 2
    /// Uses any cached response, and fails if there is none.
    case returnCacheDataDontLoad = 3
    /// Loads from the server only, and tells caches on the way to do so too.
    case reloadIgnoringLocalAndRemoteCacheData = 4
    /// Uses a cached response only after the server confirmed it.
    case reloadRevalidatingCacheData = 5

    /// The older name of the policy that loads from the server only.
    public static var reloadIgnoringCacheData: CachePolicy { .reloadIgnoringLocalCacheData }
  }

  // Nobody needs an instance.
  override private init() {}
}

/// A request to load a URL.
public struct URLRequest: Equatable, Hashable, Sendable {
  /// The ways in which a request uses cached responses.
  public typealias CachePolicy = NSURLRequest.CachePolicy

  /// The URL.
  public var url: URL?
  /// The cache policy.
  public var cachePolicy: CachePolicy
  /// The body of the request.
  public var httpBody: Data?
  /// Whether the session's cookies are sent and stored.
  public var httpShouldHandleCookies = true
  /// Whether an expensive network may be used.
  public var allowsExpensiveNetworkAccess = true
  /// Whether a network in Low Data Mode may be used.
  public var allowsConstrainedNetworkAccess = true
  /// Whether a cellular network may be used.
  public var allowsCellularAccess = true

  /// The time-out that was set, or `nil` to use that of the session.
  private(set) var explicitTimeout: TimeInterval?
  private var method: String?
  private var headers: [String: String]?

  /// Creates a request.
  ///
  /// A time-out of 60 seconds, the default, leaves the choice to the session's configuration.
  public init(
    url: URL,
    cachePolicy: CachePolicy = .useProtocolCachePolicy,
    timeoutInterval: TimeInterval = 60.0,
  ) {
    self.url = url
    self.cachePolicy = cachePolicy
    explicitTimeout = timeoutInterval == 60 ? nil : timeoutInterval
  }

  /// The time in seconds without any progress after which the request fails.
  public var timeoutInterval: TimeInterval {
    get { explicitTimeout ?? 60 }
    set { explicitTimeout = newValue }
  }

  /// The method, which is `GET` if not set.
  public var httpMethod: String? {
    get { method ?? "GET" }
    set { method = newValue }
  }

  /// All header fields, or `nil` if none was set.
  public var allHTTPHeaderFields: [String: String]? {
    get { headers }
    set { headers = newValue }
  }

  /// Returns the value of a header field, whose name is compared without regard to case.
  public func value(forHTTPHeaderField field: String) -> String? {
    headers?.first { $0.key.isSameField(as: field) }?.value
  }

  /// Sets a header field, or removes it if the value is `nil`.
  public mutating func setValue(_ value: String?, forHTTPHeaderField field: String) {
    var fields = (headers ?? [:]).filter { !$0.key.isSameField(as: field) }
    fields[field] = value
    headers = fields
  }

  /// Adds a value to a header field, after a comma if it has one already.
  public mutating func addValue(_ value: String, forHTTPHeaderField field: String) {
    setValue(self.value(forHTTPHeaderField: field).map { "\($0),\(value)" } ?? value, forHTTPHeaderField: field)
  }
}

extension URLRequest: CustomStringConvertible, CustomDebugStringConvertible {
  /// The URL in words.
  public var description: String { url?.description ?? "url: nil" }
  /// The URL in words.
  public var debugDescription: String { description }
}

extension String {
  /// Returns `true` if both name the same header field.
  func isSameField(as other: String) -> Bool {
    utf8.elementsEqual(other.utf8) { $0.lowercasedASCII == $1.lowercasedASCII }
  }
}

extension UInt8 {
  /// The byte with an upper-case ASCII letter made lower-case.
  var lowercasedASCII: UInt8 { self >= 65 && self <= 90 ? self + 32 : self }
}
