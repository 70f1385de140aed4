import VitrineCaching
import VitrineHTTP
import VitrineRuntime

/// The bytes of a URL: from disk while they are fresh, else from the server, as a ``BytesPlan`` says.
///
/// Bytes from the server are stored once a caller has accepted them; see ``Answer``.
// @unchecked: like its superclass, guarded by the jobs' lock.
final class FetchJob: FunctionJob<FetchedBytes>, @unchecked Sendable {
  /// The knowledge about the bytes on disk before the job looks.
  enum KnownOriginal: Sendable {
    case unknown
    case missing
    case entry(CachedData)
  }

  private let record: SourceRecord
  private let original: KnownOriginal
  private var transfer: Transfer?
  /// The job of another variant of the URL, if the one found is not for this request.
  private var other: FetchJob?
  private var feeds: [ArrivalFeed] = []

  private var source: String { request.name }
  private var key: CacheKey { request.keys.fetch }

  /// True if a request has been handed to the loader and has not ended.
  var isTransferring: Bool { transfer != nil || other?.isTransferring ?? false }

  init(_ request: ImageRequest, _ original: KnownOriginal, _ record: SourceRecord, _ context: JobContext) {
    (self.original, self.record) = (original, record)
    super.init(request, .fetch, context)
  }

  override func stop(_ turn: inout Turn) { transfer.take()?.cancel(&turn) }

  /// Adds a feed that inspects the body while it comes from the server.
  func add(_ feed: ArrivalFeed, _ turn: inout Turn) {
    guard isRunning else { return }
    if let other { return other.add(feed, &turn) }
    feeds.append(feed)
    transfer?.sink.add(feed)
  }

  override func priorityChanged(_ turn: inout Turn) { transfer?.setPriority(priority, &turn) }

  override func watchingBegan(_ turn: inout Turn) {
    guard let progress = transfer?.sink.watch() else { return }
    send(progress: progress.completed, of: progress.total, &turn)
  }

  override func progress(_ turn: inout Turn) -> LoadProgress? { transfer?.sink.known ?? super.progress(&turn) }

  // MARK: Carrying out a plan

  override func load() async throws(LoadError) -> FetchedBytes {
    let url: HTTPURL
    do throws(HTTPError) {
      if let known = request.keys.url { url = known } else { url = try HTTPURL(source) }
    } catch {
      throw LoadError(.invalidURL, .request, source, error.detail, cause: error)
    }
    let search = BytesSearch(request, url, source, context)
    if case .unknown = original { trace?.enter("look-up") }
    let found = await search.find(original)
    let plan = plan(found)
    if let other = otherVariant(found, plan) { return try await bytes(of: other) }
    guard plan.asks, let coordinator = context.coordinator(for: request) else {
      return try await carryOut(plan, found, url, nil)
    }
    trace?.enter("lease")
    let lease = await coordinator.enter(key)
    // Another machine may have stored them meanwhile.
    let again = await search.find(.unknown)
    let next = self.plan(again)
    let other = otherVariant(again, next)
    if other != nil || !next.asks { lease?.pass() }
    if let other { return try await bytes(of: other) }
    do throws(LoadError) {
      return try await carryOut(next, again, url, lease)
    } catch {
      if error.isCancellation { lease?.pass() } else { lease?.giveUp() }
      throw error
    }
  }

  private func plan(_ found: BytesSearch.Found) -> BytesPlan {
    let plan = context.bytesPlan(request, source, found.findings, now: context.clock.now)
    trace?.note("decision", .text("\(plan.decision.action): \(plan.decision.reason)"))
    return plan
  }

  private func otherVariant(_ found: BytesSearch.Found, _ plan: BytesPlan) -> ImageRequest? {
    guard plan.decision.reason == .vary, let stored = found.findings.original?.stored else { return nil }
    return context.otherVariant(than: stored.variation, of: request)
  }

  /// Returns the bytes of another variant, from its job.
  private func bytes(of variant: ImageRequest) async throws(LoadError) -> FetchedBytes {
    try await value { [self] turn in
      let job = context.fetchJob(variant, &turn)
      if let old = other { turn.keep(old) }
      other = job as? FetchJob
      for feed in feeds { other?.add(feed, &turn) }
      return job
    }
  }

