import Foundation
import Vitrine
import VitrineCaching
import VitrineHTTP
import VitrineImaging
import VitrineRuntime
import VitrineTiers

private let dates: [Date?] = [
  nil, .distantPast, .distantFuture, Date(timeIntervalSince1970: .nan), Date(timeIntervalSince1970: .infinity),
  Date(timeIntervalSince1970: -.infinity), Date(timeIntervalSince1970: 1e300), Date(timeIntervalSince1970: 0),
]
private let counts = [Int.min, -1, 0, 1, Int.max]

/// A cache that answers what it likes, each member of its own.
struct LyingCache: FallibleDataCaching, KeyLeasing {
  struct Failure: DataCacheFailure { var isRefusal = false }

  var found: @Sendable (CacheKey) throws -> CachedData? = { _ in nil }
  var heads: @Sendable ([CacheKey]) throws -> [CachedDataHead?] = { $0.map { _ in nil } }
  var all: @Sendable () -> [DataCacheEntry] = { [] }
  var numbers = DataCacheStatistics()
  var renews = false
  var error: (any Error)?
  var answer = LeaseAnswer.acquired

  func read(_ key: CacheKey) async throws -> CachedData? { try found(key) }
  func readHeads(of keys: [CacheKey]) async throws -> [CachedDataHead?] { try heads(keys) }
  func write(_ entry: CachedData, for key: CacheKey) async throws { if let error { throw error } }
  func rewrite(_ key: CacheKey, contentID: ContentID, expires: Date?, metadata: Data) async throws -> Bool {
    if let error { throw error }
    return renews
  }
  func erase(_ key: CacheKey) async throws { if let error { throw error } }
  func erase(extending key: CacheKey) async throws { if let error { throw error } }
  func eraseAll() async throws { if let error { throw error } }
  func entries() async -> [DataCacheEntry] { all() }
  func statistics() async -> DataCacheStatistics { numbers }
  func flush() async {}

  func acquire(_ lease: KeyLease, for duration: Duration) async throws -> LeaseAnswer {
    if let error { throw error }
    return answer
  }
  func extend(_ lease: KeyLease, for duration: Duration) async throws -> Bool {
    if let error { throw error }
    return renews
  }
  func release(_ lease: KeyLease, inVainFor vainTime: Duration?) async throws { if let error { throw error } }
}

/// The same without the members that may fail.
struct PlainLyingCache: DataCaching {
  let lies: LyingCache

  func entry(for key: CacheKey) async -> CachedData? { try? lies.found(key) }
  func heads(for keys: [CacheKey]) async -> [CachedDataHead?] { (try? lies.heads(keys)) ?? [] }
  func store(_ entry: CachedData, for key: CacheKey) async {}
  func renew(_ key: CacheKey, contentID: ContentID, expires: Date?, metadata: Data) async -> Bool { lies.renews }
  func remove(_ key: CacheKey) async {}
  func removeAll() async {}
  func contains(_ key: CacheKey) async -> Bool { lies.renews }
  func entries() async -> [DataCacheEntry] { lies.all() }
  func statistics() async -> DataCacheStatistics { lies.numbers }
  func flush() async {}
}

