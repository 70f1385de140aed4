import VitrineCaching
import VitrineHTTP
import VitrineRuntime

/// The bytes of a URL: from disk while they are fresh, else from the server, as a ``BytesPlan`` says.
///
/// Bytes from the server are stored once a caller has accepted them; see ``Answer``.
final class FetchJob: Job<FetchedBytes>, @unchecked Sendable {
  /// The knowledge about the bytes on disk before the job looks.
  enum KnownOriginal: Sendable {
    case unknown
    case missing
    case entry(CachedData)
  }

  // @unchecked: like its superclass, guarded by the jobs' lock.
  private let request: ImageRequest
  private let context: JobContext
  private let record: SourceRecord
  private let original: KnownOriginal
  private var transfer: Transfer?
  /// The job of another variant of the URL, if the one found is not for this request.
  private var other: FetchJob?
  private var feeds: [ArrivalFeed] = []
  /// True once the coordinator has been asked whether another machine fetches the bytes.
  private var isCoordinated = false
  /// The right to ask the server for all machines.
  private var lease: WorkLease?

  private var source: String { request.name }
  private var key: CacheKey { request.keys.fetch }
  override var requestKeys: RequestKeys? { request.keys }

  /// True if a request has been handed to the loader and has not ended.
  var isTransferring: Bool { transfer != nil || other?.isTransferring ?? false }

  init(_ request: ImageRequest, _ original: KnownOriginal, _ record: SourceRecord, _ context: JobContext) {
    (self.request, self.original, self.record, self.context) = (request, original, record, context)
  }

  override func start(_ turn: inout Turn) {
    trace = context.recorder?.stage(.fetch, source, at: turn.uptime)
    let url: HTTPURL
    do throws(HTTPError) {
      if let known = request.keys.url { url = known } else { url = try HTTPURL(source) }
    } catch {
      return finish(.failure(LoadError(.invalidURL, .request, source, error.detail, cause: error)), &turn)
    }
    let search = BytesSearch(request, url, source, context)
    if let found = search.found(original, &turn) { return carryOut(found, url, &turn) }
    trace?.enter("look-up", at: turn.uptime)
    task = Task(executorPreference: context.stepper) { [self, context] in
      let found = await search.find(original)
      context.turn { carryOut(found, url, &$0) }
    }
  }

  override func stop(_ turn: inout Turn) {
    transfer.take()?.cancel(&turn)
    endLease(&turn) { $0.pass() }
  }

  private func endLease(_ turn: inout Turn, _ end: @escaping @Sendable (WorkLease) -> Void) {
    guard let lease = lease.take() else { return }
    turn.afterwards { end(lease) }
  }

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

  override func progress(_ turn: inout Turn) -> LoadProgress? { transfer?.sink.known }

  // MARK: Carrying out a plan

  private func carryOut(_ found: BytesSearch.Found, _ url: HTTPURL, _ turn: inout Turn) {
    guard isRunning else { return }
    task = nil
    let plan = context.bytesPlan(request, source, found.findings, now: turn.now)
    trace?.note("decision", .text("\(plan.decision.action): \(plan.decision.reason)"), at: turn.uptime)
    if plan.decision.reason == .vary, let found = found.findings.original?.stored,
      let other = context.otherVariant(than: found.variation, of: request)
    {
      endLease(&turn) { $0.pass() }
      return follow(other, &turn)
    }
    if !isCoordinated, plan.asks, let coordinator = context.coordinator(for: request) {
      return coordinate(by: coordinator, found, url, &turn)
    }
    // Another machine has fetched the bytes.
    if !plan.asks { endLease(&turn) { $0.pass() } }
    switch plan.step {
    case .serve(let isStale): serve(found, plan, isStale: isStale, &turn)
    case .serveAndRevalidate: serve(found, plan, isStale: true, isRevalidationDue: true, &turn)
    case .standIn(let error): standIn(found, plan, for: error, &turn)
    case .fail(let error): finish(.failure(error), &turn)
    case .ask(let conditions, let resumption):
      let ask = context.sources.nextAsk()
      let stored = found.findings.original == nil ? nil : Box(FetchQuestion.Stored(found: found, plan: plan))
      let question = FetchQuestion(url, stored, conditions, resumption, ask: ask, time: turn.now)
      send(question, &turn)
    }
  }

  /// Waits until the server may be asked, and looks again for entries that other machines have stored meanwhile.
  private func coordinate(
    by coordinator: WorkCoordinator,
    _ found: BytesSearch.Found,
    _ url: HTTPURL,
    _ turn: inout Turn,
  ) {
    isCoordinated = true
    trace?.enter("lease", at: turn.uptime)
    task = Task(executorPreference: context.stepper) { [self, context] in
      let lease = await coordinator.enter(key)
      let again = await BytesSearch(request, url, source, context).find(.unknown)
      context.turn { turn in
        self.lease = lease
        guard isRunning else { return endLease(&turn) { $0.pass() } }
        carryOut(again, url, &turn)
      }
    }
  }

