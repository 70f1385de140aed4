import Testing
import Vitrine
import VitrineImaging
import VitrineRuntime
import VitrineTestSupport
import VitrineTesting

/// A decoder that does not come back, whatever its time limit.
@Suite(.patient)
struct StuckDecoderTests {
  /// Longer than any decode takes: decoders measure it with the clock of the machine.
  private static let limit = Duration.seconds(300)
  /// The limit and the time to reach the next check.
  private static let end = Duration.seconds(305)

  private let parts = PipelineParts()
  private let log = Record<String>()
  private let decoder: HeldDecoder
  private let pipeline: ImagePipeline

  init() throws {
    let file = try Bitmap.testPattern(width: 40, height: 30).encoded(as: .png)
    decoder = HeldDecoder(of: file)
    pipeline = ImagePipeline.testing(parts) { [decoder, log] in
      $0.decoders.add(decoder.decoder)
      $0.maxConcurrentDecodes = 1
      $0.decodeLimits.timeLimit = Self.limit
      $0.log = { entry in log.add("\(entry)") }
    }
    parts.loader.answer("https://example.org/stuck.png", with: file)
    parts.loader.answer(
      "https://example.org/other.png",
      with: try Bitmap.testPattern(width: 8, height: 8).encoded(as: .png),
    )
    parts.loader.answer(
      "https://example.org/a.jpg",
      with: try Bitmap.testPattern(width: 90, height: 60).encoded(as: .jpeg),
    )
  }

  private func failure(_ name: String) async -> ImageError? {
    do {
      _ = try await pipeline.image(for: ImageRequest(url: "https://example.org/\(name)"))
      return nil
    } catch {
      return error.cause as? ImageError
    }
  }

  /// Lets one decode get stuck for good, and returns the error of its caller.
  private func getStuck() async -> ImageError? {
    async let error = failure("stuck.png")
    await decoder.begun.reaches(1)
    parts.clock.advance(by: Self.end)
    return await error
  }

  @Test
  func itsCallerGetsAnErrorOfTheTimeLimit() async {
    let error = await getStuck()
    decoder.gate.open()

    #expect(error?.code == .outOfTime)
    #expect(error?.limit == .timeLimit)
  }

  @Test
  func otherFormatsGoOnWithAnotherThread() async throws {
    _ = await getStuck()

    let image = try await pipeline.image(for: ImageRequest(url: "https://example.org/a.jpg"))

    #expect([image.width, image.height] == [90, 60] as [Int])
    decoder.gate.open()
  }

  @Test
  func itsFormatFailsAtOnceUntilItReturns() async throws {
    _ = await getStuck()

    let error = await failure("other.png")
    #expect(error?.code == .outOfTime)
    #expect(error?.detail.contains("has not returned") == true)

    decoder.gate.open()
    // The thread returns at some moment from now on.
    try await until { await failure("other.png") == nil }
    #expect(try await pipeline.image(for: ImageRequest(url: "https://example.org/stuck.png")).width == 40)
  }

  @Test
  func itIsReported() async throws {
    _ = await getStuck()
    decoder.gate.open()

    await log.wait { $0.contains { $0.contains("does not return") } }
  }

  @Test
  func oneThatReturnsInTimeIsNotStuck() async throws {
    async let image = pipeline.image(for: ImageRequest(url: "https://example.org/stuck.png"))
    await decoder.begun.reaches(1)
    decoder.gate.open()

    #expect(try await image.width == 40)
    #expect(parts.clock.pendingCount == 0)
    #expect(await failure("other.png") == nil)
  }
}
