import Vitrine
import VitrineCaching
import VitrineRuntime

/// `vitrine cache`: what is in the disk cache, whether it is whole, and less of it.
struct CacheCommand {
  private enum Action: String, CaseIterable {
    case stats, list, verify, trim, clear
  }

  private let action: Action
  private let folder: CacheFolder
  private let isJSON: Bool
  private let console = Console(total: 1)

  init(_ arguments: some Sequence<String>) throws(UsageError) {
    let parsed = try Arguments(arguments, valued: CacheFolder.options, flags: ["--json"])
    let actions = Action.allCases.map(\.rawValue).joined(separator: ", ")
    guard let name = parsed.sources.first else { throw UsageError("cache needs one of \(actions)") }
    guard let action = Action(rawValue: name) else { throw UsageError("cache takes one of \(actions), not '\(name)'") }
    guard parsed.sources.count == 1 else {
      throw UsageError("cache \(name) takes no further arguments, so not '\(parsed.sources[1])'")
    }
    self.action = action
    folder = try CacheFolder(parsed)
    isJSON = parsed.has("--json")
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
      console.error(folder.path, error.description)
      return ExitCode.failure
    }
  }

  // MARK: - Looking

  private func stats() throws(FileError) {
    guard let cache = try folder.openForReading() else { return show(nothing) }
    show(blocking { await cache.statistics() })
  }

  /// What a cache that does not exist holds.
  private var nothing: DataCacheStatistics {
    var nothing = DataCacheStatistics()
    nothing.limit = folder.limit
    return nothing
  }

  private func show(_ statistics: DataCacheStatistics) {
    guard isJSON else {
      console.out(
        """
        \(folder.path)
          \(counted(statistics.entries, "entry", "entries")): \(counted(statistics.originals, "original", "originals")), \
        \(counted(statistics.finished, "finished image", "finished images"))
          \(counted(statistics.partials, "partial download", "partial downloads"))
          \(size(statistics.bytes)) of \(size(folder.limit))
          \(counted(statistics.hits, "hit", "hits")), \(counted(statistics.misses, "miss", "misses"))
        """
      )
      return
    }
    var json = JSONLine()
    json.add("directory", folder.path)
    json.add("entries", statistics.entries)
    json.add("bytes", statistics.bytes)
    json.add("limit", folder.limit)
    json.add("originals", statistics.originals)
    json.add("finished", statistics.finished)
    json.add("partials", statistics.partials)
    json.add("hits", statistics.hits)
    json.add("misses", statistics.misses)
    console.out(json.line)
  }

  private func list() throws(FileError) {
    guard let cache = try folder.openForReading() else { return }
    let entries = blocking { await cache.entries() }
    for entry in entries.sorted(by: { ($0.stored, name(of: $0.key)) < ($1.stored, name(of: $1.key)) }) {
      console.out(isJSON ? json(entry) : text(entry))
    }
  }

  private func json(_ entry: DataCacheEntry) -> String {
    var json = JSONLine()
    json.add("url", entry.key.address)
    json.add("key", entry.key.description)
    json.add("kind", entry.kind == .original ? "original" : "finished")
    json.add("bytes", entry.byteCount)
    json.add("stored", entry.stored.formatted(.iso8601))
    json.add("expires", entry.expires?.formatted(.iso8601))
    json.add("hits", entry.hits)
    return json.line
  }

  private func text(_ entry: DataCacheEntry) -> String {
    let bytes = size(entry.byteCount)
    let padding = String(repeating: " ", count: max(0, 10 - bytes.count))
    let freshness =
      entry.expires.map { "\($0 < .now ? "expired" : "expires") \($0.formatted(.iso8601))" } ?? "keeps fresh"
    return "\(padding)\(bytes)  stored \(entry.stored.formatted(.iso8601))  \(freshness)  \(name(of: entry.key))"
  }

  private func name(of key: CacheKey) -> String { key.address ?? key.description }

  // MARK: - Changing

  /// Opens the cache as the one that writes to it; `nil` where there is none.
  private func openForWriting() throws(FileError) -> DiskCache? {
    switch try folder.state() {
    case .missing, .empty: return nil
    case .cache, .foreign: break
    }
    // Opening evicts what is over the limit, and only trimming is to do that.
    let cache = try folder.open(limit: .max)
    guard !cache.isReadOnly else {
      throw FileError("another process is using this cache; \(action.rawValue) needs it for itself")
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
      let entries = counted(before.entries - after.entries, "entry", "entries")
      console.out("\(done): \(entries) removed, \(size(max(0, before.bytes - after.bytes))) freed")
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
      report = DiskVerification()
    }
    for key in report.damaged {
      let name = key.map(name) ?? "an entry whose name is damaged, too"
      console.error(name, "damaged, and dropped from the cache")
      guard isJSON else { continue }
      var json = JSONLine()
      json.add("url", key?.address)
      json.add("key", key?.description)
      json.add("error", "damaged, and dropped from the cache")
      console.out(json.line)
    }
    if isJSON {
      var json = JSONLine()
      json.add("directory", folder.path)
      json.add("checked", report.checked)
      json.add("damaged", report.damaged.count)
      console.out(json.line)
    } else {
      let damage = report.damaged.isEmpty ? "all whole" : "\(report.damaged.count) damaged and dropped"
      console.out("\(folder.path): \(counted(report.checked, "entry", "entries")) checked, \(damage)")
    }
    return report.damaged.isEmpty ? ExitCode.success : ExitCode.failure
  }

  // MARK: - Words

  private func counted(_ count: Int, _ one: String, _ many: String) -> String { "\(count) \(count == 1 ? one : many)" }

  /// In the units that `--size-limit` takes.
  private func size(_ bytes: Int) -> String {
    for (shift, unit) in [(30, "GiB"), (20, "MiB"), (10, "KiB")] where bytes >= 1 << shift {
      let tenths = ((bytes >> (shift - 10)) * 10) >> 10
      return tenths % 10 == 0 ? "\(tenths / 10) \(unit)" : "\(tenths / 10).\(tenths % 10) \(unit)"
    }
    return counted(bytes, "byte", "bytes")
  }
}
