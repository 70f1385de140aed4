import VitrineCaching
import VitrineHTTP
import VitrineRuntime

extension ImagePipeline {
  /// Explains the outcome that a request would have at this moment, and why, without loading anything.
  ///
  /// It makes the plans that a load would carry out: nothing counts as used, is fetched or changes. It waits for
  /// pending writes of the request. It does not find out whether a server responds, a file exists or bytes are an
  /// image. Complexity: O(n) in the number of bytes that a load would read from disk.
  public func explain(_ request: ImageRequest) async -> Explanation {
    await explainPrepared(context.prepared(request))
  }

  /// Explains the outcome that a load for encoding would have; see ``explain(_:)``.
  ///
  /// ```swift
  /// print(await pipeline.explain(request, as: .jpeg(quality: 80)))
  /// // https://example.org/cat.jpg: from disk, no request is sent; decoded, encoded
  /// //   policy: standard
  /// //   encoded image on disk: no
  /// //   in memory: no
  /// //   original on disk: fresh for 58 s
  /// ```
  public func explain(_ request: ImageRequest, as encoding: ImageEncoding) async -> Explanation {
    await explainPrepared(context.varied(context.prepared(request)), encoding)
  }

  private func explainPrepared(_ request: ImageRequest, _ encoding: ImageEncoding) async -> Explanation {
    guard let alternatives = request.alternatives else {
      var exact = request
      exact.requiresExactPixels = true
      var explainer = Explainer(exact, context)
      return await explainer.explainJob(as: encoding)
    }
    var explanations: [Explanation] = []
    for alternative in alternatives { explanations.append(await explainPrepared(alternative, encoding)) }
    var none = Explanation(request, now: context.clock.now)
    none.failure = "no source is given"
    return explanations.first { $0.failure == nil } ?? explanations.first ?? none
  }

  private func explainPrepared(_ request: ImageRequest) async -> Explanation {
    var explainer = Explainer(request, context)
    await explainer.lookInMemory()
    if explainer.explanation.isHit { return explainer.explanation }
    guard let alternatives = request.alternatives else { return await explainer.explainJob() }
    var explanations: [Explanation] = []
    for alternative in alternatives { explanations.append(await explainPrepared(alternative)) }
    explainer.explanation.failure = "no source is given"
    // An image in memory goes first, then the first source that is not expected to fail.
    return explanations.first(where: \.isHit) ?? explanations.first { $0.failure == nil } ?? explanations.first
      ?? explainer.explanation
  }
}

/// The look-ups and plans of a load from one source, recorded in an ``Explanation``.
private struct Explainer {
  let request: ImageRequest
  let context: LoadContext
  var explanation: Explanation
  private var findings = CacheLookup()
  private var original = StoredOriginal.unknown

  init(_ request: ImageRequest, _ context: LoadContext) {
    (self.request, self.context) = (request, context)
    explanation = Explanation(request, now: context.clock.now)
    explanation.interceptorCount = context.configuration.interceptors.count
    let unused = CacheAccess.all.subtracting(context.caches(of: request))
    explanation.unusedCaches = request.isStorable ? unused : unused.intersection(.memory)
  }

  private var now: Date { explanation.now }
  private var last: Int { request.processors.count }
  private var plan: LoadPlan {
    LoadPlan(request, upTo: last, findings, fields: context.fields(of: request), now: now)
  }

  // MARK: CacheLookup

  mutating func lookInMemory() async {
    for key in [request.keys.fetch] + (0...last).map({ request.keys.key(step: $0) }) {
      await context.cacheWriter.pending.finished(for: key)
    }
    findings = context.findingsInMemory(request, step: last, at: now)
    guard let memory = context.memory(for: request, .memoryReads) else { return }
    let image = memory.variants(of: request.keys.fetch).first { $0.key == request.keys.image }
    explanation.memory = image.map { find($0.value) } ?? .missing
    // The caller's own look-up in memory comes before the load.
    guard case .memory(_, .serve) = plan.base, plan.step == last else { return }
    explanation.isHit = true
    explanation.origin = .memory
  }

  private func find(_ image: CachedImage) -> Explanation.Find {
    request.requiresExactPixels && image.loaded.isLossy
      ? .unusable("made from pixels that were stored with losses or resampled") : find(image.validity)
  }

  private mutating func lookOnDisk() async {
    guard let search = FinishedSearch(request, upTo: last, findings, context, isPeeking: true) else { return }
    let found = await search.find()
    (findings, original) = (found.findings, found.original)
    explanation.finished = find(found)
  }

  private func find(_ found: FinishedSearch.Found) -> Explanation.Find {
    let key = request.keys.image
    guard !found.damaged.contains(key) else { return .unusable("damaged") }
    guard let finished = findings.finished.first(where: { $0.key == key }) else { return .missing }
    guard !findings.isOrphan(finished) else { return .unusable("made from other bytes than the original on disk") }
    guard let validity = finished.validity else { return .unusable("damaged") }
    return request.requiresExactPixels && finished.isLossy ? .unusable("stored with losses") : find(validity)
  }

