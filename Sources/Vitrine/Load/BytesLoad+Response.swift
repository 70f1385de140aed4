import VitrineCaching
import VitrineHTTP
import VitrineRuntime

// The response to a request: what it means for the caches, and for the callers.
extension BytesLoad {
  // MARK: Responses

  /// Returns the bytes that the end of a response brings; `nil` if the server does not resume the earlier download.
  func received(
    _ end: BodySink.End,
    _ outgoing: OutgoingRequest,
  ) throws(LoadError) -> FetchedBytes? {
    switch end {
    case .body(let body): try received(body, outgoing)
    case .error(let error): try failed(error, outgoing)
    case .startOver: nil
    }
  }

  private func received(
    _ body: BodySink.Body,
    _ outgoing: OutgoingRequest,
  ) throws(LoadError) -> FetchedBytes {
    invalidate(after: body.response)
    let (failures, status) = (context.network.failures, body.response.status)
    if body.response.isSuccess {
      failures.forget(key)
      return fetched(body, outgoing)
    }
    // Other machines ask for themselves, unless they find the renewed bytes.
    defer { outgoing.lease?.giveUp() }
    if status == 304 {
      failures.forget(key)
      return try revalidated(outgoing, by: body)
    }
    let error = HTTPError(.badStatus, url: source, status: status, "the server answered with status \(status)")
    record(error, body, outgoing)
    return try staleBytes(for: LoadError(error, source), outgoing)
  }

  private func failed(
    _ error: HTTPError,
    _ outgoing: OutgoingRequest,
  ) throws(LoadError) -> FetchedBytes {
    defer { outgoing.lease?.giveUp() }
    guard !error.isCancellation else { throw LoadError(.cancelled, .fetch, source, "cancelled", cause: error) }
    if let known = error.cause as? RememberedFailure { return try staleBytes(for: known.error, outgoing) }
    record(error, nil, outgoing)
    return try staleBytes(for: LoadError(error, source), outgoing)
  }

  /// Records a failure, unless a hook may answer the same challenge otherwise the next time.
  private func record(_ error: HTTPError, _ body: BodySink.Body?, _ outgoing: OutgoingRequest) {
    guard error.status != 401 || context.network.hooks.challenge == nil else { return }
    let now = context.clock.now
    context.network.failures.record(
      error,
      // Responses to other requests are cached by rules of their own (RFC 9110, section 9.3.3).
      request.isPlainGet ? body?.head.stored : nil,
      retryAfter: body?.response.retryAfter(now: now),
      for: key,
      outgoing.change?.withLock { $0 },
      now: now,
      uptime: context.clock.uptime,
    )
  }

  /// Drops cached responses of a resource that the request may have changed (RFC 9111, section 4.4).
  private func invalidate(after response: HTTPResponse) {
    guard !request.method.isSafe, response.status < 400 || response.redirectCount > 0 else { return }
    let resource = request.asGet
    context.network.failures.forget(resource.keys.fetch)
    context.cacheWriter.invalidate(resource)
  }

  /// Returns the stored bytes if they may stand in for the error, else throws the error.
  private func staleBytes(
    for error: LoadError,
    _ outgoing: OutgoingRequest,
  ) throws(LoadError) -> FetchedBytes {
    guard let stored = outgoing.stored, stored.plan.allowsStale(after: error, now: context.clock.now) else {
      throw error
    }
    trace?.note("fallback", .text(error.detail))
    return try serve(stored.found, stored.plan, isStale: true)
  }

  private func fetched(_ body: BodySink.Body, _ outgoing: OutgoingRequest) -> FetchedBytes {
    context.cacheWriter.dropEvicted()
    let (stored, now) = (body.head.stored, context.clock.now)
    var validity = context.validity(of: stored, request, at: now)
    // Responses to other requests need an explicit lifetime (RFC 9110, section 9.3.3).
    if !request.isPlainGet, !stored.hasExplicitLifetime { validity.isKept = false }
    let (request, record) = context.place(of: stored.variation, request, record)
    let isElsewhere = request.keys.fetch != self.request.keys.fetch
    if isElsewhere, let recording = body.recording {
      context.cacheWriter.pending.add { await recording.drop() }
    }
    let whole = CacheWriter.NewBody(
      data: body.data,
      contentID: body.contentID,
      stored: stored,
      validity: validity,
      time: outgoing.time,
      response: body.response,
      recording: isElsewhere ? nil : body.recording,
      sequence: outgoing.sequence,
      record: record,
    )
    let lease = outgoing.lease
    let bytes = FetchedBytes(
      .data(body.data),
      contentID: body.contentID,
      validity: validity,
      origin: .network,
      status: stored.status,
    ) {
      ($0.headers, $0.url) = (body.response.headers, body.response.url.string)
      $0.sequence = outgoing.sequence
    }
    let commit = PendingCommit(to: bytes) { [cacheWriter = context.cacheWriter] word in
      cacheWriter.settle(whole, of: request, word)
      switch word {
      case .keep: lease?.finish()
      case .good(isKept: true): break
      case .good(isKept: false), .bad: lease?.giveUp()
      }
    }
    // Bytes must be storable to answer a request that comes after them.
    if validity.isKept, !isElsewhere { context.arrived.add(commit, for: sharedKey) }
    return bytes.with(commit)
  }

  private func revalidated(_ outgoing: OutgoingRequest, by body: BodySink.Body) throws(LoadError) -> FetchedBytes {
    guard let found = outgoing.stored?.found, let entry = found.entry,
      let stored = found.findings.original?.stored
    else {
      let detail = "the server answered 304 to a request that was not conditional"
      throw LoadError(.fetchFailed, .fetch, source, detail)
    }
    let renewed = stored.renewed(by: body.response, requested: outgoing.time, received: body.head.stored.received)
    let validity = context.validity(of: renewed, request, at: context.clock.now)
    context.cacheWriter.renew(request, entry.contentID, renewed, validity, outgoing.sequence, record)
    outgoing.lease?.finish()
    return bytes(of: entry, renewed, validity, .revalidated) {
      ($0.url, $0.sequence) = (body.response.url.string, outgoing.sequence)
    }
  }
}
