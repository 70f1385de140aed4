import Foundation
import Testing
import Vitrine
import VitrineCaching
import VitrineHTTP
import VitrineImaging
import VitrineRuntime
import VitrineTestSupport
import VitrineTesting
import VitrineTiers

@testable import VitrineS3

/// The client and the cache over a real server, which checks every signature.
@Suite(
  .enabled(if: Weed.isInstalled, "SeaweedFS is not installed: Scripts/setup.sh test"),
  .patient,
)
struct WeedTests {
  private let weed: Weed
  private let client: S3Client
  private let folder = "\(UUID().uuidString)/"

  init() async throws {
    weed = try #require(await Weed.shared.weed)
    client = try weed.makeClient()
  }

  private func object(_ key: String) throws -> ObjectURL {
    try #require(ObjectURL(bucket: weed.bucket, key: folder + key))
  }

  /// A busy machine may take its time.
  private static let patient: S3DataCache.Options = {
    var options = S3DataCache.Options()
    (options.readDeadline, options.writeDeadline) = (.seconds(3600), .seconds(3600))
    return options
  }()

  private func makeCache() throws -> S3DataCache {
    try S3DataCache(client, bucket: weed.bucket, prefix: folder, options: Self.patient)
  }

  @Test(arguments: [
    "plain.jpg", "a b+c&d=e?f#g%20h.jpg", "ĝardeno/猫 (1)~'!*.png", "$,;:@[]{}|^`\"<>.gif", "dots/..a/.b/c..", "100%",
    "=== /x= y",
  ])
  func aKeyOfAnyTextIsSignedAsTheServerReadsIt(key: String) async throws {
    let (object, body) = (try object(key), bytes(2000))
    try await client.write(object, body, headers: ["x-amz-meta-note": " two  spaces "], within: .seconds(3600))
    let read = try #require(try await client.read(object, within: .seconds(3600)))
    #expect(read.body == body)
    #expect(try await client.read(object, range: 10..<20, within: .seconds(3600))?.body == body[10..<20])
    #expect(try await client.head(object, within: .seconds(3600))?.contentLength == 2000)
    var listed: [S3ListedObject] = []
    try await client.list(weed.bucket, prefix: folder, limit: 100, within: .seconds(3600)) { listed += $0 }
    #expect(listed == [S3ListedObject(key: folder + key, size: 2000)])
    try await client.remove([object.key], in: weed.bucket, within: .seconds(3600))
    #expect(try await client.read(object, within: .seconds(3600)) == nil)
    #expect(try await client.head(object, within: .seconds(3600)) == nil)
  }

  @Test
  func aWrongSecretIsDenied() async throws {
    let other = try weed.makeClient {
      $0.credentials = .fixed(S3Credentials(accessKeyID: "AKID", secretAccessKey: "another"))
    }
    let object = try object("a")
    let error = try await s3Failure { () throws(S3Error) in try await other.read(object, within: .seconds(3600)) }
    #expect(error.code == .denied && error.serviceCode == "SignatureDoesNotMatch")
    #expect(!"\(error)".contains("another"))
    let anonymous = try weed.makeClient { $0.credentials = .anonymous }
    let refused = try await s3Failure { () throws(S3Error) in try await anonymous.read(object, within: .seconds(3600)) }
    #expect(refused.code == .denied)
  }

  @Test
  func aWrongClockIsNoticedByTheServerAndCorrected() async throws {
    let configuration = client.configuration
    let late = OffsetClock(seconds: -7200)
    let other = try S3Client(configuration, loader: PatientLoader(), clock: late)
    let object = try object("a")
    try await client.write(object, bytes(100), within: .seconds(3600))
    #expect(try await other.read(object, within: .seconds(3600))?.body == bytes(100))
    #expect(abs(other.transport.now.timeIntervalSinceNow) < 60)
  }

  @Test(.enabled(if: Weed.hasCertificates, "openssl is not installed"))
  func aBodyThatIsNotSignedIsTakenOverTLS() async throws {
    let secure = try weed.makeSecureClient()
    let object = try object("a")
    try await secure.write(object, bytes(5000), within: .seconds(3600))
    #expect(try await secure.read(object, within: .seconds(3600))?.body == bytes(5000))
    try await secure.remove([object.key, object.key + "b"], in: weed.bucket, within: .seconds(3600))
    #expect(try await client.head(object, within: .seconds(3600)) == nil)
  }

  @Test
  func aPresignedURLNeedsNoKeys() async throws {
    let object = try object("a b+c.jpg")
    try await client.write(object, bytes(100), within: .seconds(3600))
    let url = try await client.presignedURL(bucket: object.bucket, key: object.key)
    let (response, body) = try await PatientLoader().data(for: HTTPRequest(url))
    #expect(response.status == 200 && body == bytes(100))
    let (refused, _) = try await PatientLoader().data(for: HTTPRequest(url.replacing("a%20b", with: "a%20c")))
    #expect(refused.status == 403)
  }

