import Synchronization
import VitrineCaching
import VitrineHTTP
import VitrineRuntime

/// The responses to one URL that differ by the request fields which `Vary` names, stored side by side.
///
/// One variant has the plain key of the URL. When a request with other values finds it, its values are noted here, and
/// from then on the request has a key of its own, which extends the plain key by these values. So each variant has its
/// images, its validators and its order of responses, like another URL. A URL has at most four variants.
final class VaryVariants: Sendable {
  private struct Entry {
    /// The values of the response that has the plain key.
    let first: HTTPFields
    /// The values of the other variants, the most recently used last.
    var others: [HTTPFields] = []
    let number: Int
  }

  private struct State {
    var entries: [CacheKey: Entry] = [:]
    var nextNumber = 0
    /// The keys of variants that have been evicted but are still stored.
    var evicted: [CacheKey] = []

    mutating func drop(_ plain: CacheKey) {
      guard let entry = entries.removeValue(forKey: plain) else { return }
      evicted += entry.others.map { plain.extended(by: $0) }
    }
  }

  /// The maximum number of variants of a URL.
  private static let limit = 4
  private static let entryLimit = 1000

  private let state = Lock(State())
  private let hasEntries = Atomic(false)

  /// A Boolean value that indicates whether every request so far has found its own variant, as is nearly always so.
  var isEmpty: Bool { !hasEntries.load(ordering: .relaxed) }

  /// Notes that a request has found a response with other values, `first`, under the plain key of its URL.
  func note(_ first: HTTPFields, under plain: CacheKey) {
    guard !first.isEmpty else { return }
    state.withLock { state in
      guard state.entries[plain] == nil else { return }
      state.entries[plain] = Entry(first: first, number: state.nextNumber)
      state.nextNumber += 1
      guard state.entries.count > Self.entryLimit else { return }
      let oldestFirst = state.entries.sorted { $0.value.number < $1.value.number }
      for (key, _) in oldestFirst.prefix(Self.entryLimit / 8) { state.drop(key) }
    }
    hasEntries.store(true, ordering: .relaxed)
  }

  /// Returns the values by which the key of a request with these fields extends the plain key; empty for the plain key.
  func variation(of fields: HTTPFields, under plain: CacheKey) -> HTTPFields {
    state.withLock { state in
      guard var entry = state.entries[plain] else { return [:] }
      let values = HTTPFields(entry.first.map { ($0.name, fields[$0.name] ?? "") })
      guard values != entry.first else { return [:] }
      entry.others.removeAll { $0 == values }
      entry.others.append(values)
      if entry.others.count >= Self.limit { state.evicted.append(plain.extended(by: entry.others.removeFirst())) }
      state.entries[plain] = entry
      return values
    }
  }

  /// Returns a request with the keys of the variant to which its response belongs.
  func place(of variation: HTTPFields, _ request: ImageRequest) -> ImageRequest {
    guard !variation.isEmpty, !isEmpty, request.variation.isEmpty, request.keys.url != nil else { return request }
    let own = self.variation(of: variation, under: request.keys.plain)
    guard !own.isEmpty else { return request }
    var request = request
    request.variation = own
    return request
  }

  /// Returns the keys of all variants of a URL: the plain key and its extensions.
  func keys(under plain: CacheKey) -> [CacheKey] {
    [plain] + (state.withLock { $0.entries[plain]?.others } ?? []).map { plain.extended(by: $0) }
  }

  /// Returns the keys of variants that must be dropped, once.
  func takeEvicted() -> [CacheKey] {
    guard !isEmpty else { return [] }
    return state.withLock { state in
      defer { state.evicted = [] }
      return state.evicted
    }
  }
}

extension CacheKey {
  /// The common prefix of all variants' keys except the plain key, which is this key.
  var variants: CacheKey { extended { $0.append(RequestKeys.variationMark) } }

  fileprivate func extended(by variation: HTTPFields) -> CacheKey {
    extended { RequestKeys.append(variation, &$0) }
  }
}
