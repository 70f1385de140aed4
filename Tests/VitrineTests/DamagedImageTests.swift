import Testing
import VitrineCaching
import VitrineHTTP
import VitrineImaging
import VitrineRuntime
import VitrineTestSupport
import VitrineTesting

@testable import Vitrine

/// Damaged images: shown only to requests that accept them, and stored nowhere as if they were whole.
@Suite(.patient)
struct DamagedImageTests {
  private static let url = "https://example.org/a.jpg"
  private let parts = PipelineParts()
  private let whole: Data
  private let pipeline: ImagePipeline

  init() throws {
    whole = try Bitmap.noise(width: 400, height: 300, seed: 1).encoded(as: .jpeg)
    pipeline = .testing(parts) { $0.storagePolicy = .both }
    serve(whole.prefix(whole.count / 2), tag: "\"cut\"")
  }

  private func serve(_ body: Data, tag: String) {
    parts.loader.answer(Self.url, with: body, headers: ["Cache-Control": "max-age=60", "ETag": tag])
  }

  private func request(_ side: Double = 200, accepts: Bool = true) -> ImageRequest {
    var request = ImageRequest(url: Self.url, size: .pixels(side, side))
    request.acceptsPartial = accepts
    return request
  }

  private func load(_ request: ImageRequest, _ pipeline: ImagePipeline? = nil) async throws -> ImageResponse {
    let pipeline = pipeline ?? self.pipeline
    let response = try await pipeline.imageTask(for: request).response
    await pipeline.cache.flush()
    return response
  }

  @Test
  func aDamagedImageIsAnErrorUnlessItsRequestAcceptsIt() async throws {
    let error = await #expect(throws: LoadError.self) { try await load(request(accepts: false)) }
    #expect(error?.code == .undecodable)

    let response = try await load(request())

    #expect(response.container.damage?.code == .truncated)
    #expect(response.image[100, 10].w == 255 && response.image[100, 149].w == 0)
  }

  @Test
  func aDamagedImageIsInMemoryOnlyAndSaysSo() async throws {
    _ = try await load(request())

    let again = try await load(request())

    #expect(again.origin == .memory && again.container.damage?.code == .truncated)
    #expect(parts.loader.counts.loads == 1)
    #expect(parts.diskCache.counts.writes == 0)
    // After a restart the server is asked, in case the file has been mended.
    serve(whole, tag: "\"whole\"")
    let mended = try await load(request(), .testing(parts) { $0.memoryCache = nil })
    #expect(mended.container.damage == nil && mended.image[100, 149].w == 255)
  }

  /// Neither the image itself, nor a smaller one that is made of it, nor as a placeholder.
  @Test(arguments: [200.0, 100])
  func aDamagedImageInMemoryServesNoRequestThatDoesNotAcceptIt(side: Double) async throws {
    _ = try await load(request())

    #expect(pipeline.cachedImage(for: request(side, accepts: false)) == nil)
    #expect(pipeline.cachedVariant(for: request(side, accepts: false)) == nil)
    #expect(pipeline.cachedVariant(for: request(side)) != nil)
    await #expect(throws: LoadError.self) { try await load(request(side, accepts: false)) }
    let smaller = try await load(request(100))
    #expect(smaller.container.damage?.code == .truncated)
  }

  @Test
  func aProcessedImageIsAsDamagedAsItsOriginal() async throws {
    var request = request()
    request.processors = [.grayscale()]
    #expect(try await load(request).container.damage?.code == .truncated)
    #expect(parts.diskCache.counts.writes == 0)
  }

  @Test
  func aWholeImageIsStoredAsEverIfDamageIsAccepted() async throws {
    serve(whole, tag: "\"whole\"")
    #expect(try await load(request()).container.damage == nil)

    let again = try await load(request(), .testing(parts) { $0.memoryCache = nil })

    #expect(again.origin == .disk && again.container.damage == nil)
    #expect(parts.loader.counts.loads == 1)
  }

  @Test
  func aFileMadeOfADamagedImageSaysSoAndIsNotStored() async throws {
    let made = try await pipeline.encoded(for: request(), as: .automatic())
    await pipeline.cache.flush()

    #expect(made.damage?.code == .truncated && made.format == .jpeg)
    #expect(parts.diskCache.counts.writes == 0)
    await #expect(throws: LoadError.self) {
      try await pipeline.encoded(for: request(accepts: false), as: .automatic())
    }
  }
}