  /// Continues with the job of another variant.
  private func follow(_ variant: ImageRequest, _ turn: inout Turn) {
    let job = context.fetchJob(variant, &turn)
    let subscription = job.subscribe(priority: priority, isWatching: isWatched, for: trace, &turn) {
      [self] event, turn in
      switch event {
      case .progress(let completed, let total): send(progress: completed, of: total, &turn)
      case .partial: break
      case .finished(let result):
        dependency = nil
        if let other = other.take() { turn.keep(other) }
        finish(result, &turn)
      }
    }
    guard job.isRunning else { return }
    dependency = subscription
    other = job as? FetchJob
    for feed in feeds { other?.add(feed, &turn) }
  }

  private func serve(
    _ found: BytesSearch.Found,
    _ plan: BytesPlan,
    isStale: Bool,
    isRevalidationDue: Bool = false,
    _ turn: inout Turn,
  ) {
    guard let entry = found.entry, let stored = found.findings.original?.stored else {
      return finish(.failure(LoadError(.notCached, .fetch, source, "the stored bytes are gone")), &turn)
    }
    // With the standard policy, the plan's decision is complete, and nothing is parsed twice.
    let validity =
      request.cachePolicy == .standard && !request.limitsAge
      ? Validity(of: stored, plan.decision, at: turn.now) : context.validity(of: stored, at: turn.now)
    var bytes = bytes(of: entry, stored, validity, .disk)
    (bytes.isStale, bytes.isRevalidationDue) = (isStale, isRevalidationDue)
    finish(.success(bytes), &turn)
  }

