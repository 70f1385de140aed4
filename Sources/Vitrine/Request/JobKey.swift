import VitrineCaching
import VitrineHTTP

/// The key of a job: requests with equal keys share one job.
///
/// Beside the key of the result, it has everything that a job acts on. Requests of other freshness are served
/// differently. Any header may turn out to matter, since a server names the significant ones in its response. Requests
/// that share a job share what it reads and writes.
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
  /// The task that shares with no other; `nil` for a shared job.
  private var task: Int?

  /// `key` names the result; `caches` are those whose access must be equal.
  init(_ key: CacheKey, _ product: Product, of request: ImageRequest, _ caches: CacheAccess) {
    (self.key, self.product, self.caches) = (key, product, caches)
    (policy, revalidates, allowsExpensiveNetworkAccess) = (
      request.cachePolicy, request.revalidates, request.allowsExpensiveNetworkAccess,
    )
    headers =
      request.headers.isEmpty
      ? [] : request.headers.map { Header(name: $0.name.lowercased(), value: $0.value) }.sorted { $0.name < $1.name }
  }

  /// Returns the key for one task alone.
  func ofTask(_ task: Int) -> JobKey {
    var key = self
    key.task = task
    return key
  }

  /// Whether this is that of one task alone, and but for that the same.
  func isOfOneTask(_ other: JobKey) -> Bool {
    guard task != nil else { return false }
    var key = self
    key.task = nil
    return key == other
  }
}
