import Foundation
import VitrineCaching

func median(_ values: [Double]) -> Double {
  let sorted = values.sorted()
  return sorted.isEmpty ? .nan : sorted[sorted.count / 2]
}

private struct Clock {
  private let wall = ContinuousClock.now
  private let processor = Clock.processorTime

  static var processorTime: Double {
    var time = timespec()
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time)
    return Double(time.tv_sec) * 1e6 + Double(time.tv_nsec) / 1e3
  }

  /// Microseconds of wall time, and of CPU time of all threads.
  var elapsed: (wall: Double, processor: Double) {
    ((ContinuousClock.now - wall) / .microseconds(1), Self.processorTime - processor)
  }
}

/// Makes a hypervisor provide the memory for the page cache in advance, since otherwise the first contestant would pay
/// for it.
private func warmMemory() {
  let size = 1 << 30
  guard let memory = mmap(nil, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0), memory != MAP_FAILED
  else { return }
  memset(memory, 1, size)
  munmap(memory, size)
}

/// Photographs do not compress, and neither do these bytes.
private func payload(_ size: Int) -> Data {
  var state: UInt64 = 7
  return Data(
    (0..<size).map { _ in
      state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
      return UInt8(truncatingIfNeeded: state >> 33)
    }
  )
}

private func key(_ number: Int) -> String { "https://images.example.com/feed/2026/photograph-\(number).jpg?width=600" }

private func allocated(_ folder: URL) -> Double {
  var sum = 0.0
  for name in (try? FileManager.default.contentsOfDirectory(atPath: folder.path)) ?? [] {
    var info = stat()
    if stat("\(folder.path)/\(name)", &info) == 0 { sum += Double(info.st_blocks) * 512 }
  }
  return sum
}

private func text(_ value: Double) -> String { String(format: value < 10 ? "%.1f" : "%.0f", value) }

nonisolated func compare(
  _ stores: [any Store.Type],
  in scratch: URL,
  count: Int,
  size: Int,
  isEvicting: Bool,
  rounds: Int,
) async throws {
  let keys = (0..<count).map(key)
  var order = Array(keys.indices)
  var random = SystemRandomNumberGenerator()
  order.shuffle(using: &random)
  // Different bytes for each entry, so that no store can deduplicate them.
  let all = (0..<64).map { _ in payload(size) }
  var results = [[String: [Double]]](repeating: [:], count: stores.count)
  for round in 0..<rounds {
    for (index, type) in stores.enumerated() {
      let folder = scratch.appending(path: "\(round)-\(index)")
      let store = try await type.init(in: folder)
      warmMemory()
      func note(_ name: String, _ value: Double) { results[index][name, default: []].append(value) }

      var clock = Clock()
      for (number, key) in keys.enumerated() { try await store.put(all[number % all.count], key) }
      try await store.finishWriting()
      note("put", clock.elapsed.wall / Double(count))
      note("put CPU", clock.elapsed.processor / Double(count))

      note("space", allocated(folder) / Double(count * size))
      if isEvicting {
        clock = Clock()
        try await store.evictQuarter(of: keys)
        note("evict", clock.elapsed.wall / 1000)
        note("space after", allocated(folder) / Double(count * size))
      }

      clock = Clock()
      var found = 0
      // The evicted entries are the first keys: a quarter, or somewhat more if whole segments go.
      let left = isEvicting ? order.filter { $0 >= count * 2 / 5 } : order
      for number in left { found += try await store.get(keys[number])?.count ?? 0 }
      note("get", clock.elapsed.wall / Double(left.count))
      note("get CPU", clock.elapsed.processor / Double(left.count))
      guard found == left.count * size else { throw BenchmarkError("\(type.name) lost something") }

      clock = Clock()
      for key in keys where try await store.get(key + "&") != nil { throw BenchmarkError("found a missing key") }
      note("miss", clock.elapsed.wall / Double(count))

      try await store.close()
      try? FileManager.default.removeItem(at: folder)
    }
  }
  say("\n## \(count) entries of \(size / 1000) KB\n")
  say("Microseconds per operation, put until the system has the data; evicting a quarter in milliseconds.\n")
  say("| | put | its CPU | get | its CPU | miss | evict 1/4 | disk per byte stored | and after evicting |")
  say("|---|---:|---:|---:|---:|---:|---:|---:|---:|")
  for (index, type) in stores.enumerated() {
    let values = ["put", "put CPU", "get", "get CPU", "miss", "evict"].map { median(results[index][$0] ?? []) }
    let spaces = ["space", "space after"].map { median(results[index][$0] ?? []) }
    let cells = values.map { $0.isNaN ? "" : text($0) }
    say(
      "| \(type.name) | \((cells + spaces.map { $0.isNaN ? "" : String(format: "%.3f", $0) }).joined(separator: " | ")) |"
    )
  }
}

