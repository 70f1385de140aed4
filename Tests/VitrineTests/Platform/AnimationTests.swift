import Testing
import VitrineImaging
import VitrineRuntime
import VitrineTestSupport
import VitrineTesting

@testable import Vitrine

/// Animations in a pipeline: who gets one, where it is kept, and what it is never made of.
@Suite(.patient)
struct AnimationTests {
  private static let url = "https://example.org/a.gif"
  private let parts = PipelineParts()
  private let file = MovingGIF.file(frameCount: 3)

  init() { parts.loader.answer(Self.url, with: file) }

  private func request(_ configure: (inout ImageRequest) -> Void = { _ in }) -> ImageRequest {
    var request = ImageRequest(url: Self.url)
    request.animates = true
    configure(&request)
    return request
  }

  @Test
  func aRequestThatAsksForMotionGetsIt() async throws {
    let pipeline = ImagePipeline.testing(parts)
    let response = try await pipeline.imageTask(for: request()).response
    let animation = try #require(response.animation)

    #expect(animation.frameCount == 3)
    #expect(response.image[0, 0] == MovingGIF.color(0))
    #expect(try await animation.frame(at: 2)[0, 0] == MovingGIF.color(2))
    #expect(pipeline.cachedImage(for: request())?.container.animation === animation)
    // The file and the first frame.
    #expect(pipeline.configuration.memoryCache?.statistics.cost == file.count + 64)
  }

  @Test
  func stillsAndAnimationsAreKeptApart() async throws {
    let pipeline = ImagePipeline.testing(parts)
    let still = try await pipeline.imageTask(for: ImageRequest(url: Self.url)).response
    #expect(still.animation == nil)
    #expect(pipeline.cachedImage(for: request()) == nil)
    // The still image in memory is larger, and does not stand for one that moves.
    let small = try await pipeline.imageTask(for: request { $0.size = .pixels(2, 2) }).response
    #expect(small.animation?.poster.width == 2)
    #expect(request() != ImageRequest(url: Self.url))
    #expect(request().description.contains("animates"))
    #expect(parts.loader.requests.count == 1)
  }

  @Test
  func aStillImageIsWhatItIs() async throws {
    let url = "https://example.org/a.png"
    parts.loader.answer(url, with: try Bitmap.testPattern(width: 8, height: 8).encoded(as: .png))
    var request = ImageRequest(url: url)
    request.animates = true
    let response = try await ImagePipeline.testing(parts).imageTask(for: request).response
    #expect(response.animation == nil)
    #expect(response.image.width == 8)
  }

  @Test
  func processorsChangeEachFrame() async throws {
    let pipeline = ImagePipeline.testing(parts)
    let response = try await pipeline.imageTask(for: request { $0.processors = [.flip(.vertical), .grayscale()] })
      .response
    let animation = try #require(response.animation)
    let gray = try ImageProcessor.grayscale().process(Bitmap.solid(MovingGIF.color(1), width: 1, height: 1))
    #expect(try await animation.frame(at: 1)[0, 0] == gray[0, 0])
    #expect(response.image.pixelCount == 16)
  }

  // MARK: While the file arrives

  /// Long enough for previews.
  private static let longFile = MovingGIF.file(frameCount: 3000)

