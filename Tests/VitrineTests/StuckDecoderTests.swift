import Testing
import Vitrine
import VitrineImaging
import VitrineRuntime
import VitrineTesting

/// A decoder that does not come back, whatever its time limit.
@Suite(.timeLimit(.minutes(20)))
struct StuckDecoderTests {
  /// Does not return from one file until the test opens the gate.
  private struct StuckDecoder: ImageDecoder {
    let inner = PNGDecoder()
    let file: Data
    let stuck = Watched(0)
    let isOpen = Monitor(false)

    var formats: [ImageFormat] { inner.formats }

    func open() {
      isOpen.withLock { $0 = true }
      isOpen.broadcast()
    }

    func info(
      of bytes: UnsafeRawBufferPointer,
      format: ImageFormat,
      limits: DecodeLimits,
    ) throws(ImageError) -> ImageInfo? {
      try unsafe inner.info(of: bytes, format: format, limits: limits)
    }

    func open(_ bytes: UnsafeRawBufferPointer, _ request: RowRequest) throws(ImageError) -> (any RowSource)? {
      if unsafe Data(bytes) == file {
        stuck.change { $0 += 1 }
        _ = isOpen.wait { $0 ? .leave(true) : .wait }
      }
      return try unsafe inner.open(bytes, request)
    }
  }

  /// Longer than any decode takes: decoders measure it with the clock of the machine.
  private static let limit = Duration.seconds(300)
  /// The limit and the time to reach the next check.
  private static let end = Duration.seconds(305)

  private let parts = PipelineParts()
  private let log = Lock<[String]>([])
  private let decoder: StuckDecoder
  private let pipeline: ImagePipeline

  init() throws {
    decoder = StuckDecoder(file: try Bitmap.testPattern(width: 40, height: 30).encoded(as: .png))
    pipeline = ImagePipeline.testing(parts) { [decoder, log] in
      $0.decoders.add(decoder)
      $0.maxConcurrentDecodes = 1
      $0.decodeLimits.timeLimit = Self.limit
      $0.log = { entry in log.withLock { $0.append("\(entry)") } }
    }
    parts.loader.answer("https://example.org/stuck.png", with: decoder.file)
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
    await decoder.stuck.wait { $0 == 1 }
    parts.clock.advance(by: Self.end)
    return await error
  }

  @Test
  func itsCallerGetsAnErrorOfTheTimeLimit() async {
    let error = await getStuck()
    decoder.open()

    #expect(error?.code == .outOfTime)
    #expect(error?.limit == .timeLimit)
  }

  @Test
  func otherFormatsGoOnWithAnotherThread() async throws {
    _ = await getStuck()

    let image = try await pipeline.image(for: ImageRequest(url: "https://example.org/a.jpg"))

    #expect([image.width, image.height] == [90, 60] as [Int])
    decoder.open()
  }

  @Test
  func itsFormatFailsAtOnceUntilItReturns() async throws {
    _ = await getStuck()

    let error = await failure("other.png")
    #expect(error?.code == .outOfTime)
    #expect(error?.detail.contains("has not returned") == true)

    decoder.open()
    // The thread returns at some moment from now on.
    try await until { await failure("other.png") == nil }
    #expect(try await pipeline.image(for: ImageRequest(url: "https://example.org/stuck.png")).width == 40)
  }

  @Test
  func itIsReported() async throws {
    _ = await getStuck()
    decoder.open()

    try await until { log.withLock({ $0.contains { $0.contains("does not return") } }) }
  }

  @Test
  func oneThatReturnsInTimeIsNotStuck() async throws {
    async let image = pipeline.image(for: ImageRequest(url: "https://example.org/stuck.png"))
    await decoder.stuck.wait { $0 == 1 }
    decoder.open()

    #expect(try await image.width == 40)
    #expect(parts.clock.pendingCount == 0)
    #expect(await failure("other.png") == nil)
  }
}
