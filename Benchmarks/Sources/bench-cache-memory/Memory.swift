import Contest
import Foundation
import VitrineCaching

private func expect(_ isHit: Bool) throws {
  guard isHit else { throw BenchmarkError("a miss, although everything should be in memory") }
}

/// Look-ups, misses and insertions with `entryCount` entries in random order, on one thread and on several.
func benchMemory(_ entryCount: Int, rounds: Int) async throws -> [String] {
  let texts = (0..<entryCount).map { "https://example.org/photographs/\($0)/large.jpg?w=300" }
  let order = (0..<entryCount).shuffled()
  let keys = texts.map { text in CacheKey { $0.append(text) } }
  let strangers = texts.map { text in CacheKey { $0.append(text + "&h=300") } }
  // Each cache has its own objects, so that none profits from the accesses of another.
  func payloads() -> [CacheKey: Payload] {
    Dictionary(uniqueKeysWithValues: keys.enumerated().map { ($1, Payload($0)) })
  }
  let cache = MemoryCache<Payload>(costLimit: 1 << 30)
  for (number, key) in keys.enumerated() { cache.store(Payload(number), for: key, cost: 1000) }
  let locked = LockedDictionary(payloads())
  let shared = ReadWriteLockedDictionary(payloads())
  let nsCache = SharedNSCache()
  let nsStrings = SharedStrings(strings: texts.map { $0 as NSString })
  for (number, key) in nsStrings.strings.enumerated() {
    nsCache.cache.setObject(Payload(number), forKey: key, cost: 1000)
  }
  let shuffledKeys = order.map { keys[$0] }
  let shuffledStrings = SharedStrings(strings: order.map { nsStrings.strings[$0] })

  // Keys of their own, too, since threads with the same keys contend for their reference counts.
  let ownKeys = (0..<(threadCounts.max() ?? 1)).map { _ in
    order.map { number in CacheKey { $0.append(texts[number]) } }
  }
  let own = ownKeys.map { keys in
    LockedDictionary(Dictionary(uniqueKeysWithValues: keys.enumerated().map { ($1, Payload($0)) }))
  }

  let gets: [(name: String, get: @Sendable (Int) -> Bool)] = [
    ("`MemoryCache`", { cache.value(for: shuffledKeys[$0 % entryCount]) != nil }),
    ("dictionary behind a lock", { locked[shuffledKeys[$0 % entryCount]] != nil }),
    ("dictionary behind a read-write lock", { shared[shuffledKeys[$0 % entryCount]] != nil }),
    ("`NSCache`", { nsCache.cache.object(forKey: shuffledStrings.strings[$0 % entryCount]) != nil }),
  ]
  var failures = try await contest(
    "Get, \(entryCount) entries",
    gets.enumerated().map { index, peer in
      Contestant(name: peer.name, allocationLimit: index == 0 ? 0 : nil) { count in
        for index in 0..<count { try expect(peer.get(index)) }
      }
    },
    count: 40_000,
    rounds: rounds,
  )
  failures += try await contest(
    "Get of missing keys, \(entryCount) entries",
    [
      Contestant(name: "`MemoryCache`", allocationLimit: 0) { count in
        for index in 0..<count { try expect(cache.value(for: strangers[index % entryCount]) == nil) }
      },
      Contestant(name: "dictionary behind a lock") { count in
        for index in 0..<count { try expect(locked[strangers[index % entryCount]] == nil) }
      },
    ],
    count: 40_000,
    rounds: rounds,
  )
  benchThreads(
    entryCount,
    [
      Peer("`MemoryCache`", { _, at in cache.value(for: shuffledKeys[at]) != nil }) { _, at in
        cache.store(Payload(at), for: shuffledKeys[at], cost: 1000)
      },
      Peer("dictionary behind a lock", { _, at in locked[shuffledKeys[at]] != nil }) { _, at in
        locked[shuffledKeys[at]] = Payload(at)
      },
      Peer("dictionary behind a read-write lock", { _, at in shared[shuffledKeys[at]] != nil }) { _, at in
        shared[shuffledKeys[at]] = Payload(at)
      },
      Peer("`NSCache`", { _, at in nsCache.cache.object(forKey: shuffledStrings.strings[at]) != nil }) { _, at in
        nsCache.cache.setObject(Payload(at), forKey: shuffledStrings.strings[at], cost: 1000)
      },
      // Nothing is shared, so this is what the machine gives to as many threads.
      Peer("a locked dictionary for each thread", { thread, at in own[thread][ownKeys[thread][at]] != nil }) {
        own[$0][ownKeys[$0][$1]] = Payload($1)
      },
    ],
    rounds: rounds,
  )
  return failures
}

/// New entries into a full cache, which must evict one for each.
func benchInsertion(_ entryCount: Int, rounds: Int) async throws -> [String] {
  let payload = Payload(0)
  let count = 2 * entryCount
  let keys = (0..<count).map { number in CacheKey { $0.append("https://example.org/photographs/\(number)/large.jpg") } }
  let strings = (0..<count).map { "https://example.org/photographs/\($0)/large.jpg" as NSString }
  let cache = MemoryCache<Payload>(costLimit: 1000 * entryCount)
  let nsCache = NSCache<NSString, Payload>()
  nsCache.totalCostLimit = 1000 * entryCount
  let costs = (0..<count).map { _ in Int.random(in: 500...1500) }
  return try await contest(
    "Insert into a full cache of \(entryCount) entries",
    [
      Contestant(name: "`MemoryCache`", target: 1000) { count in
        for index in 0..<count { cache.store(payload, for: keys[index], cost: costs[index]) }
      },
      Contestant(name: "`NSCache`") { count in
        for index in 0..<count { nsCache.setObject(payload, forKey: strings[index], cost: costs[index]) }
      },
    ],
    count: count,
    rounds: rounds,
  )
}
