import Testing
import Vitrine
import VitrineImaging
import VitrineRuntime
import VitrineTesting

/// A larger image in memory serves a smaller request; never the other way.
@Suite(.timeLimit(.minutes(1)))
struct VariantTests {
  private let source = GatedSource()
  private let decoder = CountingDecoder()
  private static let picture = Bitmap.testPattern(width: 400, height: 300)
  private static let file = Result { try picture.encoded(as: .png) }
  private let pipeline: ImagePipeline

  init() throws {
    pipeline = ImagePipeline { [decoder] in
      $0.memoryCache = MemoryCache(costLimit: 100 << 20)
      $0.decoders = DecoderRegistry([decoder])
    }
    source.open(try Self.file.get())
  }

  private func request(_ size: TargetSize?, _ change: (inout ImageRequest) -> Void = { _ in }) -> ImageRequest {
    var request = ImageRequest(source.source, size: size)
    change(&request)
    return request
  }

  @Test(arguments: [
    (TargetSize.pixels(100, 100), 100, 75),
    (.pixels(100, 100, .fill), 100, 100),
    (.pixels(120, 20, .exact), 120, 20),
    (.pixels(width: 200), 200, 150),
    (.pixels(1, 1), 1, 1),
  ])
  func aLargerOneServesASmallerRequestWithoutDecoding(size: TargetSize, width: Int, height: Int) async throws {
    _ = try await pipeline.image(for: request(.pixels(200, 200)))
    let direct = try Self.picture.resized(to: size)

    let response = try await pipeline.imageTask(for: request(size)).response

    #expect(response.origin == .memory)
    #expect((response.image.width, response.image.height) == (width, height))
    #expect(response.image.psnr(against: direct) > 30)
    #expect(decoder.decodes.count == 1)
    #expect(source.count == 1)
    #expect(pipeline.cachedImage(for: request(size)) != nil)
  }

  @Test
  func theSmallestThatIsLargeEnoughIsTaken() async throws {
    for side in [400.0, 80, 200] { _ = try await pipeline.image(for: request(.pixels(side, side))) }
    // 80 and 200 came from 400.
    #expect(decoder.decodes.count == 1)
    let small = try await pipeline.image(for: request(.pixels(100, 100)))
    let expected = try #require(pipeline.cache[request(.pixels(200, 200))]).resized(to: .pixels(100, 100))
    #expect(small.psnr(against: expected) == .infinity)
  }

  @Test(arguments: [TargetSize.pixels(210, 210), .pixels(200, 200, .fill), .pixels(200, 200, .exact)])
  func aSmallerOneNeverServesALargerRequest(size: TargetSize) async throws {
    _ = try await pipeline.image(for: request(.pixels(200, 200)))
    _ = try await pipeline.image(for: request(size))
    #expect(decoder.decodes.count == 2)
  }

  @Test
  func aPixelThatRoundingTookIsForgiven() async throws {
    _ = try await pipeline.image(for: request(.pixels(200, 200)))
    let image = try await pipeline.image(for: request(.pixels(201, 201)))
    #expect((image.width, image.height) == (200, 150))
    #expect(decoder.decodes.count == 1)
  }

  @Test(arguments: [
    TargetSize.pixels(200, 200, .fill), .pixels(400, 200, .exact),
  ])
  func whatShowsOnlyPartOrIsStretchedServesNoOther(size: TargetSize) async throws {
    _ = try await pipeline.image(for: request(size))
    _ = try await pipeline.image(for: request(.pixels(50, 50)))
    #expect(decoder.decodes.count == 2)
  }

  @Test
  func otherFramesQualitiesScopesAndProcessedImagesServeNoOther() async throws {
    let step = Counter()
    _ = try await pipeline.image(for: request(.pixels(200, 200)) { $0.quality = .fast })
    _ = try await pipeline.image(for: request(.pixels(200, 200)) { $0.scope = "ann" })
    #expect(decoder.decodes.count == 2)
    // Of a better quality it serves one of a lower; not the other way.
    _ = try await pipeline.image(for: request(.pixels(100, 100)))
    #expect(decoder.decodes.count == 3)
    _ = try await pipeline.image(for: request(.pixels(50, 50)) { $0.quality = .fast })
    #expect(decoder.decodes.count == 3)
    // A processed one has no unprocessed one in it.
    let processed = request(.pixels(300, 300)) { $0.processors = [step.processor("step")] }
    _ = try await pipeline.image(for: processed)
    pipeline.cache[request(.pixels(300, 300))] = nil
    _ = try await pipeline.image(for: request(.pixels(250, 250)))
    #expect(decoder.decodes.count == 5)
  }

  @Test
  func theProcessorsRunOnWhatTheLargerOneGave() async throws {
    let step = Counter()
    _ = try await pipeline.image(for: request(nil))
    let image = try await pipeline.image(
      for: request(.pixels(100, 100)) { $0.processors = [step.processor("step")] }
    )
    #expect(image.width == 100)
    #expect(step.count == 1)
    #expect(decoder.decodes.count == 1)
  }

  @Test
  func reloadTakesNoneFromMemory() async throws {
    _ = try await pipeline.image(for: request(nil))
    _ = try await pipeline.image(for: request(.pixels(100, 100)) { $0.policy = .reload })
    #expect(source.count == 2)
    #expect(decoder.decodes.count == 2)
  }
}
