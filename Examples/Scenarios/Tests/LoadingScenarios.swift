import Testing
import Vitrine
import VitrineTesting

/// Loads, and those who wait for them.
@Suite(.timeLimit(.minutes(5)))
struct LoadingScenarios {
  private let setting: Setting
  private let pipeline: ImagePipeline

  init() throws {
    setting = try Setting()
    pipeline = ImagePipeline.testing(setting.parts)
  }

  @Test
  func aLoadCallsBack() async throws {
    let request = ImageRequest(url: setting.cat)
    let result = await withCheckedContinuation { done in
      pipeline.loadImage(for: request) { done.resume(returning: $0) }
    }
    #expect(try result.get().origin == .network)
  }

  @Test
  @MainActor
  func aLoadCallsBackOnTheMainActor() async throws {
    var result: Result<ImageResponse, LoadError>?
    let (done, continuation) = AsyncStream<Void>.makeStream()
    pipeline.loadImage(for: ImageRequest(url: setting.cat), on: MainActor.shared) {
      result = $0
      continuation.finish()
    }
    for await _ in done {}
    #expect(try result?.get().image.width == 320)
  }

  @Test
  func aHitCallsBackBeforeTheCallReturns() async throws {
    _ = try await pipeline.image(for: setting.cat)
    await confirmation { called in
      _ = pipeline.loadImage(for: ImageRequest(url: setting.cat)) { result in
        if case .success(let response) = result, response.origin == .memory { called() }
      }
    }
  }

  @Test
  func aLoadIsASequenceOfEvents() async throws {
    let task = pipeline.imageTask(for: setting.slow)
    let load = try await setting.loader.nextLoad(of: setting.slow)
    load.respond(headers: ["Content-Length": "\(setting.bytes.count)"])
    load.send(setting.bytes.prefix(setting.bytes.count / 2))
    for await event in task.events {
      if case .progress(let progress) = event, progress.fraction >= 0.49 { break }
    }
    load.send(setting.bytes.dropFirst(setting.bytes.count / 2))
    load.finish()
    for await case .finished(let result) in task.events { #expect(try result.get().image.width == 320) }
  }

  @Test
  func equalRequestsShareOneLoad() async throws {
    let tasks = (1...3).map { _ in pipeline.imageTask(for: setting.slow) }
    let load = try await setting.loader.nextLoad(of: setting.slow)
    load.respond(with: setting.response)
    for task in tasks { #expect(try await task.image.width == 320) }
    #expect(setting.loader.counts.loads == 1)
  }

  @Test
  func aCallerThatLeavesDoesNotStopTheOthers() async throws {
    let leaving = pipeline.imageTask(for: setting.slow)
    let staying = pipeline.imageTask(for: setting.slow)
    let load = try await setting.loader.nextLoad(of: setting.slow)
    leaving.cancel()
    let error = await #expect(throws: LoadError.self) { try await leaving.image }
    #expect(error?.isCancellation == true)
    load.respond(with: setting.response)
    #expect(try await staying.image.width == 320)
  }

  @Test
  func anImageIsLoadedCancelledAndClearedByURL() async throws {
    let task = pipeline.imageTask(for: setting.slow)
    let load = try await setting.loader.nextLoad(of: setting.slow)
    pipeline.cancel(for: ImageRequest(url: setting.slow))
    await load.wait { $0.isCancelled }
    await #expect(throws: LoadError.self) { try await task.image }
    _ = try await pipeline.image(for: setting.cat)
    await pipeline.cache.remove(setting.cat)
    #expect(await pipeline.cache.contains(setting.cat) == false)
  }

  @Test
  func prefetchedImagesAreInMemory() async throws {
    let requests = [setting.cat, setting.missing, setting.dog].map { ImageRequest(url: $0, size: .pixels(100)) }
    let prefetcher = ImagePrefetcher(pipeline)
    _ = await prefetcher.load(requests)
    #expect(requests.map { pipeline.cachedImage(for: $0)?.image.width } == [100, nil, 100])
    #expect(prefetcher.statistics.failed == 1)
  }

  @Test
  func aPrefetchSharesItsLoadWithACaller() async throws {
    let prefetcher = ImagePrefetcher(pipeline)
    prefetcher.start([setting.slow])
    let load = try await setting.loader.nextLoad(of: setting.slow)
    #expect(load.status.priority == .low)
    let task = pipeline.imageTask(for: ImageRequest(url: setting.slow, priority: .high))
    await load.wait { $0.priority == .high }
    prefetcher.stopAll()
    load.respond(with: setting.response)
    #expect(try await task.image.width == 320)
  }

  @Test
  func aTapRaisesThePriorityOfARunningLoad() async throws {
    let task = pipeline.imageTask(for: ImageRequest(url: setting.slow, priority: .low))
    let load = try await setting.loader.nextLoad(of: setting.slow)
    task.priority = .veryHigh
    await load.wait { $0.priorities == [.low, .veryHigh] }
    load.respond(with: setting.response)
    #expect(try await task.image.width == 320)
  }

  @Test
  func aFailureThatMayPassIsRetried() async throws {
    let pipeline = ImagePipeline.testing(setting.parts) { $0.retryPolicy = .exponential(maxAttempts: 3) }
    let task = pipeline.imageTask(for: setting.slow)
    for _ in 1...2 {
      try await setting.loader.nextLoad(of: setting.slow).respond(with: FakeResponse(status: 503))
      await setting.parts.clock.pendingCount(reaches: 1)
      setting.parts.clock.advance(by: .seconds(1))
    }
    try await setting.loader.nextLoad(of: setting.slow).respond(with: setting.response)
    #expect(try await task.image.width == 320)
  }

  @Test
  func aBrokenDownloadContinuesAfterARestart() async throws {
    let (url, folder) = (try setting.makeBreakingURL(), Folder())
    let first = try Program(setting, folder)
    await #expect(throws: LoadError.self) { try await first.pipeline.image(for: url) }
    await first.quit()
    let second = try Program(setting, folder)
    #expect(try await second.pipeline.image(for: url).width == 320)
    #expect(setting.loader.requests.map { $0.headers["Range"] != nil } == [false, true])
    await second.quit()
  }

  @Test
  func aStaleImageIsRevalidatedWithStatus304() async throws {
    let pipeline = ImagePipeline.testing(setting.parts)
    _ = try await pipeline.image(for: setting.cat)
    setting.parts.clock.advance(by: .seconds(3601))
    #expect(pipeline.cachedImage(for: ImageRequest(url: setting.cat))?.isStale == true)
    #expect(try await pipeline.imageTask(for: setting.cat).response.origin == .revalidated)
    #expect(setting.loader.requests.last?.headers["If-None-Match"] == "\"1\"")
  }

  @Test(arguments: [400, 403, 404, 410, 500])
  func anyStatusButSuccessFails(status: Int) async throws {
    setting.loader.answer(setting.cat.absoluteString, FakeResponse(status: status, body: setting.bytes))
    let error = await #expect(throws: LoadError.self) { try await pipeline.image(for: setting.cat) }
    #expect(error?.code == .badStatus)
    #expect(error?.status == status)
  }

  @Test(arguments: ["", "cat.jpg", "not a URL", "https://", "ftp://images.invalid/cat.jpg"])
  func textThatIsNoURLFails(text: String) async throws {
    let error = await #expect(throws: LoadError.self) { try await pipeline.image(for: ImageRequest(url: text)) }
    #expect(error?.code == .invalidURL)
    #expect(setting.loader.requests.isEmpty)
  }
}
