import VitrineCaching
import VitrineHTTP
import VitrineImaging
import VitrineRuntime

/// The plan for an encoded image: serve the one on disk, revalidate it, or make a new one.
///
/// The plan is a pure function of the request, the findings and the time, like ``LoadPlan``, which plans the image to
/// encode.
struct EncodePlan: Sendable {
  /// An encoded image on disk.
  struct Stored: Sendable {
    let contentID: ContentID
    /// The header; `nil` if it cannot be read.
    let header: EncodedImage.Header?
    let expires: Date?
  }

  /// The use of the encoded image on disk; `nil` if it cannot be used, so that a new one is made.
  let use: LoadPlan.Use?
  /// The validity of the encoded image, or the original's if that is on disk and was revalidated later.
  let validity: Validity?
  /// A Boolean value that indicates whether the validity differs from the stored one.
  let isRenewed: Bool
  /// A Boolean value that indicates whether the stored image was made from other bytes than the original on disk, or
  /// cannot be read.
  let isUseless: Bool

  /// Creates a plan; `validityOfOriginal` is called only if the original is on disk and has the same content.
  init(
    _ request: ImageRequest,
    _ stored: Stored?,
    _ original: CacheLookup.Original?,
    fields: @autoclosure () -> HTTPFields,
    validityOfOriginal: (StoredResponse) -> Validity,
    now: Date,
  ) {
    guard let stored else {
      (use, validity, isRenewed, isUseless) = (nil, nil, false, false)
      return
    }
    guard let header = stored.header, original.map({ $0.contentID == stored.contentID }) ?? true else {
      (use, validity, isRenewed, isUseless) = (nil, nil, false, true)
      return
    }
    let own = header.validity(until: stored.expires)
    let known = original?.stored.map(validityOfOriginal)
    let isLater = known.map { ($0.confirmed ?? .distantPast) > (own.confirmed ?? .distantPast) } ?? false
    let validity = isLater ? known ?? own : own
    (self.validity, isRenewed, isUseless) = (validity, isLater, false)
    use = validity.answers(fields()) ? LoadPlan.Use(of: validity, request, now) : nil
  }
}

/// A search on disk, made once, for an encoded image and for the original.
struct EncodedSearch: Sendable {
  struct Found: Sendable {
    var stored: EncodePlan.Stored?
    var findings: CacheLookup.Original?
    var original = StoredOriginal.missing
    var plan: EncodePlan
    /// The bytes of the encoded image, if the plan uses it.
    var data: Data?
  }

  private let request: ImageRequest
  private let key: CacheKey
  private let disk: any DataCaching
  private let context: PlanContext
  /// A Boolean value that indicates whether look-ups do not count as use.
  private let isPeeking: Bool

  /// Creates a search; returns `nil` if the disk cannot help.
  init?(_ request: ImageRequest, _ key: CacheKey, _ context: PlanContext, isPeeking: Bool = false) {
    guard request.cachePolicy != .reload, request.keys.url != nil, context.storage(of: request) != .original,
      let disk = context.disk(for: request, .diskReads)
    else { return nil }
    (self.request, self.key, self.disk, self.context) = (request, key, disk, context)
    self.isPeeking = isPeeking
  }

  func find() async -> Found {
    // An encoded image has no copy in memory, so the search waits for a write in progress.
    await context.cacheWriter.pending.finished(for: key)
    if context.delegate == nil { await context.cacheWriter.pending.finished(for: request.keys.fetch) }
    let heads = await disk.heads(for: [key, request.keys.fetch])
    guard heads.count == 2 else { return found(nil, nil, .unknown) }
    let stored = heads[0].map { head in
      let header = head.kind == .finished ? EncodedImage.Header(encoded: head.metadata) : nil
      return EncodePlan.Stored(contentID: head.contentID, header: header, expires: head.expires)
    }
    let original = heads[1].map { CacheLookup.Original($0.contentID, metadata: $0.metadata) }
    let known = heads[1].map { head in
      head.data.map { data in
        StoredOriginal.entry(
          CachedData(
            data: data,
            kind: head.kind,
            metadata: head.metadata,
            contentID: head.contentID,
            expires: head.expires,
            stored: head.stored,
          )
        )
      } ?? .unknown
    }
    var found = found(stored, original, known ?? .missing)
    guard found.plan.use != nil else { return found }
    // The body may have been removed or replaced by now.
    found.data = heads[0]?.data
    if found.data == nil || !isPeeking {
      let entry = isPeeking ? await disk.peek(key) : await disk.entry(for: key)
      guard let entry, entry.contentID == stored?.contentID else {
        return self.found(nil, original, known ?? .missing)
      }
      found.data = entry.data
    }
    return found
  }

  private func found(
    _ stored: EncodePlan.Stored?,
    _ original: CacheLookup.Original?,
    _ known: StoredOriginal,
  ) -> Found {
    let now = context.clock.now
    let plan = EncodePlan(
      request,
      stored,
      original,
      fields: context.fields(of: request),
      validityOfOriginal: { context.validity(of: $0, at: now) },
      now: now,
    )
    return Found(stored: stored, findings: original, original: known, plan: plan)
  }
}