  /// Returns the state of an image, which may be fresh although the request's policy rules it out.
  private func find(_ validity: Validity) -> Explanation.Find {
    guard validity.answers(context.fields(of: request)) else {
      return .unusable("made for other values of the fields in Vary")
    }
    guard !validity.isFresh(at: now, request), let expires = validity.expires, expires <= now else {
      return .fresh(until: validity.expires)
    }
    return .stale(since: expires)
  }

  private func find(_ original: CacheLookup.Original?, _ decision: Freshness.Decision) -> Explanation.Find {
    guard let original else { return .missing }
    guard original.stored != nil else { return .unusable("damaged") }
    switch (decision.action, decision.expires) {
    case (.serve, let expires): return .fresh(until: expires)
    case _ where decision.reason == .vary:
      return .unusable("received for other values of the fields in Vary")
    case (_, let expires?) where expires <= now: return .stale(since: expires)
    default: return .unusable("must be revalidated every time (\(decision.reason))")
    }
  }

  // MARK: Plans

  /// Explains the work of the load after a miss in memory.
  mutating func explainJob() async -> Explanation {
    await lookOnDisk()
    let plan = plan
    // A request may join the load of an earlier step.
    for step in (plan.step...last).reversed() where isUnderWay(step, plan) {
      explanation.sharing = .image(steps: step)
      explanation.processorCount = last - step
      return explanation
    }
    explanation.processorCount = last - plan.step
    switch plan.base {
    case .memory(let image, let use):
      if plan.step < last { explanation.stepsInMemory = plan.step }
      if let head = context.head(of: image, request) { original = head }
      await explain(use, of: image.contentID, image.validity, from: .memory)
    case .finished(let finished, let use):
      guard let validity = finished.validity else { break }
      await explain(use, of: finished.contentID, validity, from: .disk)
    case .larger(let larger):
      let bitmap = larger.image.container.bitmap
      explanation.largerVariant = Explanation.Size(width: bitmap.width, height: bitmap.height)
      explanation.origin = .memory
    case .bytes:
      explanation.decodes = true
      await explainBytes()
    }
    return explanation
  }

  /// Explains the work of the load of an encoded image.
  mutating func explainJob(as encoding: ImageEncoding) async -> Explanation {
    explanation.interceptorCount = 0
    let key = context.encodedKey(of: request, NamedEncoding(encoding, context))
    if context.files.isRunning(context.encodedLoadKey(of: request, key)) {
      explanation.sharing = .encoded
      return explanation
    }
    if let search = EncodedSearch(request, key, context, isPeeking: true) {
      let found = await search.find()
      (findings.original, original) = (found.findings, found.original)
      explanation.encoded = find(found)
      if let stored = found.stored, let validity = found.plan.validity, let use = found.plan.use {
        await explain(use, of: stored.contentID, validity, from: .disk)
        if explanation.decodes != false {
          (explanation.processorCount, explanation.encodes) = (last, explanation.decodes)
        }
        return explanation
      }
      (findings, original) = (CacheLookup(), .unknown)
    }
    guard encoding.metadata == .strip else { return await explainBytes(as: encoding) }
    await lookInMemory()
    if !explanation.isHit { explanation = await explainJob() }
    explanation.encodes = explanation.failure == nil
    if explanation.failure != nil { (explanation.decodes, explanation.processorCount) = (false, 0) }
    return explanation
  }

  private func find(_ found: EncodedSearch.Found) -> Explanation.Find {
    guard found.stored != nil else { return .missing }
    guard !found.plan.isUseless, let validity = found.plan.validity else {
      return .unusable(
        found.stored?.header == nil ? "damaged" : "made from other bytes than the original on disk"
      )
    }
    return find(validity)
  }

  /// Explains a load for encoding that needs the original's metadata, and so its bytes.
  private mutating func explainBytes(as encoding: ImageEncoding) async -> Explanation {
    await lookInMemory()
    (explanation.isHit, explanation.origin) = (false, nil)
    let known = findings.known
    (explanation.decodes, explanation.encodes, explanation.processorCount) = (true, true, last)
    let plan = await explainBytes()
    guard explanation.failure == nil else {
      (explanation.decodes, explanation.encodes) = (false, false)
      return explanation
    }
    switch plan?.step {
    case .serve?, .serveAndRevalidate?, .serveStaleOnError?:
      guard let stored = await context.disk(for: request, .diskReads)?.peek(request.keys.fetch) else { break }
      let decoders = context.decoders.decoders(for: request, of: stored.data)
      let info = try? decoders.info(of: stored.data, limits: context.configuration.decodeLimits)
      let isOriginal = info.map { request.isAnswered(by: $0, as: encoding, context.configuration.encoders) } ?? false
      let isDecoded = known?.step == last && known?.image.contentID == stored.contentID
      if isOriginal { explanation.encodes = false }
      if isOriginal || isDecoded { (explanation.decodes, explanation.processorCount) = (false, 0) }
    default:
      // The header decides whether anything has to change.
      guard encoding.metadata == .keep, request.processors.isEmpty else { break }
      (explanation.decodes, explanation.encodes, explanation.mayServeOriginal) = (nil, nil, true)
    }
    return explanation
  }

