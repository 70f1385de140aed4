import Testing
import VitrineCaching
import VitrineHTTP
import VitrineImaging
import VitrineRuntime
import VitrineTestSupport
import VitrineTesting

@testable import Vitrine

/// What a caller may count on however many others there are.
@Suite(.patient)
struct PromiseTests {
  private static let url = "https://example.org/0"
  private let parts = PipelineParts()
  private let pipeline: ImagePipeline
  private let file = Pictures.file(0, 1)
  private let request = ImageRequest(url: url)

  init() {
    pipeline = .testing(parts)
  }

  private func load() async throws -> FakeLoad { try await parts.loader.nextLoad(of: Self.url) }

  @Test
  func requestsOfOtherFreshnessShareNoWork() async throws {
    var anew = request
    anew.cachePolicy = .reload
    let tasks = [pipeline.imageTask(for: request), pipeline.imageTask(for: anew)]
    // Both, before there is anything on disk that could answer the one.
    let loads = [try await load(), try await load()]
    for load in loads { load.respond(with: FakeResponse(body: file)) }
    for task in tasks { #expect(try await task.image.width == 16) }
    #expect(parts.loader.counts.loads == 2)
  }

  @Test
  func whoWantsTheBytesAndWhoWantsTheImageShareOneDownload() async throws {
    let task = pipeline.imageTask(for: request)
    let events = task.events
    let load = try await load()
    let bytes = pipeline.dataTask(for: request)
    load.respond(headers: ["Content-Length": "\(file.count)"])
    load.send(file)
    load.finish()

    #expect(try await bytes.data == file)
    #expect(try await task.image.width == 16)
    #expect(parts.loader.counts.loads == 1)
    #expect(await events.contains { if case .progress = $0 { true } else { false } })
  }

  @Test
  func twoHundredWhoComeOneAfterTheOtherGetOneErrorEachFromOneRequest() async throws {
    let ends = Watched<[Int: Int]>([:])
    func ask(_ numbers: Range<Int>) -> [ImageTask] {
      numbers.map { number in
        pipeline.loadImage(for: request) { result in
          guard case .failure(let error) = result, error.code == .fetchFailed else { return }
          ends.change { $0[number, default: 0] += 1 }
        }
      }
    }
    var tasks = ask(0..<50)
    let load = try await load()
    tasks += ask(50..<100)
    load.respond(headers: ["Content-Length": "\(file.count)"])
    tasks += ask(100..<150)
    load.send(file.prefix(10))
    tasks += ask(150..<200)
    load.fail(.connectionLost)
    for task in tasks { await #expect(throws: LoadError.self) { try await task.image } }
    // Whoever awaits the image learns of its end first.
    await ends.wait { $0.count >= 200 }
    #expect(ends.value.values.allSatisfy { $0 == 1 })
    #expect(parts.loader.counts.loads == 1)
    #expect(pipeline.loadCount == 0)
  }

  // MARK: Ends

  enum Ending: CaseIterable {
    case memory, disk, failure, badStatus, noImage, cancelled, badURL, file, missingFile, data, notCached, processing
  }

  @Test(arguments: Ending.allCases)
  func howeverItEndsNoJobIsLeft(ending: Ending) async throws {
    var request = request
    parts.loader.answer(Self.url, with: file, headers: ["Cache-Control": "max-age=60"])
    var pipeline = pipeline
    var isGood = false
    switch ending {
    case .memory, .disk:
      isGood = true
      _ = try await pipeline.image(for: request)
      await pipeline.cache.flush()
      if ending == .disk { pipeline = .testing(parts) }
    case .failure: parts.loader.answer(Self.url, failing: .connectionLost)
    case .badStatus: parts.loader.answer(Self.url, FakeResponse(status: 404))
    case .noImage: parts.loader.answer(Self.url, with: Pictures.garbage)
    case .cancelled: parts.loader.removeAnswer(Self.url)
    case .badURL: request = ImageRequest(url: "no address")
    case .file:
      isGood = true
      let folder = try TemporaryFolder()
      let path = try folder.write(file, to: "a.png").path
      #expect(try await pipeline.image(for: ImageRequest(.file(path))).width == 16)
    case .missingFile: request = ImageRequest(.file("/nowhere/\(UUID().uuidString)"))
    case .data:
      isGood = true
      request = ImageRequest(.data(file, id: "file"))
    case .notCached: request.cachePolicy = .cacheOnly
    case .processing: request.processors = [.custom(id: "broken") { _ in throw World.BrokenProcessor() }]
    }
    let task = pipeline.imageTask(for: request)
    if ending == .cancelled { task.cancel() }
    let image = try? await task.image
    #expect((image != nil) == isGood)
    #expect(pipeline.loadCount == 0)
  }

  @Test
  func cancelledWhereItsProgressIsHeardItEndsThereAndThen() async throws {
    let task = pipeline.imageTask(for: request)
    let events = task.events
    let load = try await load()
    load.respond(headers: ["Content-Length": "100000"])
    load.send(Data(count: 5000))
    var isOver = false
    for await event in events {
      switch event {
      case .progress: task.cancel()
      case .finished(.failure(let error)): isOver = error.isCancellation
      default: Issue.record("\(event)")
      }
    }
    #expect(isOver)
    #expect(pipeline.loadCount == 0)
    await load.wait { $0.isCancelled }
  }

  @Test
  func whoIsToldOfTheEndHoldsUpNoThreadOfALoader() async throws {
    let loader = StepLoader()
    let pipeline = ImagePipeline.testing { $0.loader = loader }
    // So that it is asked for at once.
    var request = request
    request.cacheAccess = .none
    let teller = Deferred<UInt>()
    pipeline.loadImage(for: request) { _ in teller.resolve(threadIdentity()) }
    let load = try #require(loader.running.first)
    let me = {
      load.end(.connectionLost)
      return threadIdentity()
    }()
    #expect(await teller.value() != me)
  }

  @Test
  func whoIsToldOfTheEndMayCancelWhatHasEnded() {
    let held = Lock<ImageTask?>(nil)
    let count = Lock(0)
    let task = pipeline.loadImage(for: request) { _ in
      count.withLock { $0 += 1 }
      held.withLock { $0 }?.cancel()
    }
    held.withLock { $0 = task }
    task.cancel()
    #expect(count.withLock { $0 } == 1)
  }

  @Test
  func aTaskThatEndsAtOnceIsFreed() async throws {
    parts.loader.answer(Self.url, with: file, headers: ["Cache-Control": "max-age=60"])
    _ = try await pipeline.image(for: request)
    weak var hit: ImageTask?
    weak var bad: ImageTask?
    do {
      let (one, other) = (pipeline.imageTask(for: request), pipeline.imageTask(for: ImageRequest(url: "no address")))
      (hit, bad) = (one, other)
      #expect(hit?.isEnded == true)
      #expect(bad?.isEnded == true)
    }
    #expect(hit == nil)
    #expect(bad == nil)
  }

  @Test(arguments: [(0, 0, 0.0), (5, 0, 0), (0, 10, 0), (5, 10, 0.5), (10, 10, 1), (12, 10, 1), (3, -1, 0)])
  func theFractionIsZeroWhileTheTotalIsUnknownAndNeverAboveOne(completed: Int, total: Int, fraction: Double) {
    #expect(LoadProgress(completed: completed, total: total).fraction == fraction)
  }

  // MARK: What the model has found

  @Test
  func cancelledByRequestWhatIsMadeOfItGoesOn() async throws {
    let mark = Pictures.mark(1) { _ in }
    let (plain, marked) = (request, ImageRequest(url: Self.url, processors: [mark]))
    let tasks = [pipeline.imageTask(for: plain), pipeline.imageTask(for: marked)]
    let load = try await load()
    load.send(file.prefix(10))
    // It has looked on disk, and waits for the image that the other asked for.
    await tasks[1].hasBytes()

    pipeline.cancel(for: plain)

    let error = await #expect(throws: LoadError.self) { try await tasks[0].image }
    #expect(error?.isCancellation == true)
    load.send(file.dropFirst(10))
    load.finish()
    #expect(Pictures.name(of: try await tasks[1].image)?.steps == 1)
    #expect(parts.loader.counts.loads == 1)
  }

  @Test
  func cacheOnlyAsksNoServerAlsoWhereTheDiskHasNoImage() async throws {
    parts.loader.answer(Self.url, with: file, headers: ["Cache-Control": "max-age=60"])
    _ = try await pipeline.image(for: request)
    await pipeline.cache.flush()
    parts.diskCache.damage(with: Pictures.garbage)
    var request = request
    request.cachePolicy = .cacheOnly
    let again = ImagePipeline.testing(parts)

    let error = await #expect(throws: LoadError.self) { try await again.image(for: request) }

    #expect(error?.code == .undecodable)
    #expect(parts.loader.counts.loads == 1)
    await again.cache.flush()
    #expect(await parts.diskCache.entries().isEmpty)
  }

  @Test
  func nothingOldStandsInForWhatIsToBeLoadedAnew() async throws {
    parts.loader.answer(Self.url, with: file, headers: ["Cache-Control": "max-age=60"])
    _ = try await pipeline.image(for: request)
    parts.loader.answer(Self.url, failing: .connectionLost)
    var anew = request
    anew.cachePolicy = .reload

    let error = await #expect(throws: LoadError.self) { try await pipeline.image(for: anew) }

    #expect(error?.code == .fetchFailed)
    #expect(pipeline.cachedImage(for: request) != nil)
  }

  @Test
  func whatIsProcessedFurtherFromMemorySaysSo() async throws {
    parts.loader.answer(Self.url, with: file, headers: ["Cache-Control": "max-age=60"])
    let marks = [1, 2].map { Pictures.mark($0) { _ in } }
    _ = try await pipeline.image(for: ImageRequest(url: Self.url, processors: [marks[0]]))

    let response = try await pipeline.imageTask(for: ImageRequest(url: Self.url, processors: marks)).response

    #expect(response.origin == .memory)
  }
}
