import Vitrine
import VitrineCaching
import VitrineRuntime

/// `vitrine cache`: inspects, verifies and shrinks the disk cache.
struct CacheCommand: Command {
  private enum Action: String, CaseIterable {
    case stats, list, verify, trim, clear

    var summary: String {
      switch self {
      case .stats: "shows its size and its hits and misses"
      case .list: "lists its entries, the oldest first"
      case .verify: "reads every entry, drops damaged ones and lists them"
      case .trim: "evicts entries until it is within --size-limit"
      case .clear: "removes everything"
      }
    }
  }

  static let manual = Manual(
    name: "cache",
    synopsis: Action.allCases.map(\.rawValue).joined(separator: "|"),
    summary: "Inspects or shrinks the disk cache of fetch.",
    arguments: .words(for: Action.self),
    words: Action.allCases.map { Page.Term($0.rawValue, $0.summary) },
    options: CacheFolder.options + [.jsonOfCache],
    examples: [
      Page.Term("vitrine cache stats", "shows how much is stored"),
      Page.Term("vitrine cache trim --size-limit 100M", "makes room"),
    ],
    readsImages: false,
  )

  private let action: Action
  private let folder: CacheFolder
  private let isJSON: Bool
  private let console = Console(total: 1)

  init(_ parsed: Arguments) throws(UsageError) {
    let actions = Action.allCases.map(\.rawValue).joined(separator: ", ")
    guard let name = parsed.sources.first?.readable else { throw UsageError("cache needs one of \(actions)") }
    guard let action = Action(rawValue: name) else { throw UsageError("cache takes one of \(actions), not '\(name)'") }
    guard parsed.sources.count == 1 else {
      throw UsageError("cache \(name) takes no argument, but got '\(parsed.sources[1].readable)'")
    }
    self.action = action
    folder = try CacheFolder(parsed)
    isJSON = parsed.has(.jsonOfCache)
  }

  func run() -> Int32 {
    do throws(FileError) {
      switch action {
      case .stats: try stats()
      case .list: try list()
      case .verify: return try verify()
      case .trim:
        try change("trimmed") { [limit = folder.limit] cache in await cache.trim(to: limit) }
      case .clear:
        try change("cleared") { cache in await cache.removeAll() }
      }
      return ExitCode.success
    } catch {
      console.error(ByteString(folder.path), error.description)
      if isJSON { tell(error) }
      return ExitCode.failure
    }
  }

  /// Prints a JSON line of nulls with the error in place of the usual one.
  private func tell(_ error: FileError) {
    switch action {
    case .stats, .trim, .clear: console.out(json(nil, error.description))
    case .list: console.out(json(nil, error: error.description))
    case .verify: console.out(json(nil, nil, error.description))
    }
  }

  // MARK: - Reading

  private func stats() throws(FileError) {
    guard let cache = try folder.openForReading() else { return show(nothing) }
    show(blocking { await cache.statistics() })
  }

  /// The statistics of a cache that does not exist.
  private var nothing: DataCacheStatistics {
    var nothing = DataCacheStatistics()
    nothing.limit = folder.limit
    return nothing
  }

  private func show(_ statistics: DataCacheStatistics) {
    guard !isJSON else { return console.out(json(statistics, nil)) }
    let originals = statistics.originals.counted("original", "originals")
    let finished = statistics.finished.counted("finished image", "finished images")
    console.out(folder.path)
    console.out("  \(statistics.entries.counted("entry", "entries")): \(originals), \(finished)")
    console.out("  \(statistics.partials.counted("partial download", "partial downloads"))")
    console.out("  \(statistics.bytes.asBytes) of \(folder.limit.asBytes)")
    console.out("  \(statistics.hits.counted("hit", "hits")), \(statistics.misses.counted("miss", "misses"))")
  }

  private func json(_ statistics: DataCacheStatistics?, _ error: String?) -> String {
    var json = JSONLine()
    json.add("directory", folder.path)
    json.add("entries", statistics?.entries)
    json.add("bytes", statistics?.bytes)
    json.add("limit", statistics?.limit ?? folder.limit)
    json.add("originals", statistics?.originals)
    json.add("finished", statistics?.finished)
    json.add("partials", statistics?.partials)
    json.add("hits", statistics?.hits)
    json.add("misses", statistics?.misses)
    json.add("error", error)
    return json.line
  }

