import VitrineCaching
import VitrineHTTP
import VitrineRuntime

/// Bytes of an address: from the disk cache while they are fresh, else from the server, asked only whether they have
/// changed where that can be asked.
///
/// What came from the server is stored when whoever asked has said that it is what was wanted; see
/// ``FetchedBytes/verdict``.
final class RemoteFetchJob: Job<FetchedBytes, LoadError>, @unchecked Sendable {
  // @unchecked: like its superclass, guarded by the engine's lock.
  private let address: String
  private let request: ImageRequest
  private let key: CacheKey
  private let context: JobContext
  private let freshness = Freshness()
  private var lookUp: Task<Void, Never>?
  private var handle: (any LoadHandle)?
  private var sink: BodySink?
  private var feeds: [PreviewFeed] = []

  init(address: String, request: ImageRequest, context: JobContext, onEnd: @escaping (inout Turn) -> Void) {
    (self.address, self.request, self.context) = (address, request, context)
    key = request.keys.fetch
    super.init(onEnd: onEnd)
  }

  override func start(_ turn: inout Turn) {
    trace = context.recorder?.stage("fetch", address)
    let url: HTTPURL
    do throws(HTTPError) {
      url = try HTTPURL(address)
    } catch {
      return finish(.failure(LoadError(.invalidURL, .request, address, error.detail, cause: error)), &turn)
    }
    guard let cache = context.disk(for: request, .diskReads), request.policy != .reload else {
      return decide(url, nil, &turn)
    }
    trace?.enter("look-up")
    lookUp = Task(executorPreference: context.stepper) { [weak self, key, context] in
      // A delegate may take its time with what is to be stored.
      if context.delegate == nil { await context.pendingWrites.finished(for: key) }
      let entry = await cache.entry(for: key)
      guard let self else { return }
      context.engine.turn { self.decide(url, entry, &$0) }
    }
  }

  override func stop(_ turn: inout Turn) {
    lookUp?.cancel()
    handle?.cancel()
    (lookUp, handle, sink) = (nil, nil, nil)
    feeds = []
  }

  /// Lets somebody look at the body while it comes from the server.
  func add(_ feed: PreviewFeed, _ turn: inout Turn) {
    guard isRunning else { return }
    feeds.append(feed)
    sink?.add(feed)
  }

  override func priorityChanged(_ turn: inout Turn) { handle?.priority = priority }

  override func watchingBegan(_ turn: inout Turn) {
    guard let progress = sink?.watch() else { return }
    send(progress: progress.completed, of: progress.total, &turn)
  }

  // MARK: What to do

  private func decide(_ url: HTTPURL, _ entry: CachedData?, _ turn: inout Turn) {
    guard isRunning else { return }
    lookUp = nil
    let stored = entry.flatMap { StoredResponse(encoded: $0.metadata) }
    let decision = freshness.decide(
      stored,
      for: context.fields(of: request),
      policy: request.policy,
      now: context.clock.now,
    )
    let known = entry.flatMap { entry in stored.map { Known(entry: entry, stored: $0, decision: decision) } }
    trace?.note("decision", .text("\(decision.action): \(decision.reason)"))
    switch decision.action {
    case .serve:
      guard let known else { return load(url, nil, decision.headers, &turn) }
      let isStale = decision.expires.map { $0 <= context.clock.now } ?? false
      finish(.success(bytes(of: known, .disk, isStale: isStale)), &turn)
    case .serveAndRevalidate:
      guard let known, !request.revalidates else { return load(url, known, decision.headers, &turn) }
      var bytes = bytes(of: known, .disk, isStale: true)
      bytes.isRevalidationDue = true
      finish(.success(bytes), &turn)
    case .fail:
      finish(
        .failure(LoadError(.notCached, .fetch, address, "not in the cache, and nothing else may be asked")),
        &turn,
      )
    case .revalidate, .fetch: load(url, known, decision.headers, &turn)
    }
  }

  /// Asks the server, if that may be and is worth it.
  private func load(_ url: HTTPURL, _ known: Known?, _ conditions: HTTPFields, _ turn: inout Turn) {
    let network = context.network
    if let objection = network.objection(to: url) {
      return finish(.failure(LoadError(.forbidden, .request, address, objection)), &turn)
    }
    if request.policy == .reload {
      network.failures?.forget(key)
    } else if let error = network.failures?.error(for: key, address) {
      trace?.note("decision", .text("not asked: failed lately"))
      return fail(error, known, context.clock.now, &turn)
    }
    let question = Question(url: url, known: known, conditions: conditions)
    guard network.access != nil || context.partials != nil else { return send(question, &turn) }
    let partials = context.partials
    // Whoever says what the network is good for may call back, so is asked with the lock open.
    turn.afterwards { [self, context] in
      let refusal = network.refusal(of: request)
      context.engine.turn { turn in
        guard isRunning else { return }
        if let refusal { return fail(refusal, known, context.clock.now, &turn) }
        guard let partials else { return send(question, &turn) }
        lookForBeginning(question, partials, &turn)
      }
    }
  }

