import Testing
import Vitrine
import VitrineCaching
import VitrineHTTP
import VitrineImaging
import VitrineRuntime
import VitrineTestSupport
import VitrineTesting
import VitrineTiers

/// Downloads that broke off, or that nobody wanted any more, and others that go on from them.
@Suite(.patient)
struct ResumeTests {
  private let loader = FakeLoader()
  private let clock = ManualClock()
  private let folder: TemporaryFolder
  private let url = "https://example.org/a.png"
  /// 720,000 bytes of noise.
  private let file: Data

  init() throws {
    folder = try TemporaryFolder()
    file = try Bitmap.noise(width: 500, height: 480, seed: 1).encoded(as: .png)
  }

  private func makePipeline(
    on cache: any DataCaching,
    _ configure: (inout ImagePipeline.Configuration) -> Void = { _ in },
  ) -> ImagePipeline {
    let parts = PipelineParts()
    return .testing(parts) {
      $0.diskCache = cache
      $0.loader = loader
      $0.clock = clock
      configure(&$0)
    }
  }

  private func head(_ changes: HTTPFields = [:]) -> HTTPFields {
    var head: HTTPFields = ["ETag": "\"a\"", "Content-Length": "\(file.count)", "Cache-Control": "max-age=60"]
    for change in changes { head[change.name] = change.value.isEmpty ? nil : change.value }
    return head
  }

  private var request: ImageRequest { ImageRequest(url: url) }

  /// Breaks a download off, and waits until what came of it is kept.
  private func leave(
    _ count: Int = 600_000,
    in pipeline: ImagePipeline,
    _ changes: HTTPFields = [:],
    request: ImageRequest? = nil,
    isCancelled: Bool = false,
  ) async throws {
    let task = pipeline.imageTask(for: request ?? self.request)
    let load = try await loader.nextLoad(of: url)
    load.respond(headers: head(changes))
    for start in stride(from: 0, to: count, by: 100_000) {
      load.send(file[start..<min(start + 100_000, count)])
    }
    if isCancelled { task.cancel() } else { load.fail(.connectionLost) }
    await load.wait { $0.isEnded }
    await #expect(throws: LoadError.self) { try await task.image }
    await pipeline.cache.flush()
  }

  /// Answers with the rest.
  private func goOn(_ load: FakeLoad, from start: Int, _ changes: HTTPFields = [:]) {
    var fields = head(["Content-Length": "\(file.count - start)"])
    fields["Content-Range"] = "bytes \(start)-\(file.count - 1)/\(file.count)"
    for change in changes { fields[change.name] = change.value.isEmpty ? nil : change.value }
    load.respond(status: 206, headers: fields)
    load.send(file.dropFirst(start))
    load.finish()
  }

  /// The only entry.
  private func stored(in cache: any DataCaching) async -> CachedData? {
    let entries = await cache.entries()
    #expect(entries.count == 1)
    guard let key = entries.first?.key else { return nil }
    return await cache.entry(for: key)
  }

  private func expectWhole(_ image: Bitmap) throws {
    #expect(image.largestDifference(from: try Bitmap(decoding: file)) == 0)
  }

  // MARK: Going on

  @Test(arguments: [false, true])
  func aBrokenOrCancelledDownloadGoesOnWhereItEnded(isCancelled: Bool) async throws {
    let cache = try folder.cache(clock)
    let pipeline = makePipeline(on: cache)
    try await leave(in: pipeline, isCancelled: isCancelled)
    #expect(await cache.statistics().partials == 1)

    let task = pipeline.imageTask(for: request)
    let load = try await loader.nextLoad(of: url)
    #expect(load.request.headers["Range"] == "bytes=600000-")
    #expect(load.request.headers["If-Range"] == "\"a\"")
    goOn(load, from: 600_000)
    let response = try await task.response
    try expectWhole(response.image)
    #expect(response.status == 200)
    #expect(response.byteCount == file.count)
    #expect(loader.counts.loads == 2)

    // It has become an entry, as if it had come whole, and is known by all of its bytes.
    await pipeline.cache.flush()
    let stored = try #require(await stored(in: cache))
    #expect(stored.data == file)
    #expect(stored.contentID == ContentID(of: file))
    #expect(await cache.statistics().partials == 0)
    #expect(await cache.statistics().originals == 1)
    #expect(try await makePipeline(on: cache).imageTask(for: request).response.origin == .disk)
    #expect(loader.counts.loads == 2)
    await cache.close()
  }

