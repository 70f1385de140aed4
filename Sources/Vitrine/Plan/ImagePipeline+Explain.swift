import VitrineCaching
import VitrineHTTP
import VitrineRuntime

extension ImagePipeline {
  /// Finds out what would come of a request at this moment, and why, without doing it.
  ///
  /// It makes the plans that a load would carry out, and carries none out: nothing counts as used, nothing is fetched, and
  /// nothing changes. What is still being written of the request is waited for. Whether a server answers, a file exists or
  /// bytes are an image is not known before it is tried. Complexity: reads from disk what would be read.
  public func explain(_ request: ImageRequest) async -> Explanation {
    let request = request.prepared(by: context.delegate)
    guard let alternatives = request.alternatives else { return await explainOne(request) }
    var explanation = Explanation(request, now: context.clock.now)
    explanation.unusedCaches = unusedCaches(of: request)
    if request.policy != .reload {
      let (findings, rest) = context.findingsInMemory(request, step: request.processors.count, at: explanation.now)
      explainMemory(rest, request, &explanation)
      if case .memory(let image, let use) = plan(request, request.processors.count, findings, explanation.now).base,
        use != .confirm, findings.known?.step == request.processors.count
      {
        serve(image.validity, use, .memory, &explanation)
        return explanation
      }
    }
    var explanations: [Explanation] = []
    for alternative in alternatives { explanations.append(await explainOne(alternative)) }
    // What is in memory goes first, then the first that is not known to fail.
    let inMemory = explanations.first { explanation in if case .fresh = explanation.memory { true } else { false } }
    if let chosen = inMemory ?? explanations.first(where: { $0.failure == nil }) ?? explanations.first { return chosen }
    explanation = Explanation(request, now: context.clock.now)
    explanation.failure = "no source is given"
    return explanation
  }

  /// Those that the request could use and does not.
  private func unusedCaches(of request: ImageRequest) -> CacheUse {
    let unused = CacheUse.all.subtracting(context.caches(of: request))
    guard case .url = request.keys.source.kind else { return unused.intersection(.memory) }
    return unused
  }

  private func plan(_ request: ImageRequest, _ step: Int, _ findings: Findings, _ now: Date) -> LoadPlan {
    LoadPlan(request, upTo: step, findings, fields: context.fields(of: request), now: now)
  }

  private func explainOne(_ request: ImageRequest) async -> Explanation {
    var explanation = Explanation(request, now: context.clock.now)
    let now = explanation.now
    explanation.interceptorCount = configuration.interceptors.count
    explanation.unusedCaches = unusedCaches(of: request)
    let last = request.processors.count
    for key in [request.keys.fetch] + (0...last).map({ request.keys.key(step: $0) }) {
      await context.settlement.pending.finished(for: key)
    }
    var (findings, rest) = context.findingsInMemory(request, step: last, at: now)
    if context.memory(for: request, .memoryReads) != nil { explanation.memory = .missing }
    explainMemory(rest, request, &explanation)
    // The caller's own look into memory comes before the jobs.
    if case .memory(let image, .serve) = plan(request, last, findings, now).base, findings.known?.step == last {
      serve(image.validity, .serve(isStale: false), .memory, &explanation)
      return explanation
    }
    if isUnderWay(request, last) {
      explanation.sharing = .image(steps: last)
      return explanation
    }
    let found = await lookUp(request, upTo: last, &findings, &explanation)
    let plan = plan(request, last, findings, now)
    // The job of a step before may be there to be joined.
    for step in stride(from: last - 1, through: plan.step, by: -1) where isUnderWay(request, step) {
      explanation.sharing = .image(steps: step)
      explanation.processorCount = last - step
      return explanation
    }
    explanation.processorCount = last - plan.step
    await explain(plan, found, request, &explanation)
    return explanation
  }

  private func isUnderWay(_ request: ImageRequest, _ step: Int) -> Bool {
    context.turn { context.pool.contains(context.imageKey(of: request, step: step), &$0) }
  }

