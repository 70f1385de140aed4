public import Foundation
import Synchronization

// Sendable, since a lock guards what changes.
/// The cookies of a session, kept in memory.
open class HTTPCookieStorage: NSObject, @unchecked Sendable {
  private struct State {
    var cookies: [HTTPCookie] = []
    var policy = HTTPCookie.AcceptPolicy.always
  }

  private static let common = HTTPCookieStorage()
  private let state = Mutex(State())

  override init() {}

  /// The storage of the default configuration.
  open class var shared: HTTPCookieStorage { common }

  /// Which cookies are stored.
  open var cookieAcceptPolicy: HTTPCookie.AcceptPolicy {
    get { state.withLock { $0.policy } }
    set { state.withLock { $0.policy = newValue } }
  }

  /// All cookies.
  open var cookies: [HTTPCookie]? { state.withLock { $0.cookies.filter { !$0.isOver } } }

  /// Returns the cookies that a request to a URL sends.
  open func cookies(for URL: URL) -> [HTTPCookie]? {
    state.withLock { $0.cookies.filter { $0.isSent(to: URL) } }
  }

  /// Stores a cookie in place of the one with its name, domain and path.
  open func setCookie(_ cookie: HTTPCookie) {
    state.withLock { state in
      guard state.policy != .never else { return }
      state.cookies.removeAll { $0.isSame(as: cookie) }
      if !cookie.isOver { state.cookies.append(cookie) }
    }
  }

  /// Stores the cookies of a response.
  open func setCookies(_ cookies: [HTTPCookie], for URL: URL?, mainDocumentURL: URL?) {
    for cookie in cookies { setCookie(cookie) }
  }

  /// Removes a cookie.
  open func deleteCookie(_ cookie: HTTPCookie) {
    state.withLock { $0.cookies.removeAll { $0.isSame(as: cookie) } }
  }
}

extension HTTPCookie {
  /// Which cookies are stored.
  public enum AcceptPolicy: UInt, Sendable {
    /// All.
    case always = 0
    /// None.
    case never = 1
    /// Those of the main document's domain, which are all here.
    case onlyFromMainDocumentDomain = 2
  }

  fileprivate func isSame(as other: HTTPCookie) -> Bool {
    name == other.name && domain == other.domain && path == other.path
  }
}