  @Test(arguments: [true, false])
  func itOutlivesTheProcess(isClosed: Bool) async throws {
    let cache = try folder.cache(clock)
    let pipeline = makePipeline(on: cache)
    let copy = try TemporaryFolder()
    let other: DiskCache
    if isClosed {
      try await leave(in: pipeline)
      await cache.close()
      other = try folder.cache(clock)
    } else {
      // Killed in its middle: what has reached the file is there, and 256 KB at most are not.
      _ = pipeline.imageTask(for: request)
      let load = try await loader.nextLoad(of: url)
      load.respond(headers: head())
      load.send(file.prefix(300_000))
      // The disk begins a moment after the head has come, and takes what came meanwhile with what comes next.
      while await cache.statistics().bytes < 300_000 {
        try Task.checkCancellation()
        await Task.yield()
        guard load.status.taken < 600_000 else { break }
        load.send(file.dropFirst(load.status.taken).prefix(1000))
        await cache.flush()
      }
      try folder.copy(to: copy)
      other = try copy.cache(clock)
      #expect(await other.statistics().partials == 1)
      load.fail(.connectionLost)
    }
    let task = makePipeline(on: other).imageTask(for: request)
    let load = try await loader.nextLoad(of: url)
    let start = try #require(load.request.headers["Range"].flatMap { Int($0.dropFirst(6).dropLast()) })
    #expect(isClosed ? start == 600_000 : start >= 300_000)
    goOn(load, from: start)
    try expectWhole(try await task.image)
    await other.close()
    await cache.close()
    // Gone with its last reference.
    withExtendedLifetime(copy) {}
  }

  @Test
  func itMayBreakOffAgainAndAgain() async throws {
    let cache = try folder.cache(clock)
    let pipeline = makePipeline(on: cache)
    try await leave(100_000, in: pipeline)
    for start in stride(from: 100_000, to: 600_000, by: 100_000) {
      let task = pipeline.imageTask(for: request)
      let load = try await loader.nextLoad(of: url)
      #expect(load.request.headers["Range"] == "bytes=\(start)-")
      let range = "bytes \(start)-\(file.count - 1)/\(file.count)"
      load.respond(status: 206, headers: head(["Content-Range": range, "Content-Length": "\(file.count - start)"]))
      load.send(file[start..<start + 100_000])
      load.fail(.truncated)
      await #expect(throws: LoadError.self) { try await task.image }
      await pipeline.cache.flush()
    }
    let task = pipeline.imageTask(for: request)
    goOn(try await loader.nextLoad(of: url), from: 600_000)
    try expectWhole(try await task.image)
    await cache.close()
  }

  @Test
  func progressAndPreviewsBeginWithWhatIsThere() async throws {
    let cache = try folder.cache(clock)
    let pipeline = makePipeline(on: cache)
    try await leave(in: pipeline)
    let task = pipeline.imageTask(for: request)
    var events = task.events.makeAsyncIterator()
    let load = try await loader.nextLoad(of: url)
    let range = "bytes 600000-\(file.count - 1)/\(file.count)"
    load.respond(status: 206, headers: head(["Content-Range": range, "Content-Length": "\(file.count - 600_000)"]))
    guard case .progress(let progress) = await events.next() else {
      Issue.record("no progress")
      return
    }
    #expect(progress.completed == 600_000)
    #expect(progress.total == file.count)
    load.send(file.dropFirst(600_000))
    load.finish()
    try expectWhole(try await task.image)
    await cache.close()
  }