private func lies() -> [(String, LyingCache)] {
  var all: [(String, LyingCache)] = []
  let right = ContentID(of: picture)
  let bodies: [(String, Data)] = [
    ("picture", picture), ("nothing", Data()), ("half", picture.prefix(40)),
    ("noise", Data((0..<5000).map { UInt8(truncatingIfNeeded: $0 * 7) })),
    ("megabytes", Data(count: 8 << 20)),
  ]
  let texts: [(String, Data)] = [
    ("none", Data()), ("zeros", Data(count: 64)), ("ones", Data(repeating: 255, count: 200)),
    ("long", Data(repeating: 9, count: 1 << 20)),
  ]
  for kind in CachedData.Kind.allCases {
    for (name, body) in bodies {
      for (note, text) in texts {
        for (index, date) in dates.enumerated() {
          let entry = CachedData(
            data: body,
            kind: kind,
            metadata: text,
            contentID: index % 2 == 0 ? right : ContentID(low: 0, high: .max),
            expires: date,
            stored: dates[(index + 3) % dates.count] ?? Date(),
          )
          all.append(
            (
              "\(kind) \(name) with \(note), date \(index)",
              LyingCache(
                found: { _ in entry },
                heads: { $0.map { _ in CachedDataHead(entry) } },
                renews: true,
              ),
            )
          )
        }
      }
    }
  }
  for count in counts {
    for hasBody in [false, true] {
      let head = CachedDataHead(
        kind: .original,
        byteCount: count,
        metadata: Data(),
        contentID: right,
        expires: nil,
        stored: Date(),
        data: hasBody ? picture : nil,
      )
      all.append(("heads of \(count) bytes, \(hasBody)", LyingCache(heads: { $0.map { _ in head } })))
      all.append(("heads of \(count) bytes, \(hasBody), too few", LyingCache(heads: { _ in [] })))
      all.append(
        (
          "heads of \(count) bytes, \(hasBody), too many",
          LyingCache(heads: { $0.flatMap { _ in [head, head, head] } }),
        )
      )
    }
    var numbers = DataCacheStatistics()
    (numbers.entries, numbers.bytes, numbers.limit, numbers.hits) = (count, count, count, count)
    (numbers.misses, numbers.evictions, numbers.damaged, numbers.originals) = (count, count, count, count)
    (numbers.finished, numbers.partials) = (count, count)
    let entries = (0..<3).flatMap { index in
      dates.map {
        DataCacheEntry(
          key: CacheKey(bytes: [UInt8(index)]),
          kind: .original,
          byteCount: count,
          stored: $0 ?? Date(),
          expires: $0,
          hits: count,
        )
      }
    }
    all.append(("entries of \(count) bytes", LyingCache(all: { [entries] in entries }, numbers: numbers)))
  }
  let key = [UInt8](repeating: 7, count: 1 << 20)
  all.append(
    (
      "entries with odd keys",
      LyingCache(all: {
        [[], [0], [255, 255, 255, 255, 255], key].map {
          DataCacheEntry(
            key: CacheKey(bytes: $0),
            kind: .finished,
            byteCount: 1,
            stored: Date(),
            expires: nil,
            hits: 0,
          )
        }
      }),
    )
  )
  for error: any Error in [
    LyingCache.Failure(isRefusal: true), LyingCache.Failure(), CancellationError(), ImageError(.corrupt, "lie"),
  ] {
    all.append(
      ("throws \(error)", LyingCache(found: { _ in throw error }, heads: { _ in throw error }, error: error))
    )
    all.append(("throws \(error) on writes", LyingCache(error: error)))
  }
  return all
}

private let secret: SealedDataCache.Secret = {
  guard let secret = SealedDataCache.Secret(bytes: [UInt8](repeating: 1, count: 16)) else { fatalError("no secret") }
  return secret
}()

private let server = LyingLoader { request, sink in
  _ = sink.receive(
    HTTPResponse(status: 200, headers: ["Cache-Control": "max-age=60", "ETag": "\"a\""], url: request.url)
  )
  _ = sink.receive(picture)
  sink.finish(nil)
}

/// Uses each part of a pipeline over a cache.
private func use(_ cache: any DataCaching, _ leases: (any KeyLeasing)? = nil) async throws -> String {
  let pipeline = pipeline(server) {
    $0.diskCache = cache
    $0.storagePolicy = .both
    if let leases {
      var coordination = WorkCoordination(leases)
      coordination.maxWait = .milliseconds(50)
      $0.coordination = coordination
    }
  }
  let request = ImageRequest(url: address)
  var small = request
  small.size = .pixels(2, 2)
  let shown = try await pipeline.image(for: request)
  _ = try await pipeline.image(for: small)
  _ = try await pipeline.data(for: request)
  _ = try await pipeline.encoded(for: small, as: .jpeg())
  _ = await "\(pipeline.explain(request)) \(pipeline.explain(small, as: .png()))"
  await pipeline.cache.remove(request)
  await pipeline.cache.removeAll()
  _ = await cache.entries()
  await cache.flush()
  return try checked(shown)
}

func cacheCases() -> [Case] {
  lies().flatMap { name, lie in
    [
      Case("cache, \(name)") { try await use(lie) },
      Case("cache that cannot fail, \(name)") { try await use(PlainLyingCache(lies: lie)) },
      Case("sealed cache, \(name)") {
        try await use(SealedDataCache(lie, secret: secret, seal: { data, _ in data }, open: { data, _ in data }))
      },
    ]
  }
}

func tierCases() -> [Case] {
  var all = lies().filter { !$0.0.hasPrefix("partial") }.flatMap { name, lie in
    [
      Case("tiers, \(name)") {
        let tiers = TieredDataCache([.local(PlainLyingCache(lies: lie)), .remote(lie)])
        let result = try await use(tiers)
        _ = (tiers.tierStatistics, await tiers.entries(), await tiers.statistics())
        await tiers.removeAll(extending: CacheKey(bytes: [1]))
        return result
      },
      Case("remote, \(name)") { try await use(TieredDataCache([.remote(lie)])) },
    ]
  }
  for answer in [LeaseAnswer.acquired, .held, .vain] {
    for extends in [false, true] {
      for error: (any Error)? in [nil, CancellationError()] {
        let lie = LyingCache(renews: extends, error: error, answer: answer)
        all.append(
          Case("leases, \(answer), \(extends), \(error == nil)") {
            try await use(TieredDataCache([.remote(LyingCache())]), lie)
          }
        )
      }
    }
  }
  return all
}
