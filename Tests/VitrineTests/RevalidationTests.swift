import Testing
import Vitrine
import VitrineCaching
import VitrineHTTP
import VitrineImaging
import VitrineRuntime
import VitrineTestSupport
import VitrineTesting

/// What is stale may be served while its server is asked behind it, and the answer to one request is none to another.
@Suite(.patient)
struct RevalidationTests {
  private static let url = "https://example.org/a.png"
  private let parts = PipelineParts()
  private let file = TestPicture.png
  private let newer: Data
  private let pipeline: ImagePipeline
  private let request = ImageRequest(url: url, size: .pixels(32, 32))

  init() throws {
    newer = try Bitmap.testPattern(width: 48, height: 64).encoded(as: .png)
    pipeline = .testing(parts)
  }

  private func load() async throws -> FakeLoad { try await parts.loader.nextLoad(of: Self.url) }

  /// Stores an image that is fresh for a minute and usable for another while it is revalidated, and lets 70 seconds
  /// pass.
  private func makeStale() async throws {
    let headers: HTTPFields = ["Cache-Control": "max-age=60, stale-while-revalidate=60", "ETag": "\"1\""]
    parts.loader.answer(Self.url, with: file, headers: headers)
    _ = try await pipeline.image(for: request)
    _ = try await load()
    await parts.diskCache.wait(forWrites: 1)
    parts.loader.removeAnswer(Self.url)
    parts.clock.advance(by: .seconds(70))
  }

  @Test
  func whatIsStaleIsServedAtOnceAndTheServerAskedBehindIt() async throws {
    try await makeStale()

    let served = try await pipeline.imageTask(for: request).response
    #expect(served.origin == .memory)
    #expect(served.isStale)

    let load = try await load()
    #expect(load.request.headers["If-None-Match"] == "\"1\"")
    #expect(load.request.priority == .low)
    load.respond(status: 304, headers: ["Cache-Control": "max-age=60"])
    load.finish()
    #expect(pipeline.cachedImage(for: request)?.isStale == false)
    #expect(pipeline.loadCount == 0)
  }

  @Test
  func howeverManyAreServedTheServerIsAskedOnce() async throws {
    try await makeStale()

    try await withThrowingTaskGroup { group in
      for _ in 0..<50 { group.addTask { _ = try await pipeline.image(for: request) } }
      try await group.waitForAll()
    }

    let load = try await load()
    #expect(parts.loader.counts.loads == 2)
    load.fail(.connectionLost)
    #expect(pipeline.loadCount == 0)
    // And again, now that it has failed.
    _ = try await pipeline.image(for: request)
    try await self.load().fail(.connectionLost)
  }

  @Test
  func whatIsNewReplacesWhatWasServed() async throws {
    try await makeStale()
    #expect(try await pipeline.image(for: request).width == 32)

    try await load().respond(with: FakeResponse(headers: ["Cache-Control": "max-age=60"], body: newer))
    await parts.diskCache.wait(forWrites: 2)
    // The bytes are written before their image is in memory.
    try await settled()

    let now = try #require(pipeline.cachedImage(for: request))
    #expect(!now.isStale)
    #expect(now.image.height == 32)
  }

  @Test
  func whatIsNoImageReplacesNothing() async throws {
    try await makeStale()
    _ = try await pipeline.image(for: request)

    try await load().respond(with: FakeResponse(body: Data("<html>".utf8)))
    try await settled()

    #expect(pipeline.cachedImage(for: request)?.image.width == 32)
    #expect(parts.diskCache.counts.writes == 1)
  }

  /// Waits until the decode queue has done what it was given.
  private func settled() async throws {
    let other = ImageRequest(.data(file, id: "other"), size: .pixels(8, 8))
    while pipeline.loadCount > 0 { _ = try await pipeline.imageTask(for: other).image }
  }

  @Test
  func afterARestartItIsServedFromDiskTheSameWay() async throws {
    try await makeStale()
    let pipeline = ImagePipeline.testing(parts)

    let served = try await pipeline.imageTask(for: request).response

    #expect(served.origin == .disk)
    #expect(served.isStale)
    let load = try await load()
    load.respond(status: 304, headers: ["Cache-Control": "max-age=60"])
    load.finish()
    #expect(pipeline.cachedImage(for: request)?.isStale == false)
  }

  @Test
  func bytesAreServedAndAskedForTheSameWay() async throws {
    try await makeStale()

    #expect(try await pipeline.data(for: request) == file)

    try await load().respond(with: FakeResponse(headers: ["Cache-Control": "max-age=60"], body: Data("text".utf8)))
    await parts.diskCache.wait(forWrites: 2)
    #expect(try await pipeline.data(for: request) == Data("text".utf8))
    #expect(parts.loader.counts.loads == 2)
  }

