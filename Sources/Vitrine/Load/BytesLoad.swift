import VitrineCaching
import VitrineHTTP
import VitrineRuntime

/// The load of the bytes of a URL: from disk while they are fresh, else from the server, as a ``BytesPlan`` says.
///
/// Bytes from the server are stored once a caller has accepted them; see ``Answer``.
final class BytesLoad: Sendable {
  let request: ImageRequest
  let original: KnownOriginal
  let record: SourceRecord
  let context: LoadContext
  let work: SharedLoad<FetchedBytes>.Handle

  var source: String { request.name }
  var key: CacheKey { request.keys.fetch }

  init(
    _ request: ImageRequest,
    _ original: KnownOriginal,
    _ record: SourceRecord,
    _ context: LoadContext,
    _ work: SharedLoad<FetchedBytes>.Handle,
  ) {
    (self.request, self.original, self.record, self.context, self.work) = (request, original, record, context, work)
  }

  func load() async throws(LoadError) -> FetchedBytes {
    try await context.traced(.fetch, source, work) { [self] trace throws(LoadError) in
      try await carryOut(decide(trace), trace)
    }
  }

  // MARK: Deciding

  // A task keeps the memory of its largest call until it ends, and this one may wait long for a server. So what is large
  // lies behind a reference, and whatever need not wait is a function that is not inlined.

  /// The step that a plan has decided on.
  private indirect enum Step: Sendable {
    case serve(FetchedBytes)
    /// The stored bytes are another variant's.
    case follow(SharedLoad<FetchedBytes>)
    case ask(Question)
  }

  private func carryOut(_ step: Step, _ trace: StageTrace?) async throws(LoadError) -> FetchedBytes {
    switch step {
    case .serve(let bytes): bytes
    case .follow(let load):
      try await work.value(of: load, in: context.bytes, trace, partial: { [work] in work.send(partial: $0) })
    case .ask(let question): try await ask(question, trace)
    }
  }

  private func decide(_ trace: StageTrace?) async throws(LoadError) -> Step {
    let search = try search()
    var found = search.value.found(original).map { Box($0) }
    if found == nil {
      trace?.enter("look-up")
      found = await context.elsewhere { [original] in Box(await search.value.find(original)) }
    }
    let coordinator = context.coordinator(for: request)
    if let found, let step = try step(after: found, search, trace, waitsForOthers: coordinator != nil) { return step }
    trace?.enter("lease")
    let (lease, again) = await context.elsewhere { [key] in
      let lease = await coordinator?.enter(key)
      // Another machine may have stored entries meanwhile.
      return (lease, Box(await search.value.find(.unknown)))
    }
    guard !work.hasEnded, let step = try step(after: again, search, trace, waitsForOthers: false, lease) else {
      throw .cancelled
    }
    return step
  }

  private func search() throws(LoadError) -> Box<BytesSearch> {
    do throws(HTTPError) {
      let url: HTTPURL
      if let known = request.keys.url { url = known } else { url = try HTTPURL(source) }
      return Box(BytesSearch(request, url, source, context))
    } catch {
      throw LoadError(.invalidURL, .request, source, error.detail, cause: error)
    }
  }

  /// Makes the plan, and returns its step; `nil` if the load has to wait for other machines before it asks the server.
  ///
  /// A lease that is not used is released, and passes the work on.
  @inline(never)
  private func step(
    after box: Box<BytesSearch.Found>,
    _ search: Box<BytesSearch>,
    _ trace: StageTrace?,
    waitsForOthers: Bool,
    _ lease: WorkLease? = nil,
  ) throws(LoadError) -> Step? {
    let (found, now) = (box.value, context.clock.now)
    let plan = context.bytesPlan(request, source, found.findings, now: now)
    trace?.note("decision", .text("\(plan.decision.action): \(plan.decision.reason)"))
    if plan.decision.reason == .vary, let stored = found.findings.original?.stored,
      let other = context.otherVariant(than: stored.variation, of: request)
    {
      return .follow(context.bytesLoad(other))
    }
    switch plan.step {
    case .serve(let isStale): return .serve(try serve(found, plan, isStale: isStale))
    case .serveAndRevalidate: return .serve(try serve(found, plan, isStale: true, isRevalidationDue: true))
    case .standIn(let error):
      trace?.note("fallback", .text(error.detail))
      return .serve(try serve(found, plan, isStale: true))
    case .fail(let error): throw error
    case .ask where waitsForOthers: return nil
    case .ask(let conditions, let resumption):
      let stored = found.findings.original == nil ? nil : Stored(found, plan)
      let ask = context.sources.nextAsk()
      return .ask(Question(search.value.url, conditions, resumption, stored, lease, ask: ask, time: now))
    }
  }

  func serve(
    _ found: BytesSearch.Found,
    _ plan: BytesPlan,
    isStale: Bool,
    isRevalidationDue: Bool = false,
  ) throws(LoadError) -> FetchedBytes {
    guard let entry = found.entry, let stored = found.findings.original?.stored else {
      throw LoadError(.notCached, .fetch, source, "the stored bytes are gone")
    }
    let now = context.clock.now
    // With the standard policy, the plan's decision is complete, and nothing is parsed twice.
    let validity =
      request.cachePolicy == .standard && !request.limitsAge
      ? Validity(of: stored, plan.decision, at: now) : context.validity(of: stored, at: now)
    return bytes(of: entry, stored, validity, .disk).changing {
      ($0.isStale, $0.isRevalidationDue) = (isStale, isRevalidationDue)
    }
  }

