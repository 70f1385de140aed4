import Testing
import Vitrine
import VitrineRuntime
import VitrineTesting

/// Pipelines made of configurations, and the one that a program shares.
struct ConfigurationTests {
  @Test
  func aPipelineNeedsNoSetUp() async throws {
    let pipeline = ImagePipeline()
    #expect(pipeline.configuration.diskCache == nil)
    #expect(pipeline.configuration.memoryCache != nil)
    let file = try Bitmap.testPattern(width: 8, height: 8).encoded(as: .png)
    #expect(try await pipeline.image(for: ImageRequest(.data(file, id: "a"))).width == 8)
  }

  @Test
  func aDerivedPipelineSharesCachesAndHasItsOwnSettings() async throws {
    let parts = PipelineParts()
    let file = try Bitmap.testPattern(width: 8, height: 8).encoded(as: .png)
    parts.loader.answer("https://example.org/a.png", with: file, headers: ["Cache-Control": "max-age=60"])
    let pipeline = ImagePipeline.testing(parts)
    _ = try await pipeline.image(for: "https://example.org/a.png")

    var configuration = pipeline.configuration
    configuration.maxConcurrentDecodes += 1
    let derived = ImagePipeline(configuration)

    #expect(derived.cachedImage(for: "https://example.org/a.png") != nil)
    #expect(derived.configuration.maxConcurrentDecodes == pipeline.configuration.maxConcurrentDecodes + 1)
  }

  @Test
  func theSharedPipelineIsSetBeforeItsFirstUse() async {
    await #expect(processExitsWith: .success) {
      let pipeline = ImagePipeline()
      ImagePipeline.shared = pipeline
      precondition(ImagePipeline.shared === pipeline)
      precondition(ImagePipeline.shared === pipeline)
    }
  }

  @Test(arguments: [false, true])
  func settingTheSharedPipelineLaterIsAnError(isUsed: Bool) async {
    await #expect(processExitsWith: .failure) { [isUsed = isUsed as Bool] in
      // Where no folder can be made, so that no disk cache is.
      unsafe setenv("XDG_CACHE_HOME", "/proc/none", 1)
      if isUsed { _ = ImagePipeline.shared.configuration } else { ImagePipeline.shared = ImagePipeline() }
      ImagePipeline.shared = ImagePipeline()
    }
  }
}
