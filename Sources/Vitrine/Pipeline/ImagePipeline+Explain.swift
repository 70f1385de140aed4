import VitrineCaching
import VitrineHTTP
import VitrineRuntime

extension ImagePipeline {
  /// Finds out what would come of a request at this moment, and why, without doing it.
  ///
  /// Nothing counts as used, nothing is fetched, and nothing changes. What is still being written is waited for. Whether
  /// a server answers, a file exists or bytes are an image is not known before it is tried. Complexity: reads from disk what
  /// would be read.
  public func explain(_ request: ImageRequest) async -> Explanation {
    await context.pendingWrites.finished()
    let request = request.prepared(by: context.delegate)
    guard let alternatives = request.alternatives else { return await explainOne(request) }
    if request.policy != .reload, let known = known(request, step: request.processors.count) {
      var explanation = Explanation(request, now: context.clock.now)
      explanation.unusedCaches = unusedCaches(of: request)
      if serve(known, request, isFinal: true, &explanation) { return explanation }
    }
    var explanations: [Explanation] = []
    for alternative in alternatives { explanations.append(await explainOne(alternative)) }
    // What is in memory goes first, then the first that is not known to fail.
    let inMemory = explanations.first { explanation in if case .fresh = explanation.memory { true } else { false } }
    if let chosen = inMemory ?? explanations.first(where: { $0.failure == nil }) ?? explanations.first { return chosen }
    var explanation = Explanation(request, now: context.clock.now)
    explanation.failure = "no source is given"
    return explanation
  }

  private func explainOne(_ request: ImageRequest) async -> Explanation {
    var explanation = Explanation(request, now: context.clock.now)
    explanation.interceptorCount = configuration.interceptors.count
    explanation.unusedCaches = unusedCaches(of: request)
    await explain(request, step: request.processors.count, &explanation)
    return explanation
  }

  /// Those that the request could use and does not.
  private func unusedCaches(of request: ImageRequest) -> CacheUse {
    let unused = CacheUse.all.subtracting(context.caches(of: request))
    guard case .url = request.resolvedSource.kind else { return unused.intersection(.memory) }
    return unused
  }

  // Follows the way of the jobs; see `makeImageJob`.
  private func explain(_ request: ImageRequest, step: Int, _ explanation: inout Explanation) async {
    let isFinal = step == request.processors.count
    let known = known(request, step: step)
    explanation.processorCount = request.processors.count - step
    if isFinal, context.memory(for: request, .memoryReads) != nil { explanation.memory = .missing }
    // The caller's own look into memory comes before the jobs.
    if isFinal, let known, serve(known, request, isFinal: true, &explanation), explanation.transfer == .none { return }
    let isUnderWay = context.engine.turn { images.running(imageKey(of: request, step: step), &$0) != nil }
    if isUnderWay {
      (explanation.sharing, explanation.origin) = (.image(steps: step), nil)
      (explanation.transfer, explanation.isStale) = (.none, false)
      return
    }
    if let known {
      if serve(known, request, isFinal: isFinal, &explanation) { return }
      if known.contentID != .none, known.validity.answers(context.fields(of: request)) {
        return await confirm(known, request, step: step, &explanation)
      }
    }
    let larger = step == 0 ? largerVariant(of: request, decodeOptions(of: request)) : nil
    if larger == nil, await serveFinished(request, step: step, isFinal: isFinal, &explanation) { return }
    if step > 0 { return await explain(request, step: step - 1, &explanation) }
    if let larger {
      let image = larger.image.image
      explanation.largerVariant = Explanation.Size(width: image.width, height: image.height)
      explanation.origin = .memory
      return
    }
    explanation.decodes = true
    _ = await explainFetch(request, &explanation)
  }

  // MARK: Images

  /// What is in memory, without counting it as used.
  private func known(_ request: ImageRequest, step: Int) -> CachedImage? {
    let key = request.keys.key(step: step)
    return context.memory(for: request, .memoryReads)?.variants(of: request.keys.fetch).first { $0.key == key }?.value
  }

