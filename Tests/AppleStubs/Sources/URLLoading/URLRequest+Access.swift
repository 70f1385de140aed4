import Foundation
@_exported public import FoundationNetworking

extension URLRequest {
  private static let key = "allowsExpensiveNetworkAccess"

  /// Whether the request may be sent over an expensive network; the toolchain's URLSession does not ask.
  public var allowsExpensiveNetworkAccess: Bool {
    get { URLProtocol.property(forKey: Self.key, in: self) as? Bool ?? true }
    set {
      guard let request = (self as NSURLRequest).mutableCopy() as? NSMutableURLRequest else {
        return
      }
      URLProtocol.setProperty(newValue, forKey: Self.key, in: request)
      self = request as URLRequest
    }
  }
}
