import Testing
import VitrineImaging
import VitrineRuntime
import VitrineTesting

@testable import Vitrine

/// Animations in a pipeline: who gets one, where it is kept, and what it is never made of.
@Suite(.timeLimit(.minutes(20)))
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

/// GIFs of 4x4 pixels, of which each frame has one colour.
private enum MovingGIF {
  private static let palette: [[UInt8]] = [[255, 0, 0], [0, 255, 0], [0, 0, 255], [250, 250, 0]]

  static func color(_ frame: Int) -> SIMD4<UInt8> {
    let color = palette[frame % 4]
    return SIMD4(color[0], color[1], color[2], 255)
  }

  static func file(frameCount: Int) -> Data {
    var bytes = Array("GIF89a".utf8) + [4, 0, 4, 0, 0x81, 0, 0] + palette.flatMap { $0 }
    for frame in 0..<frameCount {
      bytes += [0x21, 0xF9, 4, 0, 10, 0, 0, 0, 0x2C, 0, 0, 0, 0, 4, 0, 4, 0, 0, 2]
      // Codes of three bits: one clears the table before every two pixels, so that none becomes longer.
      var codes: [Int] = []
      for pixel in 0..<16 {
        if pixel % 2 == 0 { codes.append(4) }
        codes.append(frame % 4)
      }
      codes.append(5)
      var packed: [UInt8] = []
      var (bits, count) = (0, 0)
      for code in codes {
        bits |= code << count
        count += 3
        while count >= 8 {
          packed.append(UInt8(bits & 255))
          bits >>= 8
          count -= 8
        }
      }
      packed.append(UInt8(bits & 255))
      bytes += [UInt8(packed.count)] + packed + [0]
    }
    return Data(bytes + [0x3B])
  }
}
