/// Remembers what has failed lately, so that a dead URL on every cell of a list is not asked for each time a cell comes by.
///
/// A value without a clock: the caller says what time it is, as a span since any fixed moment. The key is what the caller
/// tells requests apart by, a URL where that is enough.
/// ```swift
/// var memory = FailureMemory<String>()
/// memory.record(error, for: url.string, now: clock.uptime)
/// if let failure = memory.failure(for: url.string, now: clock.uptime) { … }   // not asked again yet
/// ```
/// Remembered are statuses 404 (5 minutes) and 410 (an hour), other statuses from 400 to 499 (a minute), and what failed
/// on the way or in the server (10 seconds, doubling with each further failure up to 5 minutes). Cancellations, requests that could not
/// be sent and 408 are not; a `Retry-After` replaces the time, within an hour.
///
/// - Complexity: Each operation is O(1), save every so many records one that drops what is over, O(n log n).
public struct FailureMemory<Key: Hashable & Sendable>: Sendable {
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

  /// Creates an empty one.
  ///
  /// - Parameter limit: How many failures are kept, the oldest go first; 1,000 by default.
  public init(limit: Int = 1000) {
    self.limit = max(1, limit)
  }

  /// How many failures are kept, old ones included.
  public var count: Int { entries.count }

  /// Returns what went wrong lately, while it is not worth asking again; nil after that.
  public func failure(for key: Key, now: Duration) -> HTTPError? {
    standing(for: key, now: now)?.error
  }

  /// What went wrong lately, how long ago that was, and how long it is still not worth asking again.
  package func standing(for key: Key, now: Duration) -> (error: HTTPError, age: Duration, rest: Duration)? {
    guard let entry = entries[key], entry.until > now else { return nil }
    return (entry.error, now - entry.recorded, entry.until - now)
  }

  /// Takes note of a failure.
  ///
  /// - Parameters:
  ///   - error: What went wrong; what says nothing of the URL is ignored.
  ///   - key: What failed.
  ///   - retryAfter: How long the server asks to wait, if it does.
  ///   - now: The time.
  public mutating func record(_ error: HTTPError, for key: Key, retryAfter: Duration? = nil, now: Duration) {
    let count = (entries[key]?.count ?? 0) + 1
    guard let span = Self.span(error, count) else { return }
    let until = now + (retryAfter.map { min($0, .seconds(3600)) } ?? span)
    entries[key] = Entry(error: error, until: until, recorded: now, number: nextNumber, count: count)
    nextNumber += 1
    // Some more at once, so that not every record of a full memory has to look through all.
    guard entries.count > limit else { return }
    let oldestFirst = entries.sorted { $0.value.number < $1.value.number }
    for (key, _) in oldestFirst.prefix(entries.count - limit * 7 / 8) { entries[key] = nil }
  }

  /// Forgets a failure: it has worked, or somebody wants to know for sure.
  public mutating func forget(_ key: Key) {
    entries[key] = nil
  }

  /// Forgets all: the network has come back, for one.
  public mutating func removeAll() {
    entries = [:]
  }

  private static func span(_ error: HTTPError, _ count: Int) -> Duration? {
    switch error.code {
    case .cancelled, .invalidURL, .invalidRequest, .preparationFailed, .tooLarge, .overloaded: return nil
    case .badStatus:
      switch error.status ?? 0 {
      case 404: return .seconds(300)
      case 410: return .seconds(3600)
      case 408: return nil
      case 429: break
      case 400...499: return .seconds(60)
      default: break
      }
    default: break
    }
    return min(.seconds(10 << min(count - 1, 10)), .seconds(300))
  }
}
