import Testing
import Vitrine
import VitrineImaging
import VitrineRuntime
import VitrineTestSupport
import VitrineTesting

/// What changes pixels keeps requests apart; what does not, does not.
@Suite(.patient)
struct RenditionTests {
  private static let url = "https://example.org/picture.png"
  private let parts = PipelineParts()
  private let decoder = CountingDecoder()

  init() throws {
    let file = try Bitmap.testPattern(width: 120, height: 90).encoded(as: .png)
    parts.loader.answer(Self.url, with: file, headers: ["Cache-Control": "max-age=60"])
  }

  private func pipeline() -> ImagePipeline {
    .testing(parts) { [decoder] in $0.decoders = DecoderRegistry([decoder]) }
  }

  private func request(_ size: TargetSize?, _ change: (inout ImageRequest) -> Void) -> ImageRequest {
    var request = ImageRequest(url: Self.url, size: size)
    change(&request)
    return request
  }

  @Test
  func wideColorIsKeptInMemoryAndOnDisk() async throws {
    let wide = request(.pixels(40, 40)) { request in
      request.colorSpace = .displayP3
      request.storagePolicy = .both
    }
    let first = try await pipeline().image(for: wide)
    await parts.diskCache.wait(forWrites: 2)

    let again = try await pipeline().imageTask(for: wide).response

    #expect(first.colorSpace == .displayP3)
    #expect(again.origin == .disk)
    #expect(again.image.colorSpace == .displayP3)
    #expect(again.image.largestDifference(from: first) == 0)
    #expect(decoder.decodes.count == 1)
  }

  @Test
  func imagesOfAnotherColorSpaceAreNotMadeOfOneAnother() async throws {
    let pipeline = pipeline()
    _ = try await pipeline.image(for: request(nil) { $0.colorSpace = .displayP3 })
    await parts.diskCache.wait(forWrites: 1)

    let plain = try await pipeline.image(for: request(.pixels(40, 40)) { _ in })

    #expect(plain.colorSpace == .sRGB)
    #expect(decoder.decodes.count == 2)
    #expect(parts.loader.counts.loads == 1)
  }

  @Test
  func aLargerImageInTheSameColorsServesASmallerRequest() async throws {
    let pipeline = pipeline()
    _ = try await pipeline.image(for: request(nil) { $0.colorSpace = .displayP3 })

    let small = try await pipeline.image(for: request(.pixels(40, 40)) { $0.colorSpace = .displayP3 })

    #expect(small.colorSpace == .displayP3)
    #expect(decoder.decodes.count == 1)
  }

  @Test
  func aFilterAndLinearLightAreOfTheImage() async throws {
    let pipeline = pipeline()
    let usual = try await pipeline.image(for: request(.pixels(30, 30)) { _ in })
    let box = try await pipeline.image(for: request(.pixels(30, 30)) { $0.filter = .box })
    let light = try await pipeline.image(for: request(.pixels(30, 30)) { $0.usesLinearLight = true })

    #expect(usual.largestDifference(from: box) > 0)
    #expect(usual.largestDifference(from: light) > 0)
    #expect(
      pipeline.cachedImage(for: request(.pixels(30, 30)) { $0.filter = .box })?.image.largestDifference(from: box) == 0
    )
  }

  @Test
  func userInfoChangesNothing() async throws {
    let pipeline = pipeline()
    _ = try await pipeline.image(for: request(nil) { $0.userInfo = ["cell": 7] })
    let other = request(nil) { $0.userInfo = ["cell": 8] }

    #expect(pipeline.cachedImage(for: other) != nil)
    #expect(other.userInfo["cell"] as? Int == 8)
  }
}