  /// Begins a load of the long file, and sends three fifths of it; the animation grows as long as the events are watched.
  private func arriving(
    _ pipeline: ImagePipeline,
    _ request: ImageRequest,
  ) async throws -> (
    task: ImageTask, load: FakeLoad, preview: AnimatedImage, events: AsyncStream<ImageEvent>.Iterator
  ) {
    let task = pipeline.imageTask(for: request)
    var events = task.events.makeAsyncIterator()
    let load = try await parts.loader.nextLoad(of: try #require(request.url?.absoluteString))
    load.respond(headers: ["Content-Length": "\(Self.longFile.count)", "ETag": "\"1\""])
    let end = Self.longFile.count * 3 / 5
    for start in stride(from: 0, to: end, by: 1000) { load.send(Self.longFile[start..<min(start + 1000, end)]) }
    while let event = await events.next(isolation: #isolation) {
      guard case .preview(let preview) = event, let animation = preview.animation else { continue }
      return (task, load, animation, events)
    }
    throw CancellationError()
  }

  private func longRequest(_ configure: (inout ImageRequest) -> Void = { _ in }) -> ImageRequest {
    var request = ImageRequest(url: "https://example.org/long.gif")
    request.animates = true
    configure(&request)
    return request
  }

  @Test
  func itPlaysWhileItsFileArrivesAndGoesOnAsTheImage() async throws {
    let pipeline = ImagePipeline.testing(parts)
    let (task, load, preview, events) = try await arriving(pipeline, longRequest())
    #expect(preview.isArriving)
    let count = preview.frameCount
    #expect(count >= 2 && count < 2000)
    #expect(try await preview.frame(at: count - 1)[0, 0] == MovingGIF.color(count - 1))
    #expect(pipeline.cachedImage(for: longRequest()) == nil)
    try await pipeline.hasLetGoOfPreviews()

    // More frames, without another preview.
    load.send(Self.longFile[(Self.longFile.count * 3 / 5)..<(Self.longFile.count * 9 / 10)])
    try await until { preview.frameCount > 2400 }
    _ = events
    try await pipeline.hasLetGoOfPreviews()
    load.send(Self.longFile[(Self.longFile.count * 9 / 10)...])
    load.finish()

    let response = try await task.response
    #expect(response.animation === preview)
    #expect(!preview.isArriving)
    #expect((preview.frameCount, preview.data) == (3000, Self.longFile))
    #expect(try await preview.frame(at: 2999)[0, 0] == MovingGIF.color(2999))
    #expect(pipeline.cachedImage(for: longRequest())?.animation === preview)
    #expect(pipeline.configuration.memoryCache?.statistics.cost == Self.longFile.count + 64)
  }

  /// A server may say nothing more for a while.
  @Test
  func framesThatComeWhileEarlierOnesAreAddedNeedNoFurtherBytes() async throws {
    let (stops, reached, gate) = (Lock(false), Gate(), Gate())
    let hold = { @Sendable in
      guard stops.withLock({ $0 }) else { return }
      reached.open()
      // On the pipeline's own thread, which may wait.
      gate.wait()
    }
    let decoder = CountingDecoder(GIFDecoder(), onInfo: hold)
    let pipeline = ImagePipeline.testing(parts) { $0.decoders = DecoderRegistry([decoder]) }
    let (task, load, preview, events) = try await arriving(pipeline, longRequest())
    stops.withLock { $0 = true }
    let count = Self.longFile.count
    load.send(Self.longFile[(count * 3 / 5)..<(count * 8 / 10)])
    await reached.value()
    load.send(Self.longFile[(count * 8 / 10)..<(count * 95 / 100)])
    gate.open()

    try await until { preview.frameCount > 2800 }
    _ = events
    task.cancel()
  }

  @Test
  func itsFramesAreProcessedWhileItArrivesToo() async throws {
    let pipeline = ImagePipeline.testing(parts)
    let (task, load, preview, _) = try await arriving(pipeline, longRequest { $0.processors = [.grayscale()] })
    let gray = try ImageProcessor.grayscale().process(Bitmap.solid(MovingGIF.color(1), width: 1, height: 1))
    #expect(try await preview.frame(at: 1)[0, 0] == gray[0, 0])
    load.send(Self.longFile[(Self.longFile.count * 3 / 5)...])
    load.finish()
    let whole = try #require(try await task.response.animation)
    #expect(whole.frameCount == 3000)
    // The processor's frames grow with those that it changes.
    #expect(preview.frameCount == 3000 && !preview.isArriving)
  }

  @Test(arguments: [false, true])
  func aLoadThatEndsEarlyLeavesWhatHasCome(isCancelled: Bool) async throws {
    let pipeline = ImagePipeline.testing(parts)
    let (task, load, preview, _) = try await arriving(pipeline, longRequest())
    let count = preview.frameCount
    if isCancelled { task.cancel() } else { load.fail(.connectionLost) }
    await #expect(throws: LoadError.self) { try await task.response }

    // Once nothing more comes, it is as long as it is.
    try await until { !preview.isArriving }
    #expect(preview.frameCount >= count && preview.frameCount < 3000)
    #expect(try await preview.frame(at: count - 1)[0, 0] == MovingGIF.color(count - 1))
  }

  @Test
  func aFileThatIsReplacedOnItsWayBeginsAnew() async throws {
    let pipeline = ImagePipeline.testing(parts) { $0.retryPolicy = .exponential(maxAttempts: 2, random: { 1 }) }
    let (task, load, preview, _) = try await arriving(pipeline, longRequest())
    load.fail(.connectionLost)
    await parts.clock.pendingCount(reaches: 1)
    parts.clock.advance(by: .seconds(1))
    let second = try await parts.loader.nextLoad(of: "https://example.org/long.gif")
    second.respond(headers: ["ETag": "\"2\"", "Content-Length": "\(file.count)"])
    second.send(file)
    second.finish()

    let animation = try #require(try await task.response.animation)
    #expect(animation !== preview)
    #expect(animation.frameCount == 3)
    try await until { !preview.isArriving }
  }

  /// What is stored on disk cannot move, so the file is decoded again.
  @Test
  func itIsMadeAnewFromTheFileAfterARestart() async throws {
    let first = ImagePipeline.testing(parts) { $0.storagePolicy = .automatic }
    _ = try await first.imageTask(for: request { $0.size = .pixels(2, 2) }).response
    await first.cache.flush()
    first.configuration.memoryCache?.removeAll()

    let response = try await first.imageTask(for: request { $0.size = .pixels(2, 2) }).response

    #expect(response.origin == .disk)
    #expect(response.animation?.frameCount == 3)
    #expect(parts.loader.requests.count == 1)
  }
}

extension Bitmap {
  fileprivate var pixelCount: Int { width * height }
}
