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
    guard let cache = context.diskCache, request.policy != .reload else { return decide(url, nil, &turn) }
    trace?.enter("look-up")
    lookUp = Task(executorPreference: context.stepper) { [weak self, key, context] in
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
    if let sink { sink.add(feed) } else { feeds.append(feed) }
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

  private func load(_ url: HTTPURL, _ known: Known?, _ conditions: HTTPFields, _ turn: inout Turn) {
    var headers = context.fields(of: request)
    for condition in conditions { headers[condition.name] = condition.value }
    let http = HTTPRequest(url, headers: headers, priority: priority)
    let requested = context.clock.now
    trace?.enter("queue")
    let sink = BodySink(trace) { [weak self, context] event in
      guard let self else { return }
      context.engine.turn { turn in
        switch event {
        case .progress(let completed, let total): self.send(progress: completed, of: total, &turn)
        case .end(let result): self.receive(result, known, requested: requested, &turn)
        }
      }
    }
    self.sink = sink
    if isWatched { sink.watch() }
    for feed in feeds { sink.add(feed) }
    feeds = []
    // A loader may answer at once, so it is called with the lock open.
    turn.afterwards { [self, context] in
      let handle = context.loader.load(http, into: sink)
      context.engine.turn { turn in
        guard isRunning else { return handle.cancel() }
        self.handle = handle
        if handle.priority != priority { handle.priority = priority }
      }
    }
  }

  // MARK: What came

  private func receive(
    _ result: Result<(HTTPResponse, Data), HTTPError>,
    _ known: Known?,
    requested: Date,
    _ turn: inout Turn,
  ) {
    guard isRunning else { return }
    (handle, sink) = (nil, nil)
    let now = context.clock.now
    switch result {
    case .success((let response, _)) where response.status == 304:
      guard let known else {
        return finish(
          .failure(
            LoadError(.fetchFailed, .fetch, address, "the server answered 304 to a request that was not conditional")
          ),
          &turn,
        )
      }
      revalidated(known, by: response, requested: requested, now, &turn)
    case .success((let response, let body)) where response.isSuccess:
      fetched(response, body, requested: requested, now, &turn)
    case .success((let response, _)):
      let error = LoadError(
        .badStatus,
        .fetch,
        address,
        "the server answered with status \(response.status)",
        status: response.status,
      )
      if error.allowsStale, serveStale(known, now, &turn) { return }
      finish(.failure(error), &turn)
    case .failure(let error) where error.isCancellation:
      finish(.failure(LoadError(.cancelled, .fetch, address, "cancelled", cause: error)), &turn)
    case .failure(let error):
      if serveStale(known, now, &turn) { return }
      finish(.failure(LoadError(.fetchFailed, .fetch, address, error.detail, cause: error)), &turn)
    }
  }

  private func fetched(_ response: HTTPResponse, _ body: Data, requested: Date, _ now: Date, _ turn: inout Turn) {
    let stored = StoredResponse(response, to: context.fields(of: request), requested: requested, received: now)
    let validity = validity(of: stored, now)
    let entry = CachedData(
      data: body,
      metadata: stored.encoded,
      contentID: ContentID(of: body),
      expires: validity.expires,
      stored: now,
    )
    let verdict = Verdict { [key, context, request] word in
      switch word {
      case .good: context.settle(key, entry.contentID, validity)
      case .keep:
        if validity.isKept { context.keepOriginal(entry, for: key, of: request, response) }
      case .bad: break
      }
    }
    finish(
      .success(
        FetchedBytes(
          data: body,
          contentID: entry.contentID,
          validity: validity,
          origin: .network,
          isStale: false,
          status: response.status,
          verdict: verdict,
        )
      ),
      &turn,
    )
  }

  private func validity(of stored: StoredResponse, _ now: Date) -> Validity {
    let decision = freshness.decide(stored, for: stored.variation, now: now)
    // What is to be asked for every time is over from the start, whatever its age says.
    let expires = decision.action == .serve ? decision.expires : decision.expires.map { min($0, now) }
    return Validity(
      expires: expires,
      confirmed: stored.received,
      usableOnErrorUntil: decision.usableOnErrorUntil,
      usableWhileRevalidatingUntil: decision.usableWhileRevalidatingUntil,
      variation: stored.variation,
      isKept: stored.isStorable,
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
    let validity = validity(of: renewed, now)
    let (key, contentID) = (key, known.entry.contentID)
    context.settle(key, contentID, validity)
    if let cache = context.diskCache {
      context.pendingWrites.add {
        await cache.renew(key, contentID: contentID, expires: validity.expires, metadata: renewed.encoded)
      }
    }
    finish(.success(bytes(of: known.renewed(renewed), .revalidated, isStale: false)), &turn)
  }

  /// Whether what is stored could be served in place of an error.
  private func serveStale(_ known: Known?, _ now: Date, _ turn: inout Turn) -> Bool {
    guard let known, let until = known.decision.usableOnErrorUntil, now < until else { return false }
    finish(.success(bytes(of: known, .disk, isStale: true)), &turn)
    return true
  }

  private func bytes(of known: Known, _ origin: ImageResponse.Origin, isStale: Bool) -> FetchedBytes {
    FetchedBytes(
      data: known.entry.data,
      contentID: known.entry.contentID,
      validity: validity(of: known.stored, context.clock.now),
      origin: origin,
      isStale: isStale,
      status: known.stored.status,
      // What is stored and turns out to be no image is dropped, so that it is fetched anew the next time.
      verdict: Verdict { [key, context] word in
        guard word == .bad, let cache = context.diskCache else { return }
        context.pendingWrites.add { await cache.remove(key) }
      },
    )
  }

  private struct Known {
    let entry: CachedData
    let stored: StoredResponse
    let decision: Freshness.Decision

    func renewed(_ stored: StoredResponse) -> Known { Known(entry: entry, stored: stored, decision: decision) }
  }
}
