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