  private func carryOut(
    _ plan: BytesPlan,
    _ found: BytesSearch.Found,
    _ url: HTTPURL,
    _ lease: WorkLease?,
  ) async throws(LoadError) -> FetchedBytes {
    switch plan.step {
    case .serve(let isStale): return try serve(found, plan, isStale: isStale)
    case .serveAndRevalidate: return try serve(found, plan, isStale: true, isRevalidationDue: true)
    case .standIn(let error): return try standIn(found, plan, for: error)
    case .fail(let error): throw error
    case .ask(let conditions, let resumption):
      let stored = found.findings.original == nil ? nil : Box(FetchQuestion.Stored(found: found, plan: plan))
      var question = FetchQuestion(
        url,
        stored,
        conditions,
        resumption,
        ask: context.sources.nextAsk(),
        time: context.clock.now,
      )
      while true {
        if let result = await send(question) { return try receive(result, question, lease) }
        // The server refused to resume. Happens once, since no partial download is left.
        await context.partials?.remove(key)
        question = question.whole(ask: context.sources.nextAsk(), time: context.clock.now)
      }
    }
  }

  private func serve(
    _ found: BytesSearch.Found,
    _ plan: BytesPlan,
    isStale: Bool,
    isRevalidationDue: Bool = false,
  ) throws(LoadError) -> FetchedBytes {
    guard let entry = found.entry, let stored = found.findings.original?.stored else {
      throw LoadError(.notCached, .fetch, source, "the stored bytes are gone")
    }
    // With the standard policy, the plan's decision is complete, and nothing is parsed twice.
    let now = context.clock.now
    let validity =
      request.cachePolicy == .standard && !request.limitsAge
      ? Validity(of: stored, plan.decision, at: now) : context.validity(of: stored, at: now)
    var bytes = bytes(of: entry, stored, validity, .disk)
    (bytes.isStale, bytes.isRevalidationDue) = (isStale, isRevalidationDue)
    return bytes
  }

  private func standIn(
    _ found: BytesSearch.Found,
    _ plan: BytesPlan,
    for error: LoadError,
  ) throws(LoadError) -> FetchedBytes {
    trace?.note("fallback", .text(error.detail))
    return try serve(found, plan, isStale: true)
  }

  private func bytes(
    of entry: CachedData,
    _ stored: StoredResponse,
    _ validity: Validity,
    _ origin: ImageResponse.Origin,
  ) -> FetchedBytes {
    let bytes = FetchedBytes(
      data: entry.data,
      contentID: entry.contentID,
      validity: validity,
      origin: origin,
      status: stored.status,
      headers: stored.headers,
      url: request.keys.url?.string,
    )
    // Stored bytes that are no image are dropped, so that the next request fetches them again.
    let answer = Answer(to: bytes) { [key, settlement = context.settlement] word in
      if word == .bad { settlement.drop([key]) }
    }
    return bytes.with(answer)
  }

  // MARK: Requests

  /// Sends a question; returns `nil` if the server does not resume the earlier download.
  private func send(_ question: FetchQuestion) async -> Result<BodySink.Body, HTTPError>? {
    let fields = context.fields(of: request)
    let outcome = Deferred<Result<BodySink.Body, HTTPError>?>()
    let cancellation = HTTPError(.cancelled, url: source, "cancelled")
    let sink = BodySink(plan(for: question, fields), trace) { [self, context] event in
      switch event {
      case .progress(let completed, let total):
        context.turn(isOnLoaderThread: true) { send(progress: completed, of: total, &$0) }
      case .end(let result): outcome.resolve(result)
      case .startOver: outcome.resolve(nil)
      }
    }
    if let resumption = question.resumption { trace?.note("resumed at", .number(resumption.count)) }
    if request.cachePolicy == .reload { context.network.failures.forget(key) }
    trace?.enter("queue")
    context.turn { turn in
      guard isRunning else { return }
      let limit = context.configuration.maxResponseBytes
      var http = request.httpRequest(question.url, fields, priority: priority, limit: limit)
      for condition in question.conditions { http.headers[condition.name] = condition.value }
      question.resumption?.ask(in: &http)
      if isWatched { sink.watch() }
      for feed in feeds { sink.add(feed) }
      let transfer = Transfer(http, by: context.network.loader, into: sink)
      self.transfer = transfer
      turn.deliver(transfer)
    }
    let result = await withTaskCancellationHandler {
      await outcome.value()
    } onCancel: {
      // The transfer was cancelled with the job.
      outcome.resolve(.failure(cancellation))
    }
    context.turn { turn in
      if let transfer = transfer.take() { turn.keep(transfer) }
    }
    return result
  }