  private func isUnderWay(_ step: Int, _ plan: LoadPlan) -> Bool {
    var waitsForCounterpart = request.requiresExactPixels
    if case .bytes = plan.base { waitsForCounterpart = true }
    return context.images.isRunning(context.imageKey(of: request, step: step))
      || waitsForCounterpart && context.images.isRunning(context.counterpartKey(of: request, step: step))
  }

  private mutating func explain(
    _ use: LoadPlan.Use,
    of contentID: ContentID,
    _ validity: Validity,
    from origin: ImageResponse.Origin,
  ) async {
    switch use {
    case .serve(let isStale): serve(from: origin, isStale: isStale)
    case .serveAndRevalidate: serve(from: origin, isStale: true, .behind)
    case .revalidate: await revalidate(contentID, validity)
    }
  }

  private mutating func serve(
    from origin: ImageResponse.Origin,
    isStale: Bool,
    _ transfer: Explanation.Transfer = .none,
  ) {
    (explanation.origin, explanation.isStale, explanation.transfer) = (origin, isStale, transfer)
  }

  /// Explains the revalidation of a cached image.
  private mutating func revalidate(_ contentID: ContentID, _ validity: Validity) async {
    explanation.decodes = nil
    explanation.usableOnErrorUntil = validity.usableOnErrorUntil
    switch await explainBytes()?.step {
    case .fail(let error)?
    where request.cachePolicy != .reload && error.allowsStale(validity, now: now):
      (explanation.failure, explanation.decodes) = (nil, false)
      serve(from: .memory, isStale: true)
    case .serve?, .serveAndRevalidate?, .serveStaleOnError?:
      // The stored bytes may be newer than the image.
      explanation.decodes = findings.original?.contentID != contentID
      if explanation.decodes == true { explanation.processorCount = last }
    case .fail?, .send?, nil: break
    }
  }

  /// Explains the fetch of the bytes.
  ///
  /// - Returns: The plan for the bytes; `nil` if there is nothing to plan.
  @discardableResult
  private mutating func explainBytes() async -> BytesPlan? {
    if context.isFetching(request) {
      explanation.sharing = .bytes
      return nil
    }
    let (source, url): (String, HTTPURL)
    switch request.keys.source.kind {
    case .url(let text):
      do throws(HTTPError) {
        (source, url) = (text, try HTTPURL(text))
      } catch {
        explanation.failure = error.detail
        return nil
      }
    case .file(_, isURL: true) where !context.configuration.allowsFileURLs,
      .thumbnail(_, isURL: true, _) where !context.configuration.allowsFileURLs:
      explanation.failure = LocalLoad.refusal
      return nil
    default:
      explanation.origin = .local
      return nil
    }
    findings = await BytesSearch(request, url, source, context, isPeeking: true).find(original).findings
    let plan = context.bytesPlan(request, source, findings, now: now)
    if request.cachePolicy != .reload, context.disk(for: request, .diskReads) != nil {
      explanation.original = find(findings.original, plan.decision)
    }
    if request.cachePolicy != .reload, let partials = context.partials, partials.allowsReading(request) {
      explanation.partialByteCount = await partials.count(for: request.keys.fetch)
    }
    explanation.reason = plan.decision.reason
    explanation.usableOnErrorUntil = explanation.usableOnErrorUntil ?? plan.decision.usableOnErrorUntil
    switch plan.step {
    case .serve(let isStale): serve(from: .disk, isStale: isStale)
    case .serveAndRevalidate:
      serve(from: .disk, isStale: true, .behind)
      (explanation.server, explanation.conditions) = (url.authority, plan.decision.headers)
    case .serveStaleOnError(let error):
      explanation.refusal = error
      serve(from: .disk, isStale: true)
    case .fail(let error): explanation.failure = error.detail
    case .send(let conditions, let resumption):
      let isConditional = plan.decision.action != .fetch && !conditions.isEmpty
      explanation.transfer = isConditional ? .conditional : resumption == nil ? .full : .rest
      var request = HTTPRequest(url)
      request.headers = conditions
      if explanation.transfer == .rest { resumption?.apply(to: &request) }
      (explanation.server, explanation.conditions) = (url.authority, request.headers)
      if !isConditional { explanation.origin = .network }
    }
    return plan
  }
}

extension HTTPURL {
  /// The host, with the port unless it is the scheme's; of an object, its bucket.
  fileprivate var authority: String {
    if let object = ObjectURL(standIn: string) { return "s3://\(object.bucket)" }
    return port == (isSecure ? 443 : 80) ? host : "\(host):\(port)"
  }
}
