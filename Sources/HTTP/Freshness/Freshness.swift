public import VitrineRuntime

/// How a request uses what is stored.
public enum CachePolicy: Sendable, Hashable {
  /// As the headers say (RFC 9111); 4 hours where they say nothing.
  case standard
  /// Fetches anew, whatever is stored.
  case reload
  /// Serves what is stored, however old, and fetches only what is not.
  case cacheFirst
  /// Serves what is stored, however old, and never asks a server.
  case cacheOnly
  /// Fresh for that long since the server last confirmed it, in place of what the headers say.
  case maxAge(Duration)
}

/// What to do with a stored response, decided by RFC 9111 for a private cache.
///
/// A pure function of its arguments: it knows no cache, no network and no clock.
public struct Freshness: Sendable {
  /// How long a response is fresh that says nothing about it; 4 hours by default.
  public var defaultLifetime: Duration
  /// What part of its age, from `Last-Modified` to `Date`, a response is fresh for that only tells that; a tenth by default
  /// (RFC 9111 4.2.2).
  public var heuristicFraction: Double
  /// The most that ``heuristicFraction`` comes to; 7 days by default.
  public var heuristicLimit: Duration
  /// For how long after it expired a response may be served when the server cannot be reached, if it does not
  /// say itself; a day by default.
  public var staleIfError: Duration

  /// Creates the rules.
  public init(
    defaultLifetime: Duration = .seconds(4 * 3600),
    heuristicFraction: Double = 0.1,
    heuristicLimit: Duration = .seconds(7 * 86_400),
    staleIfError: Duration = .seconds(86_400),
  ) {
    self.defaultLifetime = defaultLifetime
    self.heuristicFraction = heuristicFraction
    self.heuristicLimit = heuristicLimit
    self.staleIfError = staleIfError
  }

  /// What to do.
  public enum Action: String, Sendable, Hashable, CustomStringConvertible {
    /// To serve what is stored.
    case serve
    /// To serve what is stored although it is stale, and to send the request with ``Decision/headers`` behind it.
    case serveAndRevalidate
    /// To send the request with ``Decision/headers``; on a 304 what is stored is as good as new.
    case revalidate
    /// To send the request with ``Decision/headers``; what is stored does not help.
    case fetch
    /// To give up: nothing is stored and nothing may be fetched.
    case fail

    /// The action's name, for logs and traces.
    public var description: String { rawValue }
  }

  /// Why.
  public struct Reason: Sendable, Hashable, CustomStringConvertible {
    /// The reason's name, for logs and traces.
    public let description: String

    /// Nothing is stored.
    public static let nothingStored = Reason(description: "nothing stored")
    /// The request's policy decides.
    public static let policy = Reason(description: "policy")
    /// `max-age` is not over, or is.
    public static let maxAge = Reason(description: "max-age")
    /// `Expires` is not over, or is.
    public static let expires = Reason(description: "Expires")
    /// A part of the time since `Last-Modified` is not over, or is; see ``Freshness/heuristicFraction``.
    public static let heuristic = Reason(description: "time since Last-Modified")
    /// `stale-while-revalidate` is not over.
    public static let staleWhileRevalidate = Reason(description: "stale-while-revalidate")
    /// The server promised that the content would never change while `max-age` is not over.
    public static let immutable = Reason(description: "immutable")
    /// What is stored answered a request whose fields named by `Vary` were others.
    public static let vary = Reason(description: "Vary")
    /// What is stored came later than now, so that nothing is known of its age.
    public static let clock = Reason(description: "stored in the future")
    /// The server said nothing; ``Freshness/defaultLifetime`` is not over, or is.
    public static let defaultLifetime = Reason(description: "default lifetime")
    /// The server wants to be asked every time.
    public static let noCache = Reason(description: "no-cache")
  }

  /// What to do and why.
  public struct Decision: Sendable, Hashable {
    /// What to do.
    public let action: Action
    /// Why.
    public let reason: Reason
    /// What to add to the request, if one is sent.
    public let headers: HTTPFields
    /// Until when what is stored is fresh; in the past when it is stale, nil when nothing is stored.
    public let expires: Date?
    /// Until when what is stored may be served if the server cannot be reached or fails; nil for not at all.
    public let usableOnErrorUntil: Date?
    /// Until when what is stored may be served while it is revalidated; nil for not at all.
    public let usableWhileRevalidatingUntil: Date?
  }