  private func plan(for question: FetchQuestion, _ fields: HTTPFields) -> BodySink.Plan {
    var plan = BodySink.Plan(
      fields: fields,
      requested: question.time,
      clock: context.clock,
      pending: context.settlement.pending,
    )
    plan.hooks = context.network.hooks
    if let willSend = plan.hooks.willSend {
      plan.hooks.willSend = watching(willSend, changes: question.change, fields)
    }
    if let challenge = plan.hooks.challenge {
      plan.hooks.challenge = { [self] in
        let answer = try await challenge($0)
        try checkIsWanted()
        return answer
      }
    }
    if let trace {
      plan.hooks.didTransfer = { trace.add($0) }
      plan.hooks.measuresInPlace = true
      plan.hooks.isHeldBack = { trace.note("rate limited", .flag(true)) }
    }
    if request.method != .head { plan.limit = context.configuration.maxResponseBytes }
    plan.resumption = question.resumption
    let keepsOriginal = context.keepsOriginal(of: request)
    let isResuming = question.resumption != nil
    let mayKeep = context.partials?.allowsWriting(request, keepsOriginal: keepsOriginal) ?? false
    if let partials = context.partials, request.keys.allowsResuming, mayKeep || isResuming {
      plan.record = { [key, context] head in
        let partial = head.partial
        if head.resumption != nil || partial.isWorthKeeping, mayKeep {
          let (resumption, stepper) = (head.resumption, context.stepper)
          return BodyRecording(partial, for: key, in: partials, after: resumption, stepper, context.clock)
        }
        // The partial download belongs to another version.
        if isResuming, head.resumption == nil, head.response.status == 200 { context.settlement.dropPartial(of: key) }
        return nil
      }
    }
    return plan
  }

  /// Throws if the job was cancelled: a hook may end before the loader learns of that, and nothing must be sent then.
  private func checkIsWanted() throws {
    guard context.turn({ _ in isRunning }) else { throw CancellationError() }
  }

  /// Returns the hook before sending, which then also looks whether the request has failed before as it is now, and
  /// whether it is still wanted.
  private func watching(
    _ willSend: @escaping @Sendable (inout HTTPRequest) async throws -> Void,
    changes: Lock<RequestChange?>,
    _ fields: HTTPFields,
  ) -> @Sendable (inout HTTPRequest) async throws -> Void {
    { [self] http in
      let before = http
      try await willSend(&http)
      try checkIsWanted()
      let change = RequestChange(from: before, to: http)
      changes.withLock { $0 = change }
      let (failures, clock) = (context.network.failures, context.clock)
      if let error = failures.error(
        for: request,
        source,
        fields: fields,
        change,
        now: clock.now,
        uptime: clock.uptime,
      ) {
        throw RememberedFailure(error: error)
      }
    }
  }

  // MARK: Responses

  private func receive(
    _ result: Result<BodySink.Body, HTTPError>,
    _ question: FetchQuestion,
    _ lease: WorkLease?,
  ) throws(LoadError) -> FetchedBytes {
    let failures = context.network.failures
    if case .success(let body) = result { invalidate(after: body.response) }
    switch result {
    case .success(let body) where body.response.status == 304:
      failures.forget(key)
      return try revalidated(question, by: body, lease)
    case .success(let body) where body.response.isSuccess:
      failures.forget(key)
      return fetched(body, question.ask, lease)
    case .success(let body):
      let detail = "the server answered with status \(body.response.status)"
      let error = HTTPError(.badStatus, url: source, status: body.response.status, detail)
      record(error, body, question)
      return try fail(LoadError(error, source), question, lease)
    case .failure(let error) where error.isCancellation:
      throw LoadError(.cancelled, .fetch, source, "cancelled", cause: error)
    case .failure(let error):
      if let known = error.cause as? RememberedFailure { return try fail(known.error, question, lease) }
      record(error, nil, question)
      return try fail(LoadError(error, source), question, lease)
    }
  }

