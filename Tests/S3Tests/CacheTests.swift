import Testing
import VitrineCaching
import VitrineHTTP
import VitrineRuntime
import VitrineTestSupport
import VitrineTesting
import VitrineTiers

@testable import VitrineS3

/// The cache over a server within the process: what it stores, and what comes of faults.
@Suite(.patient)
struct CacheTests {
  private let server: FakeS3

  init() throws { server = try FakeS3() }

  private func makeCache(
    clock: any TimeSource = .system,
    _ change: (inout S3Configuration) -> Void = { _ in },
  ) throws -> S3DataCache {
    var options = S3DataCache.Options()
    (options.readDeadline, options.writeDeadline) = (.seconds(3600), .seconds(3600))
    let client = try server.makeClient(clock: clock, change)
    return try S3DataCache(client, bucket: "thumbnails", prefix: "v1/", options: options)
  }

  private var count: Int { server.server.counts.requests }

  @Test(arguments: [0, 300, 3000])
  func anEntryIsReadAsItWasStored(metadataCount: Int) async throws {
    let cache = try makeCache()
    for (index, size) in [0, 1, 50_000].enumerated() {
      let key = key("url", "https://a.invalid/\(index)")
      let stored = entry(bytes(size), metadata: bytes(metadataCount), expires: index == 0 ? nil : exampleDay)
      await cache.store(stored, for: key)
      #expect(await cache.entry(for: key) == stored)
      #expect(await cache.peek(key) == stored)
      #expect(await cache.contentID(for: key) == stored.contentID)
      #expect(await cache.contains(key))
      #expect(await cache.heads(for: [key, CacheKey(bytes: [1])]) == [head(of: stored), nil])
      await cache.remove(key)
      #expect(await cache.entry(for: key) == nil)
      #expect(await !cache.contains(key))
    }
    #expect(
      cache.counts
        == {
          var counts = S3DataCache.Counts(); (counts.hits, counts.misses, counts.stores) = (3, 3, 3); return counts
        }()
    )
    #expect(cache.lastFailure == nil)
  }

  private func head(of entry: CachedData) -> CachedDataHead {
    var head = CachedDataHead(entry)
    head.data = nil
    return head
  }

  @Test
  func aHeadIsReadWithoutTheBody() async throws {
    let cache = try makeCache()
    await cache.store(entry(bytes(50_000)), for: key("a"))
    await cache.store(entry(bytes(50_000), metadata: bytes(4000)), for: key("b"))
    let before = count
    _ = await cache.heads(for: [key("a"), key("b")])
    let requests = server.server.requests.dropFirst(before)
    #expect(requests.map(\.method).sorted() == ["GET", "HEAD", "HEAD"])
    #expect(requests.first { $0.method == "GET" }?["Range"] == "bytes=0-3999")
  }

  @Test
  func renewingMovesNoBody() async throws {
    let cache = try makeCache()
    let stored = entry(bytes(50_000))
    await cache.store(stored, for: key("a"))
    let before = count
    let later = exampleDay.addingTimeInterval(60)
    let isRenewed = await cache.renew(
      key("a"),
      contentID: stored.contentID,
      expires: later,
      metadata: Data("other".utf8),
    )
    #expect(isRenewed)
    let requests = server.server.requests.dropFirst(before)
    #expect(requests.map(\.method) == ["HEAD", "PUT"])
    #expect(requests.allSatisfy { $0.body.isEmpty })
    let read = try #require(await cache.entry(for: key("a")))
    #expect(read.data == stored.data && read.expires == later && read.metadata == Data("other".utf8))
    #expect(read.stored == stored.stored && read.contentID == stored.contentID)
    // Other content, and none.
    #expect(await !cache.renew(key("a"), contentID: ContentID(low: 1, high: 2), expires: nil, metadata: Data()))
    #expect(await !cache.renew(key("z"), contentID: stored.contentID, expires: nil, metadata: Data()))
    #expect(await cache.entry(for: key("a")) == read)
  }

  @Test
  func metadataThatDoNotFitAreRenewedWithTheBody() async throws {
    let cache = try makeCache()
    let stored = entry(bytes(5000))
    await cache.store(stored, for: key("a"))
    for count in [3000, 4000, 10, 0] {
      #expect(await cache.renew(key("a"), contentID: stored.contentID, expires: nil, metadata: bytes(count)))
      let read = try #require(await cache.entry(for: key("a")))
      #expect(read.data == stored.data && read.expires == nil && read.metadata == bytes(count))
    }
  }

  @Test
  func anEntryThatWasReplacedMeanwhileIsNotRenewed() async throws {
    let cache = try makeCache()
    let stored = entry(bytes(500))
    await cache.store(stored, for: key("a"))
    let server = server
    // Between the look and the copy another machine writes.
    server.fail(
      nil,
      { exchange in
        server.change { $0.tag = "\"another\"" }
        exchange.respond(LoopbackResponse(status: 412))
      },
    )
    #expect(await !cache.renew(key("a"), contentID: stored.contentID, expires: nil, metadata: Data()))
    #expect(cache.counts.failures == 0)
  }

  // MARK: Removal

  private func variants(_ cache: S3DataCache, _ count: Int) async -> CacheKey {
    let source = key("url", "https://a.invalid/1")
    await cache.store(entry(bytes(10)), for: source)
    await cache.store(entry(bytes(10)), for: key("url", "https://a.invalid/12"))
    for number in 0..<count {
      await cache.store(entry(bytes(20, seed: 3)), for: source.extended { $0.append(number) })
    }
    return source
  }

  @Test(arguments: [true, false])
  func allVariantsOfASourceAreRemovedByTheBeginningOfTheirNames(atOnce: Bool) async throws {
    let cache = try makeCache()
    server.state.withLock { ($0.pageLimit, $0.removesAtOnce) = (4, atOnce) }
    let source = await variants(cache, 10)
    #expect(server.paths.count == 12)
    await cache.removeAll(extending: source)
    #expect(server.paths.count == 2)
    #expect(await cache.contains(source))
    #expect(await cache.contains(key("url", "https://a.invalid/12")))
    #expect(cache.counts.failures == 0)
  }

  @Test
  func everythingBelowThePrefixIsRemovedAndNothingElse() async throws {
    let cache = try makeCache()
    _ = await variants(cache, 3)
    server.state.withLock {
      $0.objects["/thumbnails/v2/mine"] = FakeS3.Stored(body: Data(), fields: [:], tag: "\"x\"")
    }
    await cache.removeAll()
    #expect(server.paths == ["/thumbnails/v2/mine"])
  }

  @Test
  func entriesAreListedWithWhatTheirHeadsSay() async throws {
    let cache = try makeCache()
    server.state.withLock { $0.pageLimit = 3 }
    let long = CacheKey { $0.append(String(repeating: "long/", count: 300)) }
    let keys = (0..<7).map { key("url", "https://a.invalid/\($0)") } + [long]
    for key in keys { await cache.store(entry(bytes(key.bytes.count)), for: key) }
    // What others put there is none of the cache's.
    server.state.withLock {
      $0.objects["/thumbnails/v1/mine"] = FakeS3.Stored(body: Data(), fields: [:], tag: "\"x\"")
    }
    let listed = await cache.entries()
    #expect(Set(listed.map(\.key)) == Set(keys))
    #expect(listed.allSatisfy { $0.byteCount == $0.key.bytes.count && $0.expires == exampleDay && $0.hits == 1 })
    await cache.removeAll { $0.key == long || $0.key == keys[2] }
    #expect(await Set(cache.entries().map(\.key)) == Set(keys).subtracting([long, keys[2]]))
  }

  @Test
  func aListThatDoesNotMoveOnEnds() async throws {
    let cache = try makeCache()
    let page: @Sendable (LoopbackExchange) -> Void = { exchange in
      let text = "<IsTruncated>true</IsTruncated><NextContinuationToken>t</NextContinuationToken>"
      let body = "<ListBucketResult>\(text)<Contents><Key>v1/a</Key></Contents></ListBucketResult>"
      exchange.respond(LoopbackResponse(body: Data(body.utf8)))
    }
    server.fail(page, nil, page, nil, nil)
    await cache.removeAll()
    #expect(cache.lastFailure?.detail == "the server's list does not move on")
  }

  @Test
  func namesAndURLsCanBeSealed() async throws {
    let s3 = try makeCache()
    // No cipher, but it authenticates as one.
    @Sendable
    func seal(_ bytes: Data, _ context: Data) -> Data { bytes + SHA256.hash(context + bytes) }
    let cache = SealedDataCache(
      s3,
      secret: try #require(SealedDataCache.Secret(bytes: [UInt8](repeating: 7, count: 16))),
      seal: { seal($0, $1) },
      open: { bytes, context in
        guard bytes.count >= 32, seal(bytes.dropLast(32), context) == bytes else { throw Unexpected() }
        return Data(bytes.dropLast(32))
      },
    )
    let source = key("partition", "url", "https://a.invalid/1")
    let variants = (0..<3).map { number in
      source.extended { key in for part in 0..<20 { key.append(number * 100 + part) } }
    }
    let stored = entry(bytes(3000))
    for key in [source] + variants { await cache.store(stored, for: key) }
    #expect(server.paths.count == 4 && !server.paths.contains { $0.contains("invalid") })
    #expect(await cache.entry(for: source) == stored)
    #expect(await cache.entry(for: variants[2]) == stored)
    #expect(await cache.renew(source, contentID: stored.contentID, expires: nil, metadata: Data([1])))
    await cache.removeAll(extending: source)
    #expect(server.paths.count == 1)
    #expect(await cache.entry(for: source)?.metadata == Data([1]))
  }

  // MARK: Damage

  @Test(arguments: [0, 1, 2, 3, 4])
  func anObjectThatIsNotWhatWasStoredIsDroppedAndCounted(kind: Int) async throws {
    let cache = try makeCache()
    await cache.store(entry(bytes(5000), metadata: bytes(kind == 4 ? 3000 : 30)), for: key("a"))
    server.change { object in
      switch kind {
      case 0: object.body[2500] ^= 1
      case 1: object.body = object.body.dropLast()
      case 2: object.body = Data()
      case 3: object.fields[EntryHead.field] = object.fields[EntryHead.field].map { "AQ" + $0 }
      default: object.body[10] ^= 1
      }
    }
    #expect(await cache.entry(for: key("a")) == nil)
    #expect(cache.counts.damaged == 1 && cache.counts.misses == 1 && cache.counts.failures == 0)
    #expect(server.paths == [])
  }

  @Test
  func anObjectCopiedToAnotherNameIsNotServed() async throws {
    let cache = try makeCache()
    await cache.store(entry(bytes(5000)), for: key("a"))
    await cache.store(entry(bytes(4000)), for: key("b"))
    server.state.withLock { state in
      let (one, other) = (state.objects.keys.sorted()[0], state.objects.keys.sorted()[1])
      state.objects[other] = state.objects[one]
    }
    #expect(await cache.entry(for: key("b")) == nil)
    #expect(await cache.entry(for: key("a")) != nil)
    #expect(cache.counts.damaged == 1)
  }

  @Test
  func whatOthersPutUnderTheNameIsAMissAndStays() async throws {
    let cache = try makeCache()
    await cache.store(entry(bytes(5000)), for: key("a"))
    server.change { $0.fields = [:] }
    #expect(await cache.entry(for: key("a")) == nil)
    #expect(cache.counts.damaged == 0 && server.paths.count == 1)
  }

  // MARK: Faults

  @Test
  func aBodyThatBreaksGoesOnWhereItEnded() async throws {
    let cache = try makeCache()
    let stored = entry(bytes(100_000))
    await cache.store(stored, for: key("a"))
    let path = try #require(server.paths.first)
    let object = try #require(server.state.withLock { $0.objects[path] })
    server.fail { exchange in
      let fields = object.fields + ["ETag": object.tag, "Content-Length": "100000"]
      exchange.sendHead(200, fields)
      exchange.send(object.body.prefix(40_000))
      exchange.reset()
    }
    #expect(await cache.entry(for: key("a")) == stored)
    let last = try #require(server.server.requests.last)
    // What the reset has left of the first part is not known.
    #expect(last["Range"] == nil || last["If-Match"] == object.tag)
    #expect(cache.counts.failures == 0)
  }

  @Test(arguments: ["503 SlowDown", "500 InternalError", "503 ServiceUnavailable"])
  func aBusyServerIsAskedAgain(fault: String) async throws {
    let cache = try makeCache()
    let parts = fault.split(separator: " ")
    let refusal = FakeS3.refusal(Int(parts[0]) ?? 0, String(parts[1]))
    server.fail(refusal, refusal)
    let stored = entry(bytes(1000))
    await cache.store(stored, for: key("a"))
    #expect(count == 3)
    server.fail(refusal, refusal)
    #expect(await cache.entry(for: key("a")) == stored)
    server.fail(refusal, refusal, refusal)
    #expect(await cache.entry(for: key("a")) == nil)
    #expect(cache.counts.failures == 1 && cache.lastFailure?.code == .unavailable)
    #expect(cache.lastFailure?.serviceCode == String(parts[1]))
  }

  @Test
  func theWaitBetweenAttemptsIsRandomAndItsMaximumDoubles() async throws {
    let clock = ManualClock()
    let client = try server.makeClient(clock: clock, random: 0.5) {
      ($0.retryDelay, $0.maxAttempts) = (.seconds(1), 4)
    }
    let cache = try S3DataCache(client, bucket: "thumbnails")
    let refusal = FakeS3.refusal(503, "SlowDown")
    server.fail(refusal, refusal, refusal)
    let read = Task { await cache.entry(for: key("a")) }
    for (number, milliseconds) in [500, 1000, 2000].enumerated() {
      // The deadline is the other one.
      await clock.pendingCount(reaches: 2)
      clock.advance(by: .milliseconds(milliseconds - 1))
      #expect(count == number + 1)
      clock.advance(by: .milliseconds(1))
    }
    _ = await read.value
    #expect(count == 4 && cache.counts.failures == 0)
  }

  @Test
  func aServerThatSaysNothingCostsTheDeadline() async throws {
    let clock = ManualClock()
    let cache = try S3DataCache(server.makeClient(clock: clock), bucket: "thumbnails")
    let gate = server.server.makeGate()
    server.fail { exchange in
      gate.wait()
      exchange.reset()
    }
    let read = Task { await cache.entry(for: key("a")) }
    await server.server.wait(forRequests: 1)
    await clock.pendingCount(reaches: 1)
    clock.advance(by: .seconds(5))
    #expect(await read.value == nil)
    #expect(cache.lastFailure?.code == .timedOut && cache.counts.failures == 1 && cache.counts.misses == 1)
    gate.open()
    #expect(clock.pendingCount == 0)
  }

  @Test
  func whoeverIsCancelledWaitsNoLongerAndIsNoFailure() async throws {
    let cache = try makeCache()
    let gate = server.server.makeGate()
    server.fail { exchange in
      gate.wait()
      exchange.reset()
    }
    let read = Task { await cache.entry(for: key("a")) }
    await server.server.wait(forRequests: 1)
    read.cancel()
    #expect(await read.value == nil)
    #expect(cache.counts.failures == 0)
    gate.open()
  }

  @Test
  func aServerThatIsGoneIsAMissAndComesBack() async throws {
    let cache = try makeCache { $0.maxAttempts = 2 }
    let reset: @Sendable (LoopbackExchange) -> Void = { $0.reset() }
    let stored = entry(bytes(100))
    await cache.store(stored, for: key("a"))
    // libcurl sends a request again by itself where a connection that it has kept is closed.
    server.fail(reset, reset, reset, reset)
    #expect(await cache.entry(for: key("a")) == nil)
    #expect(cache.lastFailure?.code == .transport)
    server.state.withLock { $0.faults = [] }
    #expect(await cache.entry(for: key("a")) == stored)
  }

  @Test
  func anEntryThatCannotBeStoredLeavesNoOlderOne() async throws {
    let cache = try makeCache { ($0.maxObjectBytes, $0.maxAttempts) = (1000, 1) }
    await cache.store(entry(bytes(900)), for: key("a"))
    let before = count
    await cache.store(entry(bytes(1001)), for: key("a"))
    // It is not sent at all.
    #expect(server.server.requests.dropFirst(before).map(\.method) == ["DELETE"])
    #expect(await cache.entry(for: key("a")) == nil)
    #expect(cache.counts.drops == 1 && cache.lastFailure?.code == .tooLarge)
    await cache.store(entry(bytes(900)), for: key("a"))
    server.fail(FakeS3.refusal(507, "InsufficientStorage"))
    await cache.store(entry(bytes(800)), for: key("a"))
    #expect(await cache.entry(for: key("a")) == nil)
  }

  @Test
  func anObjectLargerThanAllowedIsAMiss() async throws {
    let cache = try makeCache()
    await cache.store(entry(bytes(5000)), for: key("a"))
    let small = try makeCache { $0.maxObjectBytes = 1000 }
    #expect(await small.entry(for: key("a")) == nil)
    #expect(small.lastFailure?.code == .tooLarge)
  }

  @Test
  func noErrorHasASecret() async throws {
    let cache = try makeCache { $0.maxAttempts = 1 }
    let faults: [@Sendable (LoopbackExchange) -> Void] = [
      FakeS3.refusal(403, "AccessDenied"), FakeS3.refusal(404, "NoSuchBucket"), { $0.reset() },
    ]
    for fault in faults {
      server.fail(fault)
      _ = await cache.entry(for: key("a"))
      let error = try #require(cache.lastFailure)
      var dumped = ""
      dump(error, to: &dumped)
      for text in ["\(error)", dumped] { #expect(!text.contains("hush") && !text.contains("Signature=")) }
    }
    #expect(
      server.server.requests.allSatisfy {
        !$0.target.contains("hush") && $0["Authorization"]?.contains("hush") == false
      }
    )
  }
}
