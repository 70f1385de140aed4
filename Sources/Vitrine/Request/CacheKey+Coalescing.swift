import VitrineCaching
import VitrineHTTP

extension CacheKey.Builder {
  /// Adds what keeps jobs apart although their results have one key.
  ///
  /// Requests that want other freshness are served differently. Headers that do not count may turn out to: which ones a
  /// server looks at is known when it has answered. Who shares a job shares what it found and what it keeps, so each of them must
  /// want that of `caches`.
  mutating func appendWay(of request: ImageRequest, _ caches: CacheUse) {
    append(request.policy)
    append(Int(caches.rawValue))
    append(request.revalidates)
    append(request.allowsMetered)
    for header in request.headers.sorted(by: { $0.name.lowercased() < $1.name.lowercased() }) {
      append(header.name.lowercased())
      append(header.value)
    }
  }

  private mutating func append(_ policy: CachePolicy) {
    switch policy {
    case .standard: append("standard")
    case .reload: append("reload")
    case .cacheFirst: append("cacheFirst")
    case .cacheOnly: append("cacheOnly")
    case .maxAge(let age):
      append("maxAge")
      append(Int(age.components.seconds))
      append(Int(age.components.attoseconds))
    }
  }
}
