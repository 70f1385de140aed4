import Testing
import Vitrine
import VitrineCaching
import VitrineImaging
import VitrineRuntime
import VitrineTesting

struct PipelinePressureTests {
  @Test
  func aPipelineGivesMemoryBackWhenItIsScarceForAsLongAsItLives() {
    let pressure = ManualMemoryPressure()
    let request = ImageRequest(url: "https://example.org/a.png")
    do {
      // It loads nothing, so nothing keeps it for longer.
      let pipeline = ImagePipeline.testing { $0.memoryPressure = pressure }
      pipeline.cache[request] = .solid(SIMD4(1, 2, 3, 255), width: 8, height: 8)
      #expect(pipeline.cachedImage(for: request) != nil)
      pressure.tell(.critical)
      #expect(pipeline.cachedImage(for: request) == nil)
    }
    #expect(pressure.observerCount == 0)
  }

  @Test
  func anImageCostsItsBytesPerRowTimesItsHeight() async throws {
    let parts = PipelineParts()
    parts.loader.answer("*", with: try Bitmap.solid(SIMD4(1, 2, 3, 255), width: 640, height: 480).encoded(as: .png))
    let memory = MemoryCache<CachedImage>(costLimit: 10 << 20)
    let pipeline = ImagePipeline.testing(parts) { $0.memoryCache = memory }
    _ = try await pipeline.image(for: ImageRequest(url: "https://example.org/a.png"))
    #expect(memory.statistics.cost == 1_228_800)
  }

  @Test
  func unlessToldTheSystemIsAskedAndATestingPipelineAsksNobody() {
    _ = ImagePipeline(.ephemeral) { #expect($0.memoryPressure is SystemMemoryPressure) }
    _ = ImagePipeline.testing { #expect($0.memoryPressure == nil) }
  }
}
