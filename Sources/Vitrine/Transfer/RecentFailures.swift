import VitrineCaching
import VitrineHTTP
import VitrineRuntime

/// The recent failures of sources: error responses while they are fresh, and other failures if the pipeline remembers
/// them.
final class RecentFailures: Sendable {
  private struct Entry {
    let error: HTTPError
    /// The response, if it has a freshness of its own; `nil` for failures that the pipeline's setting remembers.
    let stored: StoredResponse?
    /// The change that the hook made before sending.
    let change: RequestChange?
    let number: Int
  }

  private struct State {
    var entries: [CacheKey: Entry] = [:]
    var memory = FailureMemory<CacheKey>(limit: RecentFailures.limit)
    var nextNumber = 0
  }

  private static let limit = 1000

  private let state = Lock(State())
  private let freshness: Freshness
  /// A Boolean value that indicates whether failures without a freshness of their own are remembered, which goes beyond
  /// RFC 9111.
  private let remembers: Bool

  init(by freshness: Freshness, remembers: Bool) {
    (self.freshness, self.remembers) = (freshness, remembers)
  }

  /// Returns the error that another attempt would most likely bring; `nil` if an attempt is worthwhile.
  ///
  /// `fields` are the fields that would be sent, `change` is the change by the hook before sending.
  func error(
    for request: ImageRequest,
    _ source: String,
    fields: HTTPFields,
    _ change: RequestChange?,
    now: Date,
    uptime: Duration,
  ) -> LoadError? {
    let key = request.keys.fetch
    let found = state.withLock { state in
      state.entries[key].map { ($0, state.memory.standing(for: key, now: uptime)) }
    }
    guard let (entry, standing) = found, entry.change == change, request.cachePolicy != .reload else { return nil }
    guard let stored = entry.stored else {
      guard let standing else { return nil }
      let (age, rest) = (standing.age.wholeSeconds(.down), standing.rest.wholeSeconds(.up))
      return LoadError(standing.error, source, "failed \(age) s ago, not retried for \(rest) s: ")
    }
    let decision = freshness.decide(stored, for: fields, now: now)
    guard decision.action == .serve, let expires = decision.expires else { return nil }
    if case .maxAge = request.cachePolicy,
      freshness.decide(stored, for: fields, policy: request.cachePolicy, now: now).action != .serve
    {
      return nil
    }
    let age = Int(clamping: max(0, freshness.age(of: stored, now: now)))
    let rest = Int(clamping: expires.timeIntervalSince(now).rounded(.up))
    return LoadError(entry.error, source, "answered \(age) s ago, fresh for \(rest) s: ")
  }

  /// Records a failure, and the response if the server answered.
  ///
  /// A response with freshness of its own is kept while it is fresh, or not at all. The pipeline's setting applies only
  /// to other failures.
  func record(
    _ error: HTTPError,
    _ stored: StoredResponse? = nil,
    retryAfter: Duration? = nil,
    for key: CacheKey,
    _ change: RequestChange?,
    now: Date,
    uptime: Duration,
  ) {
    // Forgotten entries are released under the lock, so they must not hold the error's cause.
    let error = error.withoutCause()
    let isResponse = stored?.hasFreshnessInformation ?? false
    let isKept = isResponse ? stored.map { isReusable($0, now: now) } ?? false : remembers
    state.withLock { state in
      guard isKept else {
        state.entries[key] = nil
        return
      }
      if !isResponse { state.memory.record(error, for: key, retryAfter: retryAfter, now: uptime) }
      let number = state.nextNumber
      state.nextNumber += 1
      state.entries[key] = Entry(error: error, stored: isResponse ? stored : nil, change: change, number: number)
      // Several entries are dropped at once, so that not every record in a full memory scans all entries.
      guard state.entries.count > Self.limit else { return }
      state.entries = state.entries.filter { $0.value.number > number - Self.limit * 7 / 8 }
    }
  }

  private func isReusable(_ stored: StoredResponse, now: Date) -> Bool {
    stored.allowsStoring && freshness.decide(stored, for: stored.variation, now: now).action == .serve
  }

  func forget(_ key: CacheKey) {
    state.withLock { state in
      state.entries[key] = nil
      state.memory.forget(key)
    }
  }

  func removeAll() {
    state.withLock { state in
      state.entries = [:]
      state.memory.removeAll()
    }
  }
}

/// The change that a hook made to a request, as a hash, since the changed values may be secret.
struct RequestChange: Sendable, Hashable {
  private let hash: Int

  /// Creates a change; returns `nil` if the requests do not differ.
  init?(from old: HTTPRequest, to new: HTTPRequest) {
    let names = Set((Array(old.headers) + Array(new.headers)).map { $0.name.lowercased() })
      .filter { old.headers.values(for: $0) != new.headers.values(for: $0) }.sorted()
    guard !names.isEmpty || old.url != new.url || old.method != new.method || old.body != new.body else { return nil }
    var hasher = Hasher()
    for name in names { hasher.combine([name] + new.headers.values(for: name)) }
    if old.url != new.url { hasher.combine(new.url) }
    if old.method != new.method { hasher.combine(new.method) }
    if old.body != new.body { hasher.combine(new.body) }
    hash = hasher.finalize()
  }
}

/// The error thrown after a hook if the changed request has a remembered failure.
struct RememberedFailure: Error {
  let error: LoadError
}

extension Duration {
  fileprivate func wholeSeconds(_ rule: FloatingPointRoundingRule) -> Int {
    Int(clamping: (self / .seconds(1)).rounded(rule))
  }
}
