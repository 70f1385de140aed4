import Testing
import Vitrine
import VitrineHTTP
import VitrineImaging
import VitrineRuntime
import VitrineTestSupport
import VitrineTesting

/// The caches of a pipeline as one.
@Suite(.patient)
struct PipelineCacheTests {
  private let server: LoopbackServer
  private let picture = TestPicture.bitmap
  private let disk = CountingDataCache()
  private let pipeline: ImagePipeline
  private let url: URL

  init() throws {
    server = try LoopbackServer()
    let file = try picture.encoded(as: .png)
    for path in ["/a.png", "/b.png"] {
      server.route(path, LoopbackResponse(headers: ["Cache-Control": "max-age=86400"], body: file))
    }
    url = try #require(URL(string: server.url("/a.png")))
    pipeline = ImagePipeline(.ephemeral) { [disk] in
      $0.memoryCache = MemoryCache(costLimit: 10 << 20)
      $0.memoryPressure = nil
      $0.diskCache = disk
      $0.loader = PatientLoader()
    }
  }

  @Test
  func whatIsLoadedIsInBothTiersByTheTimeAnyoneAsks() async throws {
    #expect(await pipeline.cache.contains(url) == false)
    _ = try await pipeline.image(for: url)
    #expect(await pipeline.cache.contains(url, in: .memory))
    #expect(await pipeline.cache.contains(url, in: .disk))
    #expect(pipeline.cache[ImageRequest(url: url)]?.width == 64)
  }

  @Test
  func anotherAnchorIsAnotherImage() async throws {
    let top = ImageRequest(url: url, size: .pixels(10, 4, .fill, anchor: .top))

    _ = try await pipeline.image(for: top)

    #expect(pipeline.cachedImage(for: top) != nil)
    #expect(pipeline.cachedImage(for: ImageRequest(url: url, size: .pixels(10, 4, .fill, anchor: .bottom))) == nil)
    #expect(pipeline.cachedImage(for: ImageRequest(url: url, size: .pixels(10, 4, .fill))) == nil)
  }

  @Test
  func removingOneTakesAllItsSizesFromEveryTierAndLeavesOthers() async throws {
    let sizes = [nil, TargetSize.pixels(20, 20), .pixels(10, 10, .fill)].map { ImageRequest(url: url, size: $0) }
    for request in sizes { _ = try await pipeline.image(for: request) }
    let other = ImageRequest(url: server.url("/b.png"))
    _ = try await pipeline.image(for: other)

    await pipeline.cache.remove(url)

    for request in sizes {
      #expect(await pipeline.cache.contains(request) == false)
      #expect(pipeline.cachedImage(for: request) == nil)
    }
    #expect(await pipeline.cache.contains(other, in: .memory))
    #expect(await pipeline.cache.contains(other, in: .disk))
  }

  @Test
  func oneTierCanBeEmptiedAndTheOtherServes() async throws {
    _ = try await pipeline.image(for: url)
    await pipeline.cache.removeAll(in: .memory)
    #expect(await pipeline.cache.contains(url, in: .memory) == false)
    #expect(try await pipeline.imageTask(for: url).response.origin == .disk)
    await pipeline.cache.removeAll()
    #expect(await pipeline.cache.contains(url) == false)
    #expect(try await pipeline.imageTask(for: url).response.origin == .network)
    #expect(server.counts.requests == 2)
  }

  @Test
  func anImagePutIntoMemoryIsServedAndSetToNilIsGone() async throws {
    let request = ImageRequest(url: url, size: .pixels(8, 8))
    let mine = Bitmap.testPattern(width: 8, height: 8)
    pipeline.cache[request] = mine
    #expect(try await pipeline.image(for: request).psnr(against: mine) == .infinity)
    #expect(server.counts.requests == 0)
    // It is no variant of what the server has.
    #expect(try await pipeline.image(for: ImageRequest(url: url, size: .pixels(4, 4))).height == 3)
    #expect(pipeline.cachedImage(for: request) != nil)
    pipeline.cache[request] = nil
    #expect(pipeline.cachedImage(for: request) == nil)
  }

  @Test
  func withoutCachesNothingIsThere() async throws {
    let pipeline = ImagePipeline(.ephemeral) {
      $0.memoryCache = nil
      $0.loader = PatientLoader()
    }
    _ = try await pipeline.image(for: url)
    pipeline.cache[ImageRequest(url: url)] = picture
    #expect(await pipeline.cache.contains(url) == false)
    await pipeline.cache.remove(url)
    await pipeline.cache.removeAll()
    await pipeline.cache.flush()
    #expect(pipeline.cache[ImageRequest(url: url)] == nil)
  }
}
