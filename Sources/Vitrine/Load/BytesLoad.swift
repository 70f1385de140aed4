import VitrineCaching
import VitrineHTTP
import VitrineRuntime

/// The load of the bytes of a URL: from disk while they are fresh, else from the server, as a ``BytesPlan`` says.
///
/// No task waits for the server, since it would hold some kilobytes: the end of the response goes on in
/// ``received(_:_:)``. Bytes from the server are stored once a caller has accepted them; see ``PendingCommit``.
final class BytesLoad: Sendable {
  let request: ImageRequest
  /// The key of loads of the same bytes.
  let sharedKey: LoadKey
  let original: StoredOriginal
  let record: SourceRecord
  let context: LoadContext
  let work: SharedLoad<FetchedBytes>.Handle
  let trace: StageTrace?

  var source: String { request.name }
  var key: CacheKey { request.keys.fetch }

  init(
    _ request: ImageRequest,
    _ sharedKey: LoadKey,
    _ original: StoredOriginal,
    _ record: SourceRecord,
    _ context: LoadContext,
    _ work: SharedLoad<FetchedBytes>.Handle,
  ) {
    (self.request, self.sharedKey, self.original) = (request, sharedKey, original)
    (self.record, self.context, self.work) = (record, context, work)
    trace = context.recorder?.stage(.fetch, request.name, at: context.clock.uptime)
  }

  func load() {
    if let trace { work.identify(as: trace) }
    do throws(LoadError) {
      let search = try search()
      if context.coordinator(for: request) == nil, let found = search.found(original),
        let step = try step(after: found, search.url, waitsForOthers: false)
      {
        return carryOut(step)
      }
      goOn(mayBlock: true) { [self] () throws(LoadError) in carryOut(try await decide(search)) }
    } catch {
      end(.failure(error))
    }
  }

  /// Continues in a task, on Swift's own threads if it may block.
  private func goOn(mayBlock: Bool = false, _ body: @escaping @Sendable () async throws(LoadError) -> Void) {
    let isWanted = work.goOn(on: mayBlock ? context.stepper : .inline) { [self] in
      do throws(LoadError) {
        try await body()
      } catch {
        end(.failure(error))
      }
    }
    if !isWanted { end(.failure(.cancelled)) }
  }

  /// Ends the load, once for all of its callers.
  private func end(_ result: Result<FetchedBytes, LoadError>) {
    switch result {
    case .success: trace?.end()
    case .failure(let error): trace?.fail(error, isAbandoned: work.hasEnded)
    }
    work.end(result)
  }

  // MARK: Deciding

  /// The step that a plan has decided on.
  private enum Step: Sendable {
    case serve(FetchedBytes)
    /// The stored bytes are another variant's.
    case follow(SharedLoad<FetchedBytes>)
    case send(OutgoingRequest)
  }

  private func carryOut(_ step: Step) {
    switch step {
    case .serve(let bytes): end(.success(bytes))
    case .follow(let load):
      goOn { [self] () throws(LoadError) in
        let partial = { @Sendable [work] (bytes: FetchedBytes) in work.send(partial: bytes) }
        end(.success(try await work.value(of: load, in: context.bytes, trace, partial: partial)))
      }
    case .send(let outgoing):
      if request.cachePolicy == .reload { context.network.failures.forget(key) }
      send(outgoing)
    }
  }

  /// Looks in the caches, and waits for other machines that may be asking the server.
  private func decide(_ search: BytesSearch) async throws(LoadError) -> Step {
    trace?.enter("look-up")
    let found = await search.find(original)
    let coordinator = context.coordinator(for: request)
    if let step = try step(after: found, search.url, waitsForOthers: coordinator != nil) { return step }
    trace?.enter("lease")
    let lease = await coordinator?.enter(key)
    // Another machine may have stored entries meanwhile.
    let again = await search.find(.unknown)
    guard !work.hasEnded, let step = try step(after: again, search.url, waitsForOthers: false, lease) else {
      throw .cancelled
    }
    return step
  }

  private func search() throws(LoadError) -> BytesSearch {
    do throws(HTTPError) {
      let url: HTTPURL
      if let known = request.keys.url { url = known } else { url = try HTTPURL(source) }
      return BytesSearch(request, url, source, context)
    } catch {
      throw LoadError(.invalidURL, .request, source, error.detail, cause: error)
    }
  }

  /// Makes the plan, and returns its step; `nil` if the load has to wait for other machines before it asks the server.
  ///
  /// A lease that is not used is released, and passes the work on.
  private func step(
    after found: BytesSearch.Found,
    _ url: HTTPURL,
    waitsForOthers: Bool,
    _ lease: WorkLease? = nil,
  ) throws(LoadError) -> Step? {
    let now = context.clock.now
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
    case .serveStaleOnError(let error):
      trace?.note("fallback", .text(error.detail))
      return .serve(try serve(found, plan, isStale: true))
    case .fail(let error): throw error
    case .send where waitsForOthers: return nil
    case .send(let conditions, let resumption):
      let stored = found.findings.original == nil ? nil : Stored(found, plan)
      let sequence = context.sources.nextSequence()
      let hasHook = context.network.hooks.willSend != nil
      return .send(
        OutgoingRequest(url, conditions, resumption, stored, lease, sequence: sequence, time: now, hasHook: hasHook)
      )
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
    return bytes(of: entry, stored, validity, original.head == nil ? .disk : .memory) {
      ($0.isStale, $0.isRevalidationDue) = (isStale, isRevalidationDue)
    }
  }