  @Test
  func whatBreaksOffAgainWithinOneLoadGoesOnFromThere() async throws {
    let cache = try folder.cache(clock)
    let pipeline = makePipeline(on: cache) { $0.retryPolicy = .exponential(random: { 0 }) }
    let first = makePipeline(on: cache)
    try await leave(in: first)
    let task = pipeline.imageTask(for: request)
    let load = try await loader.nextLoad(of: url)
    let range = "bytes 600000-\(file.count - 1)/\(file.count)"
    load.respond(status: 206, headers: head(["Content-Range": range, "Content-Length": "\(file.count - 600_000)"]))
    load.send(file[600_000..<650_000])
    load.fail(.truncated)
    await clock.pendingCount(reaches: 1)
    clock.advance(by: .seconds(1))
    let again = try await loader.nextLoad(of: url)
    #expect(again.request.headers["Range"] == "bytes=650000-\(file.count - 1)")
    goOn(again, from: 650_000)
    try expectWhole(try await task.image)
    #expect(loader.counts.loads == 3)
    await cache.close()
  }

  // MARK: Starting over

  @Test
  func aFileThatHasChangedStartsOver() async throws {
    let cache = try folder.cache(clock)
    let pipeline = makePipeline(on: cache)
    try await leave(in: pipeline)
    let newer = try Bitmap.noise(width: 500, height: 480, seed: 2).encoded(as: .png)
    let task = pipeline.imageTask(for: request)
    let load = try await loader.nextLoad(of: url)
    load.respond(with: FakeResponse(headers: ["ETag": "\"b\"", "Cache-Control": "max-age=60"], body: newer))
    #expect(try await task.image.largestDifference(from: Bitmap(decoding: newer)) == 0)
    await pipeline.cache.flush()
    #expect(await stored(in: cache)?.data == newer)
    #expect(await cache.statistics().partials == 0)
    #expect(loader.counts.loads == 2)
    await cache.close()
  }

  @Test
  func aServerWithoutRangesSendsItAnew() async throws {
    let cache = try folder.cache(clock)
    let pipeline = makePipeline(on: cache)
    try await leave(in: pipeline)
    let task = pipeline.imageTask(for: request)
    let load = try await loader.nextLoad(of: url)
    // Nor has it a tag any more.
    load.respond(with: FakeResponse(headers: ["Cache-Control": "max-age=60"], body: file))
    try expectWhole(try await task.image)
    await pipeline.cache.flush()
    #expect(await cache.statistics().partials == 0)
    #expect(await stored(in: cache)?.data == file)
    #expect(loader.counts.loads == 2)
    await cache.close()
  }

  /// What a server may answer that is not the rest of the same file.
  private static let strange: [(status: Int, changes: HTTPFields)] = [
    (416, ["Content-Range": "bytes */720000", "Content-Length": "0"]),
    (206, ["Content-Range": "bytes 599999-720000/720001"]), (206, ["Content-Range": "bytes 600000-700000/700001"]),
    (206, ["Content-Range": ""]), (206, ["Content-Range": "bytes 600000-"]), (206, ["ETag": "\"b\""]),
    (206, ["ETag": ""]), (206, ["ETag": "W/\"a\""]),
  ]

  @Test(arguments: 0..<8)
  func whatIsNotTheRestStartsOverOnce(number: Int) async throws {
    let (status, changes) = Self.strange[number]
    let cache = try folder.cache(clock)
    let pipeline = makePipeline(on: cache)
    try await leave(in: pipeline)
    let task = pipeline.imageTask(for: request)
    let load = try await loader.nextLoad(of: url)
    var fields = head(["Content-Range": "bytes 600000-\(file.count - 1)/\(file.count)"])
    for change in changes { fields[change.name] = change.value.isEmpty ? nil : change.value }
    load.respond(status: status, headers: fields)
    load.send(Data("?".utf8))
    load.finish()
    let whole = try await loader.nextLoad(of: url)
    #expect(whole.request.headers["Range"] == nil)
    #expect(whole.request.headers["If-Range"] == nil)
    whole.respond(with: FakeResponse(headers: head(), body: file))
    try expectWhole(try await task.image)
    #expect(loader.counts.loads == 3)
    await pipeline.cache.flush()
    #expect(await cache.statistics().partials == 0)
    #expect(await stored(in: cache)?.data == file)
    await cache.close()
  }