  @Test
  func whenItsTimeIsOverItIsWaitedFor() async throws {
    try await makeStale()
    parts.clock.advance(by: .seconds(60))
    let task = pipeline.imageTask(for: request)

    let load = try await load()
    load.respond(status: 304, headers: ["Cache-Control": "max-age=60"])
    load.finish()

    #expect(try await task.response.origin == .revalidated)
  }

  @Test
  func cancellingWhoWasServedDoesNotStopTheQuestion() async throws {
    try await makeStale()
    let task = pipeline.imageTask(for: request)
    _ = try await task.response
    task.cancel()

    let load = try await load()
    #expect(!load.status.isCancelled)
    load.respond(status: 304)
    load.finish()
  }

  @MainActor
  private final class View: ImageDisplay {
    private(set) var images: [ImageResponse] = []
    private(set) var contents = 0

    func show(_ content: ImageSlot.Content) {
      contents += 1
      if case .image(let response, _) = content { images.append(response) }
    }
  }

  @MainActor
  private func makeSlot(_ pipeline: ImagePipeline) -> (ImageSlot, View, () async -> Void) {
    let delivered = AsyncStream<Void>.makeStream()
    let mailbox = FrameMailbox { mailbox in
      Task { @MainActor in
        mailbox.deliver()
        delivered.continuation.yield()
      }
    }
    let slot = ImageSlot(pipeline: pipeline, mailbox: mailbox)
    let view = View()
    slot.display = view
    return (slot, view, { for await _ in delivered.stream { return } })
  }

  @MainActor
  @Test(arguments: [true, false])
  func aSlotShowsWhatIsStaleAndThenWhatIsNewIfItChanged(isInMemory: Bool) async throws {
    for (body, count) in [(file, 1), (newer, 2)] {
      parts.loader.removeAnswer(Self.url)
      await parts.diskCache.removeAll()
      let writes = parts.diskCache.counts.writes
      parts.loader.answer(
        Self.url,
        with: file,
        headers: ["Cache-Control": "max-age=60, stale-while-revalidate=60", "ETag": "\"1\""],
      )
      let first = ImagePipeline.testing(parts)
      _ = try await first.image(for: request)
      _ = try await load()
      await parts.diskCache.wait(forWrites: writes + 1)
      parts.loader.removeAnswer(Self.url)
      parts.clock.advance(by: .seconds(70))
      let second = isInMemory ? first : .testing(parts)
      let (slot, view, delivered) = makeSlot(second)

      slot.load(request)
      while view.images.isEmpty { await delivered() }
      #expect(view.images.last?.isStale == true)
      try await load().respond(
        with: FakeResponse(headers: ["Cache-Control": "max-age=60", "ETag": "\"2\""], body: body)
      )
      await delivered()

      #expect(view.images.count == count)
      #expect(view.images.last?.image.height == (count == 1 ? 24 : 32))
      // Nothing of it is written in the next round.
      await second.cache.flush()
    }
  }

  // MARK: Vary

  private func request(_ language: String) -> ImageRequest {
    var request = request
    request.headers["Accept-Language"] = language
    return request
  }

  private func answerByLanguage() {
    parts.loader.answer(Self.url) { [file, newer] request in
      FakeResponse(
        headers: ["Cache-Control": "max-age=60", "Vary": "Accept-Language"],
        body: request.headers["Accept-Language"] == "de" ? file : newer,
      )
    }
  }

  @Test
  func anAnswerThatVariesIsForThoseWhoAskTheSameWay() async throws {
    answerByLanguage()
    #expect(try await pipeline.image(for: request("de")).width == 32)
    await parts.diskCache.wait(forWrites: 1)

    #expect(pipeline.cachedImage(for: request("en")) == nil)
    #expect(try await pipeline.image(for: request("en")).height == 32)
    #expect(try await ImagePipeline.testing(parts).imageTask(for: request("en")).response.image.height == 32)
    #expect(pipeline.cachedImage(for: request("en"))?.image.height == 32)
  }

  @Test
  func askedForAtOnceEachHasItsOwn() async throws {
    let (german, english) = (pipeline.imageTask(for: request("de")), pipeline.imageTask(for: request("en")))
    for _ in 0..<2 {
      let load = try await load()
      let isGerman = load.request.headers["Accept-Language"] == "de"
      load.respond(with: FakeResponse(headers: ["Vary": "accept-language"], body: isGerman ? file : newer))
    }
    #expect(try await german.image.width == 32)
    #expect(try await english.image.height == 32)
  }

  @Test
  func headersThatNothingVariesByShareWhatIsStored() async throws {
    parts.loader.answer(Self.url, with: file, headers: ["Cache-Control": "max-age=60", "Vary": "Accept"])
    _ = try await pipeline.image(for: request("de"))

    #expect(try await pipeline.imageTask(for: request("en")).response.origin == .memory)
    #expect(parts.loader.counts.loads == 1)
  }
}
