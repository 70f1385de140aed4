import Foundation
import Testing
import Vitrine
import VitrineTesting

/// Caches and loads, by URL alone.
@Suite(.timeLimit(.minutes(5)))
struct ByURLScenarios {
  private let setting: Setting
  private let folder = Folder()
  private let drawing = Bitmap.testPattern(width: 100, height: 50)

  init() throws {
    setting = try Setting()
  }

  @Test
  func aSubscriptTakesAURL() {
    let cache = ImagePipeline.testing(setting.parts).cache
    cache[setting.cat] = drawing
    #expect(cache[setting.cat]?.width == 100)
    cache[setting.cat] = nil
    #expect(cache[setting.cat] == nil)
  }

  @Test
  func aStoredImageSurvivesARestart() async throws {
    let first = try Program(setting, folder)
    await first.pipeline.cache.store(drawing, for: setting.slow)
    await first.quit()
    let second = try Program(setting, folder)
    #expect(try await second.pipeline.image(for: setting.slow).width == 100)
    #expect(setting.loader.requests.isEmpty)
    await second.quit()
  }

  @Test
  func aStoredImageIsLoadedAgainAfter12Hours() async throws {
    let pipeline = ImagePipeline.testing(setting.parts)
    await pipeline.cache.store(drawing, for: setting.cat, in: .disk, expiration: .after(.seconds(12 * 3600)))
    #expect(try await pipeline.image(for: setting.cat).width == 100)
    setting.parts.clock.advance(by: .seconds(12 * 3600 + 1))
    #expect(try await pipeline.image(for: setting.cat).width == 320)
  }

  @Test
  func bytesComeWithTheirResponse() async throws {
    let response = try await ImagePipeline.testing(setting.parts).dataTask(for: setting.cat).response
    #expect(response.data == setting.bytes)
    #expect(response.headers["ETag"] == "\"1\"")
    #expect(response.url == setting.cat)
  }

  @Test
  func theBytesOnDiskAreThoseOfTheServer() async throws {
    let pipeline = ImagePipeline.testing(setting.parts)
    #expect(await pipeline.cache.data(for: setting.cat) == nil)
    _ = try await pipeline.image(for: setting.cat)
    await pipeline.cache.flush()
    #expect(await pipeline.cache.data(for: setting.cat) == setting.bytes)
  }

  @Test
  func cancellingAURLCancelsEverySize() async throws {
    let pipeline = ImagePipeline.testing(setting.parts)
    let small = pipeline.imageTask(for: ImageRequest(url: setting.slow, size: .pixels(100)))
    let large = pipeline.imageTask(for: ImageRequest(url: setting.slow, size: .pixels(300)))
    let load = try await setting.loader.nextLoad(of: setting.slow)
    pipeline.cancel(for: setting.slow)
    await load.wait { $0.isCancelled }
    await #expect(throws: LoadError.self) { try await small.image }
    await #expect(throws: LoadError.self) { try await large.image }
  }
}
