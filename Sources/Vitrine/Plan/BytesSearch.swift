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
    disk = request.policy == .reload ? nil : context.disk(for: request, .diskReads)
  }

  private var fields: HTTPFields { context.fields(of: request) }

  /// What is left of broken downloads, if it may be gone on with.
  private var partials: Partials? {
    guard request.caches.contains(.diskReads), request.keys.allowsResuming else { return nil }
    return context.partials
  }

  /// Returns what is found without a wait; `nil` where something has to be waited for.
  func found(_ original: FetchJob.KnownOriginal, _ turn: inout Turn) -> Found? {
    var found = Found()
    switch original {
    case .unknown where disk != nil: return nil
    case .unknown, .missing: break
    case .entry(let entry): take(entry, &found)
    }
    addObstacles(&found, uptime: turn.uptime)
    guard context.network.access != nil || partials != nil else { return found }
    let plan = BytesPlan(request, source, found.findings, fields: fields, now: turn.now)
    return plan.asks ? nil : found
  }

  /// Looks for the bytes, and, where the server would be asked, for what else matters then.
  func find(_ original: FetchJob.KnownOriginal) async -> Found {
    var found = Found()
    switch original {
    case .unknown: await readOriginal(&found)
    case .missing: break
    case .entry(let entry): take(entry, &found)
    }
    addObstacles(&found, uptime: context.clock.uptime)
    func asks() -> Bool {
      BytesPlan(request, source, found.findings, fields: fields, now: context.clock.now).asks
    }
    guard context.network.access != nil || partials != nil, asks() else { return found }
    found.findings.access = await context.network.accessNow(on: context.hookQueue)
    guard let partials, asks() else { return found }
    found.findings.partial = await Resumption(for: request.keys.fetch, in: partials.disk, fields: fields)
    return found
  }

  private func readOriginal(_ found: inout Found) async {
    guard let disk else { return }
    let key = request.keys.fetch
    // A delegate may take its time with what is to be stored.
    if context.delegate == nil { await context.settlement.pending.finished(for: key) }
    let entry = isPeeking ? await disk.peek(key) : await disk.entry(for: key)
    if let entry { take(entry, &found) }
  }

  private func take(_ entry: CachedData, _ found: inout Found) {
    found.entry = entry
    found.findings.original = Findings.Original(
      contentID: entry.contentID,
      stored: StoredResponse(encoded: entry.metadata),
    )
  }

  private func addObstacles(_ found: inout Found, uptime: Duration) {
    found.findings.objection = context.network.objection(to: url)
    guard request.policy != .reload else { return }
    found.findings.failure = context.network.failures?.error(for: request.keys.fetch, source, at: uptime)
  }
}
