import Foundation

extension Job {
  /// Returns the stored response that its policy wants, if any, or fails if it must not load.
  func cachedResponse() throws(Failure) -> CachedURLResponse? {
    let stored = method == "GET" ? session.settings.cache?.cachedResponse(for: request) : nil
    switch cachePolicy {
    case .useProtocolCachePolicy: return stored.flatMap { $0.isFresh ? $0 : nil }
    case .returnCacheDataElseLoad: return stored
    case .returnCacheDataDontLoad:
      guard let stored else { throw Failure(.resourceUnavailable) }
      return stored
    case .reloadIgnoringLocalCacheData, .reloadIgnoringLocalAndRemoteCacheData, .reloadRevalidatingCacheData:
      return nil
    }
  }

  /// Whether a response may be stored.
  func mayStore(_ response: HTTPURLResponse) -> Bool {
    method == "GET" && session.settings.cache != nil && response.maximumAge != nil
  }
}
