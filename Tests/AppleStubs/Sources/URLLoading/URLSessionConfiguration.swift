public import Foundation
import Synchronization

// Sendable, since a lock guards what changes.
/// The settings of a session, which copies them when it is created.
open class URLSessionConfiguration: NSObject, NSCopying, @unchecked Sendable {
  struct Values {
    var cache: URLCache?
    var cachePolicy = NSURLRequest.CachePolicy.useProtocolCachePolicy
    var cookies: HTTPCookieStorage?
    var setsCookies = true
    var acceptPolicy = HTTPCookie.AcceptPolicy.onlyFromMainDocumentDomain
    var credentials: URLCredentialStorage?
    var connectionsPerHost = 6
    var idleTimeout: TimeInterval = 60
    var resourceTimeout: TimeInterval = 604_800
    var headers: [String: String]?
    var proxies: ProxySettings?
    var waitsForConnectivity = false
    var allowsCellular = true
    var allowsExpensive = true
    var allowsConstrained = true
  }

  // Sendable, since it never changes and its values are those of property lists.
  struct ProxySettings: @unchecked Sendable {
    let values: [AnyHashable: Any]
  }

  private let stored: Mutex<Values>

  init(_ values: Values) { stored = Mutex(values) }

  /// The values at this moment.
  var values: Values { stored.withLock { $0 } }

  /// A new configuration with the program's shared cache, cookies and credentials.
  open class var `default`: URLSessionConfiguration {
    URLSessionConfiguration(Values(cache: .shared, cookies: .shared, credentials: .shared))
  }

  /// A new configuration with a cache, cookies and credentials of its own, in memory.
  open class var ephemeral: URLSessionConfiguration {
    URLSessionConfiguration(
      Values(
        cache: URLCache(memoryCapacity: 512_000, diskCapacity: 0),
        cookies: HTTPCookieStorage(),
        credentials: URLCredentialStorage(),
      )
    )
  }

  /// Returns a separate configuration with the same values.
  open func copy(with zone: NSZone? = nil) -> Any { URLSessionConfiguration(values) }

  /// The cache, or `nil` for none.
  open var urlCache: URLCache? {
    get { values.cache }
    set { stored.withLock { $0.cache = newValue } }
  }

  /// The cache policy of requests that have none of their own.
  open var requestCachePolicy: NSURLRequest.CachePolicy {
    get { values.cachePolicy }
    set { stored.withLock { $0.cachePolicy = newValue } }
  }

  /// The storage of cookies, or `nil` for none.
  open var httpCookieStorage: HTTPCookieStorage? {
    get { values.cookies }
    set { stored.withLock { $0.cookies = newValue } }
  }

  /// Whether requests send the stored cookies.
  open var httpShouldSetCookies: Bool {
    get { values.setsCookies }
    set { stored.withLock { $0.setsCookies = newValue } }
  }

  /// Which cookies are stored.
  open var httpCookieAcceptPolicy: HTTPCookie.AcceptPolicy {
    get { values.acceptPolicy }
    set { stored.withLock { $0.acceptPolicy = newValue } }
  }

  /// The storage of credentials, or `nil` for none.
  open var urlCredentialStorage: URLCredentialStorage? {
    get { values.credentials }
    set { stored.withLock { $0.credentials = newValue } }
  }

  /// The maximum number of simultaneous connections to a host.
  open var httpMaximumConnectionsPerHost: Int {
    get { values.connectionsPerHost }
    set { stored.withLock { $0.connectionsPerHost = newValue } }
  }

  /// The time in seconds without any progress after which a task fails.
  ///
  /// A request's own time-out comes first.
  open var timeoutIntervalForRequest: TimeInterval {
    get { values.idleTimeout }
    set { stored.withLock { $0.idleTimeout = newValue } }
  }

  /// The time in seconds from its start after which a task fails.
  open var timeoutIntervalForResource: TimeInterval {
    get { values.resourceTimeout }
    set { stored.withLock { $0.resourceTimeout = newValue } }
  }

  /// The header fields of all requests, unless a request has its own.
  open var httpAdditionalHeaders: [AnyHashable: Any]? {
    get { values.headers }
    set {
      let pairs = newValue.map { Array($0) }?.map { ("\($0.key)", "\($0.value)") }
      let headers = pairs.map { Dictionary($0) { first, _ in first } }
      stored.withLock { $0.headers = headers }
    }
  }

  /// The proxies, which are only kept here, since there are no proxies.
  open var connectionProxyDictionary: [AnyHashable: Any]? {
    get { values.proxies?.values }
    set {
      let proxies = newValue.map { ProxySettings(values: $0) }
      stored.withLock { $0.proxies = proxies }
    }
  }

  /// Whether tasks wait for a network rather than fail.
  open var waitsForConnectivity: Bool {
    get { values.waitsForConnectivity }
    set { stored.withLock { $0.waitsForConnectivity = newValue } }
  }

  /// Whether cellular networks may be used.
  open var allowsCellularAccess: Bool {
    get { values.allowsCellular }
    set { stored.withLock { $0.allowsCellular = newValue } }
  }

  /// Whether expensive networks may be used.
  open var allowsExpensiveNetworkAccess: Bool {
    get { values.allowsExpensive }
    set { stored.withLock { $0.allowsExpensive = newValue } }
  }

  /// Whether networks in Low Data Mode may be used.
  open var allowsConstrainedNetworkAccess: Bool {
    get { values.allowsConstrained }
    set { stored.withLock { $0.allowsConstrained = newValue } }
  }
}