  @Test
  func aRestThatEndsEarlyIsAnErrorAndKeptForTheNext() async throws {
    let cache = try folder.cache(clock)
    let pipeline = makePipeline(on: cache)
    try await leave(in: pipeline)
    let task = pipeline.imageTask(for: request)
    let load = try await loader.nextLoad(of: url)
    load.respond(
      status: 206,
      headers: head(["Content-Range": "bytes 600000-649999/\(file.count)", "Content-Length": ""]),
    )
    load.send(file[600_000..<650_000])
    load.finish()
    let error = await #expect(throws: LoadError.self) { try await task.image }
    #expect((error?.cause as? HTTPError)?.code == .truncated)
    await pipeline.cache.flush()
    _ = pipeline.imageTask(for: request)
    #expect(try await loader.nextLoad(of: url).request.headers["Range"] == "bytes=650000-")
    await cache.close()
  }

  @Test
  func aPrefixThatIsDamagedIsNotGoneOnFrom() async throws {
    let cache = try folder.cache(clock)
    try await leave(in: makePipeline(on: cache))
    await cache.close()
    try folder.damage(".partial", at: 100)
    let other = try folder.cache(clock)
    let task = makePipeline(on: other).imageTask(for: request)
    let load = try await loader.nextLoad(of: url)
    #expect(load.request.headers["Range"] == nil)
    load.respond(with: FakeResponse(headers: head(), body: file))
    try expectWhole(try await task.image)
    await other.close()
  }

  /// A download is resumed by date where there is no tag at all (RFC 9110 8.8.2.2, 13.1.5).
  @Test(
    arguments: [
      ("Sun, 09 Sep 2001 01:46:39 GMT", "", true), ("Sun, 09 Sep 2001 01:46:40 GMT", "", false),
      ("Sun, 09 Sep 2001 01:46:39 GMT", "W/\"a\"", false), ("yesterday", "", false),
    ]
  )
  func withoutATagADateIsStrongEnoughIfItIsASecondOld(modified: String, tag: String, isResumed: Bool) async throws {
    let cache = try folder.cache(clock)
    let pipeline = makePipeline(on: cache)
    let fields: HTTPFields = ["ETag": tag, "Last-Modified": modified, "Date": "Sun, 09 Sep 2001 01:46:40 GMT"]
    try await leave(in: pipeline, fields)
    let task = pipeline.imageTask(for: request)
    let load = try await loader.nextLoad(of: url)
    #expect(load.request.headers["If-Range"] == (isResumed ? modified : nil))
    #expect(load.request.headers["Range"] == (isResumed ? "bytes=600000-" : nil))
    if isResumed {
      goOn(load, from: 600_000, fields)
    } else {
      load.respond(with: FakeResponse(headers: head(fields), body: file))
    }
    try expectWhole(try await task.image)
    await cache.close()
  }

  @Test(
    arguments: [["ETag": "\"b\""], ["Last-Modified": ""], ["Last-Modified": "Sun, 09 Sep 2001 01:46:38 GMT"]]
      as [HTTPFields]
  )
  func aRestOfAnotherDateIsNotGluedOn(changes: HTTPFields) async throws {
    let cache = try folder.cache(clock)
    let pipeline = makePipeline(on: cache)
    var fields: HTTPFields = [
      "ETag": "", "Last-Modified": "Sun, 09 Sep 2001 01:46:39 GMT", "Date": "Sun, 09 Sep 2001 01:46:40 GMT",
    ]
    try await leave(in: pipeline, fields)
    let task = pipeline.imageTask(for: request)
    let load = try await loader.nextLoad(of: url)
    for change in changes { fields[change.name] = change.value }
    goOn(load, from: 600_000, fields)
    let whole = try await loader.nextLoad(of: url)
    #expect(whole.request.headers["Range"] == nil)
    whole.respond(with: FakeResponse(headers: head(), body: file))
    try expectWhole(try await task.image)
    await cache.close()
  }

