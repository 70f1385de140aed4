import VitrineCaching
import VitrineHTTP

/// What jobs are told apart by: those with equal keys are one job.
///
/// Besides what names the result it has what keeps jobs apart although their results have one name. Requests that want
/// other freshness are served differently, and one's time-outs are not for another. Headers that do not count may turn out to: which ones a server looks at is known
/// when it has answered. Who shares a job shares what it found and what it keeps.
struct JobKey: Hashable, Sendable {
  enum Product: Hashable, Sendable {
    case bytes
    case image(StoragePolicy, keepsEncodedData: Bool)
  }

  private struct Header: Hashable, Sendable {
    let name: String
    let value: String
  }

  private let key: CacheKey
  private let product: Product
  private let policy: CachePolicy
  private let caches: CacheAccess
  private let revalidates: Bool
  private let allowsExpensiveNetworkAccess: Bool
  private let headers: [Header]
  /// `nil` for the usual ones.
  private let bounds: HTTPOptions.Bounds?
  /// The task that shares with nobody; `nil` for what is shared.
  private var task: Int?

  /// `key` names the result; `caches` are those that each of who share the job must want alike.
  init(_ key: CacheKey, _ product: Product, of request: ImageRequest, _ caches: CacheAccess) {
    (self.key, self.product, self.caches) = (key, product, caches)
    (policy, revalidates, allowsExpensiveNetworkAccess) = (
      request.cachePolicy, request.revalidates, request.allowsExpensiveNetworkAccess,
    )
    bounds = request.http.bounds == HTTPOptions.Bounds() ? nil : request.http.bounds
    headers =
      request.headers.isEmpty
      ? [] : request.headers.map { Header(name: $0.name.lowercased(), value: $0.value) }.sorted { $0.name < $1.name }
  }

  /// The same for one task alone.
  func ofTask(_ task: Int) -> JobKey {
    var key = self
    key.task = task
    return key
  }
}
