import Testing
import Vitrine
import VitrineCaching
import VitrineTesting

/// Caches in memory and on disk.
@Suite(.timeLimit(.minutes(5)))
struct CacheScenarios {
  private let setting: Setting
  private let folder = Folder()
  private let drawing = Bitmap.testPattern(width: 100, height: 50)

  init() throws {
    setting = try Setting()
  }

  @Test
  func aCacheOfTwoLevelsKeepsPixelsAndBytes() async throws {
    let pipeline = ImagePipeline.testing(setting.parts) {
      $0.memoryCache = MemoryCache(costLimit: 64 << 20, countLimit: 100)
      $0.diskCache = MemoryDataCache(sizeLimit: 8 << 20)
    }
    _ = try await pipeline.image(for: setting.cat)
    await pipeline.cache.flush()
    await pipeline.cache.remove(setting.cat, in: .memory)
    #expect(pipeline.cachedImage(for: ImageRequest(url: setting.cat)) == nil)
    #expect(try await pipeline.imageTask(for: setting.cat).response.origin == .disk)
  }

  @Test
  func aSubscriptInsertsReadsAndRemoves() async throws {
    let cache = ImagePipeline.testing(setting.parts).cache
    let cat = ImageRequest(url: setting.cat)
    let dog = ImageRequest(url: setting.dog)
    (cache[cat], cache[dog]) = (drawing, drawing)
    #expect(cache[cat]?.width == 100)
    cache[cat] = nil
    #expect(cache[cat] == nil)
    await cache.removeAll()
    #expect(cache[dog] == nil)
  }

  @Test
  func aLimitInBytesEvicts() {
    #expect(drawing.byteCount == drawing.bytesPerRow * drawing.height)
    let memory = MemoryCache<CachedImage>(costLimit: 10 * drawing.byteCount)
    let pipeline = ImagePipeline.testing { $0.memoryCache = memory }
    for number in 1...20 { pipeline.cache[ImageRequest(url: "https://images.invalid/\(number).jpg")] = drawing }
    #expect(memory.statistics.cost <= memory.costLimit)
    #expect(memory.statistics.evictionsByLimit >= 10)
  }

  @Test
  func theLeastRecentlyUsedImageLeavesFirst() {
    let cache = MemoryCache<Bitmap>(costLimit: 64 << 20, countLimit: 20, eviction: .leastRecentlyUsed)
    let keys = (0...20).map { number in CacheKey { $0.append("https://images.invalid/\(number).jpg") } }
    for key in keys.prefix(20) { cache.store(drawing, for: key, cost: drawing.byteCount) }
    _ = cache.value(for: keys[0])
    cache.store(drawing, for: keys[20], cost: drawing.byteCount)
    #expect(cache.contains(keys[0]))
    #expect(cache.contains(keys[1]) == false)
  }

  @Test
  func anImageInMemoryIsThereAtOnce() async throws {
    let pipeline = ImagePipeline.testing(setting.parts)
    let request = ImageRequest(url: setting.cat)
    #expect(pipeline.cachedImage(for: request) == nil)
    _ = try await pipeline.image(for: request)
    #expect(pipeline.cachedImage(for: request)?.image.width == 320)
  }

  @Test
  func aMemoryWarningEmptiesTheCache() async throws {
    let pressure = ManualMemoryPressure()
    let pipeline = ImagePipeline.testing(setting.parts) { $0.memoryPressure = pressure }
    _ = try await pipeline.image(for: setting.cat)
    pressure.tell(.critical)
    #expect(pipeline.cachedImage(for: ImageRequest(url: setting.cat)) == nil)
  }

  @Test
  func imagesSurviveARestart() async throws {
    let first = try Program(setting, folder)
    _ = try await first.pipeline.image(for: setting.cat)
    await first.quit()
    let second = try Program(setting, folder)
    #expect(try await second.pipeline.imageTask(for: setting.cat).response.origin == .disk)
    await second.quit()
  }

  @Test
  func imagesLeaveTheDiskAfter12Hours() async throws {
    let program = try Program(setting, folder, lifetime: .seconds(12 * 3600))
    _ = try await program.pipeline.image(for: setting.cat)
    await program.pipeline.cache.flush()
    setting.parts.clock.advance(by: .seconds(12 * 3600 - 1))
    #expect(await program.pipeline.cache.contains(setting.cat, in: .disk))
    setting.parts.clock.advance(by: .seconds(1))
    #expect(await program.pipeline.cache.contains(setting.cat, in: .disk) == false)
    await program.quit()
  }
}
