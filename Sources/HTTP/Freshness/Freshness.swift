import VitrineRuntime

/// The policy by which a request uses a stored response.
public enum CachePolicy: Sendable, Hashable {
  /// Follows the headers (RFC 9111), or the ``Freshness`` if they set no lifetime.
  case standard
  /// Fetches from the server and ignores stored responses.
  case reload
  /// Serves a stored response of any age, and fetches if there is none.
  case cacheFirst
  /// Serves a stored response of any age, and never sends a request.
  case cacheOnly
  /// Ignores the lifetime in the headers, and treats a response as fresh for this long after its last confirmation.
  ///
  /// Requests carry the time to intermediate caches, as `Cache-Control: max-age`.
  case maxAge(Duration)
}

/// The rules by which a cache uses a stored response (RFC 9111).
///
/// Decisions are pure functions of their arguments, without a cache, a network or a clock.
public struct Freshness: Sendable {
  /// The lifetime of a response without explicit or heuristic freshness.
  ///
  /// Defaults to 4 hours.
  public var defaultLifetime = Duration.seconds(4 * 3600)
  /// The heuristic lifetime as a fraction of the time from `Last-Modified` to `Date`.
  ///
  /// Defaults to a tenth (RFC 9111 4.2.2).
  package var heuristicFraction = 0.1
  /// The maximum heuristic lifetime.
  ///
  /// Defaults to 7 days.
  package var heuristicLimit = Duration.seconds(7 * 86_400)
  /// The time after expiry for which a response may be served while the server cannot be reached.
  ///
  /// Defaults to a day. A `stale-if-error` directive of the response takes precedence (RFC 5861 4).
  public var staleIfError = Duration.seconds(86_400)
  /// The time after expiry for which a response may be served if the server answers with 500, 502, 503 or 504.
  ///
  /// Defaults to zero, so that only a `stale-if-error` directive of the response permits it (RFC 9111 4.2.4).
  public var staleIfServerError = Duration.zero
  /// A Boolean value that indicates whether the cache serves its responses to others, as a server does.
  ///
  /// Defaults to `false`: a private cache, which `s-maxage` and `proxy-revalidate` do not concern.
  public var isShared = false

  /// Creates the default rules.
  public init() {}

  /// The action to take.
  package enum Action: Sendable, Hashable {
    /// Serves the stored response.
    case serve
    /// Serves the stored response although it is stale, and sends the request with ``Decision/headers`` in the
    /// background.
    case serveAndRevalidate
    /// Sends the request with ``Decision/headers``.
    ///
    /// A 304 makes the stored response fresh again.
    case revalidate
    /// Sends the request with ``Decision/headers``.
    ///
    /// The stored response cannot be used.
    case fetch
    /// Fails, since no response is stored and no request is allowed.
    case fail
  }

  /// The reason of a decision.
  package struct Reason: Sendable, Hashable, CustomStringConvertible {
    /// The name of the reason, for logs and traces.
    package let description: String

    /// No response is stored.
    package static let nothingStored = Reason(description: "nothing stored")
    /// The policy of the request decides.
    package static let policy = Reason(description: "policy")
    /// `max-age` decides.
    package static let maxAge = Reason(description: "max-age")
    /// `Expires` decides.
    package static let expires = Reason(description: "Expires")
    /// The time since `Last-Modified` decides, see ``Freshness/heuristicFraction``.
    package static let heuristic = Reason(description: "time since Last-Modified")
    /// `stale-while-revalidate` still allows the stored response.
    package static let staleWhileRevalidate = Reason(description: "stale-while-revalidate")
    /// The response is `immutable`, and `max-age` has not passed.
    package static let immutable = Reason(description: "immutable")
    /// The stored response belongs to a request with other values of the fields in `Vary`.
    package static let vary = Reason(description: "Vary")
    /// The stored response was received in the future, so its age is unknown.
    package static let clock = Reason(description: "stored in the future")
    /// The response has no lifetime, and ``Freshness/defaultLifetime`` decides.
    package static let defaultLifetime = Reason(description: "default lifetime")
    /// The server requires revalidation every time.
    package static let noCache = Reason(description: "no-cache")
    /// A redirect that led to the response is stale.
    package static let redirect = Reason(description: "redirect")
    /// `Cache-Control` of the request decides.
    package static let request = Reason(description: "Cache-Control of the request")
  }

  /// A decision with its reason.
  package struct Decision: Sendable, Hashable {
    /// The action to take.
    package let action: Action
    /// The reason.
    package let reason: Reason
    /// The header fields to add to the request, if one is sent.
    package let headers: HTTPFields
    /// The time for which the stored response may be used; `nil` if no response is stored.
    fileprivate(set) var term: Term?

    /// The end of the stored response's freshness, in the past if it is stale.
    ///
    /// `nil` if no response is stored.
    package var expires: Date? { term?.expires }
    /// The end of the time in which the response may be served while the server cannot be reached.
    ///
    /// `nil` if it may not be served then.
    package var usableOnErrorUntil: Date? { staleTerm?.onError }
    /// The end of the time in which the response may be served if the server answers with 500, 502, 503 or 504.
    ///
    /// `nil` if it may not be served then.
    package var usableOnServerErrorUntil: Date? { staleTerm?.onServerError }
    /// The end of the time in which the response may be served during revalidation.
    ///
    /// `nil` if it may not be served then.
    package var usableWhileRevalidatingUntil: Date? { staleTerm?.whileRevalidating }

    private var staleTerm: Term? { term?.allowsStale == true ? term : nil }
  }

