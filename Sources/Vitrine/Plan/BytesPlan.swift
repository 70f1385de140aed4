import VitrineCaching
import VitrineHTTP
import VitrineRuntime

/// A search for the stored bytes of a URL, which changes nothing.
struct BytesSearch: Sendable {
  /// The findings, with the bytes where the plan needs them.
  struct Found: Sendable {
    var findings = CacheLookup()
    var entry: CachedData?
  }

  private let request: ImageRequest
  let url: HTTPURL
  private let source: String
  private let context: PlanContext
  private let disk: (any DataCaching)?
  /// A Boolean value that indicates whether look-ups do not count as use.
  private let isPeeking: Bool

  init(_ request: ImageRequest, _ url: HTTPURL, _ source: String, _ context: PlanContext, isPeeking: Bool = false) {
    (self.request, self.url, self.source, self.context) = (request, url, source, context)
    self.isPeeking = isPeeking
    disk = request.cachePolicy == .reload ? nil : context.disk(for: request, .diskReads)
  }

  private var fields: HTTPFields { context.fields(of: request) }

  /// The store of broken downloads, if this request may resume one.
  private var partials: Partials.Store? {
    context.partials.flatMap { $0.allowsReading(request) ? $0.store : nil }
  }

  /// Returns the findings if no wait is necessary, `nil` otherwise.
  func found(_ original: StoredOriginal) -> Found? {
    if case .unknown = original, disk != nil { return nil }
    let found = found(original.entry, uptime: context.clock.uptime)
    return dependsOnMore(found, now: context.clock.now) ? nil : found
  }

  /// Looks for the bytes and, if a request would be sent, for everything else that the plan depends on.
  func find(_ original: StoredOriginal) async -> Found {
    var entry = original.entry
    if case .unknown = original { entry = await readOriginal() }
    var found = found(entry, uptime: context.clock.uptime)
    guard dependsOnMore(found, now: context.clock.now) else { return found }
    found.findings.access = await context.network.accessNow(on: context.hookQueue)
    guard case .disk(let disk) = partials, dependsOnMore(found, now: context.clock.now) else { return found }
    found.findings.partial = await Resumption(for: request.keys.fetch, in: disk, fields: fields)
    return found
  }

  /// Returns `true` if a request would be sent and findings are missing that could change the plan.
  private func dependsOnMore(_ found: Found, now: Date) -> Bool {
    (context.network.access != nil || hasPartialsOnDisk)
      && context.bytesPlan(request, source, found.findings, now: now).sendsRequest
  }

  private var hasPartialsOnDisk: Bool { if case .disk = partials { true } else { false } }

  private func readOriginal() async -> CachedData? {
    guard let disk else { return nil }
    let key = request.keys.fetch
    // A delegate may be slow to decide about storage.
    if context.delegate == nil { await context.cacheWriter.pending.finished(for: key) }
    return isPeeking ? await disk.peek(key) : await disk.entry(for: key)
  }

  /// Returns the findings for these bytes, and any reason against a request.
  private func found(_ entry: CachedData?, uptime: Duration) -> Found {
    var found = Found(entry: entry)
    found.findings.original = entry.map { CacheLookup.Original($0.contentID, metadata: $0.metadata) }
    found.findings.objection = context.network.objection(to: url)
    if case .memory(let memory) = partials {
      let key = request.keys.fetch
      found.findings.partial = Resumption(for: key, in: memory, fields: fields)
    }
    // A hook's changes are unknown until it has run: see `BytesLoad`.
    guard context.network.hooks.willSend == nil else { return found }
    found.findings.failure = context.network.failures.error(
      for: request,
      source,
      fields: fields,
      nil,
      now: context.clock.now,
      uptime: uptime,
    )
    return found
  }
}

extension StoredOriginal {
  fileprivate var entry: CachedData? {
    switch self {
    case .entry(let entry), .head(let entry): entry
    case .unknown, .missing: nil
    }
  }
}

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
    case send(HTTPFields, after: Resumption?)
    /// Serve the stored bytes in place of an error.
    case serveStaleOnError(LoadError)
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
    _ findings: CacheLookup,
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
        step = allowsStale ? .serveStaleOnError(error) : .fail(error)
      } else {
        var headers = decision.headers
        if !request.method.allowsConditions { for name in Self.conditions { headers[name] = nil } }
        step = .send(headers, after: findings.partial)
      }
    }
  }

  private static let conditions = ["If-None-Match", "If-Modified-Since"]

  /// A Boolean value that indicates whether the plan sends a request, as far as the findings show.
  var sendsRequest: Bool { if case .send = step { true } else { false } }

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