  /// Records a failure, unless a hook may answer the same challenge otherwise the next time.
  private func record(_ error: HTTPError, _ body: BodySink.Body?, _ question: FetchQuestion) {
    guard error.status != 401 || context.network.hooks.challenge == nil else { return }
    let now = context.clock.now
    context.network.failures.record(
      error,
      // Responses to other requests are cached by rules of their own (RFC 9110, section 9.3.3).
      request.isPlainGet ? body?.head.stored : nil,
      retryAfter: body?.response.retryAfter(now: now),
      for: key,
      question.change.withLock { $0 },
      now: now,
      uptime: context.clock.uptime,
    )
  }

  /// Drops cached responses of a resource that the request may have changed (RFC 9111, section 4.4).
  private func invalidate(after response: HTTPResponse) {
    guard !request.method.isSafe, response.status < 400 || response.redirectCount > 0 else { return }
    let resource = request.asGet
    context.network.failures.forget(resource.keys.fetch)
    context.settlement.invalidate(resource)
  }

  /// Returns the stored bytes if they may stand in for the error, else throws it.
  private func fail(
    _ error: LoadError,
    _ question: FetchQuestion,
    _ lease: WorkLease?,
  ) throws(LoadError) -> FetchedBytes {
    guard let stored = question.stored?.value, stored.plan.allowsStale(after: error, now: context.clock.now) else {
      throw error
    }
    lease?.giveUp()
    return try standIn(stored.found, stored.plan, for: error)
  }

  private func fetched(_ body: BodySink.Body, _ ask: SourceRecord.Ask, _ lease: WorkLease?) -> FetchedBytes {
    let settlement = context.settlement
    settlement.dropDoomed()
    let (stored, now) = (body.head.stored, context.clock.now)
    var validity = context.validity(of: stored, at: now)
    // Responses to other requests need an explicit lifetime (RFC 9110, section 9.3.3).
    if !request.isPlainGet, !stored.hasExplicitLifetime { validity.isKept = false }
    let (request, record) = context.place(of: stored.variation, request, record)
    let isElsewhere = request.keys.fetch != self.request.keys.fetch
    if isElsewhere, let recording = body.recording { settlement.pending.add { await recording.drop() } }
    let whole = Settlement.Body(
      data: body.data,
      contentID: body.contentID,
      stored: stored,
      validity: validity,
      time: now,
      response: body.response,
      recording: isElsewhere ? nil : body.recording,
      ask: ask,
      record: record,
    )
    let bytes = FetchedBytes(
      data: body.data,
      contentID: body.contentID,
      validity: validity,
      origin: .network,
      status: stored.status,
      headers: body.response.headers,
      url: body.response.url.string,
      ask: ask,
    )
    let answer = Answer(to: bytes) { word in
      settlement.settle(whole, of: request, word)
      switch word {
      case .keep: lease?.finish()
      case .good(isKept: true): break
      case .good(isKept: false), .bad: lease?.giveUp()
      }
    }
    // Only what may be stored may answer a request that comes after it.
    if validity.isKept, !isElsewhere { context.arrived.add(answer, for: context.fetchKey(of: request)) }
    return bytes.with(answer)
  }

  private func revalidated(
    _ question: FetchQuestion,
    by body: BodySink.Body,
    _ lease: WorkLease?,
  ) throws(LoadError) -> FetchedBytes {
    guard let found = question.stored?.value.found, let entry = found.entry,
      let stored = found.findings.original?.stored
    else {
      let detail = "the server answered 304 to a request that was not conditional"
      throw LoadError(.fetchFailed, .fetch, source, detail)
    }
    let renewed = stored.renewed(by: body.response, requested: question.time, received: body.head.stored.received)
    let validity = context.validity(of: renewed, at: context.clock.now)
    context.settlement.renew(request, entry.contentID, renewed, validity, question.ask, record)
    lease?.finish()
    var bytes = bytes(of: entry, renewed, validity, .revalidated)
    (bytes.url, bytes.ask) = (body.response.url.string, question.ask)
    return bytes
  }
}
