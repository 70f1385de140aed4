import VitrineCaching
import VitrineHTTP
import VitrineRuntime

/// Looks on disk, once, for all that may be there of an image: as it is shown after some of its processors, and its bytes.
///
/// It changes nothing. What the plan then begins with is read along.
struct FinishedSearch: Sendable {
  struct Found: Sendable {
    var finished: [Findings.Finished] = []
    var originalHead: Findings.Original?
    var original = FetchJob.KnownOriginal.missing
    /// The image that the plan begins with.
    var stored = ImageJob.Stored.none
    /// What cannot be read.
    var damaged: [CacheKey] = []
  }

  private let request: ImageRequest
  private let step: Int
  private let steps: [Int]
  private let inMemory: Findings
  private let disk: any DataCaching
  private let context: JobContext
  /// Whether looking is not to count as use.
  private let isPeeking: Bool

  /// `step` is the number of processors that are to be run, `steps` are those after which an image may be there, and `inMemory`
  /// is what was found in memory.
  init(
    _ request: ImageRequest,
    upTo step: Int,
    _ steps: [Int],
    _ inMemory: Findings,
    _ disk: any DataCaching,
    _ context: JobContext,
    isPeeking: Bool = false,
  ) {
    (self.request, self.step, self.steps, self.inMemory) = (request, step, steps, inMemory)
    (self.disk, self.context, self.isPeeking) = (disk, context, isPeeking)
  }

  func find() async -> Found {
    var found = Found()
    let keys = steps.map { request.keys.key(step: $0) } + [request.keys.fetch]
    // A delegate may take its time with what is to be stored.
    if context.delegate == nil { await context.settlement.pending.finished(for: request.keys.fetch) }
    let heads = await disk.heads(for: keys)
    // A cache of a user's own that gives less says nothing.
    guard heads.count == keys.count else {
      found.original = .unknown
      return found
    }
    var entries: [CacheKey: CachedData] = [:]
    for (index, step) in steps.enumerated() {
      guard let head = heads[index] else { continue }
      if let entry = CachedData(head) { entries[keys[index]] = entry }
      found.finished.append(
        Findings.Finished(
          key: keys[index],
          step: step,
          contentID: head.contentID,
          validity: head.kind == .finished
            ? FinishedImage.Header(encoded: head.metadata)?.validity(until: head.expires) : nil,
        )
      )
    }
    if let head = heads.last, let head {
      found.originalHead = Findings.Original(
        contentID: head.contentID,
        stored: StoredResponse(encoded: head.metadata),
      )
      found.original = CachedData(head).map { .entry($0) } ?? .unknown
    }
    await read(entries, &found)
    return found
  }

  /// Reads the image that the plan begins with; one that cannot be read is left out, and the plan made anew.
  private func read(_ entries: [CacheKey: CachedData], _ found: inout Found) async {
    while true {
      var findings = inMemory
      (findings.finished, findings.original) = (found.finished, found.originalHead)
      let fields = context.fields(of: request)
      let plan = LoadPlan(request, upTo: step, findings, fields: fields, now: context.clock.now)
      guard case .finished(let finished, _) = plan.base else { return }
      var entry = entries[finished.key]
      if entry == nil { entry = isPeeking ? await disk.peek(finished.key) : await disk.entry(for: finished.key) }
      if let entry, entry.contentID == finished.contentID {
        guard FinishedImage.isQuicklyRead(entry) else { return found.stored = .entry(entry) }
        if let image = FinishedImage.image(of: entry) { return found.stored = .image(image) }
        found.damaged.append(finished.key)
      }
      found.finished.removeAll { $0.key == finished.key }
    }
  }
}

extension CachedData {
  /// The entry, where the cache had its bytes at hand.
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
