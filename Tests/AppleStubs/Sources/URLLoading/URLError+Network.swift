public import Foundation

/// The key of an error's `userInfo` for the reason why the network may not be used.
public let NSURLErrorNetworkUnavailableReasonKey = "NSURLErrorNetworkUnavailableReasonKey"

extension URLError {
  /// The reasons why the network may not be used.
  public enum NetworkUnavailableReason: Int, Sendable {
    /// A cellular network was not allowed.
    case cellular = 0
    /// An expensive network was not allowed.
    case expensive = 1
    /// A network in Low Data Mode was not allowed.
    case constrained = 2
  }

  /// The reason why the network may not be used, if that is what failed.
  public var networkUnavailableReason: NetworkUnavailableReason? {
    (userInfo[NSURLErrorNetworkUnavailableReasonKey] as? Int).flatMap { NetworkUnavailableReason(rawValue: $0) }
  }
}

/// A failure inside the session, which callers get as a `URLError`.
struct Failure: Error {
  var code: URLError.Code
  /// The system's error number, or 0.
  var number: Int32 = 0
  var reason: URLError.NetworkUnavailableReason?

  init(_ code: URLError.Code, number: Int32 = 0, reason: URLError.NetworkUnavailableReason? = nil) {
    self.code = code
    self.number = number
    self.reason = reason
  }

  /// Returns the error for callers.
  func error(for url: URL?) -> URLError {
    var info: [String: Any] = [:]
    info[NSURLErrorFailingURLErrorKey] = url
    if number != 0 { info[NSUnderlyingErrorKey] = NSError(domain: NSPOSIXErrorDomain, code: Int(number)) }
    if let reason { info[NSURLErrorNetworkUnavailableReasonKey] = reason.rawValue }
    return URLError(code, userInfo: info)
  }
}