  private func explainMemory(
    _ variants: [MemoryCache<CachedImage>.Variant],
    _ request: ImageRequest,
    _ explanation: inout Explanation,
  ) {
    guard let known = variants.first(where: { $0.key == request.keys.image })?.value else { return }
    let (now, validity) = (explanation.now, known.validity)
    guard validity.answers(context.fields(of: request)) else {
      explanation.memory = .unusable("made for other header fields, which its server looks at (Vary)")
      return
    }
    explanation.memory = find(validity, request, now)
  }

  /// What may not be served without asking; where only the request's policy says so, its own time may not be over.
  private func find(_ validity: Validity, _ request: ImageRequest, _ now: Date) -> Explanation.Find {
    if request.policy != .reload, validity.isFresh(at: now, request.policy) { return .fresh(until: validity.expires) }
    guard let expires = validity.expires, expires <= now else { return .fresh(until: validity.expires) }
    return .stale(since: expires)
  }

  /// Looks on disk as the job would.
  private func lookUp(
    _ request: ImageRequest,
    upTo last: Int,
    _ findings: inout Findings,
    _ explanation: inout Explanation,
  ) async -> FinishedSearch.Found? {
    guard request.policy != .reload, let disk = context.disk(for: request, .diskReads) else { return nil }
    let steps = LoadPlan.stepsToLookFor(request, upTo: last, findings, context.storage(of: request))
    guard !steps.isEmpty else { return nil }
    let found = await FinishedSearch(request, upTo: last, steps, findings, disk, context, isPeeking: true).find()
    findings.hasLookedUp = true
    (findings.finished, findings.original) = (found.finished, found.originalHead)
    guard last == request.processors.count else { return found }
    let key = request.keys.image
    if found.damaged.contains(key) {
      explanation.finished = .unusable("damaged")
    } else if let finished = found.finished.first(where: { $0.key == key }) {
      explanation.finished = find(finished, findings, request, explanation.now)
    } else {
      explanation.finished = .missing
    }
    return found
  }

  private func find(
    _ finished: Findings.Finished,
    _ findings: Findings,
    _ request: ImageRequest,
    _ now: Date,
  ) -> Explanation.Find {
    if let original = findings.original, original.contentID != finished.contentID {
      return .unusable("made of other bytes than are there now")
    }
    guard let validity = finished.validity else { return .unusable("damaged") }
    guard validity.answers(context.fields(of: request)) else {
      return .unusable("made for other header fields, which its server looks at (Vary)")
    }
    return find(validity, request, now)
  }

  // MARK: What would be done

  private func explain(
    _ plan: LoadPlan,
    _ found: FinishedSearch.Found?,
    _ request: ImageRequest,
    _ explanation: inout Explanation,
  ) async {
    let original = found?.original ?? .unknown
    switch plan.base {
    case .memory(let image, let use):
      if plan.step < request.processors.count { explanation.stepsInMemory = plan.step }
      if use == .confirm { return await confirm(image.contentID, image.validity, request, original, &explanation) }
      serve(image.validity, use, .memory, &explanation)
    case .finished(let finished, let use):
      guard let validity = finished.validity else { return }
      if use == .confirm { return await confirm(finished.contentID, validity, request, original, &explanation) }
      serve(validity, use, .disk, &explanation)
    case .larger(let larger):
      let bitmap = larger.image.container.bitmap
      explanation.largerVariant = Explanation.Size(width: bitmap.width, height: bitmap.height)
      explanation.origin = .memory
    case .bytes:
      explanation.decodes = true
      _ = await explainBytes(request, original, &explanation)
    }
  }

  private func serve(
    _ validity: Validity,
    _ use: LoadPlan.Use,
    _ origin: ImageResponse.Origin,
    _ explanation: inout Explanation,
  ) {
    explanation.origin = origin
    switch use {
    case .serve(let isStale): explanation.isStale = isStale
    case .serveAndRevalidate: (explanation.isStale, explanation.transfer) = (true, .behind)
    case .confirm: break
    }
  }