  func bytes(
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

  /// Stored bytes, and the plan for them.
  final class Stored: Sendable {
    let found: BytesSearch.Found
    let plan: BytesPlan

    init(_ found: BytesSearch.Found, _ plan: BytesPlan) { (self.found, self.plan) = (found, plan) }
  }

  /// A question to a server, and the findings for which it is asked.
  final class Question: Sendable {
    let url: HTTPURL
    let conditions: HTTPFields
    let resumption: Resumption?
    /// The stored bytes, which a response renews, or which are served in place of an error.
    let stored: Stored?
    /// The right to ask for all machines.
    let lease: WorkLease?
    /// The place among all questions, and the time.
    let ask: SourceRecord.Ask
    let time: Date
    /// The change that the hook before sending has made.
    let change = Lock(RequestChange?.none)

    init(
      _ url: HTTPURL,
      _ conditions: HTTPFields,
      _ resumption: Resumption?,
      _ stored: Stored?,
      _ lease: WorkLease?,
      ask: SourceRecord.Ask,
      time: Date,
    ) {
      (self.url, self.conditions, self.resumption) = (url, conditions, resumption)
      (self.stored, self.lease, self.ask, self.time) = (stored, lease, ask, time)
    }

    /// Returns the same question for the whole body.
    func whole(ask: SourceRecord.Ask, time: Date) -> Question {
      Question(url, conditions, nil, stored, lease, ask: ask, time: time)
    }
  }

  private func ask(_ first: Question, _ trace: StageTrace?) async throws(LoadError) -> FetchedBytes {
    if request.cachePolicy == .reload { context.network.failures.forget(key) }
    var question = first
    while true {
      if let bytes = try received(try await end(of: question, trace), question, trace) { return bytes }
      // The server refused to resume. It happens once, since no partial download is left.
      question = question.whole(ask: context.sources.nextAsk(), time: context.clock.now)
      if let partials = context.partials {
        await context.elsewhere { [key] in await partials.remove(key) }
      }
    }
  }

  /// Sends a request and waits for the end of its response.
  private func end(of question: Question, _ trace: StageTrace?) async throws(LoadError) -> Box<BodySink.End> {
    guard !work.hasEnded else { throw .cancelled }
    let outcome = Deferred<Result<Box<BodySink.End>, LoadError>>()
    let transfer = send(question, trace, outcome)
    defer {
      work.follow(nil)
      work.readProgress(nil)
    }
    return try await outcome.value(orCancelled: .failure(.cancelled)) { transfer.cancel() }.get()
  }

  @inline(never)
  private func send(
    _ question: Question,
    _ trace: StageTrace?,
    _ outcome: Deferred<Result<Box<BodySink.End>, LoadError>>,
  ) -> Transfer {
    let fields = context.fields(of: request)
    let limit = context.configuration.maxResponseBytes
    var http = request.httpRequest(question.url, fields, priority: work.priority, limit: limit)
    for condition in question.conditions { http.headers[condition.name] = condition.value }
    question.resumption?.ask(in: &http)
    if let resumption = question.resumption { trace?.note("resumed at", .number(resumption.count)) }
    trace?.enter("queue")
    let sink = BodySink(plan(for: question, http, fields, trace), trace) { [work] event in
      switch event {
      case .progress(let completed, let total): work.send(progress: completed, of: total)
      case .arriving(let data, let head): work.send(partial: FetchedBytes(data, of: head))
      case .end(let end): outcome.resolve(.success(Box(end)))
      }
    }
    let transfer = Transfer(http, by: context.network.loader, into: sink)
    work.readProgress { sink.known }
    work.follow { demand in
      sink.watch(demand.interest)
      transfer.setPriority(demand.priority)
    }
    return transfer
  }

  func plan(
    for question: Question,
    _ http: HTTPRequest,
    _ fields: HTTPFields,
    _ trace: StageTrace?,
  ) -> BodySink.Plan {
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
      plan.hooks.challenge = { [work] in
        let answer = try await challenge($0)
        try work.checkIsWanted()
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

  /// Returns the hook before sending, which then also looks whether the request has failed before as it is now, and
  /// whether it is still wanted.
  func watching(
    _ willSend: @escaping @Sendable (inout HTTPRequest) async throws -> Void,
    changes: Lock<RequestChange?>,
    _ fields: HTTPFields,
  ) -> @Sendable (inout HTTPRequest) async throws -> Void {
    { [self] http in
      let before = http
      try await willSend(&http)
      try work.checkIsWanted()
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
}

extension WorkHandle {
  /// Throws if the load was abandoned: a hook may end before the loader learns of that, and nothing must be sent then.
  fileprivate func checkIsWanted() throws {
    if hasEnded { throw CancellationError() }
  }
}