  /// Goes on from what an earlier download has left, if there is anything.
  private func lookForBeginning(_ question: Question, _ partials: Partials, _ turn: inout Turn) {
    let fields = context.fields(of: request)
    guard fields["Range"] == nil, request.caches.contains(.diskReads) else { return send(question, &turn) }
    lookUp = Task(executorPreference: context.stepper) { [weak self, key, context] in
      var question = question
      question.resumption = await Resumption(for: key, in: partials.disk, fields: fields)
      guard let self else { return }
      context.engine.turn { turn in
        guard self.isRunning else { return }
        self.lookUp = nil
        self.send(question, &turn)
      }
    }
  }

  private func send(_ question: Question, _ turn: inout Turn) {
    let fields = context.fields(of: request)
    var http = HTTPRequest(question.url, headers: fields, priority: priority)
    for condition in question.conditions { http.headers[condition.name] = condition.value }
    question.resumption?.ask(in: &http)
    if let resumption = question.resumption { trace?.note("resumed at", .number(resumption.count)) }
    let requested = context.clock.now
    trace?.enter("queue")
    let sink = BodySink(plan(for: question, fields, requested: requested), trace) { [weak self, context] event in
      guard let self else { return }
      context.engine.turn { turn in
        switch event {
        case .progress(let completed, let total): self.send(progress: completed, of: total, &turn)
        case .end(let result): self.receive(result, question.known, requested: requested, &turn)
        case .startOver: self.startOver(question, &turn)
        }
      }
    }
    self.sink = sink
    if isWatched { sink.watch() }
    for feed in feeds { sink.add(feed) }
    // A loader may answer at once, so it is called with the lock open.
    turn.afterwards { [self, context, http] in
      let handle = context.network.loader.load(http, into: sink)
      context.engine.turn { turn in
        guard isRunning, self.sink === sink else { return handle.cancel() }
        self.handle = handle
        if handle.priority != priority { handle.priority = priority }
      }
    }
  }

  private func plan(for question: Question, _ fields: HTTPFields, requested: Date) -> BodySink.Plan {
    let describe: @Sendable (HTTPResponse, Resumption?) -> StoredResponse = { [context] response, resumption in
      let now = context.clock.now
      // A part says of the whole what a 304 would (RFC 9111, section 3.4).
      return resumption?.stored.renewed(by: response, requested: requested, received: now)
        ?? StoredResponse(response, to: fields, requested: requested, received: now)
    }
    var plan = BodySink.Plan(describe: describe) { [context] in context.pendingWrites.add($0) }
    plan.hooks = context.network.hooks
    if let trace { plan.hooks.didTransfer = { trace.add($0) } }
    plan.resumption = question.resumption
    let keepsOriginal = context.keepsOriginal(of: request)
    let isResuming = question.resumption != nil
    if let partials = context.partials, fields["Range"] == nil, keepsOriginal || isResuming {
      plan.record = { [key, context] head in
        let partial = head.partial
        if head.resumption != nil || partial.isWorthKeeping, keepsOriginal {
          return BodyRecording(partial, for: key, in: partials, after: head.resumption, context.stepper)
        }
        // What was left is the beginning of something else.
        if isResuming, head.resumption == nil, head.response.status == 200 {
          context.pendingWrites.add { await partials.disk.removePartial(for: key) }
        }
        return nil
      }
    }
    return plan
  }

  /// Asks for the whole after the server would not go on with a part; once, since there is no part then.
  private func startOver(_ question: Question, _ turn: inout Turn) {
    guard isRunning else { return }
    (handle, sink) = (nil, nil)
    var question = question
    question.resumption = nil
    guard let partials = context.partials else { return send(question, &turn) }
    lookUp = Task(executorPreference: context.stepper) { [weak self, key, context, question] in
      await partials.disk.removePartial(for: key)
      guard let self else { return }
      context.engine.turn { turn in
        guard self.isRunning else { return }
        self.lookUp = nil
        self.send(question, &turn)
      }
    }
  }

  // MARK: What came