  private func confirm(
    _ known: ContentID,
    _ validity: Validity,
    _ request: ImageRequest,
    _ original: FetchJob.KnownOriginal,
    _ explanation: inout Explanation,
  ) async {
    explanation.decodes = nil
    explanation.usableOnErrorUntil = validity.usableOnErrorUntil
    let (contentID, refusal) = await explainBytes(request, original, &explanation)
    if let refusal, explanation.failure != nil, request.policy != .reload,
      refusal.allowsStale(until: validity.usableOnErrorUntil, now: explanation.now)
    {
      (explanation.failure, explanation.decodes) = (nil, false)
      (explanation.origin, explanation.isStale) = (.memory, true)
      return
    }
    // What is stored may be newer than the image.
    guard let contentID, explanation.transfer == .none else { return }
    explanation.decodes = contentID != known
    if contentID != known { explanation.processorCount = request.processors.count }
  }

  /// - Returns: The content id of what is served from disk, and why the server would not be asked.
  private func explainBytes(
    _ request: ImageRequest,
    _ original: FetchJob.KnownOriginal,
    _ explanation: inout Explanation,
  ) async -> (contentID: ContentID?, refusal: LoadError?) {
    if context.turn({ context.isFetching(request, &$0) }) {
      explanation.sharing = .bytes
      return (nil, nil)
    }
    guard case .url(let source) = request.keys.source.kind else {
      explanation.origin = .local
      if case .file(_, isAddress: true) = request.keys.source.kind, !configuration.allowsFileAddresses {
        (explanation.origin, explanation.failure) = (nil, LocalFetchJob.refusal)
      }
      return (nil, nil)
    }
    let url: HTTPURL
    do throws(HTTPError) {
      url = try HTTPURL(source)
    } catch {
      explanation.failure = error.detail
      return (nil, nil)
    }
    let found = await BytesSearch(request, url, source, context, isPeeking: true).find(original)
    let plan = BytesPlan(request, source, found.findings, fields: context.fields(of: request), now: explanation.now)
    if request.policy != .reload, context.disk(for: request, .diskReads) != nil {
      explanation.original = find(found.findings.original, plan.decision, explanation.now)
      explanation.partialByteCount = await context.partials?.disk.partial(for: request.keys.fetch)?.count ?? 0
    }
    explanation.reason = plan.decision.reason
    explanation.usableOnErrorUntil = explanation.usableOnErrorUntil ?? plan.decision.usableOnErrorUntil
    let contentID = found.findings.original?.contentID
    switch plan.step {
    case .serve(let isStale):
      (explanation.origin, explanation.isStale) = (.disk, isStale)
      return (contentID, nil)
    case .serveAndRevalidate:
      (explanation.origin, explanation.isStale, explanation.transfer) = (.disk, true, .behind)
      return (contentID, nil)
    case .standIn(let refusal):
      explanation.refusal = refusal
      (explanation.origin, explanation.isStale) = (.disk, true)
      return (contentID, refusal)
    case .fail(let error):
      explanation.failure = error.detail
      return (nil, error)
    case .ask(let conditions, let resumption):
      let isConditional = plan.decision.action != .fetch && !conditions.isEmpty
      explanation.transfer = isConditional ? .conditional : resumption == nil ? .full : .rest
      if !isConditional { explanation.origin = .network }
      return (isConditional ? contentID : nil, nil)
    }
  }

  private func find(
    _ original: Findings.Original?,
    _ decision: Freshness.Decision,
    _ now: Date,
  ) -> Explanation.Find {
    guard let original else { return .missing }
    switch decision.action {
    case .serve: return .fresh(until: decision.expires)
    case _ where decision.reason == .vary || original.stored == nil:
      return .unusable("it answered other header fields, which its server looks at (Vary)")
    default:
      if let expires = decision.expires, expires <= now { return .stale(since: expires) }
      return .unusable("its server wants to be asked every time (\(decision.reason))")
    }
  }
}
