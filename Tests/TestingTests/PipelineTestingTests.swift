import Testing
import Vitrine
import VitrineRuntime
import VitrineTestSupport
import VitrineTesting

/// The pipeline that a user's test would be written with.
@Suite(.patient)
struct PipelineTestingTests {
  private let parts = PipelineParts()
  private let url = "https://example.org/a.png"
  private let file: Data

  init() throws {
    file = try Bitmap.testPattern(width: 8, height: 6).encoded(as: .png)
  }

  @Test
  func itLoadsKeepsInMemoryAndGrowsStaleWithTheClock() async throws {
    parts.loader.answer(url, with: file, headers: ["Cache-Control": "max-age=60"])
    let pipeline = ImagePipeline.testing(parts)
    let request = ImageRequest(url: url)
    #expect(try await pipeline.image(for: request).width == 8)
    #expect(pipeline.cachedImage(for: request)?.isStale == false)
    parts.clock.advance(by: .seconds(61))
    #expect(pipeline.cachedImage(for: request)?.isStale == true)
  }

  @Test
  func anotherPipelineOfTheSamePartsIsTheProgramAfterARestart() async throws {
    parts.loader.answer(url, with: file, headers: ["Cache-Control": "max-age=60"])
    let request = ImageRequest(url: url)
    _ = try await ImagePipeline.testing(parts).image(for: request)
    await parts.diskCache.wait(forWrites: 1)
    #expect(try await ImagePipeline.testing(parts).imageTask(for: request).response.origin == .disk)
    #expect(parts.loader.counts.loads == 1)
  }

  @Test
  func anyPartCanBeReplaced() async throws {
    parts.loader.answer(url, with: file)
    let pipeline = ImagePipeline.testing(parts) { $0.memoryCache = nil }
    let request = ImageRequest(url: url)
    _ = try await pipeline.image(for: request)
    #expect(pipeline.cachedImage(for: request) == nil)
  }
}