nonisolated func compareOpening(_ stores: [any Store.Type], in scratch: URL, count: Int, rounds: Int) async throws {
  say("\n## Opening \(count) entries\n")
  say("Milliseconds until the total size is known and the first entry is read.\n")
  say("| | open | its CPU |")
  say("|---|---:|---:|")
  let bytes = payload(500)
  for type in stores {
    let folder = scratch.appending(path: "open")
    var store = try await type.init(in: folder)
    for number in 0..<count { try await store.put(bytes, key(number)) }
    try await store.finishWriting()
    try await store.close()
    var times: [Double] = []
    var processor: [Double] = []
    for _ in 0..<max(rounds, 5) {
      let clock = Clock()
      store = try await type.init(in: folder)
      guard try await store.get(key(count / 2)) != nil else { throw BenchmarkError("\(type.name) lost something") }
      let elapsed = clock.elapsed
      times.append(elapsed.wall / 1000)
      processor.append(elapsed.processor / 1000)
      try await store.close()
    }
    say("| \(type.name) | \(text(median(times))) | \(text(median(processor))) |")
    try? FileManager.default.removeItem(at: folder)
  }
}

/// The cost of a store to its caller, while the writer keeps up.
nonisolated func measureBursts(in scratch: URL, rounds: Int) async throws {
  let folder = scratch.appending(path: "bursts")
  let store = try await VitrineStore(in: folder)
  let bytes = payload(20_000)
  let hash = ContentID(of: bytes)
  var times: [Double] = []
  var hashing: [Double] = []
  for round in 0..<100 {
    let clock = Clock()
    for number in 0..<100 {
      let entry = CachedData(data: bytes, contentID: hash, stored: Date(timeIntervalSinceReferenceDate: 0))
      await store.cache.store(entry, for: CacheKey { $0.append(key(round * 100 + number)) })
    }
    times.append(clock.elapsed.wall / 100)
    try await store.finishWriting()
    let second = Clock()
    for _ in 0..<100 where ContentID(of: bytes) != hash { throw BenchmarkError("the hash has changed") }
    hashing.append(second.elapsed.wall / 100)
  }
  try await store.close()
  try? FileManager.default.removeItem(at: folder)
  say("\n## The cost of a store to its caller\n")
  say("- Vitrine, 20 KB, 100 at once, until `store` returns: \(text(median(times))) us each")
  say("- the hash of its content, if not known yet: \(text(median(hashing))) us")
}

/// The cost of a store in a full cache of which all but the oldest entries were read in random order.
nonisolated func measureFull(in scratch: URL) async throws {
  let folder = scratch.appending(path: "full")
  let (limit, size, count) = (200 << 20, 20_000, 20_000)
  let cache = try DiskCache(directory: folder, sizeLimit: limit)
  let bytes = payload(size)
  func store(_ range: Range<Int>) async {
    for number in range {
      let entry = CachedData(
        data: bytes,
        contentID: ContentID(of: bytes),
        stored: Date(timeIntervalSinceReferenceDate: 0),
      )
      await cache.store(entry, for: CacheKey { $0.append(key(number)) })
      let earlier = number - Int.random(in: 0...5000)
      if earlier >= 0 { _ = await cache.entry(for: CacheKey { $0.append(key(earlier)) }) }
    }
    await cache.trim(to: .max)
  }
  await store(0..<limit / size)
  warmMemory()
  let clock = Clock()
  await store(limit / size..<limit / size + count)
  let elapsed = clock.elapsed
  let statistics = await cache.statistics()
  let kept = Double(statistics.entries * size) / Double(limit) * 100
  await cache.close()
  try? FileManager.default.removeItem(at: folder)
  say("\n## A full cache: 200 MB, entries of 20 KB, a get of one of the last 5,000 after each put\n")
  let cost = "\(text(elapsed.wall / Double(count))) us a pair, \(text(elapsed.processor / Double(count))) us of CPU"
  say("- Vitrine: \(cost); \(text(kept)) % of the limit are entries")
}

/// A body too large to hold in memory.
nonisolated func measureStreaming(in scratch: URL) async throws {
  let folder = scratch.appending(path: "stream")
  let cache = try DiskCache(directory: folder, sizeLimit: 1 << 30)
  let key = CacheKey { $0.append("large") }
  let piece = payload(64 << 10)
  forgetPeak()
  let before = residentPeak()
  let clock = Clock()
  let writer = await cache.bodyWriter(for: key)
  for _ in 0..<1600 where !(await writer.append(piece)) { throw BenchmarkError("refused") }
  guard await writer.seal(stored: .now) != nil else { throw BenchmarkError("not sealed") }
  let elapsed = clock.elapsed
  let grown = residentPeak() - before
  await cache.close()
  try? FileManager.default.removeItem(at: folder)
  say("\n## A body of 100 MB in pieces of 64 KB\n")
  say("- \(text(elapsed.wall / 1000)) ms with one sync, \(text(elapsed.processor / 1000)) ms of CPU")
  say("- memory at its peak grew by \(grown >> 10) MB")
}

/// Resets Linux's peak counter.
private func forgetPeak() {
  try? Data("5".utf8).write(to: URL(filePath: "/proc/self/clear_refs"))
}

/// The peak memory in kilobytes.
///
/// Linux only, 0 elsewhere.
private func residentPeak() -> Int {
  let status = (try? String(contentsOfFile: "/proc/self/status", encoding: .utf8)) ?? ""
  let line = status.split(separator: "\n").first { $0.hasPrefix("VmHWM:") }
  return line.flatMap { Int($0.filter(\.isNumber)) } ?? 0
}