  private func standIn(_ found: BytesSearch.Found, _ plan: BytesPlan, for error: LoadError, _ turn: inout Turn) {
    trace?.note("fallback", .text(error.detail), at: turn.uptime)
    serve(found, plan, isStale: true, &turn)
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

  private func send(_ question: FetchQuestion, _ turn: inout Turn) {
    let fields = context.fields(of: request)
    let limit = context.configuration.maxResponseBytes
    var http = request.httpRequest(question.url, fields, priority: priority, limit: limit)
    for condition in question.conditions { http.headers[condition.name] = condition.value }
    question.resumption?.ask(in: &http)
    if let resumption = question.resumption {
      trace?.note("resumed at", .number(resumption.count), at: turn.uptime)
    }
    if request.cachePolicy == .reload { context.network.failures.forget(key) }
    trace?.enter("queue", at: turn.uptime)
    let sink = BodySink(plan(for: question, http, fields), trace) { [self, context] event in
      context.turn(isOnLoaderThread: true) { turn in
        switch event {
        case .progress(let completed, let total): send(progress: completed, of: total, &turn)
        case .end(let result): receive(result, question, &turn)
        case .startOver: startOver(question, &turn)
        }
      }
    }
    if isWatched { sink.watch() }
    for feed in feeds { sink.add(feed) }
    let transfer = Transfer(http, by: context.network.loader, into: sink)
    self.transfer = transfer
    turn.deliver(transfer)
  }

  private func plan(for question: FetchQuestion, _ http: HTTPRequest, _ fields: HTTPFields) -> BodySink.Plan {
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
      plan.hooks.onRateLimited = { trace.note("rate limited", .flag(true)) }
    }
    if http.method != .head { plan.limit = http.maxResponseBytes }
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

  /// Requests the whole after the server refused to resume; happens once, since no partial download is left.
  private func startOver(_ question: FetchQuestion, _ turn: inout Turn) {
    guard isRunning else { return }
    transfer = nil
    let question = question.whole(ask: context.sources.nextAsk(), time: turn.now)
    guard let partials = context.partials else { return send(question, &turn) }
    task = Task(executorPreference: context.stepper) { [self, context, question] in
      await partials.remove(key)
      context.turn { turn in
        guard isRunning else { return }
        task = nil
        send(question, &turn)
      }
    }
  }

  // MARK: Responses

  private func receive(_ result: Result<BodySink.Body, HTTPError>, _ question: FetchQuestion, _ turn: inout Turn) {
    guard isRunning else { return }
    transfer.map { turn.keep($0) }
    transfer = nil
    let failures = context.network.failures
    if case .success(let body) = result { invalidate(after: body.response, &turn) }
    defer { endLease(&turn) { $0.giveUp() } }
    switch result {
    case .success(let body) where body.response.status == 304:
      failures.forget(key)
      revalidated(question, by: body, &turn)
    case .success(let body) where body.response.isSuccess:
      failures.forget(key)
      fetched(body, question.ask, &turn)
    case .success(let body):
      let detail = "the server answered with status \(body.response.status)"
      let error = HTTPError(.badStatus, url: source, status: body.response.status, detail)
      record(error, body, question, &turn)
      fail(LoadError(error, source), question, &turn)
    case .failure(let error) where error.isCancellation:
      finish(.failure(LoadError(.cancelled, .fetch, source, "cancelled", cause: error)), &turn)
    case .failure(let error):
      if let known = error.cause as? RememberedFailure { return fail(known.error, question, &turn) }
      record(error, nil, question, &turn)
      fail(LoadError(error, source), question, &turn)
    }
  }

  /// Records a failure, unless a hook may answer the same challenge otherwise the next time.
  private func record(_ error: HTTPError, _ body: BodySink.Body?, _ question: FetchQuestion, _ turn: inout Turn) {
    guard error.status != 401 || context.network.hooks.challenge == nil else { return }
    context.network.failures.record(
      error,
      // Responses to other requests are cached by rules of their own (RFC 9110, section 9.3.3).
      request.isPlainGet ? body?.head.stored : nil,
      retryAfter: body?.response.retryAfter(now: turn.now),
      for: key,
      question.change.withLock { $0 },
      now: turn.now,
      uptime: turn.uptime,
    )
  }

  /// Drops cached responses of a resource that the request may have changed (RFC 9111, section 4.4).
  private func invalidate(after response: HTTPResponse, _ turn: inout Turn) {
    guard !request.method.isSafe, response.status < 400 || response.redirectCount > 0 else { return }
    turn.afterwards { [context, resource = request.asGet] in
      context.network.failures.forget(resource.keys.fetch)
      context.settlement.invalidate(resource)
    }
  }

  /// Finishes with the stored bytes if they may stand in for the error, else with the error.
  private func fail(_ error: LoadError, _ question: FetchQuestion, _ turn: inout Turn) {
    guard let stored = question.stored?.value, stored.plan.allowsStale(after: error, now: turn.now) else {
      return finish(.failure(error), &turn)
    }
    standIn(stored.found, stored.plan, for: error, &turn)
  }

  private func fetched(_ body: BodySink.Body, _ ask: SourceRecord.Ask, _ turn: inout Turn) {
    turn.afterwards { [settlement = context.settlement] in settlement.dropDoomed() }
    let stored = body.head.stored
    var validity = context.validity(of: stored, at: turn.now)
    // Responses to other requests need an explicit lifetime (RFC 9110, section 9.3.3).
    if !request.isPlainGet, !stored.hasExplicitLifetime { validity.isKept = false }
    let (request, record) = context.place(of: stored.variation, request, record)
    let isElsewhere = request.keys.fetch != self.request.keys.fetch
    if isElsewhere, let recording = body.recording {
      turn.afterwards { [pending = context.settlement.pending] in pending.add { await recording.drop() } }
    }
    let whole = Settlement.Body(
      data: body.data,
      contentID: body.contentID,
      stored: stored,
      validity: validity,
      time: turn.now,
      response: body.response,
      recording: isElsewhere ? nil : body.recording,
      ask: ask,
      record: record,
    )
    let lease = lease.take()
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
    let answer = Answer(to: bytes) { [settlement = context.settlement] word in
      settlement.settle(whole, of: request, word)
      switch word {
      case .keep: lease?.finish()
      case .good(isKept: true): break
      case .good(isKept: false), .bad: lease?.giveUp()
      }
    }
    // Bytes must be storable to answer a request that comes after them.
    if validity.isKept, !isElsewhere { context.arrived.add(answer, for: context.fetchKey(of: request)) }
    finish(.success(bytes.with(answer)), &turn)
  }

  private func revalidated(_ question: FetchQuestion, by body: BodySink.Body, _ turn: inout Turn) {
    guard let found = question.stored?.value.found, let entry = found.entry,
      let stored = found.findings.original?.stored
    else {
      let detail = "the server answered 304 to a request that was not conditional"
      return finish(.failure(LoadError(.fetchFailed, .fetch, source, detail)), &turn)
    }
    let renewed = stored.renewed(by: body.response, requested: question.time, received: body.head.stored.received)
    let validity = context.validity(of: renewed, at: turn.now)
    turn.afterwards { [request, record, settlement = context.settlement, ask = question.ask] in
      settlement.renew(request, entry.contentID, renewed, validity, ask, record)
    }
    endLease(&turn) { $0.finish() }
    var bytes = bytes(of: entry, renewed, validity, .revalidated)
    (bytes.url, bytes.ask) = (body.response.url.string, question.ask)
    finish(.success(bytes), &turn)
  }
}
