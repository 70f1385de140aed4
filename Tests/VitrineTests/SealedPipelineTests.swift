import Testing
import VitrineCaching
import VitrineHTTP
import VitrineImaging
import VitrineRuntime
import VitrineTestSupport
import VitrineTesting

@testable import Vitrine

/// A pipeline whose disk cache is sealed behaves as any other.
@Suite(.patient)
struct SealedPipelineTests {
  private static let url = "https://example.org/a.png"
  private let parts = PipelineParts()
  private let decoder = CountingDecoder()
  private let file = TestPicture.png
  private let newer: Data

  init() throws {
    newer = try Bitmap.testPattern(width: 48, height: 64).encoded(as: .png)
  }

  /// What stands for a cipher; of no use against anybody.
  private static let mask: SealedDataCache.Cipher = { bytes, _ in Data(bytes.map { $0 ^ 0xA5 }) }

  private func start() throws -> ImagePipeline {
    let secret = try #require(SealedDataCache.Secret(bytes: Array(1...16)))
    return .testing(parts) { [decoder] in
      $0.diskCache = SealedDataCache(parts.diskCache, secret: secret, seal: Self.mask, open: Self.mask)
      $0.decoders = DecoderRegistry([decoder])
      $0.storagePolicy = .both
    }
  }

  private func serve(_ body: Data? = nil, tag: String = "\"1\"") {
    parts.loader.answer(Self.url, with: body ?? file, headers: ["Cache-Control": "max-age=60", "ETag": tag])
  }

  private func load(_ pipeline: ImagePipeline) async throws -> ImageResponse {
    let response = try await pipeline.imageTask(for: ImageRequest(url: Self.url, size: .pixels(32, 32))).response
    await pipeline.cache.flush()
    return response
  }

  @Test
  func originalsAndFinishedImagesAreFoundAfterARestart() async throws {
    serve()
    let first = try await load(try start())
    #expect(parts.diskCache.counts.writes == 2)
    let second = try await load(try start())
    #expect(second.origin == .disk)
    #expect(second.image.largestDifference(from: first.image) == 0)
    #expect(decoder.decodes.count == 1)
    let whole = try await start().image(for: ImageRequest(url: Self.url))
    #expect(whole.width == 64)
    #expect(parts.loader.counts.loads == 1)
  }

  @Test
  func aConfirmationRenewsBothAndNewBytesOrphanWhatWasMade() async throws {
    serve()
    _ = try await load(try start())
    parts.clock.advance(by: .seconds(100))
    #expect(try await load(try start()).origin != .network)
    #expect(parts.diskCache.counts.renewals == 2)
    #expect(decoder.decodes.count == 1)
    serve(newer, tag: "\"2\"")
    parts.clock.advance(by: .seconds(100))
    let changed = try await load(try start())
    #expect((changed.image.width, changed.image.height) == (24, 32))
    #expect(try await load(try start()).image.height == 32)
    #expect(decoder.decodes.count == 2)
  }

  @Test
  func removingASourceRemovesWhatWasMadeOfIt() async throws {
    serve()
    let pipeline = try start()
    _ = try await load(pipeline)
    #expect(await pipeline.cache.contains(ImageRequest(url: Self.url), in: .disk))
    await pipeline.cache.remove(ImageRequest(url: Self.url))
    #expect(await parts.diskCache.entries().isEmpty)
  }

  @Test
  func whatDoesNotOpenIsFetchedAgainOnce() async throws {
    serve()
    let request = ImageRequest(url: Self.url)
    let pipeline = try start()
    _ = try await pipeline.image(for: request)
    await pipeline.cache.flush()
    let refuses: SealedDataCache.Cipher = { _, _ in throw CancellationError() }
    let secret = try #require(SealedDataCache.Secret(bytes: Array(1...16)))
    let other = ImagePipeline.testing(parts) {
      $0.diskCache = SealedDataCache(parts.diskCache, secret: secret, seal: Self.mask, open: refuses)
    }
    #expect(try await other.imageTask(for: request).response.origin == .network)
    await other.cache.flush()
    #expect(parts.loader.counts.loads == 2)
    #expect(try await start().imageTask(for: request).response.origin == .disk)
  }
}
