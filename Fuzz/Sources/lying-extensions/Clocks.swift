import Foundation
import Vitrine
import VitrineCaching
import VitrineHTTP
import VitrineImaging
import VitrineRuntime
import VitrineTiers

/// A number that grows.
private final class Counter: @unchecked Sendable {
  // @unchecked: behind the lock.
  private let lock = NSLock()
  private var count = 0

  func next() -> Int {
    lock.withLock {
      count += 1
      return count
    }
  }
}

/// A clock that jumps.
private final class LyingClock: TimeSource {
  let dates: [Double]
  let uptimes: [Duration]
  let calls: Int
  private let asked = Counter()

  init(_ dates: [Double], _ uptimes: [Duration], calls: Int = 1) {
    (self.dates, self.uptimes, self.calls) = (dates, uptimes, calls)
  }

  private func next() -> Int { asked.next() }
  var now: Date { Date(timeIntervalSince1970: dates[next() % dates.count]) }
  var uptime: Duration { uptimes[next() % uptimes.count] }
  func schedule(after delay: Duration, _ action: @escaping @Sendable () -> Void) -> ScheduledAction {
    for _ in 0..<calls { DispatchQueue.global().async(execute: action) }
    return ScheduledAction { true }
  }
}

func clockCases() -> [Case] {
  let dates: [[Double]] = [[.nan], [.infinity], [-.infinity], [1e300, -1e300], [0], [1e12, 0, -1e12], [9.3e9]]
  let uptimes: [[Duration]] = [
    [.zero], [.seconds(Int64.max), .seconds(Int64.min)], [.seconds(5), .zero, .seconds(-5)], [.seconds(1 << 40)],
  ]
  var all: [Case] = []
  for (index, dates) in dates.enumerated() {
    for (other, uptimes) in uptimes.enumerated() {
      for calls in [1, 3] {
        let name = "clock, date \(index), uptime \(other), \(calls) calls"
        all.append(
          Case(name) {
            let clock = LyingClock(dates, uptimes, calls: calls)
            let folder = FileManager.default.temporaryDirectory.appendingPathComponent(
              "lies.\(UInt64.random(in: 0 ... .max))"
            )
            let cache = try DiskCache(directory: folder, sizeLimit: 1 << 20, lifetime: .seconds(60), clock: clock)
            let pipeline = pipeline(pictures) {
              ($0.clock, $0.diskCache, $0.storagePolicy) = (clock, cache, .both)
              $0.memoryCache = MemoryCache(costLimit: 1 << 20, expiration: .after(.seconds(5)), clock: clock)
              $0.rateLimit = RateLimit(requestsPerSecond: 1000, burst: 3)
              $0.remembersFailures = true
            }
            _ = try await pipeline.image(for: address)
            await cache.flush()
            _ = await "\(pipeline.explain(ImageRequest(url: address)))"
            return try checked(await pipeline.image(for: address))
          }
        )
        all.append(
          Case("\(name), failing") {
            let clock = LyingClock(dates, uptimes, calls: calls)
            let broken = LyingLoader { request, sink in
              _ = sink.receive(HTTPResponse(status: 503, headers: ["Retry-After": "1"], url: request.url))
              sink.finish(nil)
            }
            let pipeline = pipeline(broken) { ($0.clock, $0.remembersFailures) = (clock, true) }
            _ = try? await pipeline.image(for: address)
            return try checked(await pipeline.image(for: address))
          }
        )
        all.append(
          Case("\(name), tiers") {
            let clock = LyingClock(dates, uptimes, calls: calls)
            let tiers = TieredDataCache([.remote(LyingCache(error: LyingCache.Failure()))], clock: clock)
            let pipeline = pipeline(pictures) { ($0.clock, $0.diskCache) = (clock, tiers) }
            for _ in 0..<10 { _ = try await pipeline.image(for: address) }
            return try checked(await pipeline.image(for: address))
          }
        )
      }
    }
  }
  return all
}
