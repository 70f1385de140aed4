import VitrineCaching
import VitrineHTTP
import VitrineRuntime

/// A search on disk, made once, for everything about an image: finished images after some of its processors, and the
/// original.
///
/// It changes nothing. It also reads the image that the plan begins with.
struct FinishedSearch: Sendable {
  /// A stored image after its look-up; decoded if that is quick.
  enum Stored: Sendable {
    case none
    case image(LoadedImage)
    /// An image whose pixels have yet to be decoded.
    case entry(CachedData)
  }

  struct Found: Sendable {
    /// The findings in memory and on disk.
    var findings: CacheLookup
    var original = StoredOriginal.missing
    /// The image that the plan begins with.
    var stored = Stored.none
    /// The entries that cannot be read.
    var damaged: [CacheKey] = []

    /// Decodes the image that the plan begins with, if it has yet to be decoded.
    func read() -> LoadedImage? { if case .entry(let entry) = stored { FinishedImage.image(of: entry) } else { nil } }
  }

  private let request: ImageRequest
  private let step: Int
  /// The step numbers at which the disk may have a better image than memory.
  private let steps: [Int]
  private let findings: CacheLookup
  private let disk: any DataCaching
  private let context: PlanContext
  /// A Boolean value that indicates whether look-ups do not count as use.
  private let isPeeking: Bool

  /// Creates a search; returns `nil` if the disk cannot help.
  ///
  /// `step` is the number of processors to run, `findings` are the findings in memory.
  init?(
    _ request: ImageRequest,
    upTo step: Int,
    _ findings: CacheLookup,
    _ context: PlanContext,
    isPeeking: Bool = false,
  ) {
    guard request.cachePolicy != .reload, let disk = context.disk(for: request, .diskReads) else { return nil }
    let first = findings.known.map { $0.step + 1 } ?? (findings.larger == nil ? 0 : 1)
    let storage = context.storage(of: request)
    steps = stride(from: step, through: first, by: -1).filter { storage.looksForFinished(request, step: $0) }
    guard !steps.isEmpty else { return nil }
    (self.request, self.step, self.findings) = (request, step, findings)
    (self.disk, self.context, self.isPeeking) = (disk, context, isPeeking)
  }

  func find() async -> Found {
    let keys = steps.map { request.keys.key(step: $0) } + [request.keys.fetch]
    // A delegate may be slow to decide about storage.
    if context.delegate == nil { await context.cacheWriter.pending.finished(for: request.keys.fetch) }
    var (found, entries) = found(await disk.heads(for: keys), of: keys)
    while let finished = base(found) {
      var entry = entries.removeValue(forKey: finished.key)
      if entry == nil { entry = isPeeking ? await disk.peek(finished.key) : await disk.entry(for: finished.key) }
      if take(entry, for: finished, &found) { break }
    }
    return found
  }

  // These are not inlined: an `async` function keeps room for all of its values, and its task an allocation.

  /// Returns the findings in the heads, and the entries that came with their bytes.
  @inline(never)
  private func found(_ heads: [CachedDataHead?], of keys: [CacheKey]) -> (Found, [CacheKey: CachedData]) {
    var (found, entries) = (Found(findings: findings), [CacheKey: CachedData]())
    // A custom cache may return too few heads, which say nothing.
    guard heads.count == keys.count else {
      found.original = .unknown
      return (found, [:])
    }
    for (step, (key, head)) in zip(steps, zip(keys, heads)) {
      guard let head else { continue }
      entries[key] = CachedData(head)
      let header = head.kind == .finished ? FinishedImage.Header(encoded: head.metadata) : nil
      let validity = header?.validity(until: head.expires)
      found.findings.finished.append(
        CacheLookup.Finished(
          key: key,
          step: step,
          contentID: head.contentID,
          validity: validity,
          isLossy: header?.isLossy ?? false,
        )
      )
    }
    if let head = heads.last, let head {
      found.findings.original = CacheLookup.Original(head.contentID, metadata: head.metadata)
      found.original = CachedData(head).map { .entry($0) } ?? .unknown
    }
    return (found, entries)
  }

  /// Returns the finished image that the plan begins with; `nil` if it begins otherwise.
  @inline(never)
  private func base(_ found: Found) -> CacheLookup.Finished? {
    let (fields, now) = (context.fields(of: request), context.clock.now)
    let plan = LoadPlan(request, upTo: step, found.findings, fields: fields, now: now)
    if case .finished(let finished, _) = plan.base { return finished }
    return nil
  }

