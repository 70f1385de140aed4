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
  /// For how long after it expired a response may be served when the server cannot be reached, if it does not
  /// say itself; a day by default.
  public var staleIfError: Duration

  /// Creates the rules.
  public init(defaultLifetime: Duration = .seconds(4 * 3600), staleIfError: Duration = .seconds(86_400)) {
    self.defaultLifetime = defaultLifetime
    self.staleIfError = staleIfError
  }

  /// What to do.
  public enum Action: Sendable, Hashable {
    /// To serve what is stored.
    case serve
    /// To send the request with ``Decision/headers``; on a 304 what is stored is as good as new.
    case revalidate
    /// To send the request with ``Decision/headers``; what is stored does not help.
    case fetch
    /// To give up: nothing is stored and nothing may be fetched.
    case fail
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
  ///   - policy: How the request uses it.
  ///   - now: The wall-clock time.
  /// - Returns: What to do, why, and for how long the answer holds.
  public func decide(_ stored: StoredResponse?, policy: CachePolicy = .standard, now: Date) -> Decision {
    guard let stored else { return decideWithout(policy) }
    let control = CacheControl(stored.headers)
    let (expires, reason) = expiry(of: stored, control, policy)
    func decision(_ action: Action, _ reason: Reason, _ headers: HTTPFields = [:]) -> Decision {
      let onError = control.mustRevalidate || control.noCache ? nil : control.staleIfError.map(Double.init)
      let allowsStale = !control.mustRevalidate && !control.noCache
      return Decision(
        action: action,
        reason: reason,
        headers: headers,
        expires: expires,
        usableOnErrorUntil: allowsStale ? expires.addingTimeInterval(onError ?? staleIfError / .seconds(1)) : nil,
        usableWhileRevalidatingUntil: allowsStale
          ? control.staleWhileRevalidate.map { expires.addingTimeInterval(Double($0)) } : nil,
      )
    }
    switch policy {
    case .reload: return decision(.fetch, .policy, ["Cache-Control": "no-cache"])
    case .cacheFirst, .cacheOnly: return decision(.serve, .policy)
    case .standard where control.noCache: return decision(.revalidate, .noCache, stored.conditions).orFetch
    case .standard, .maxAge:
      guard now >= expires else { return decision(.serve, reason) }
      return decision(.revalidate, reason, stored.conditions).orFetch
    }
  }

  private func decideWithout(_ policy: CachePolicy) -> Decision {
    Decision(
      action: policy == .cacheOnly ? .fail : .fetch,
      reason: .nothingStored,
      headers: policy == .reload ? ["Cache-Control": "no-cache"] : [:],
      expires: nil,
      usableOnErrorUntil: nil,
      usableWhileRevalidatingUntil: nil,
    )
  }

  /// When the response ceases to be fresh: when its age reaches its lifetime (RFC 9111 4.2).
  private func expiry(
    of stored: StoredResponse,
    _ control: CacheControl,
    _ policy: CachePolicy,
  ) -> (Date, Reason) {
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
    // Counted from when we got it: a server that says nothing means nothing by its clock either.
    return (stored.received.addingTimeInterval(defaultLifetime / .seconds(1)), .defaultLifetime)
  }
}

extension Freshness.Decision {
  /// The same with a fetch where there is nothing to make the request conditional with.
  fileprivate var orFetch: Self {
    guard action == .revalidate, headers.isEmpty else { return self }
    return Self(
      action: .fetch,
      reason: reason,
      headers: headers,
      expires: expires,
      usableOnErrorUntil: usableOnErrorUntil,
      usableWhileRevalidatingUntil: usableWhileRevalidatingUntil,
    )
  }
}
