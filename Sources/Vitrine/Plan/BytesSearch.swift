import VitrineCaching
import VitrineHTTP
import VitrineRuntime

/// Finds what is at hand for the bytes of a URL; it changes nothing.
struct BytesSearch: Sendable {
  /// What was found, with the bytes themselves where the plan needs them.
  struct Found: Sendable {
    var findings = Findings()
    var entry: CachedData?
  }

  private let request: ImageRequest
  private let url: HTTPURL
  private let source: String
  private let context: JobContext
  private let disk: (any DataCaching)?
  /// Whether looking is not to count as use.
  private let isPeeking: Bool

  init(_ request: ImageRequest, _ url: HTTPURL, _ source: String, _ context: JobContext, isPeeking: Bool = false) {
    (self.request, self.url, self.source, self.context) = (request, url, source, context)
    self.isPeeking = isPeeking
    disk = request.cachePolicy == .reload ? nil : context.disk(for: request, .diskReads)
  }

  private var fields: HTTPFields { context.fields(of: request) }

  /// What is left of broken downloads, if it may be gone on with.
  private var partials: Partials? {
    guard request.cacheAccess.contains(.diskReads), request.keys.allowsResuming else { return nil }
    return context.partials
  }

  /// Returns what is found without a wait; `nil` where something has to be waited for.
  func found(_ original: FetchJob.KnownOriginal, _ turn: inout Turn) -> Found? {
    if case .unknown = original, disk != nil { return nil }
    let found = found(original.entry, uptime: turn.uptime)
    return dependsOnMore(found, now: turn.now) ? nil : found
  }

  /// Looks for the bytes, and, where the server would be asked, for what else matters then.
  func find(_ original: FetchJob.KnownOriginal) async -> Found {
    var entry = original.entry
    if case .unknown = original { entry = await readOriginal() }
    var found = found(entry, uptime: context.clock.uptime)
    guard dependsOnMore(found, now: context.clock.now) else { return found }
    found.findings.access = await context.network.accessNow(on: context.hookQueue)
    guard let partials, dependsOnMore(found, now: context.clock.now) else { return found }
    found.findings.partial = await Resumption(for: request.keys.fetch, in: partials.disk, fields: fields)
    return found
  }

  /// Whether a server would be asked, and something has not been looked for that decides whether and how.
  private func dependsOnMore(_ found: Found, now: Date) -> Bool {
    (context.network.access != nil || partials != nil)
      && BytesPlan(request, source, found.findings, fields: fields, now: now).asks
  }

  private func readOriginal() async -> CachedData? {
    guard let disk else { return nil }
    let key = request.keys.fetch
    // A delegate may take its time with what is to be stored.
    if context.delegate == nil { await context.settlement.pending.finished(for: key) }
    return isPeeking ? await disk.peek(key) : await disk.entry(for: key)
  }

  /// What is found of these bytes, and of what stands in the way of a request.
  private func found(_ entry: CachedData?, uptime: Duration) -> Found {
    var found = Found(entry: entry)
    found.findings.original = entry.map { Findings.Original($0.contentID, metadata: $0.metadata) }
    found.findings.objection = context.network.objection(to: url)
    guard request.cachePolicy != .reload else { return found }
    found.findings.failure = context.network.failures?.error(for: request.keys.fetch, source, at: uptime)
    return found
  }
}

extension FetchJob.KnownOriginal {
  fileprivate var entry: CachedData? { if case .entry(let entry) = self { entry } else { nil } }
}