  /// Takes the image that the plan begins with; an unreadable one is dropped, so that the plan is made again.
  @inline(never)
  private func take(_ entry: CachedData?, for finished: CacheLookup.Finished, _ found: inout Found) -> Bool {
    if let entry, entry.contentID == finished.contentID {
      if !FinishedImage.isQuicklyRead(entry) {
        found.stored = .entry(entry)
        return true
      }
      if let image = FinishedImage.image(of: entry) {
        found.stored = .image(image)
        return true
      }
      found.damaged.append(finished.key)
    }
    found.findings.finished.removeAll { $0.key == finished.key }
    return false
  }
}

extension CachedData {
  /// Creates the entry, if the head came with its bytes.
  fileprivate init?(_ head: CachedDataHead) {
    guard let data = head.data else { return nil }
    self.init(
      data: data,
      kind: head.kind,
      metadata: head.metadata,
      contentID: head.contentID,
      expires: head.expires,
      stored: head.stored,
    )
  }
}

/// The plan for an image: where to begin, and which processors to run.
///
/// The plan is a pure function of the request, the findings and the time. Loads carry it out, `explain` prints it, and
/// tests check it by table. It is made again when the findings change.
struct LoadPlan: Sendable {
  /// The use of a cached image.
  enum Use: Sendable, Equatable {
    /// Serve it.
    case serve(isStale: Bool)
    /// Serve it stale and revalidate it in the background.
    case serveAndRevalidate
    /// Revalidate its bytes; serve it if they are unchanged, else make it again.
    case revalidate
  }

  /// The beginning of a plan.
  enum Base: Sendable {
    /// The image itself, in memory.
    case memory(LoadedImage, Use)
    /// The finished image on disk.
    case finished(CacheLookup.Finished, Use)
    /// A larger variant in memory.
    case larger(LargerVariant)
    /// The bytes, to be decoded.
    case bytes
  }

  let base: Base
  /// A Boolean value that indicates whether the image is made from its bytes.
  var isOfBytes: Bool { if case .bytes = base { true } else { false } }
  /// The number of processors that the base has been through; the other processors are run.
  let step: Int
  /// The finished images on disk that were made from other bytes than the original on disk.
  let orphans: [CacheKey]

  /// Creates a plan; `last` is the number of processors to run, `fields` are the fields that would be sent.
  init(
    _ request: ImageRequest,
    upTo last: Int,
    _ findings: CacheLookup,
    fields: @autoclosure () -> HTTPFields,
    now: Date,
  ) {
    orphans = findings.finished.isEmpty ? [] : findings.finished.filter(findings.isOrphan).map(\.key)
    for step in stride(from: last, through: 0, by: -1) {
      if let known = findings.known, known.step == step, let use = Use(of: known.image, request, now) {
        (base, self.step) = (.memory(known.image, use), step)
        return
      }
      if step == 0, let larger = findings.larger {
        (base, self.step) = (.larger(larger), 0)
        return
      }
      if let finished = findings.finished.first(where: { $0.step == step }), !findings.isOrphan(finished),
        !request.requiresExactPixels || !finished.isLossy, let validity = finished.validity, validity.answers(fields())
      {
        (base, self.step) = (.finished(finished, Use(of: validity, request, now)), step)
        return
      }
    }
    (base, step) = (.bytes, 0)
  }
}

extension LoadPlan.Use {
  /// Creates the use of an image in memory; returns `nil` if the image cannot be revalidated.
  fileprivate init?(of image: LoadedImage, _ request: ImageRequest, _ now: Date) {
    self.init(of: image.validity, request, now)
    switch self {
    // A request that ignores the age is served without a stale mark.
    case .serve: self = .serve(isStale: false)
    case .serveAndRevalidate: break
    case .revalidate: if image.contentID == .none { return nil }
    }
  }

  init(of validity: Validity, _ request: ImageRequest, _ now: Date) {
    if request.cachePolicy != .reload, validity.isFresh(at: now, request) {
      // A maximum age in the request replaces the server's.
      let isOverdue = validity.expires.map { $0 <= now } ?? false
      if case .maxAge = request.cachePolicy { self = .serve(isStale: false) } else { self = .serve(isStale: isOverdue) }
    } else {
      self = validity.isUsableWhileRevalidating(at: now, request) ? .serveAndRevalidate : .revalidate
    }
  }
}
