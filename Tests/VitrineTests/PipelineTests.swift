import Testing
import Vitrine
import VitrineCaching
import VitrineImaging
import VitrineRuntime
import VitrineTestSupport
import VitrineTesting

@Suite(.patient)
struct PipelineTests {
  private let picture = TestPicture.bitmap
  private let file = TestPicture.png
  private let source = GatedSource()
  private let decoder = CountingDecoder()
  private let memory = MemoryCache<CachedImage>(costLimit: 10 << 20)
  private let pipeline: ImagePipeline

  init() {
    pipeline = ImagePipeline(.ephemeral) { [decoder, memory] in
      $0.memoryCache = memory
      $0.memoryPressure = nil
      $0.decoders = DecoderRegistry([decoder])
    }
  }

  @Test
  func twoHundredCallersOfOneImageMakeOneFetchAndOneDecode() async throws {
    let request = ImageRequest(source.source)
    let tasks = (0..<200).map { _ in pipeline.imageTask(for: request) }
    source.open(file)

    for task in tasks { #expect(try await task.image.psnr(against: picture) == .infinity) }

    #expect(source.count == 1)
    #expect(decoder.decodes.count == 1)
    #expect(pipeline.loadCount == 0)
  }

  @Test
  func tenSizesOfOneImageMakeOneFetchAndTenRightSizes() async throws {
    let tasks = (1...10).map { side in
      pipeline.imageTask(for: ImageRequest(source.source, size: .pixels(Double(side * 4), Double(side * 3), .exact)))
    }
    source.open(file)

    for (index, task) in tasks.enumerated() {
      let image = try await task.image
      #expect(image.width == (index + 1) * 4)
      #expect(image.height == (index + 1) * 3)
    }

    #expect(source.count == 1)
    #expect(decoder.decodes.count == 10)
  }

  @Test
  func cancellingTheFirstOfTwoLeavesTheSecond() async throws {
    let request = ImageRequest(source.source)
    let first = pipeline.imageTask(for: request)
    let second = pipeline.imageTask(for: request)
    await source.hasBegun()
    first.cancel()
    source.open(file)

    #expect(try await second.image.width == 64)
    let error = await #expect(throws: LoadError.self) { try await first.image }
    #expect(error?.isCancellation == true)
    #expect(source.count == 1)
  }

  @Test
  func cancelledAndAskedForAgainItComes() async throws {
    let request = ImageRequest(source.source)
    pipeline.imageTask(for: request).cancel()
    let second = pipeline.imageTask(for: request)
    source.open(file)
    #expect(try await second.image.width == 64)
  }

  @Test
  func fiftyCancelledAtOnceAllEndAndLeaveNoJob() async {
    let request = ImageRequest(source.source)
    let tasks = (0..<50).map { _ in pipeline.imageTask(for: request) }
    await withTaskGroup(of: Void.self) { group in
      for task in tasks {
        group.addTask {
          let error = await #expect(throws: LoadError.self) { try await task.image }
          #expect(error?.isCancellation == true)
        }
        group.addTask { task.cancel() }
      }
    }
    #expect(pipeline.loadCount == 0)
  }

  @Test
  func cancellingTheAwaitingTaskEndsTheWaitAtOnce() async {
    let request = ImageRequest(source.source)
    let waiting = Task { try await pipeline.image(for: request) }
    await source.hasBegun()
    waiting.cancel()
    let result = await waiting.result
    #expect(throws: LoadError.self) { try result.get() }
    #expect(pipeline.loadCount == 0)
  }

  @Test
  func everyCallerOfAFailingImageGetsOneErrorAndOneFetchIsMade() async {
    struct Gone: Error {}
    let request = ImageRequest(source.source)
    let tasks = (0..<10).map { _ in pipeline.imageTask(for: request) }
    source.fail(Gone())

    for task in tasks {
      let error = await #expect(throws: LoadError.self) { try await task.image }
      #expect(error?.code == .unreadable)
      #expect(error?.stage == .fetch)
      #expect(error?.cause is Gone)
    }

    #expect(source.count == 1)
    #expect(pipeline.loadCount == 0)
  }

  @Test
  func whatDoesNotDecodeIsAnErrorThatNamesTheSource() async {
    source.open(Data("<html>".utf8))
    let error = await #expect(throws: LoadError.self) { try await pipeline.image(for: ImageRequest(source.source)) }
    #expect(error?.code == .undecodable)
    #expect(error?.stage == .decode)
    #expect(error?.description == "source 'picture': decode: not an image: it looks like an HTML page")
    #expect(pipeline.loadCount == 0)
  }

  @Test
  func aLoadedImageIsThereWithoutWaiting() async throws {
    let request = ImageRequest(source.source)
    #expect(pipeline.cachedImage(for: request) == nil)
    source.open(file)
    _ = try await pipeline.image(for: request)

    let hit = try #require(pipeline.cachedImage(for: request))
    #expect(hit.origin == .memory)
    #expect(hit.isStale == false)
    _ = try await pipeline.image(for: request)
    #expect(source.count == 1)
    #expect(decoder.decodes.count == 1)
  }

  @Test
  func reloadAsksAgainAlthoughItIsInMemory() async throws {
    var request = ImageRequest(source.source)
    source.open(file)
    _ = try await pipeline.image(for: request)
    request.cachePolicy = .reload
    #expect(pipeline.cachedImage(for: request) == nil)
    _ = try await pipeline.image(for: request)
    #expect(source.count == 2)
  }

  @Test
  func processorsRunOnceAndShareTheirFirstSteps() async throws {
    let (a, b) = (Counter(), Counter())
    let one = pipeline.imageTask(for: ImageRequest(source.source, processors: [a.processor("a")]))
    let both = pipeline.imageTask(
      for: ImageRequest(source.source, processors: [a.processor("a"), b.processor("b")])
    )
    source.open(file)
    _ = try await (one.image, both.image)

    #expect(a.count == 1)
    #expect(b.count == 1)
    #expect(decoder.decodes.count == 1)
  }

  @Test
  func anIntermediateInMemoryIsTakenAndOnlyTheRestRuns() async throws {
    let (a, b) = (Counter(), Counter())
    source.open(file)
    _ = try await pipeline.image(for: ImageRequest(source.source, processors: [a.processor("a")]))
    _ = try await pipeline.image(for: ImageRequest(source.source, processors: [a.processor("a"), b.processor("b")]))
    #expect(a.count == 1)
    #expect(b.count == 1)
    #expect(source.count == 1)
  }

  @Test
  func theFirstProcessorThatFailsStopsTheRestAndIsNamed() async {
    struct Torn: Error {}
    let after = Counter()
    source.open(file)
    let request = ImageRequest(
      source.source,
      processors: [.custom(id: "tear") { _ in throw Torn() }, after.processor("after")],
    )
    let error = await #expect(throws: LoadError.self) { try await pipeline.image(for: request) }
    #expect(error?.code == .processingFailed)
    #expect(error?.detail.hasPrefix("custom(tear): ") == true)
    #expect(after.count == 0)
  }

  @Test
  func dataAndImageOfOneSourceAreFetchedOnce() async throws {
    let request = ImageRequest(source.source)
    let image = pipeline.imageTask(for: request)
    async let data = pipeline.data(for: request)
    await source.hasBegun()
    source.open(file)
    #expect(try await data == file)
    #expect(try await image.image.width == 64)
    #expect(source.count <= 2)
  }

  @Test
  func eventsEndWithTheImageForEveryStreamAndForLateOnes() async throws {
    let task = pipeline.imageTask(for: ImageRequest(source.source))
    let early = task.events
    source.open(file)
    _ = try await task.image
    for stream in [early, task.events] {
      var last: ImageEvent?
      for await event in stream { last = event }
      guard case .finished(.success(let response)) = last else {
        Issue.record("no end: \(String(describing: last))")
        continue
      }
      #expect(response.image.width == 64)
    }
  }

  @Test
  func withoutCoalescingEveryoneFetches() async throws {
    let pipeline = ImagePipeline(.ephemeral) { $0.isCoalescingEnabled = false }
    let tasks = (0..<3).map { _ in pipeline.imageTask(for: ImageRequest(source.source)) }
    source.open(file)
    for task in tasks { _ = try await task.image }
    #expect(source.count == 3)
  }

  @Test
  func aFileIsReadAndAMissingOneSaysSo() async throws {
    let folder = try TemporaryFolder()
    let path = folder.file("a.png").path
    try file.write(to: URL(filePath: path))

    #expect(try await pipeline.image(for: ImageRequest(.file(path))).psnr(against: picture) == .infinity)
    let error = await #expect(throws: LoadError.self) {
      try await pipeline.image(for: ImageRequest(.file(path + ".gone")))
    }
    #expect(error?.description == "\(path).gone: fetch: No such file or directory")
  }

  @Test
  func textThatIsNoAddressFailsAsSuch() async {
    let error = await #expect(throws: LoadError.self) { try await pipeline.image(for: ImageRequest(url: "not a url")) }
    #expect(error?.code == .invalidURL)
    #expect(error?.stage == .request)
  }

  @Test
  func whatIsSharedIsKeptApartByScopeHeadersSizeAndFrame() {
    let plain = ImageRequest(url: "https://example.org/a.jpg")
    var others = [plain, plain, plain, plain, plain]
    others[0].cachePartition = "ann"
    others[1].headers["Authorization"] = "Basic eDp5"
    others[2].size = .pixels(10, 10)
    others[3].frame = 1
    others[4].quality = .best
    let keys = ([plain] + others).map(\.imageKey)
    #expect(Set(keys).count == keys.count)

    var sameHeaders = plain
    sameHeaders.headers["X-Trace"] = "1"
    #expect(sameHeaders.imageKey == plain.imageKey)
    sameHeaders.significantHeaders = ["x-trace"]
    #expect(sameHeaders.imageKey != plain.imageKey)
  }
}
