import Testing
import Vitrine
import VitrineImaging
import VitrineRuntime
import VitrineTestSupport
import VitrineTesting

/// A larger image in memory serves a smaller request; never the other way.
@Suite(.patient)
struct VariantTests {
  private let source = GatedSource()
  private let decoder = CountingDecoder()
  private static let picture = Bitmap.testPattern(width: 160, height: 120)
  private static let file = Result { try picture.encoded(as: .png) }
  private let pipeline: ImagePipeline

  init() throws {
    pipeline = ImagePipeline(.ephemeral) { [decoder] in
      $0.memoryCache = MemoryCache(costLimit: 10 << 20)
      $0.memoryPressure = nil
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
    (TargetSize.pixels(40, 40), 40, 30),
    (.pixels(40, 40, .fill), 40, 40),
    (.pixels(48, 8, .exact), 48, 8),
    (.pixels(width: 80), 80, 60),
    (.pixels(1, 1), 1, 1),
  ])
  func aLargerOneServesASmallerRequestWithoutDecoding(size: TargetSize, width: Int, height: Int) async throws {
    _ = try await pipeline.image(for: request(.pixels(80, 80)))
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
    for side in [160.0, 32, 80] { _ = try await pipeline.image(for: request(.pixels(side, side))) }
    // 32 and 80 came from 160.
    #expect(decoder.decodes.count == 1)
    let small = try await pipeline.image(for: request(.pixels(40, 40)))
    let expected = try #require(pipeline.cache[request(.pixels(80, 80))]).resized(to: .pixels(40, 40))
    #expect(small.psnr(against: expected) == .infinity)
  }

  @Test(arguments: [TargetSize.pixels(84, 84), .pixels(80, 80, .fill), .pixels(80, 80, .exact)])
  func aSmallerOneNeverServesALargerRequest(size: TargetSize) async throws {
    _ = try await pipeline.image(for: request(.pixels(80, 80)))
    _ = try await pipeline.image(for: request(size))
    #expect(decoder.decodes.count == 2)
  }

  @Test
  func aPixelThatRoundingTookIsForgiven() async throws {
    _ = try await pipeline.image(for: request(.pixels(80, 80)))
    let image = try await pipeline.image(for: request(.pixels(81, 81)))
    #expect((image.width, image.height) == (80, 60))
    #expect(decoder.decodes.count == 1)
  }

  @Test(arguments: [
    TargetSize.pixels(80, 80, .fill), .pixels(160, 80, .exact),
  ])
  func whatShowsOnlyPartOrIsStretchedServesNoOther(size: TargetSize) async throws {
    _ = try await pipeline.image(for: request(size))
    _ = try await pipeline.image(for: request(.pixels(20, 20)))
    #expect(decoder.decodes.count == 2)
  }

  @Test
  func otherFramesQualitiesScopesAndProcessedImagesServeNoOther() async throws {
    let step = Counter()
    _ = try await pipeline.image(for: request(.pixels(80, 80)) { $0.quality = .fast })
    _ = try await pipeline.image(for: request(.pixels(80, 80)) { $0.cachePartition = "ann" })
    #expect(decoder.decodes.count == 2)
    // Of a better quality it serves one of a lower; not the other way.
    _ = try await pipeline.image(for: request(.pixels(40, 40)))
    #expect(decoder.decodes.count == 3)
    _ = try await pipeline.image(for: request(.pixels(20, 20)) { $0.quality = .fast })
    #expect(decoder.decodes.count == 3)
    // A processed one has no unprocessed one in it.
    let processed = request(.pixels(120, 120)) { $0.processors = [step.processor("step")] }
    _ = try await pipeline.image(for: processed)
    pipeline.cache[request(.pixels(120, 120))] = nil
    _ = try await pipeline.image(for: request(.pixels(100, 100)))
    #expect(decoder.decodes.count == 5)
  }

  @Test
  func theProcessorsRunOnWhatTheLargerOneGave() async throws {
    let step = Counter()
    _ = try await pipeline.image(for: request(nil))
    let image = try await pipeline.image(
      for: request(.pixels(40, 40)) { $0.processors = [step.processor("step")] }
    )
    #expect(image.width == 40)
    #expect(step.count == 1)
    #expect(decoder.decodes.count == 1)
  }

  @Test
  func reloadTakesNoneFromMemory() async throws {
    _ = try await pipeline.image(for: request(nil))
    _ = try await pipeline.image(for: request(.pixels(40, 40)) { $0.cachePolicy = .reload })
    #expect(source.count == 2)
    #expect(decoder.decodes.count == 2)
  }
}