  /// - Returns: Whether the image is served as it is.
  private func serve(
    _ known: CachedImage,
    _ request: ImageRequest,
    isFinal: Bool,
    _ explanation: inout Explanation,
  ) -> Bool {
    let (now, validity) = (explanation.now, known.validity)
    let isFresh = request.policy != .reload && known.isFresh(at: now, request.policy)
    let answers = validity.answers(context.fields(of: request))
    if isFinal {
      explanation.memory =
        !answers
        ? .unusable("made for other header fields, which its server looks at (Vary)")
        : isFresh ? .fresh(until: validity.expires) : Self.find(validity.expires, now)
    }
    guard answers else { return false }
    let isUsable = isFresh || validity.isUsableWhileRevalidating(at: now, request)
    guard isUsable else { return false }
    if !isFinal { explanation.stepsInMemory = request.processors.count - explanation.processorCount }
    (explanation.origin, explanation.isStale) = (.memory, !isFresh)
    if !isFresh { explanation.transfer = .behind }
    return true
  }

  /// What may not be served without asking; where only the request's policy says so, its own time may not be over.
  private static func find(_ expires: Date?, _ now: Date) -> Explanation.Find {
    guard let expires, expires <= now else { return .fresh(until: expires) }
    return .stale(since: expires)
  }

  private func confirm(
    _ known: CachedImage,
    _ request: ImageRequest,
    step: Int,
    _ explanation: inout Explanation,
  ) async {
    explanation.decodes = nil
    explanation.usableOnErrorUntil = known.validity.usableOnErrorUntil
    let contentID = await explainFetch(request, &explanation)
    if let refusal = explanation.refusal, explanation.failure != nil, request.policy != .reload,
      refusal.allowsStale(until: known.validity.usableOnErrorUntil, now: explanation.now)
    {
      (explanation.failure, explanation.decodes) = (nil, false)
      (explanation.origin, explanation.isStale) = (.memory, true)
      explanation.processorCount = request.processors.count - step
      return
    }
    // What is stored may be newer than the image.
    guard let contentID, explanation.transfer == .none else { return }
    let isSame = contentID == known.contentID
    explanation.decodes = !isSame
    if !isSame { explanation.processorCount = request.processors.count }
  }

  /// - Returns: Whether an image is served, or confirmed, that was stored as it was shown.
  private func serveFinished(
    _ request: ImageRequest,
    step: Int,
    isFinal: Bool,
    _ explanation: inout Explanation,
  ) async -> Bool {
    guard let disk = context.diskForFinished(request, step: step) else { return false }
    if isFinal { explanation.finished = .missing }
    guard let entry = await disk.peek(request.keys.key(step: step)) else { return false }
    func isOfNoUse(_ reason: String) -> Bool {
      if isFinal { explanation.finished = .unusable(reason) }
      return false
    }
    if let original = await disk.contentID(for: request.keys.fetch), original != entry.contentID {
      return isOfNoUse("made of other bytes than are there now")
    }
    let read = try? await context.decodeQueue.run(bytes: entry.data.count) { _ in [FinishedImage.image(of: entry)] }
    guard let image = read?.first ?? nil else { return isOfNoUse("damaged") }
    guard image.validity.answers(context.fields(of: request)) else {
      return isOfNoUse("made for other header fields, which its server looks at (Vary)")
    }
    let (now, expires) = (explanation.now, image.validity.expires)
    let isFresh = image.isFresh(at: now, request.policy)
    if isFinal { explanation.finished = isFresh ? .fresh(until: expires) : Self.find(expires, now) }
    if isFresh {
      (explanation.origin, explanation.isStale) = (.disk, image.validity.isOverdue(at: now, request.policy))
      return true
    }
    if image.validity.isUsableWhileRevalidating(at: now, request) {
      (explanation.origin, explanation.isStale, explanation.transfer) = (.disk, true, .behind)
      return true
    }
    await confirm(image, request, step: step, &explanation)
    return true
  }

  // MARK: Bytes