  @Test
  func manyObjectsAreListedInPartsAndRemovedAtOnce() async throws {
    let names = (0..<30).map { "many/\($0) & <b>" }
    for name in names { try await client.write(try object(name), Data(), within: .seconds(3600)) }
    var pages: [[S3ListedObject]] = []
    let isWhole = try await client.list(weed.bucket, prefix: folder, limit: 7, within: .seconds(3600)) {
      pages.append($0)
    }
    #expect(!isWhole && pages.map(\.count) == [7])
    let keys = names.map { folder + $0 }
    try await client.remove(keys, in: weed.bucket, within: .seconds(3600))
    pages = []
    #expect(try await client.list(weed.bucket, prefix: folder, limit: 7, within: .seconds(3600)) { pages.append($0) })
    #expect(pages == [[]])
  }

  // MARK: The cache

  @Test(arguments: [30, 3000])
  func theCacheKeepsItsPromises(metadataCount: Int) async throws {
    let cache = try makeCache()
    let source = key("url", "https://a.invalid/cat?w=1&h=2")
    let variants = (0..<5).map { number in source.extended { $0.append(number) } }
    let stored = entry(bytes(70_000), metadata: bytes(metadataCount))
    for key in [source] + variants { await cache.store(stored, for: key) }
    #expect(await cache.entry(for: source) == stored)
    #expect(await cache.heads(for: [source, key("other")]).map { $0?.metadata } == [stored.metadata, nil])
    let later = exampleDay.addingTimeInterval(60)
    #expect(await cache.renew(source, contentID: stored.contentID, expires: later, metadata: bytes(metadataCount + 1)))
    let renewed = try #require(await cache.entry(for: source))
    #expect(renewed.data == stored.data && renewed.expires == later && renewed.metadata == bytes(metadataCount + 1))
    #expect(await Set(cache.entries().map(\.key)) == Set([source] + variants))
    await cache.removeAll(extending: source)
    #expect(await cache.entries().map(\.key) == [source])
    await cache.removeAll()
    #expect(await cache.entries().isEmpty)
    #expect(cache.counts.failures == 0 && cache.counts.damaged == 0, "\(String(describing: cache.lastFailure))")
  }

  @Test
  func aServerThatIsPausedOrKilledCostsMissesAndNoWrongByte() async throws {
    let weed = try #require(await Weed.start())
    let configuration = try weed.makeClient().configuration
    let client = try S3Client(configuration, PatientLoader(), OffsetClock(seconds: 0)) { 0 }
    let cache = try S3DataCache(client, bucket: weed.bucket, prefix: folder, options: Self.patient)
    let stored = entry(bytes(300_000))
    await cache.store(stored, for: key("a"))
    weed.pause()
    let manual = ManualClock(now: Date())
    let waiting = try S3DataCache(
      S3Client(configuration, PatientLoader(), manual) { 0 },
      bucket: weed.bucket,
      prefix: folder,
    )
    let read = Task { await waiting.entry(for: key("a")) }
    await manual.pendingCount(reaches: 1)
    manual.advance(by: .seconds(5))
    #expect(await read.value == nil)
    #expect(waiting.lastFailure?.code == .timedOut)
    weed.goOn()
    #expect(await cache.entry(for: key("a")) == stored)
    let reads = (0..<40).map { _ in Task { await cache.entry(for: key("a")) } }
    weed.end()
    for read in reads {
      if let entry = await read.value { #expect(entry == stored) }
    }
    #expect(await cache.entry(for: key("a")) == nil)
    #expect(cache.counts.failures > 0 && cache.counts.damaged == 0)
  }

  // MARK: The source

  @Test
  func anImageIsLoadedFromItsBucketAndRevalidated() async throws {
    let picture = try EncoderRegistry.standard.encode(Bitmap.testPattern(width: 40, height: 30), as: .png())
    let object = try object("a b+c/ĉ.png")
    try await client.write(object, picture, headers: ["Cache-Control": "max-age=0"], within: .seconds(3600))
    let pipeline = ImagePipeline(.ephemeral) {
      $0.memoryCache = nil
      $0.diskCache = MemoryDataCache(sizeLimit: 1 << 20)
      $0.loader = S3Loader(client, buckets: [weed.bucket], others: PatientLoader())
    }
    let request = ImageRequest(url: object.text)
    let first = try await pipeline.imageTask(for: request).response
    #expect(first.image.width == 40 && first.origin == .network)
    await pipeline.cache.flush()
    let second = try await pipeline.imageTask(for: request).response
    #expect(second.origin == .revalidated)
  }
}

/// The system's clock with another time of day.
struct OffsetClock: TimeSource {
  let seconds: Double

  var now: Date { SystemClock().now.addingTimeInterval(seconds) }

  var uptime: Duration { SystemClock().uptime }

  func schedule(after delay: Duration, _ action: @escaping @Sendable () -> Void) -> ScheduledAction {
    SystemClock().schedule(after: delay, action)
  }
}
