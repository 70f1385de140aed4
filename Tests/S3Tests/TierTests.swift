import Testing
import VitrineCaching
import VitrineHTTP
import VitrineRuntime
import VitrineTestSupport
import VitrineTesting
import VitrineTiers

@testable import VitrineS3

/// A bucket as a tier: failures are counted, and it is left alone when they go on.
@Suite(.patient)
struct TierTests {
  private let server: FakeS3
  private let clock = ManualClock()
  private let bucket: S3DataCache
  private let cache: TieredDataCache
  private let limits = TieredDataCache.RemoteLimits.bucket

  init() throws {
    server = try FakeS3()
    var options = S3DataCache.Options()
    (options.readDeadline, options.writeDeadline) = (.seconds(3600), .seconds(3600))
    let client = try server.makeClient { $0.maxAttempts = 1 }
    bucket = try S3DataCache(client, bucket: "thumbnails", prefix: "v1/", options: options)
    // Its clock stands still, so that no deadline passes.
    cache = TieredDataCache([.bucket(bucket)], clock: clock)
  }

  private var counts: TieredDataCache.TierStatistics { cache.tierStatistics[0] }
  private var requestCount: Int { server.server.counts.requests }

  @Test
  func theLimitsFitABucket() {
    #expect(limits.headDeadline == .milliseconds(500))
    #expect(limits.bodyDeadline == .seconds(2))
    #expect(limits.writeDeadline == .seconds(30))
    // One in the cloud takes 10 to 50 ms, and is waited for.
    #expect(limits.headPatience == .milliseconds(10) ... .milliseconds(200))
    #expect(limits.bodyPatience == .milliseconds(25) ... .seconds(1))
    #expect(limits.failureLimit == TieredDataCache.RemoteLimits().failureLimit)
    #expect(counts.name == "s3" && counts.isRemote)
  }

  @Test(arguments: ["403 AccessDenied", "404 NoSuchBucket", "500 InternalError"])
  func aBucketThatFailsIsLeftAloneAndComesBack(fault: String) async throws {
    let stored = entry(bytes(1000))
    await cache.store(stored, for: key("a"))
    await cache.flush()
    #expect(await cache.entry(for: key("a")) == stored)
    #expect(counts.breaker == .closed && counts.hits == 1 && counts.writes == 1)

    let parts = fault.split(separator: " ")
    for _ in 0..<limits.failureLimit { server.fail(FakeS3.refusal(Int(parts[0]) ?? 0, String(parts[1]))) }
    for _ in 0..<limits.failureLimit { #expect(await cache.entry(for: key("a")) == nil) }
    #expect(counts.breaker == .open && counts.openings == 1)
    #expect(counts.errors == limits.failureLimit && counts.refusals == 0 && counts.timeOuts == 0)
    #expect(counts.lastFailure?.contains(parts[1]) == true)
    #expect(bucket.counts.failures == limits.failureLimit && bucket.counts.misses == limits.failureLimit)
    #expect(bucket.counts.hits == 1 && bucket.lastFailure?.serviceCode == String(parts[1]))

    let before = requestCount
    #expect(await cache.entry(for: key("a")) == nil)
    #expect(await cache.heads(for: [key("a")]) == [nil])
    #expect(counts.skipped == 2 && requestCount == before)

    clock.advance(by: limits.backOff)
    #expect(await cache.entry(for: key("a")) == stored)
    #expect(counts.breaker == .closed)
  }

  @Test
  func headsThatFailCountAsFailures() async throws {
    for _ in 0..<limits.failureLimit { server.fail(FakeS3.refusal(403, "AccessDenied")) }
    for _ in 0..<limits.failureLimit { #expect(await cache.heads(for: [key("a")]) == [nil]) }
    #expect(counts.breaker == .open && counts.errors == limits.failureLimit)
  }

  @Test
  func theRefusalOfAnObjectIsNoFailureOfTheBucket() async throws {
    await cache.store(entry(bytes(900)), for: key("a"))
    await cache.flush()
    for number in 1...limits.failureLimit + 1 {
      server.fail(FakeS3.refusal(400, "EntityTooLarge"))
      await cache.store(entry(bytes(1000)), for: key("a"))
      await cache.flush()
      #expect(counts.refusals == number)
    }
    #expect(counts.breaker == .closed && counts.errors == 0 && counts.openings == 0)
    #expect(bucket.counts.drops == limits.failureLimit + 1)
    // The older entry must not stay in its place.
    #expect(await cache.entry(for: key("a")) == nil)
    #expect(server.paths == [])
  }

  @Test(
    arguments: [
      ("400 EntityTooLarge", true), ("403 InvalidObjectState", true), ("405 MethodNotAllowed", true),
      ("507 XMinioStorageFull", true), ("403 AccessDenied", false), ("404 NoSuchBucket", false),
      ("400 InvalidBucketName", false), ("400 RequestTimeout", false), ("503 SlowDown", false),
    ]
  )
  func anErrorIsARefusalIfItConcernsOneObject(fault: String, isRefusal: Bool) async throws {
    let parts = fault.split(separator: " ")
    server.fail(FakeS3.refusal(Int(parts[0]) ?? 0, String(parts[1])))
    let error = try await s3Failure { () throws(S3Error) in try await bucket.read(key("a")) }
    #expect(error.isRefusal == isRefusal)
    #expect(error.serviceCode == String(parts[1]))
    #expect(bucket.counts.failures == 1 && bucket.lastFailure?.serviceCode == error.serviceCode)
  }

  @Test
  func noFurtherHeadsAreReadAfterAFailure() async throws {
    var options = S3DataCache.Options()
    options.concurrency = 1
    let client = try server.makeClient { $0.maxAttempts = 1 }
    let cache = try S3DataCache(client, bucket: "thumbnails", prefix: "v1/", options: options)
    server.fail(nil, FakeS3.refusal(403, "AccessDenied"))
    let error = try await s3Failure { () throws(S3Error) in
      try await cache.readHeads(of: (0..<10).map { key("\($0)") })
    }
    #expect(error.code == .denied && requestCount == 2)
  }

  @Test
  func metadataOfAnEntryThatWasReplacedMeanwhileAreNotWritten() async throws {
    let stored = entry(bytes(500), metadata: bytes(3000))
    await bucket.store(stored, for: key("a"))
    // A head, a body; then the conditional write comes too late.
    server.fail(nil, nil, FakeS3.refusal(412, "PreconditionFailed"))
    #expect(
      try await !bucket.rewrite(key("a"), contentID: stored.contentID, expires: nil, metadata: bytes(4000))
    )
    #expect(bucket.counts.failures == 0)
    #expect(await bucket.entry(for: key("a")) == stored)
  }
}