  /// Decides how to use a stored response.
  ///
  /// - Parameters:
  ///   - stored: The stored response of the request's key, if there is one.
  ///   - request: The header fields to be sent, for `Vary` and `Cache-Control`.
  ///   - policy: The policy of the request. Defaults to ``CachePolicy/standard``. `Cache-Control` of the request
  ///     restricts it.
  ///   - now: The wall-clock time.
  /// - Returns: The action, its reason, and the times until which it holds.
  package func decide(
    _ stored: StoredResponse?,
    for request: HTTPFields = [:],
    policy: CachePolicy = .standard,
    now: Date,
  ) -> Decision {
    let directives = CacheControl(request)
    let demand = Self.demand(of: policy, request, directives)
    guard let stored, stored.answers(request) else {
      let mayAsk = policy != .cacheOnly && !directives.onlyIfCached
      let reason = stored == nil ? Reason.nothingStored : .vary
      return Decision(action: mayAsk ? .fetch : .fail, reason: reason, headers: mayAsk ? demand : [:])
    }
    let term = term(of: stored, policy)
    var (action, reason) = obey(directives, stored, term, policy, now, choose(stored, term, policy, now))
    let isConditional = action == .revalidate || action == .serveAndRevalidate
    var fields = isConditional ? stored.conditions : [:]
    // Without a validator the request cannot be conditional.
    if action == .revalidate, fields.isEmpty { action = .fetch }
    if action == .fetch || isConditional { fields.append(contentsOf: demand) }
    return Decision(action: action, reason: reason, headers: fields, term: term)
  }

  private func choose(_ stored: StoredResponse, _ term: Term, _ policy: CachePolicy, _ now: Date) -> (Action, Reason) {
    switch policy {
    case .reload: return (.fetch, .policy)
    case .cacheFirst, .cacheOnly: return (.serve, .policy)
    case .standard where term.control.noCache: return (.revalidate, .noCache)
    case .standard, .maxAge:
      // Clocks of servers and caches differ by seconds. A clock set back by more invalidates all ages.
      guard stored.received <= now.addingTimeInterval(60) else { return (.revalidate, .clock) }
      if now < term.expires { return (.serve, term.reason) }
      if case .maxAge = policy {
        let own = self.term(of: stored, .standard)
        return own.control.isImmutable && now < own.expires && own.reason == .maxAge
          ? (.serve, .immutable) : (.revalidate, term.reason)
      }
      if term.allowsStale, let end = term.whileRevalidating, now < end {
        return (.serveAndRevalidate, .staleWhileRevalidate)
      }
      return (.revalidate, term.reason)
    }
  }

  /// Applies the request's own directives to a decision (RFC 9111 5.2.1).
  private func obey(
    _ directives: CacheControl,
    _ stored: StoredResponse,
    _ term: Term,
    _ policy: CachePolicy,
    _ now: Date,
    _ chosen: (action: Action, reason: Reason),
  ) -> (Action, Reason) {
    var (action, reason) = chosen
    let rest = term.expires.timeIntervalSince(now)
    if let stale = directives.maxStale, action == .revalidate || action == .serveAndRevalidate, term.allowsStale,
      reason != .clock, -rest < Double(stale)
    {
      (action, reason) = (.serve, .request)
    }
    if action == .serve || action == .serveAndRevalidate, directives.concernsAge,
      directives.refuses(age: age(of: stored, now: now), rest: rest)
    {
      (action, reason) = (policy == .cacheOnly ? .fail : .revalidate, .request)
    }
    guard directives.onlyIfCached else { return (action, reason) }
    return switch action {
    case .serve, .fail: (action, reason)
    case .serveAndRevalidate: (.serve, reason)
    case .revalidate, .fetch: (.fail, .request)
    }
  }

  /// Returns the directive that demands a new response, added to the request's own directives.
  ///
  /// With `no-cache`, intermediate caches revalidate any stored response (RFC 9111 5.2.1.4). With `max-age`, they may
  /// respond with a stored response that is young enough (RFC 9111 5.2.1.1), and with 0 they revalidate.
  private static func demand(of policy: CachePolicy, _ request: HTTPFields, _ own: CacheControl) -> HTTPFields {
    let prefix = request["Cache-Control"].map { "\($0), " } ?? ""
    return switch policy {
    case .reload where !own.noCache: ["Cache-Control": "\(prefix)no-cache"]
    case .maxAge(let age) where own.maxAge == nil:
      ["Cache-Control": "\(prefix)max-age=\(Int(min(max(age / .seconds(1), 0), 2_147_483_648)))"]
    default: [:]
    }
  }
}
