import Testing
import VitrineCaching
import VitrineRuntime
import VitrineTesting

@testable import Vitrine

/// The memory of very many jobs at once is returned after they have ended.
struct BurstTests {
  private final class IdleJob: Job<Int>, @unchecked Sendable {}

  @Test(arguments: [(JobPool.burst, true), (JobPool.burst - 1, false)])
  func itIsReturnedOnceMostOfThemHaveEnded(count: Int, isReturned: Bool) {
    let clock = ManualClock()
    let pool = JobPool(clock: clock)
    let lock = JobLock(clock: clock)
    func key(_ number: Int) -> JobKey {
      JobKey(CacheKey { $0.append("\(number)") }, .bytes, of: ImageRequest(url: "https://example.org/"), .all)
    }

    lock.turn { turn in
      for number in 0..<count { _ = pool.job(for: key(number), &turn) { _ in IdleJob() } }
      for number in count / 16 + 1..<count { pool.forget(key(number), &turn) }
    }
    #expect(clock.pendingCount == 0)
    lock.turn { pool.forget(key(0), &$0) }

    #expect(clock.pendingCount == (isReturned ? 1 : 0))
    lock.turn { turn in
      #expect(pool.count(&turn) == count / 16)
      // The others are still found, and forgetting them schedules nothing more.
      #expect(pool.contains(key(1), &turn))
      for number in 1...count / 16 { pool.forget(key(number), &turn) }
    }
    #expect(clock.pendingCount == (isReturned ? 1 : 0))
  }
}
