import VitrineRuntime

extension Freshness {
  /// The time for which a response may be used, fresh or stale.
  struct Term: Sendable, Hashable {
    var expires: Date
    var reason: Reason
    var control: CacheControl
    /// A Boolean value that indicates whether the response may be served stale; `false` overrides the times below.
    var allowsStale: Bool { !control.mustRevalidate && !control.noCache }
    /// The age of the response on arrival, in seconds.
    var ageOnArrival: Double
    var onError: Date
    var onServerError: Date?
    var whileRevalidating: Date?

    /// Shortens the term to the term of a redirect that led to the response.
    fileprivate mutating func shorten(to redirect: Term) {
      whileRevalidating = whileRevalidating.map { min($0, redirect.whileRevalidating ?? redirect.expires) }
      onError = min(onError, redirect.onError)
      onServerError = onServerError.flatMap { own in redirect.onServerError.map { min(own, $0) } }
      control.noCache = control.noCache || redirect.control.noCache
      control.mustRevalidate = control.mustRevalidate || redirect.control.mustRevalidate
      if redirect.expires < expires { (expires, reason) = (redirect.expires, .redirect) }
    }
  }

  /// Returns the term of a response under the requested URL.
  ///
  /// It ends when a redirect becomes stale, if that is earlier.
  func term(of stored: StoredResponse, _ policy: CachePolicy) -> Term {
    var term = ownTerm(of: stored, policy)
    // An age in place of the headers overrides the headers of redirects, too.
    if case .maxAge = policy { return term }
    for redirect in stored.redirects { term.shorten(to: ownTerm(of: redirect, policy)) }
    return term
  }

  /// Returns the age of a response, in seconds (RFC 9111 4.2.3).
  package func age(of stored: StoredResponse, now: Date) -> Double {
    now.timeIntervalSince(stored.received) + ownTerm(of: stored, .standard).ageOnArrival
  }

  private func ownTerm(of stored: StoredResponse, _ policy: CachePolicy) -> Term {
    let own = CacheControl(stored.headers)
    let control = isShared ? own.forSharedCaches : own
    let date = stored.headers.values(for: "Date").first.flatMap { HTTPDate.parse($0, now: stored.received) }
    let age = ageOnArrival(of: stored, date: date)
    let (expires, reason) = lifetime(of: stored, control, date: date, age: age, policy)
    let onServerError = control.staleIfError.map(Double.init) ?? staleIfServerError / .seconds(1)
    return Term(
      expires: expires,
      reason: reason,
      control: control,
      ageOnArrival: age,
      onError: expires.addingTimeInterval(control.staleIfError.map(Double.init) ?? staleIfError / .seconds(1)),
      onServerError: onServerError > 0 ? expires.addingTimeInterval(onServerError) : nil,
      whileRevalidating: control.staleWhileRevalidate.map { expires.addingTimeInterval(Double($0)) },
    )
  }

  /// Returns the age on arrival, in seconds (RFC 9111 4.2.3): by the server's clock, or as counted by caches on the
  /// way.
  private func ageOnArrival(of stored: StoredResponse, date: Date?) -> Double {
    let apparent = date.map { max(0, stored.received.timeIntervalSince($0)) } ?? 0
    // The first of several values counts (RFC 9111 5.1).
    let value = stored.headers.values(for: "Age").first?.split(separator: ",").first?.trimmed
    let counted = Double(CacheControl.seconds(value.map(String.init)) ?? 0)
    let delay = max(0, stored.received.timeIntervalSince(stored.requested))
    return max(apparent, counted + delay)
  }

  /// Returns the time at which the age of the response reaches its lifetime (RFC 9111 4.2).
  private func lifetime(
    of stored: StoredResponse,
    _ control: CacheControl,
    date: Date?,
    age: Double,
    _ policy: CachePolicy,
  ) -> (expires: Date, reason: Reason) {
    if case .maxAge(let duration) = policy {
      return (stored.received.addingTimeInterval(duration / .seconds(1)), .policy)
    }
    func fresh(for lifetime: Double) -> Date { stored.received.addingTimeInterval(lifetime - age) }

    if let maxAge = control.maxAge { return (fresh(for: Double(maxAge)), .maxAge) }
    if let expires = stored.headers["Expires"] {
      // An invalid date, most often "0", is in the past, and so are several (RFC 9111 5.3).
      let end = HTTPDate.parseStrictly(expires, now: stored.received)
      return (fresh(for: end.map { $0.timeIntervalSince(date ?? stored.received) } ?? 0), .expires)
    }
    // A status that is not heuristically cacheable has no lifetime of its own (RFC 9110 15.1).
    guard stored.isHeuristicallyFresh else { return (fresh(for: 0), .defaultLifetime) }
    // The heuristic needs dates in a sensible order.
    if let modified = stored.headers.values(for: "Last-Modified").first,
      let since = HTTPDate.parse(modified, now: stored.received), since <= date ?? stored.received
    {
      let share = (date ?? stored.received).timeIntervalSince(since) * heuristicFraction
      return (fresh(for: min(share, heuristicLimit / .seconds(1))), .heuristic)
    }
    // An error gives no hint at how long it lasts.
    guard stored.status < 400 else { return (fresh(for: 0), .defaultLifetime) }
    // The lifetime starts at the local clock, since the response has no usable time of the server's.
    return (stored.received.addingTimeInterval(defaultLifetime / .seconds(1)), .defaultLifetime)
  }
}

extension StoredResponse {
  /// A Boolean value that indicates whether the status allows a lifetime that the server did not set (RFC 9110 15.1).
  var isHeuristicallyFresh: Bool {
    [200, 203, 204, 206, 300, 301, 308, 404, 405, 410, 414, 501].contains(status)
  }
}