  func bytes(
    of entry: CachedData,
    _ stored: StoredResponse,
    _ validity: Validity,
    _ origin: ImageResponse.Origin,
    _ change: (inout FetchedBytes.Fields) -> Void,
  ) -> FetchedBytes {
    let bytes = FetchedBytes(
      .data(entry.data),
      contentID: entry.contentID,
      validity: validity,
      origin: origin,
      status: stored.status,
    ) {
      ($0.headers, $0.url) = (stored.headers, request.keys.url?.string)
      change(&$0)
    }
    // Stored bytes that are no image are dropped, so that the next request fetches them again.
    let commit = PendingCommit(to: bytes) { [key, cacheWriter = context.cacheWriter] word in
      if word == .bad { cacheWriter.drop([key]) }
    }
    return bytes.with(commit)
  }

  // MARK: Requests

  /// Stored bytes, and the plan for them.
  final class Stored: Sendable {
    let found: BytesSearch.Found
    let plan: BytesPlan

    init(_ found: BytesSearch.Found, _ plan: BytesPlan) { (self.found, self.plan) = (found, plan) }
  }

  /// A question to a server, and the findings for which it is asked.
  final class OutgoingRequest: Sendable {
    let url: HTTPURL
    let conditions: HTTPFields
    let resumption: Resumption?
    /// The stored bytes, which a response renews, or which are served in place of an error.
    let stored: Stored?
    /// The right to ask for all machines.
    let lease: WorkLease?
    /// The place among all questions, and the time.
    let sequence: SourceRecord.Sequence
    let time: Date
    /// The change that the hook before sending has made; `nil` without such a hook.
    let change: Lock<RequestChange?>?

    init(
      _ url: HTTPURL,
      _ conditions: HTTPFields,
      _ resumption: Resumption?,
      _ stored: Stored?,
      _ lease: WorkLease?,
      sequence: SourceRecord.Sequence,
      time: Date,
      hasHook: Bool,
    ) {
      change = hasHook ? Lock(nil) : nil
      (self.url, self.conditions, self.resumption) = (url, conditions, resumption)
      (self.stored, self.lease, self.sequence, self.time) = (stored, lease, sequence, time)
    }

    /// Returns the same question for the whole body.
    func whole(sequence: SourceRecord.Sequence, time: Date) -> OutgoingRequest {
      OutgoingRequest(url, conditions, nil, stored, lease, sequence: sequence, time: time, hasHook: change != nil)
    }
  }

  /// Sends a request; the load goes on at the end of its response.
  private func send(_ outgoing: OutgoingRequest) {
    let fields = context.fields(of: request)
    let limit = context.configuration.maxResponseBytes
    var http = request.httpRequest(outgoing.url, fields, priority: work.priority, limit: limit)
    for condition in outgoing.conditions { http.headers[condition.name] = condition.value }
    outgoing.resumption?.apply(to: &http)
    if let resumption = outgoing.resumption { trace?.note("resumed at", .number(resumption.count)) }
    trace?.enter("queue")
    let sink = BodySink(plan(for: outgoing, http, fields), trace) { [self] event in
      switch event {
      case .progress(let completed, let total): work.send(progress: completed, of: total)
      case .arriving(let data, let head): work.send(partial: FetchedBytes(data, of: head))
      case .end(let end): goOn(after: end, outgoing)
      case .abandoned: end(.failure(.cancelled))
      }
    }
    work.depend(on: Transfer(http, by: context.network.loader, into: sink))
  }

  private func goOn(after response: BodySink.End, _ outgoing: OutgoingRequest) {
    guard !work.hasEnded else { return }
    work.depend(on: nil)
    do throws(LoadError) {
      if let bytes = try received(response, outgoing) { return end(.success(bytes)) }
    } catch {
      return end(.failure(error))
    }
    // The server refused to resume. It happens once, since no partial download is left.
    goOn(mayBlock: true) { [self] () throws(LoadError) in
      await context.partials?.remove(key)
      send(outgoing.whole(sequence: context.sources.nextSequence(), time: context.clock.now))
    }
  }

  func plan(
    for outgoing: OutgoingRequest,
    _ http: HTTPRequest,
    _ fields: HTTPFields,
  ) -> BodySink.Plan {
    var plan = BodySink.Plan(
      fields: fields,
      requested: outgoing.time,
      clock: context.clock,
      pending: context.cacheWriter.pending,
    )
    plan.hooks = context.network.hooks
    if let willSend = plan.hooks.willSend, let change = outgoing.change {
      plan.hooks.willSend = watching(willSend, changes: change, fields)
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
    plan.resumption = outgoing.resumption
    let keepsOriginal = context.keepsOriginal(of: request)
    let isResuming = outgoing.resumption != nil
    let mayKeep = context.partials?.allowsWriting(request, keepsOriginal: keepsOriginal) ?? false
    if let partials = context.partials, request.keys.allowsResuming, mayKeep || isResuming {
      plan.record = { [key, context] head in
        let partial = head.partial
        if head.resumption != nil || partial.isWorthKeeping, mayKeep {
          let (resumption, stepper) = (head.resumption, context.stepper)
          return BodyRecording(partial, for: key, in: partials, after: resumption, stepper)
        }
        // The partial download belongs to another version.
        if isResuming, head.resumption == nil, head.response.status == 200 { context.cacheWriter.dropPartial(of: key) }
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
