import VitrineCaching
import VitrineHTTP
import VitrineRuntime

/// The recent failures of sources: error responses while they are fresh, and other failures if the pipeline remembers
/// them.
///
/// The pipeline remembers the statuses 404 (5 minutes) and 410 (an hour), other statuses from 400 to 499 (a minute), and
/// 429 and failures of the network or the server (10 seconds, doubled for each further failure up to 5 minutes). It
/// ignores cancellations, requests that could not be sent, bodies over the limit, and 408. A `Retry-After` replaces
/// these times, up to an hour.
///
/// - Complexity: O(1) for each operation. Now and then a record drops the oldest entries in O(n).
final class RecentFailures: Sendable {
  private struct Entry {
    let error: HTTPError
    /// The response, if it has a freshness of its own; `nil` for failures that the pipeline's setting remembers.
    let stored: StoredResponse?
    /// The change that the hook made before sending.
    let change: RequestChange?
    let number: Int
    /// The uptimes at which a failure without freshness was recorded, and until which it is remembered.
    let recorded: Duration
    let until: Duration
    /// The number of failures since the last success.
    let count: Int
  }

  private struct State {
    var entries: [CacheKey: Entry] = [:]
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

  /// The number of remembered failures, including expired ones.
  var count: Int { state.withLock { $0.entries.count } }

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
    guard let entry = state.withLock({ $0.entries[key] }), entry.change == change, request.cachePolicy != .reload else {
      return nil
    }
    guard let stored = entry.stored else {
      guard entry.until > uptime else { return nil }
      let (age, rest) = ((uptime - entry.recorded).wholeSeconds(.down), (entry.until - uptime).wholeSeconds(.up))
      return LoadError(entry.error, source, "failed \(age) s ago, not retried for \(rest) s: ")
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
      let count = (state.entries[key]?.count ?? 0) + 1
      guard let span = isResponse ? .zero : Self.span(error, count) else { return }
      let number = state.nextNumber
      state.nextNumber += 1
      state.entries[key] = Entry(
        error: error,
        stored: isResponse ? stored : nil,
        change: change,
        number: number,
        recorded: uptime,
        until: uptime + (retryAfter.map { min($0, .seconds(3600)) } ?? span),
        count: count,
      )
      // Several entries are dropped at once, so that not every record in a full memory scans all entries.
      guard state.entries.count > Self.limit else { return }
      state.entries = state.entries.filter { $0.value.number > number - Self.limit * 7 / 8 }
    }
  }

  /// Returns the time for which a failure is remembered; `nil` for a failure that does not depend on the URL.
  private static func span(_ error: HTTPError, _ count: Int) -> Duration? {
    switch error.code {
    case .cancelled, .invalidURL, .invalidRequest, .preparationFailed, .tooLarge, .overloaded: return nil
    case .badStatus where error.status == 404: return .seconds(300)
    case .badStatus where error.status == 410: return .seconds(3600)
    case .badStatus where error.status == 408: return nil
    case .badStatus where (400...499).contains(error.status ?? 0) && error.status != 429: return .seconds(60)
    default: return min(.seconds(10 << min(count - 1, 10)), .seconds(300))
    }
  }

  private func isReusable(_ stored: StoredResponse, now: Date) -> Bool {
    stored.allowsStoring && freshness.decide(stored, for: stored.variation, now: now).action == .serve
  }

  func forget(_ key: CacheKey) { state.withLock { $0.entries[key] = nil } }

  func removeAll() { state.withLock { $0.entries = [:] } }
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
