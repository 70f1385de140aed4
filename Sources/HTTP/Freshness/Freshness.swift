public import VitrineRuntime

/// The way in which a request uses a stored response.
public enum CachePolicy: Sendable, Hashable {
  /// Follow the headers (RFC 9111), with a default lifetime of 4 hours.
  case standard
  /// Fetch from the server and ignore what is stored.
  case reload
  /// Serve what is stored, however old, and fetch only what is missing.
  case cacheFirst
  /// Serve what is stored, however old, and never send a request.
  case cacheOnly
  /// Ignore the lifetime in the headers, and treat a response as fresh for this long after its last confirmation.
  case maxAge(Duration)
}

/// The rules by which a private cache uses a stored response (RFC 9111).
///
/// A pure function of its arguments, without a cache, a network or a clock.
public struct Freshness: Sendable {
  /// The lifetime of a response without explicit or heuristic freshness.
  ///
  /// Defaults to 4 hours.
  public var defaultLifetime: Duration
  /// The heuristic lifetime as a fraction of the time from `Last-Modified` to `Date`.
  ///
  /// Defaults to a tenth (RFC 9111 4.2.2).
  public var heuristicFraction: Double
  /// The maximum heuristic lifetime.
  ///
  /// Defaults to 7 days.
  public var heuristicLimit: Duration
  /// The time after expiry for which a response may be served while the server fails.
  ///
  /// Defaults to a day. A `stale-if-error` directive of the response takes precedence.
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

  /// The action to take.
  public enum Action: String, Sendable, Hashable, CustomStringConvertible {
    /// Serve the stored response.
    case serve
    /// Serve the stored response although it is stale, and send the request with ``Decision/headers`` in the
    /// background.
    case serveAndRevalidate
    /// Send the request with ``Decision/headers``.
    ///
    /// A 304 makes the stored response fresh again.
    case revalidate
    /// Send the request with ``Decision/headers``.
    ///
    /// The stored response is of no use.
    case fetch
    /// Fail, since nothing is stored and no request is allowed.
    case fail

    /// The name of the action, for logs and traces.
    public var description: String { rawValue }
  }

  /// The reason of a decision.
  public struct Reason: Sendable, Hashable, CustomStringConvertible {
    /// The name of the reason, for logs and traces.
    public let description: String

    /// Nothing is stored.
    public static let nothingStored = Reason(description: "nothing stored")
    /// The policy of the request decides.
    public static let policy = Reason(description: "policy")
    /// `max-age` decides.
    public static let maxAge = Reason(description: "max-age")
    /// `Expires` decides.
    public static let expires = Reason(description: "Expires")
    /// The time since `Last-Modified` decides, see ``Freshness/heuristicFraction``.
    public static let heuristic = Reason(description: "time since Last-Modified")
    /// `stale-while-revalidate` still allows it.
    public static let staleWhileRevalidate = Reason(description: "stale-while-revalidate")
    /// The server promised that the content never changes, and `max-age` has not passed.
    public static let immutable = Reason(description: "immutable")
    /// The stored response belongs to a request with other values of the fields in `Vary`.
    public static let vary = Reason(description: "Vary")
    /// The stored response was received in the future, so its age is unknown.
    public static let clock = Reason(description: "stored in the future")
    /// The server said nothing, and ``Freshness/defaultLifetime`` decides.
    public static let defaultLifetime = Reason(description: "default lifetime")
    /// The server requires revalidation every time.
    public static let noCache = Reason(description: "no-cache")
  }

  /// A decision with its reason.
  public struct Decision: Sendable, Hashable {
    /// The action to take.
    public let action: Action
    /// The reason.
    public let reason: Reason
    /// The header fields to add to the request, if one is sent.
    public let headers: HTTPFields
    /// The end of the stored response's freshness, in the past if it is stale.
    ///
    /// `nil` if nothing is stored.
    public let expires: Date?
    /// The end of the time in which the response may be served while the server fails.
    ///
    /// `nil` for not at all.
    public let usableOnErrorUntil: Date?
    /// The end of the time in which the response may be served during revalidation.
    ///
    /// `nil` for not at all.
    public let usableWhileRevalidatingUntil: Date?
  }

  /// Decides how to use a stored response.
  ///
  /// - Parameters:
  ///   - stored: The stored response of the request's key, if there is one.
  ///   - request: The header fields to be sent, for `Vary`.
  ///   - policy: The policy of the request. Defaults to ``CachePolicy/standard``.
  ///   - now: The wall-clock time.
  /// - Returns: The action, the reason, and how long they hold.
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
        // Without a validator the request cannot be conditional.
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
      // Clocks of servers and caches differ by seconds. A clock set back by more invalidates all ages.
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

  /// Returns the time at which the age of the response reaches its lifetime (RFC 9111 4.2).
  private func lifetime(
    of stored: StoredResponse,
    _ control: CacheControl,
    _ policy: CachePolicy,
  ) -> (expires: Date, reason: Reason) {
    if case .maxAge(let duration) = policy {
      return (stored.received.addingTimeInterval(duration / .seconds(1)), .policy)
    }
    let date = stored.headers.values(for: "Date").first.flatMap { HTTPDate.parse($0, now: stored.received) }
    // The age on arrival (RFC 9111 4.2.3): by the server's clock, or as counted by caches on the way.
    let apparent = date.map { max(0, stored.received.timeIntervalSince($0)) } ?? 0
    let counted = Double(CacheControl.seconds(stored.headers.values(for: "Age").first) ?? 0)
    let delay = max(0, stored.received.timeIntervalSince(stored.requested))
    let age = max(apparent, counted + delay)
    func fresh(for lifetime: Double) -> Date { stored.received.addingTimeInterval(lifetime - age) }

    if let maxAge = control.maxAge { return (fresh(for: Double(maxAge)), .maxAge) }
    if let expires = stored.headers.values(for: "Expires").first {
      // An invalid date, most often "0", is in the past (RFC 9111 5.3).
      let end = HTTPDate.parse(expires, now: stored.received)
      return (fresh(for: end.map { $0.timeIntervalSince(date ?? stored.received) } ?? 0), .expires)
    }
    // Without dates in a sensible order there is no age to take a fraction of.
    if let modified = stored.headers.values(for: "Last-Modified").first,
      let since = HTTPDate.parse(modified, now: stored.received), since <= date ?? stored.received
    {
      let share = (date ?? stored.received).timeIntervalSince(since) * heuristicFraction
      return (fresh(for: min(share, heuristicLimit / .seconds(1))), .heuristic)
    }
    // Counted from our own clock, since the response says nothing about the server's.
    return (stored.received.addingTimeInterval(defaultLifetime / .seconds(1)), .defaultLifetime)
  }
}