  /// Decides what to do.
  ///
  /// - Parameters:
  ///   - stored: What the cache has under the request's key, if anything.
  ///   - request: The fields that would be sent, for `Vary`.
  ///   - policy: How the request uses it.
  ///   - now: The wall-clock time.
  /// - Returns: What to do, why, and for how long the answer holds.
  public func decide(
    _ stored: StoredResponse?,
    for request: HTTPFields = [:],
    policy: CachePolicy = .standard,
    now: Date,
  ) -> Decision {
    guard let stored else { return decideWithout(.nothingStored, policy) }
    guard stored.answers(request) else { return decideWithout(.vary, policy) }
    let control = CacheControl(stored.headers)
    let lifetime = lifetime(of: stored, control, policy)
    let allowsStale = !control.mustRevalidate && !control.noCache
    let whileRevalidating =
      allowsStale
      ? control.staleWhileRevalidate.map { lifetime.expires.addingTimeInterval(Double($0)) } : nil
    let onError = control.staleIfError.map(Double.init) ?? staleIfError / .seconds(1)
    func decision(_ action: Action, _ reason: Reason) -> Decision {
      let isConditional = action == .revalidate || action == .serveAndRevalidate
      let conditions = isConditional ? stored.conditions : action == .fetch ? Self.reloading : [:]
      return Decision(
        // Without a validator there is nothing to make the request conditional with.
        action: action == .revalidate && conditions.isEmpty ? .fetch : action,
        reason: reason,
        headers: conditions,
        expires: lifetime.expires,
        usableOnErrorUntil: allowsStale ? lifetime.expires.addingTimeInterval(onError) : nil,
        usableWhileRevalidatingUntil: whileRevalidating,
      )
    }
    switch policy {
    case .reload: return decision(.fetch, .policy)
    case .cacheFirst, .cacheOnly: return decision(.serve, .policy)
    case .standard where control.noCache: return decision(.revalidate, .noCache)
    case .standard, .maxAge:
      // Clocks of servers and caches differ by seconds; one that was put back by more has made all ages void.
      guard stored.received <= now.addingTimeInterval(60) else { return decision(.revalidate, .clock) }
      if now < lifetime.expires { return decision(.serve, lifetime.reason) }
      if case .maxAge = policy {
        let own = self.lifetime(of: stored, control, .standard)
        return control.isImmutable && now < own.expires && own.reason == .maxAge
          ? decision(.serve, .immutable) : decision(.revalidate, lifetime.reason)
      }
      if let whileRevalidating, now < whileRevalidating { return decision(.serveAndRevalidate, .staleWhileRevalidate) }
      return decision(.revalidate, lifetime.reason)
    }
  }

  private static let reloading: HTTPFields = ["Cache-Control": "no-cache"]

  private func decideWithout(_ reason: Reason, _ policy: CachePolicy) -> Decision {
    Decision(
      action: policy == .cacheOnly ? .fail : .fetch,
      reason: reason,
      headers: policy == .reload ? Self.reloading : [:],
      expires: nil,
      usableOnErrorUntil: nil,
      usableWhileRevalidatingUntil: nil,
    )
  }

  /// When the response ceases to be fresh: when its age reaches its lifetime (RFC 9111 4.2).
  private func lifetime(
    of stored: StoredResponse,
    _ control: CacheControl,
    _ policy: CachePolicy,
  ) -> (expires: Date, reason: Reason) {
    if case .maxAge(let duration) = policy {
      return (stored.received.addingTimeInterval(duration / .seconds(1)), .policy)
    }
    let date = stored.headers.values(for: "Date").first.flatMap { HTTPDate.parse($0, now: stored.received) }
    // Age on arrival (RFC 9111 4.2.3): by the server's clock, or by what caches on the way counted.
    let apparent = date.map { max(0, stored.received.timeIntervalSince($0)) } ?? 0
    let counted = Double(CacheControl.seconds(stored.headers.values(for: "Age").first) ?? 0)
    let delay = max(0, stored.received.timeIntervalSince(stored.requested))
    let age = max(apparent, counted + delay)
    func fresh(for lifetime: Double) -> Date { stored.received.addingTimeInterval(lifetime - age) }

    if let maxAge = control.maxAge { return (fresh(for: Double(maxAge)), .maxAge) }
    if let expires = stored.headers.values(for: "Expires").first {
      // What is no date, "0" above all, is in the past (RFC 9111 5.3).
      let end = HTTPDate.parse(expires, now: stored.received)
      return (fresh(for: end.map { $0.timeIntervalSince(date ?? stored.received) } ?? 0), .expires)
    }
    // Without a Date, what was modified after it came, or no date at all, there is no age to take a part of.
    if let modified = stored.headers.values(for: "Last-Modified").first,
      let since = HTTPDate.parse(modified, now: stored.received), since <= date ?? stored.received
    {
      let share = (date ?? stored.received).timeIntervalSince(since) * heuristicFraction
      return (fresh(for: min(share, heuristicLimit / .seconds(1))), .heuristic)
    }
    // Counted from when we got it: a server that says nothing means nothing by its clock either.
    return (stored.received.addingTimeInterval(defaultLifetime / .seconds(1)), .defaultLifetime)
  }
}
