import Testing
import Vitrine
import VitrineTestSupport
import VitrineTesting

/// The values that fakes and interceptors make themselves.
@Suite(.patient)
struct MadeValueTests {
  private struct Answers: ImageInterceptor {
    let response: ImageResponse

    func image(for request: ImageRequest, next: InterceptorChain) async throws -> ImageResponse { response }
  }

  private static let url = "https://example.org/a.png"
  private let parts = PipelineParts()
  private let request = ImageRequest(url: url)
  private let picture = ImageContainer(.testPattern(width: 8, height: 6))

  @Test
  func aResponseSaysWhatItWasMadeWith() async throws {
    let made = ImageResponse(picture, from: .disk, isStale: true, status: 203, byteCount: 4711)
    let pipeline = ImagePipeline.testing(parts) { $0.interceptors = [Answers(response: made)] }

    let response = try await pipeline.imageTask(for: request).response

    #expect(response.origin == .disk)
    #expect(response.isStale)
    #expect(response.status == 203)
    #expect(response.byteCount == 4711)
    #expect(response.image.width == 8)
    // What an interceptor makes is for whoever waits, and kept nowhere.
    #expect(pipeline.cachedImage(for: request) == nil)
  }

  @Test
  func aResponseOfABitmapAloneIsLocalFreshAndOfNoServer() {
    let response = ImageResponse(picture.bitmap)
    #expect(response.origin == .local)
    #expect(!response.isStale)
    #expect(response.status == nil)
    #expect(response.byteCount == 0)
    #expect(ImageResponse(picture.bitmap, byteCount: -1).byteCount == 0)
  }

  @Test
  func anImagePutIntoTheMemoryCacheIsStaleFromItsExpiryOnAndLoadedAnew() async throws {
    let memory = MemoryCache<CachedImage>(costLimit: 1 << 20, clock: parts.clock)
    let pipeline = ImagePipeline.testing(parts) { $0.memoryCache = memory }
    let expires = parts.clock.now.addingTimeInterval(60)
    let cached = CachedImage(picture, expires: expires, status: 200)
    #expect(cached.expires == expires)
    #expect(cached.status == 200)
    memory.store(cached, for: request.imageKey, cost: 192, group: request.fetchKey)
    parts.loader.answer(Self.url, with: TestPicture.png)

    #expect(try await pipeline.image(for: request).width == 8)
    parts.clock.advance(by: .seconds(61))
    #expect(pipeline.cachedImage(for: request)?.isStale == true)
    #expect(try await pipeline.image(for: request).width == 64)
  }

  @Test
  func withoutAnExpiryItIsFreshForEver() {
    let cached = CachedImage(picture)
    #expect(cached.expires == nil)
    #expect(cached.status == nil)
    #expect(cached.image.height == 6)
  }

  @Test
  func aVariantIsByDefaultWhatTheRequestAsksFor() {
    let variant = CachedVariant(picture)
    #expect(variant.processing == .same)
    #expect(variant.isSameView)
    #expect(variant.pixelRatio == 1)
    #expect(!variant.isStale)
    let small = CachedVariant(picture, processing: .other, isSameView: false, pixelRatio: 0.25, isStale: true)
    #expect(small.processing == .other)
    #expect(small.pixelRatio == 0.25)
    #expect(small.isStale)
  }

  @Test
  func progressCountsNothingBelowZero() {
    #expect(LoadProgress() == LoadProgress(completed: 0, total: 0))
    #expect(LoadProgress(completed: -5, total: -1) == LoadProgress())
    #expect(LoadProgress(completed: 3, total: 4).fraction == 0.75)
  }
}