  private func receive(
    _ result: Result<BodySink.Body, HTTPError>,
    _ known: Known?,
    requested: Date,
    _ turn: inout Turn,
  ) {
    guard isRunning else { return }
    (handle, sink, feeds) = (nil, nil, [])
    let now = context.clock.now
    switch result {
    case .success(let body) where body.response.status == 304:
      guard let known else {
        let detail = "the server answered 304 to a request that was not conditional"
        return finish(.failure(LoadError(.fetchFailed, .fetch, address, detail)), &turn)
      }
      context.network.failures?.forget(key)
      revalidated(known, by: body.response, requested: requested, now, &turn)
    case .success(let body) where body.response.isSuccess:
      context.network.failures?.forget(key)
      fetched(body, now, &turn)
    case .success(let body):
      let (status, wait) = (body.response.status, body.response.retryAfter(now: now))
      let detail = "the server answered with status \(status)"
      let error = HTTPError(.badStatus, url: address, status: status, detail)
      context.network.failures?.record(error, retryAfter: wait, for: key)
      fail(LoadError(error, address), known, now, &turn)
    case .failure(let error) where error.isCancellation:
      finish(.failure(LoadError(.cancelled, .fetch, address, "cancelled", cause: error)), &turn)
    case .failure(let error):
      context.network.failures?.record(error, for: key)
      fail(LoadError(error, address), known, now, &turn)
    }
  }

  /// Ends with what is stored, if it may stand in for the error, else with that.
  private func fail(_ error: LoadError, _ known: Known?, _ now: Date, _ turn: inout Turn) {
    guard let known, error.allowsStale(until: known.decision.usableOnErrorUntil, now: now) else {
      return finish(.failure(error), &turn)
    }
    trace?.note("fallback", .text(error.detail))
    finish(.success(bytes(of: known, .disk, isStale: true)), &turn)
  }

  private func fetched(_ body: BodySink.Body, _ now: Date, _ turn: inout Turn) {
    let stored = body.head.stored
    let validity = Validity(of: stored, at: now)
    let entry = CachedData(
      data: body.data,
      metadata: stored.encoded,
      contentID: ContentID(of: body.data),
      expires: validity.expires,
      stored: now,
    )
    let verdict = Verdict { [key, context, request] word in
      // What was decoded late takes nobody back, neither in memory nor on disk.
      let isOutdated = context.memoryCache?.isOutdated(entry.contentID, validity, of: key) == true
      switch word {
      case .good where isOutdated: break
      case .good(let isKept):
        context.settle(key, entry.contentID, validity)
        if !isKept || !validity.isKept || !request.caches.contains(.diskWrites) {
          context.dropOutdated(request, by: entry.contentID)
        }
      case .keep where !isOutdated:
        if validity.isKept, request.caches.contains(.diskWrites) {
          context.keepOriginal(entry, for: key, of: request, body.response, recorded: body.recording)
        }
      case .bad, .keep:
        guard let recording = body.recording else { return }
        context.pendingWrites.add { await recording.drop() }
      }
    }
    finish(
      .success(
        FetchedBytes(
          data: body.data,
          contentID: entry.contentID,
          validity: validity,
          origin: .network,
          isStale: false,
          status: stored.status,
          verdict: verdict,
        )
      ),
      &turn,
    )
  }

  private func revalidated(
    _ known: Known,
    by response: HTTPResponse,
    requested: Date,
    _ now: Date,
    _ turn: inout Turn,
  ) {
    let renewed = known.stored.renewed(by: response, requested: requested, received: now)
    let validity = Validity(of: renewed, at: now)
    let (key, contentID) = (key, known.entry.contentID)
    context.settle(key, contentID, validity)
    if let cache = context.disk(for: request, .diskWrites) {
      context.pendingWrites.add(for: key) {
        await cache.renew(key, contentID: contentID, expires: validity.expires, metadata: renewed.encoded)
      }
    }
    finish(.success(bytes(of: known.renewed(renewed), .revalidated, isStale: false)), &turn)
  }

  private func bytes(of known: Known, _ origin: ImageResponse.Origin, isStale: Bool) -> FetchedBytes {
    FetchedBytes(
      data: known.entry.data,
      contentID: known.entry.contentID,
      validity: Validity(of: known.stored, at: context.clock.now),
      origin: origin,
      isStale: isStale,
      status: known.stored.status,
      // What is stored and turns out to be no image is dropped, so that it is fetched anew the next time.
      verdict: Verdict { [key, context] word in
        guard word == .bad, let cache = context.diskCache else { return }
        context.pendingWrites.add(for: key) { await cache.remove(key) }
      },
    )
  }

  /// What is to be asked of a server.
  private struct Question {
    let url: HTTPURL
    let known: Known?
    let conditions: HTTPFields
    var resumption: Resumption?
  }

  private struct Known {
    let entry: CachedData
    let stored: StoredResponse
    let decision: Freshness.Decision

    func renewed(_ stored: StoredResponse) -> Known { Known(entry: entry, stored: stored, decision: decision) }
  }
}
