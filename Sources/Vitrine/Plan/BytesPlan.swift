import VitrineCaching
import VitrineHTTP
import VitrineRuntime

/// The plan for the bytes of a URL: the first half of a ``LoadPlan``.
///
/// The plan is a pure function of the findings, the rules of ``Freshness`` and the reasons against a request.
struct BytesPlan: Sendable {
  enum Step: Sendable {
    /// Serve the stored bytes.
    case serve(isStale: Bool)
    /// Serve the stored bytes and revalidate them in the background.
    case serveAndRevalidate
    /// Send a request with these fields, which resumes an earlier download if there is one.
    case ask(HTTPFields, after: Resumption?)
    /// Serve the stored bytes in place of an error.
    case standIn(LoadError)
    /// Fail.
    case fail(LoadError)
  }

  let step: Step
  /// The freshness decision about the stored bytes.
  let decision: Freshness.Decision
  private let hasOriginal: Bool

  /// Creates a plan; `source` names the request in messages, `fields` are the fields that would be sent.
  init(
    _ request: ImageRequest,
    _ source: String,
    _ findings: Findings,
    fields: HTTPFields,
    by freshness: Freshness,
    now: Date,
  ) {
    let stored = findings.original?.stored
    let decision = freshness.decide(stored, for: fields, policy: request.cachePolicy, now: now)
    (self.decision, hasOriginal) = (decision, findings.original != nil && stored != nil)
    switch decision.action {
    case .serve: step = .serve(isStale: decision.expires.map { $0 <= now } ?? false)
    case .serveAndRevalidate where !request.revalidates && request.method.isSafe: step = .serveAndRevalidate
    case .fail:
      step = .fail(LoadError(.notCached, .fetch, source, "the request allowed only caches, and none has the image"))
    case .fetch, .revalidate, .serveAndRevalidate:
      if let objection = findings.objection {
        step = .fail(LoadError(.forbidden, .request, source, objection))
      } else if let error = (request.cachePolicy == .reload ? nil : findings.failure)
        ?? findings.access.refusal(of: request, source)
      {
        let allowsStale = hasOriginal && error.allowsStale(decision, now: now)
        step = allowsStale ? .standIn(error) : .fail(error)
      } else {
        var headers = decision.headers
        if !request.method.allowsConditions { for name in Self.conditions { headers[name] = nil } }
        step = .ask(headers, after: findings.partial)
      }
    }
  }

  private static let conditions = ["If-None-Match", "If-Modified-Since"]

  /// A Boolean value that indicates whether the plan sends a request, as far as the findings show.
  var asks: Bool { if case .ask = step { true } else { false } }

  /// Returns `true` if the stored bytes may be served in place of an error.
  func allowsStale(after error: LoadError, now: Date) -> Bool {
    hasOriginal && error.allowsStale(decision, now: now)
  }
}

extension NetworkAccess {
  /// Returns the reason why no request may be sent now; `nil` if a request may be sent.
  func refusal(of request: ImageRequest, _ source: String) -> LoadError? {
    switch self {
    case .full: nil
    case .expensive where request.allowsExpensiveNetworkAccess: nil
    case .expensive(let reason):
      LoadError(.offline, .fetch, source, "the network is expensive, and the request does not allow that: \(reason)")
    case .offline(let reason): LoadError(.offline, .fetch, source, "there is no network: \(reason)")
    }
  }
}