  /// - Returns: The content id of what is served from disk, or would be if it has not changed.
  private func explainFetch(_ request: ImageRequest, _ explanation: inout Explanation) async -> ContentID? {
    let isUnderWay = context.engine.turn { fetches.contains(fetchKey(of: request), &$0) }
    if isUnderWay {
      explanation.sharing = .bytes
      return nil
    }
    guard case .url(let address) = request.resolvedSource.kind else {
      explanation.origin = .local
      if case .file(_, isAddress: true) = request.resolvedSource.kind, !context.allowsFileAddresses {
        (explanation.origin, explanation.failure) = (nil, "addresses of files are not allowed here")
      }
      return nil
    }
    let url: HTTPURL
    do throws(HTTPError) {
      url = try HTTPURL(address)
    } catch {
      explanation.failure = error.detail
      return nil
    }
    var entry: CachedData?
    var partial: PartialBody?
    if let disk = context.disk(for: request, .diskReads), request.policy != .reload {
      explanation.original = .missing
      entry = await disk.peek(request.keys.fetch)
      partial = await context.partials?.disk.partial(for: request.keys.fetch)
      explanation.partialByteCount = partial?.count ?? 0
    }
    let contentID = decide(request, entry, &explanation)
    guard explanation.transfer == .full || explanation.transfer == .conditional else { return contentID }
    if let objection = context.network.objection(to: url) {
      (explanation.failure, explanation.transfer, explanation.origin) = (objection, .none, nil)
    } else if let refusal = refusal(of: request, address) {
      explanation.refusal = refusal
      (explanation.transfer, explanation.origin) = (.none, nil)
      if entry != nil, refusal.allowsStale(until: explanation.storedUsableOnErrorUntil, now: explanation.now) {
        (explanation.origin, explanation.isStale) = (.disk, true)
        return entry?.contentID
      }
      explanation.failure = refusal.detail
    } else if explanation.transfer == .full, let partial, Resumption.isUsable(partial, context.fields(of: request)) {
      explanation.transfer = .rest
    }
    return contentID
  }

  /// Why the server would not be asked just now.
  private func refusal(of request: ImageRequest, _ address: String) -> LoadError? {
    if request.policy != .reload, let error = context.network.failures?.error(for: request.keys.fetch, address) {
      return error
    }
    return context.network.refusal(of: request)
  }

  private func decide(_ request: ImageRequest, _ entry: CachedData?, _ explanation: inout Explanation) -> ContentID? {
    let now = explanation.now
    let stored = entry.flatMap { StoredResponse(encoded: $0.metadata) }
    let fields = context.fields(of: request)
    let decision = Freshness().decide(stored, for: fields, policy: request.policy, now: now)
    explanation.reason = decision.reason
    explanation.storedUsableOnErrorUntil = decision.usableOnErrorUntil
    explanation.usableOnErrorUntil = explanation.usableOnErrorUntil ?? decision.usableOnErrorUntil
    if entry != nil {
      let isOld = decision.expires.map { $0 <= now } ?? false
      switch decision.action {
      case .serve: explanation.original = .fresh(until: decision.expires)
      case _ where decision.reason == .vary || stored == nil:
        explanation.original = .unusable("it answered other header fields, which its server looks at (Vary)")
      case _ where isOld: explanation.original = decision.expires.map { .stale(since: $0) } ?? .missing
      default: explanation.original = .unusable("its server wants to be asked every time (\(decision.reason))")
      }
    }
    switch decision.action {
    case .serve:
      (explanation.origin, explanation.isStale) = (.disk, decision.expires.map { $0 <= now } ?? false)
    case .serveAndRevalidate where !request.revalidates:
      (explanation.origin, explanation.isStale, explanation.transfer) = (.disk, true, .behind)
    case .fail: explanation.failure = "not in the cache, and nothing else may be asked"
    case .revalidate, .serveAndRevalidate:
      explanation.transfer = .conditional
    case .fetch:
      (explanation.transfer, explanation.origin) = (.full, .network)
    }
    return decision.action == .fetch ? nil : entry?.contentID
  }
}
