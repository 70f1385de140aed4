import Dispatch
import Testing
import VitrineHTTP
import VitrineImaging
import VitrineRuntime
import VitrineTestSupport
import VitrineTesting

@testable import Vitrine

/// Processors in a pipeline: what they are told, and what becomes of their failures.
@Suite(.patient)
struct ProcessingTests {
  private static let url = "https://example.org/a.png"
  private let parts = PipelineParts()

  init() {
    parts.loader.answer(Self.url, with: TestPicture.png)
  }

  private func failure(
    of processors: [ImageProcessor],
    _ configure: (inout ImagePipeline.Configuration) -> Void = { _ in },
  ) async -> LoadError? {
    let pipeline = ImagePipeline.testing(parts, configure)
    return await #expect(throws: LoadError.self) {
      try await pipeline.image(for: ImageRequest(url: Self.url, processors: processors))
    }
  }

  @Test
  func aStepThatFailsIsNamed() async {
    let error = await failure(of: [.grayscale(), .chain([.flip(.vertical), .blur(radius: -3)]), .circle()])
    #expect(error?.stage == .process)
    #expect(error?.code == .processingFailed)
    #expect(error?.detail.hasPrefix("blur(-3px): ") == true)
    #expect((error?.cause as? ImageError)?.code == .invalidSize)
  }

  @Test
  func theLimitsOfThePipelineHoldForResults() async {
    let error = await failure(of: [.resize(width: .fraction(4), enlarges: true)]) {
      $0.decodeLimits.outputByteCount = 100_000
    }
    #expect(error?.stage == .process)
    #expect((error?.cause as? ImageError)?.limit == .outputByteCount)
  }

  @Test
  func lengthsInPointsFollowTheScaleOfTheRequest() async throws {
    let pipeline = ImagePipeline.testing(parts)
    func width(_ request: ImageRequest) async throws -> Int { try await pipeline.image(for: request).width }
    let crop = ImageProcessor.crop(width: .points(10), height: .points(10))
    var request = ImageRequest(url: Self.url, processors: [crop])

    #expect(try await width(request) == 10)
    request.scale = 2
    #expect(try await width(request) == 20)
    #expect(try await width(ImageRequest(url: Self.url, size: .points(20, 20, scale: 3), processors: [crop])) == 30)
  }

  @Test
  func imagesOfDifferentScalesAreKeptApartOnlyIfThatMatters() {
    func request(_ scale: Double, _ length: Length) -> ImageRequest {
      var request = ImageRequest(url: Self.url, processors: [.blur(radius: length)])
      request.scale = scale
      return request
    }
    #expect(request(1, .points(4)) != request(2, .points(4)))
    #expect(request(1, .points(4)).keys.image != request(2, .points(4)).keys.image)
    #expect(request(1, .pixels(4)) == request(2, .pixels(4)))
    #expect(request(1, .pixels(4)).keys.image == request(2, .pixels(4)).keys.image)
    #expect(
      ImageRequest(url: Self.url, size: .points(20, 20, scale: 2)) == ImageRequest(url: Self.url, size: .pixels(40))
    )
  }

  @Test
  func aStepThatIsNoLongerWantedStops() async throws {
    let pipeline = ImagePipeline.testing(parts)
    let (began, stopped) = (Deferred<Void>(), Deferred<Void>())
    let endless = ImageProcessor.customInContext(id: "endless") { bitmap, context in
      began.resolve(())
      // Until the context says that it is cancelled.
      while (try? context.checkCancellation()) != nil {}
      stopped.resolve(())
      return bitmap
    }
    let task = pipeline.imageTask(for: ImageRequest(url: Self.url, processors: [endless]))
    await began.value()
    task.cancel()
    await stopped.value()
    await #expect(throws: LoadError.self) { try await task.image }
  }

  /// A step that cannot be stopped costs the caller nothing.
  @Test
  func whoCancelsDoesNotWaitForTheStep() async throws {
    let pipeline = ImagePipeline.testing(parts)
    let (began, gate, isOver) = (Gate(), Gate(), Lock(false))
    let deaf = ImageProcessor.custom(id: "deaf") { bitmap in
      began.open()
      gate.wait()
      isOver.withLock { $0 = true }
      return bitmap
    }
    let task = pipeline.imageTask(for: ImageRequest(url: Self.url, processors: [deaf]))
    await began.value()

    task.cancel()
    let error = await #expect(throws: LoadError.self) { try await task.image }

    #expect(error?.isCancellation == true)
    // The processor is still at it.
    #expect(!isOver.withLock { $0 })
    gate.open()
  }
}
