import VitrineCaching
import VitrineHTTP

/// The key of a shared load: requests with equal keys share one.
///
/// In addition to the name of the result, the key has all values that keep loads apart although their results have the
/// same name. Requests with other demands on freshness are served differently, and their time-outs may differ. Headers
/// that are not significant may prove significant: the server's response shows which ones it uses. Requests that share
/// a load share its look-ups and its stored results.
///
/// It is a class, since tables and loads hold it several times.
final class LoadKey: Hashable, Sendable {
  enum Product: Hashable, Sendable {
    case bytes
    /// The bytes, of which a large file is only opened.
    case file
    /// The confirmation of bytes that are not stored, or other bytes.
    case validation(ContentID)
    case image(StoragePolicy, keepsEncodedData: Bool, requiresExactPixels: Bool)
    case encoded(StoragePolicy)
  }

  private struct Header: Hashable, Sendable {
    let name: String
    let value: String
  }

  private struct Values: Hashable, Sendable {
    let key: CacheKey
    var product: Product
    let policy: CachePolicy
    let caches: CacheAccess
    let revalidates: Bool
    let allowsExpensiveNetworkAccess: Bool
    let headers: [Header]
    /// The bounds; `nil` for the defaults.
    let bounds: HTTPOptions.Bounds?
    /// The task that does not share the load; `nil` for a shared load.
    var task: Int?
  }

  /// The keys of the request that the load serves first.
  let source: RequestKeys
  private let values: Values

  /// Creates a key; `key` names the result, `caches` are the caches to which access must be equal.
  init(_ key: CacheKey, _ product: Product, of request: ImageRequest, _ caches: CacheAccess) {
    source = request.keys
    values = Values(
      key: key,
      product: product,
      policy: request.cachePolicy,
      caches: caches,
      revalidates: request.revalidates,
      allowsExpensiveNetworkAccess: request.allowsExpensiveNetworkAccess,
      headers: request.headers.isEmpty
        ? []
        : request.headers.map { Header(name: $0.name.lowercased(), value: $0.value) }.sorted { $0.name < $1.name },
      bounds: request.http.bounds == HTTPOptions.Bounds() ? nil : request.http.bounds,
    )
  }

  private init(_ source: RequestKeys, _ values: Values) { (self.source, self.values) = (source, values) }

  static func == (left: LoadKey, right: LoadKey) -> Bool { left === right || left.values == right.values }

  func hash(into hasher: inout Hasher) { hasher.combine(values) }

  /// A Boolean value that indicates whether several tasks may have the load.
  var isShared: Bool { values.task == nil }

  /// Returns the key for one task alone; `nil` for the key that all tasks share.
  func ofTask(_ task: Int?) -> LoadKey {
    var values = values
    values.task = task
    return LoadKey(source, values)
  }

  /// Returns the key of the validation of these bytes.
  func validating(_ contentID: ContentID) -> LoadKey {
    var values = values
    values.product = .validation(contentID)
    return LoadKey(source, values)
  }

  /// The key of the load of bytes that only opens a large file.
  var lent: LoadKey {
    var values = values
    values.product = .file
    return LoadKey(source, values)
  }

  /// Returns `true` if this is the other key, restricted to one task.
  func isOfOneTask(_ other: LoadKey) -> Bool { !isShared && ofTask(nil) == other }
}