  private func list() throws(FileError) {
    guard let cache = try folder.openForReading() else { return }
    let entries = blocking { await cache.entries() }
    for entry in entries.sorted(by: { ($0.stored, name(of: $0.key)) < ($1.stored, name(of: $1.key)) }) {
      console.out(isJSON ? json(entry, error: nil) : text(entry))
    }
  }

  private func json(_ entry: DataCacheEntry?, error: String?) -> String {
    var json = JSONLine()
    json.add("url", entry?.key.address)
    json.add("key", entry?.key.description)
    json.add("kind", entry.map { $0.kind == .original ? "original" : "finished" })
    json.add("bytes", entry?.byteCount)
    json.add("stored", entry?.stored.formatted(.iso8601))
    json.add("expires", entry?.expires?.formatted(.iso8601))
    json.add("hits", entry?.hits)
    json.add("error", error)
    return json.line
  }

  private func text(_ entry: DataCacheEntry) -> String {
    let bytes = entry.byteCount.asBytes
    let padding = String(repeating: " ", count: max(0, 10 - bytes.count))
    let freshness =
      entry.expires.map { "\($0 < .now ? "expired" : "expires") \($0.formatted(.iso8601))" } ?? "never expires"
    return "\(padding)\(bytes)  stored \(entry.stored.formatted(.iso8601))  \(freshness)  \(name(of: entry.key))"
  }

  private func name(of key: CacheKey) -> String { key.address ?? key.description }

  // MARK: - Writing

  /// Opens the cache for writing, or returns `nil` if there is none.
  private func openForWriting() throws(FileError) -> DiskCache? {
    switch try folder.state() {
    case .missing, .empty: return nil
    case .cache, .foreign: break
    }
    // Opening with a limit would evict, which only trimming may do.
    let cache = try folder.open(limit: .max)
    guard !cache.isReadOnly else {
      throw FileError("another process is using this cache; \(action.rawValue) needs exclusive access")
    }
    Signals.beforeTheEnd { blocking { await cache.close() } }
    return cache
  }

  private func change(_ done: String, _ body: @escaping @Sendable (DiskCache) async -> Void) throws(FileError) {
    var (before, after) = (nothing, nothing)
    if let cache = try openForWriting() {
      (before, after) = blocking {
        let before = await cache.statistics()
        await body(cache)
        let after = await cache.statistics()
        await cache.close()
        return (before, after)
      }
    }
    if !isJSON {
      let entries = (before.entries - after.entries).counted("entry", "entries")
      console.out("\(done): \(entries) removed, \(max(0, before.bytes - after.bytes).asBytes) freed")
    }
    show(after)
  }

  private func verify() throws(FileError) -> Int32 {
    let report: DiskVerification
    if let cache = try openForWriting() {
      report = blocking {
        let report = await cache.verify()
        await cache.close()
        return report
      }
    } else {
      report = (0, [])
    }
    for key in report.damaged {
      let name = key.map(name) ?? "an entry with a damaged key"
      console.error(ByteString(name), "damaged; dropped from the cache")
      if isJSON { console.out(json(key, nil, "damaged; dropped from the cache")) }
    }
    if isJSON {
      console.out(json(nil, report, nil))
    } else {
      let damage = report.damaged.isEmpty ? "none damaged" : "\(report.damaged.count) damaged and dropped"
      console.out("\(folder.path): \(report.checked.counted("entry", "entries")) checked, \(damage)")
    }
    return report.damaged.isEmpty ? ExitCode.success : ExitCode.failure
  }

  /// Returns a line for a damaged entry, or for the final report.
  private func json(_ key: CacheKey?, _ report: DiskVerification?, _ error: String?) -> String {
    var json = JSONLine()
    json.add("directory", folder.path)
    json.add("url", key?.address)
    json.add("key", key?.description)
    json.add("checked", report?.checked)
    json.add("damaged", report?.damaged.count)
    json.add("error", error)
    return json.line
  }
}
