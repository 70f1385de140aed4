import Testing
import VitrineCaching
import VitrineRuntime
import VitrineTestSupport
import VitrineTiers

@testable import VitrineRedis

@Suite(.needsRedis, .patient)
struct RedisLeaseTests {
  private let redis: RedisProcess
  private let caches: [RedisCache]

  init() throws {
    redis = try RedisProcess()
    caches = try [redis.makeCache(), redis.makeCache()]
  }

  @Test
  func oneOfManyHasTheLease() async throws {
    let caches = caches
    let answers = try await withThrowingTaskGroup(of: LeaseAnswer.self) { group in
      for number in 0..<50 {
        group.addTask { try await caches[number % 2].acquire(KeyLease(key(1)), for: .seconds(60)) }
      }
      return try await group.reduce(into: []) { $0.append($1) }
    }
    #expect(answers.count { $0 == .acquired } == 1)
    #expect(answers.count { $0 == .held } == 49)
  }

  @Test
  func onlyTheHolderExtendsAndEndsIt() async throws {
    let (mine, other) = (KeyLease(key(1)), KeyLease(key(1)))
    #expect(try await caches[0].acquire(mine, for: .seconds(60)) == .acquired)
    // A reply that was lost is asked for again.
    #expect(try await caches[0].acquire(mine, for: .seconds(60)) == .acquired)
    #expect(try await caches[1].acquire(other, for: .seconds(60)) == .held)
    #expect(try await !caches[1].extend(other, for: .seconds(600)))
    #expect(try await caches[0].extend(mine, for: .seconds(600)))
    let name = try #require(try await caches[0].send { _ in [] }).0.lease(key(1))
    let left = try await caches[0].sendPlainly([RedisCommand("PTTL", name)])[0].integer
    #expect(left ?? 0 > 60_000)
    try await caches[1].release(other, inVainFor: nil)
    #expect(try await caches[1].acquire(other, for: .seconds(60)) == .held)
    try await caches[0].release(mine, inVainFor: nil)
    #expect(try await caches[1].acquire(other, for: .seconds(60)) == .acquired)
  }

  @Test
  func aHolderThatDiesLosesItByTime() async throws {
    #expect(try await caches[0].acquire(KeyLease(key(1)), for: .milliseconds(1)) == .acquired)
    let other = KeyLease(key(1))
    while try await caches[1].acquire(other, for: .seconds(60)) != .acquired {}
  }

  @Test
  func workInVainIsNotWaitedForUntilItsTimeIsOver() async throws {
    let (mine, other) = (KeyLease(key(1)), KeyLease(key(1)))
    #expect(try await caches[0].acquire(mine, for: .seconds(60)) == .acquired)
    try await caches[0].release(mine, inVainFor: .seconds(60))
    #expect(try await caches[1].acquire(other, for: .seconds(60)) == .vain)
    #expect(try await caches[0].acquire(KeyLease(key(2)), for: .seconds(60)) == .acquired)
    try await caches[0].eraseAll()
    #expect(try await caches[1].acquire(other, for: .seconds(60)) == .acquired)
  }

  @Test
  func aRemovalEndsTheLeasesOfItsSource() async throws {
    let (bytes, file, elsewhere) = (KeyLease(key(1)), KeyLease(thumbnail(1, 3)), KeyLease(key(2)))
    for lease in [bytes, file, elsewhere] {
      #expect(try await caches[0].acquire(lease, for: .seconds(60)) == .acquired)
    }
    // Of a part of the source, then of all.
    try await caches[1].revoke(extending: thumbnail(1, 3))
    #expect(try await !caches[0].extend(file, for: .seconds(60)))
    #expect(try await caches[0].extend(bytes, for: .seconds(60)))
    #expect(try await caches[0].acquire(file, for: .seconds(60)) == .acquired)
    try await caches[1].revoke(extending: key(1))
    for lease in [bytes, file] {
      #expect(try await !caches[0].extend(lease, for: .seconds(60)))
      #expect(try await caches[1].acquire(KeyLease(lease.key), for: .seconds(60)) == .acquired)
      // Its former holder no longer has it, and ends nothing.
      try await caches[0].release(lease, inVainFor: .seconds(60))
      #expect(try await caches[0].acquire(lease, for: .seconds(60)) == .held)
    }
    #expect(try await caches[0].extend(elsewhere, for: .seconds(60)))
  }

  @Test
  func anEndedLeaseLeavesNothing() async throws {
    let lease = KeyLease(key(1))
    #expect(try await caches[0].acquire(lease, for: .seconds(60)) == .acquired)
    try await caches[0].release(lease, inVainFor: nil)
    let sent = try #require(try await caches[0].send { [RedisCommand("EXISTS", $0.lease(key(1)), $0.leased(key(1)))] })
    #expect(sent.1[0].integer == 0)
  }
}