  @Test
  func aDownloadOfSixteenKilobytesIsResumedToo() async throws {
    let cache = try folder.cache(clock)
    let pipeline = makePipeline(on: cache)
    try await leave(16 << 10, in: pipeline)
    let task = pipeline.imageTask(for: request)
    let load = try await loader.nextLoad(of: url)
    #expect(load.request.headers["Range"] == "bytes=16384-")
    goOn(load, from: 16 << 10)
    try expectWhole(try await task.image)
    await cache.close()
  }

  // MARK: In memory

  private func makePipelineWithoutDisk() -> ImagePipeline {
    .testing {
      $0.diskCache = nil
      $0.loader = loader
      $0.clock = clock
    }
  }

  /// What goes on breaks off as well, and is answered by the whole, or by what does not fit and then by the rest.
  @Test(arguments: [200, 206, 416], [true, false])
  func aResumedDownloadThatBreaksOffTooComesWhole(status: Int, hasDisk: Bool) async throws {
    let cache = try folder.cache(clock)
    let pipeline = ImagePipeline.testing {
      $0.diskCache = hasDisk ? cache : nil
      $0.loader = loader
      $0.clock = clock
      $0.retryPolicy = RetryPolicy { $0.error.code == .timedOut ? .seconds(1) : nil }
    }
    try await leave(in: pipeline)
    let task = pipeline.imageTask(for: request)
    let second = try await loader.nextLoad(of: url)
    var fields = head(["Content-Length": "\(file.count - 600_000)"])
    fields["Content-Range"] = "bytes 600000-\(file.count - 1)/\(file.count)"
    second.respond(status: 206, headers: fields)
    second.send(file[600_000..<650_000])
    second.fail(.timedOut)
    await clock.pendingCount(reaches: 1)
    clock.advance(by: .seconds(1))

    let third = try await loader.nextLoad(of: url)
    #expect(third.request.headers["Range"] == "bytes=650000-\(file.count - 1)")
    if status == 200 {
      third.respond(with: FakeResponse(headers: head(["ETag": "\"b\""]), body: file))
    } else {
      third.respond(with: FakeResponse(status: status, headers: ["ETag": "\"b\""]))
      await clock.pendingCount(reaches: 1)
      clock.advance(by: .seconds(1))
      let fourth = try await loader.nextLoad(of: url)
      #expect(fourth.request.headers["Range"] == "bytes=600000-")
      goOn(fourth, from: 600_000)
    }
    let response = try await task.response
    try expectWhole(response.image)
    #expect(response.byteCount == file.count)
    #expect(loader.counts.loads == (status == 200 ? 3 : 4))
    await pipeline.cache.flush()
    if hasDisk { #expect(await stored(in: cache)?.data == file) }
    await cache.close()
  }

  @Test(arguments: [false, true])
  func withoutADiskTheBeginningIsKeptInMemory(isCancelled: Bool) async throws {
    let pipeline = makePipelineWithoutDisk()
    try await leave(in: pipeline, isCancelled: isCancelled)
    #expect(await pipeline.explain(request).partialByteCount == 600_000)

    let task = pipeline.imageTask(for: request)
    let load = try await loader.nextLoad(of: url)
    #expect(load.request.headers["Range"] == "bytes=600000-")
    #expect(load.request.headers["If-Range"] == "\"a\"")
    goOn(load, from: 600_000)
    let response = try await task.response
    try expectWhole(response.image)
    #expect(response.byteCount == file.count)
    #expect(await pipeline.explain(request).partialByteCount == 0)
  }

  @Test
  func whatIsInMemoryStartsOverLikeWhatIsOnDisk() async throws {
    let pipeline = makePipelineWithoutDisk()
    try await leave(in: pipeline)
    let task = pipeline.imageTask(for: request)
    goOn(try await loader.nextLoad(of: url), from: 600_000, ["ETag": "\"b\""])
    let whole = try await loader.nextLoad(of: url)
    #expect(whole.request.headers["Range"] == nil)
    whole.respond(with: FakeResponse(headers: head(), body: file))
    try expectWhole(try await task.image)
  }

  @Test
  func removedClearedOrADayOldItIsGone() async throws {
    let pipeline = makePipelineWithoutDisk()
    for way in 0..<3 {
      try await leave(in: pipeline)
      switch way {
      case 0: await pipeline.cache.remove(request)
      case 1: await pipeline.cache.removeAll()
      default: clock.advance(by: .seconds(86_400))
      }
      #expect(await pipeline.explain(request).partialByteCount == 0)
    }
    var request = request
    request.cacheAccess = .disk
    try await leave(in: pipeline, request: request)
    #expect(await pipeline.explain(self.request).partialByteCount == 0)
  }

  // MARK: What is kept

  @Test(
    arguments: [
      ["Cache-Control": "no-store"], ["ETag": "W/\"a\""], ["ETag": ""], ["Vary": "*"], ["Content-Length": "16000"],
    ] as [HTTPFields]
  )
  func whatNobodyCouldGoOnFromIsNotKept(changes: HTTPFields) async throws {
    let cache = try folder.cache(clock)
    let pipeline = makePipeline(on: cache)
    let isShort = changes["Content-Length"] != nil
    try await leave(isShort ? 15_000 : 600_000, in: pipeline, changes)
    #expect(await cache.statistics().partials == 0)
    _ = pipeline.imageTask(for: request)
    #expect(try await loader.nextLoad(of: url).request.headers["Range"] == nil)
    await cache.close()
  }

  @Test
  func aBodyWithoutALengthIsKeptToo() async throws {
    let cache = try folder.cache(clock)
    let pipeline = makePipeline(on: cache)
    try await leave(in: pipeline, ["Content-Length": ""])
    let task = pipeline.imageTask(for: request)
    goOn(try await loader.nextLoad(of: url), from: 600_000)
    try expectWhole(try await task.image)
    await cache.close()
  }

  @Test
  func whatIsWholeIsNeverAPart() async throws {
    let cache = try folder.cache(clock)
    let pipeline = makePipeline(on: cache)
    try await leave(file.count, in: pipeline)
    #expect(await cache.statistics().partials == 0)
    _ = pipeline.imageTask(for: request)
    #expect(try await loader.nextLoad(of: url).request.headers["Range"] == nil)
    await cache.close()
  }

  @Test
  func whatIsNoImageIsNotKept() async throws {
    let cache = try folder.cache(clock)
    let pipeline = makePipeline(on: cache)
    loader.answer(url, with: Data(repeating: 7, count: 720_000), headers: head())
    await #expect(throws: LoadError.self) { try await pipeline.image(for: request) }
    await pipeline.cache.flush()
    #expect(await cache.statistics().partials == 0)
    #expect(await cache.statistics().entries == 0)
    await cache.close()
  }

  @Test
  func answersToOthersAreNotMixed() async throws {
    let cache = try folder.cache(clock)
    let pipeline = makePipeline(on: cache)
    var (mine, yours, french) = (request, request, request)
    mine.headers = ["Authorization": "mine", "Accept-Language": "de"]
    yours.headers = ["Authorization": "yours", "Accept-Language": "de"]
    french.headers = ["Authorization": "mine", "Accept-Language": "fr"]
    try await leave(in: pipeline, ["Vary": "Accept-Language"], request: mine)
    for (other, range) in [(yours, nil), (french, nil), (mine, "bytes=600000-")] {
      let task = pipeline.imageTask(for: other)
      let load = try await loader.nextLoad(of: url)
      #expect(load.request.headers["Range"] == range)
      task.cancel()
      await load.wait { $0.isEnded }
      await pipeline.cache.flush()
    }
    await cache.close()
  }

  @Test
  func whatIsStoredAndOldIsConfirmedEvenIfANewerOneHasBrokenOff() async throws {
    let cache = try folder.cache(clock)
    let pipeline = makePipeline(on: cache)
    let older = try Bitmap.noise(width: 500, height: 480, seed: 3).encoded(as: .png)
    loader.answer(url, with: older, headers: ["ETag": "\"old\"", "Cache-Control": "max-age=60"])
    _ = try await pipeline.image(for: request)
    _ = try await loader.nextLoad(of: url)
    loader.removeAnswer(url)
    await pipeline.cache.flush()
    clock.advance(by: .seconds(200_000))
    try await leave(in: pipeline)
    #expect(await stored(in: cache)?.data == older)

    let task = pipeline.imageTask(for: request)
    let load = try await loader.nextLoad(of: url)
    #expect(load.request.headers["If-None-Match"] == "\"old\"")
    #expect(load.request.headers["Range"] == "bytes=600000-")
    goOn(load, from: 600_000)
    try expectWhole(try await task.image)
    await pipeline.cache.flush()
    #expect(await stored(in: cache)?.data == file)
    await cache.close()
  }

  @Test
  func inFrontOfTheDiskATierOfMemoryHasTheWholeToo() async throws {
    let disk = try folder.cache(clock)
    let memory = CountingDataCache()
    let cache = TieredDataCache([.local(memory), .local(disk)])
    let pipeline = makePipeline(on: cache)
    try await leave(in: pipeline)
    let task = pipeline.imageTask(for: request)
    goOn(try await loader.nextLoad(of: url), from: 600_000)
    try expectWhole(try await task.image)
    await pipeline.cache.flush()
    #expect(await stored(in: memory)?.data == file)
    #expect(await stored(in: disk)?.data == file)
    #expect(await disk.statistics().partials == 0)
    await disk.close()
  }

  // MARK: Over the network

  @Test
  func overLibcurlTheServerSendsOnlyTheRest() async throws {
    let server = try LoopbackServer()
    let gate = server.makeGate()
    let file = file
    let isBroken = Lock(true)
    server.route("/a.png") { exchange in
      guard isBroken.withLock({ $0 }) else {
        exchange.respond(LoopbackResponse(headers: ["Cache-Control": "max-age=60"], body: file, entityTag: "\"a\""))
        return
      }
      exchange.sendHead(
        200,
        ["ETag": "\"a\"", "Content-Length": "\(file.count)", "Cache-Control": "max-age=60"],
      )
      exchange.send(file.prefix(600_000))
      gate.wait()
    }
    let curl = PatientLoader()
    let cache = try folder.cache(clock)
    let pipeline = makePipeline(on: cache) { $0.loader = curl }
    let request = ImageRequest(url: server.url("/a.png"))
    let task = pipeline.imageTask(for: request)
    // Read, since a last small piece is not told of.
    try await until { task.progress.completed >= 600_000 }
    task.cancel()
    await server.wait { $0.openConnections == 0 || $0.running == 1 }
    isBroken.withLock { $0 = false }
    gate.open()
    try await until {
      await pipeline.cache.flush()
      return await cache.partial(for: request.fetchKey)?.count == 600_000
    }
    try expectWhole(try await pipeline.image(for: request))
    #expect(server.requests.map { $0["Range"] } == [nil, "bytes=600000-"])
    #expect(server.requests.last?["If-Range"] == "\"a\"")
    await cache.close()
  }
}

extension TemporaryFolder {
  /// Changes a byte of every file whose name ends so.
  func damage(_ suffix: String, at place: Int) throws {
    let names = try FileManager.default.subpathsOfDirectory(atPath: path).filter { $0.hasSuffix(suffix) }
    #expect(!names.isEmpty)
    for name in names {
      var data = try Data(contentsOf: file(name))
      data[place] ^= 1
      try write(data, to: name)
    }
  }
}
