import VitrineCaching
import VitrineHTTP

/// The key of a job: requests with equal keys share one job.
///
/// In addition to the name of the result, the key has all values that keep jobs apart although their results have the
/// same name. Requests with other demands on freshness are served differently, and their time-outs may differ. Headers
/// that are not significant may prove significant: the server's response shows which ones it uses. Requests that share
/// a job share its look-ups and its stored results.
struct JobKey: Hashable, Sendable {
  enum Product: Hashable, Sendable {
    case bytes
    case image(StoragePolicy, keepsEncodedData: Bool, isExact: Bool)
    case encoded(StoragePolicy)
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
  /// The bounds; `nil` for the defaults.
  private let bounds: HTTPOptions.Bounds?
  /// The task that does not share the job; `nil` for a shared job.
  private var task: Int?

  /// Creates a key; `key` names the result, `caches` are the caches to which access must be equal.
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

  /// A Boolean value that indicates whether several tasks may have the job.
  var isShared: Bool { task == nil }

  /// Returns the key for one task alone.
  func ofTask(_ task: Int) -> JobKey {
    var key = self
    key.task = task
    return key
  }

  /// Returns `true` if this is the other key, restricted to one task.
  func isOfOneTask(_ other: JobKey) -> Bool {
    guard task != nil else { return false }
    var key = self
    key.task = nil
    return key == other
  }
}
