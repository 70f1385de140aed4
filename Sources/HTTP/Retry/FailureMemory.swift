/// A negative cache of recent failures, so that a list with one dead URL in every cell requests it once.
///
/// It is a value without a clock: the caller passes the time, as a duration since any fixed moment. The key identifies
/// a request; a URL is often enough.
/// ```swift
/// var memory = FailureMemory<String>()
/// memory.record(error, for: url.string, now: clock.uptime)
/// if let failure = memory.standing(for: url.string, now: clock.uptime) { … }   // too early for another request
/// ```
/// It remembers the statuses 404 (5 minutes) and 410 (an hour), other statuses from 400 to 499 (a minute), and 429 and
/// failures of the network or the server (10 seconds, doubled for each further failure up to 5 minutes). It ignores
/// cancellations, requests that could not be sent, bodies over the limit, and 408. A `Retry-After` replaces these
/// times, up to an hour.
///
/// - Complexity: O(1) for each operation. Now and then a record drops the oldest entries in O(n log n).
package struct FailureMemory<Key: Hashable & Sendable>: Sendable {
  private struct Entry: Sendable {
    var error: HTTPError
    var until: Duration
    var recorded: Duration
    var number: Int
    var count: Int
  }

  private let limit: Int
  private var entries: [Key: Entry] = [:]
  private var nextNumber = 0

  /// Creates an empty memory.
  ///
  /// - Parameter limit: The maximum number of failures. The oldest are dropped first. Defaults to 1,000.
  package init(limit: Int = 1000) {
    self.limit = max(1, limit)
  }

  /// The number of stored failures, including expired ones.
  package var count: Int { entries.count }

  /// Returns a recent failure, its age, and the time until another request is worthwhile.
  package func standing(for key: Key, now: Duration) -> (error: HTTPError, age: Duration, rest: Duration)? {
    guard let entry = entries[key], entry.until > now else { return nil }
    return (entry.error, now - entry.recorded, entry.until - now)
  }

  /// Records a failure.
  ///
  /// - Parameters:
  ///   - error: The error. Errors that do not depend on the URL are ignored.
  ///   - key: The key of the request.
  ///   - retryAfter: The delay that the server demands, if any.
  ///   - now: The time.
  package mutating func record(_ error: HTTPError, for key: Key, retryAfter: Duration? = nil, now: Duration) {
    let count = (entries[key]?.count ?? 0) + 1
    guard let span = Self.span(error, count) else { return }
    let until = now + (retryAfter.map { min($0, .seconds(3600)) } ?? span)
    entries[key] = Entry(error: error, until: until, recorded: now, number: nextNumber, count: count)
    nextNumber += 1
    // Several entries are dropped at once, so that a full memory does not scan all of them at every record.
    guard entries.count > limit else { return }
    let oldestFirst = entries.sorted { $0.value.number < $1.value.number }
    for (key, _) in oldestFirst.prefix(entries.count - limit * 7 / 8) { entries[key] = nil }
  }

  /// Removes a failure, after a success or for a forced attempt.
  package mutating func forget(_ key: Key) {
    entries[key] = nil
  }

  /// Removes all failures, for instance when the network is back.
  package mutating func removeAll() {
    entries = [:]
  }

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
}
