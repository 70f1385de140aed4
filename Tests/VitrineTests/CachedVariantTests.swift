import Testing
import VitrineImaging
import VitrineRuntime
import VitrineTestSupport
import VitrineTesting

@testable import Vitrine

/// What is in memory that is most like an image.
@Suite(.patient)
struct CachedVariantTests {
  private let parts = PipelineParts()
  private let pipeline: ImagePipeline
  private let url = "https://example.org/a.png"

  init() throws {
    pipeline = .testing(parts)
    let file = try Bitmap.testPattern(width: 160, height: 120).encoded(as: .png)
    parts.loader.answer("*", with: file, headers: ["Cache-Control": "max-age=60"])
  }

  private func request(_ size: TargetSize?, _ change: (inout ImageRequest) -> Void = { _ in }) -> ImageRequest {
    var request = ImageRequest(url: url, size: size)
    change(&request)
    return request
  }

  /// Has them made anew, and not of one another.
  private func remember(_ requests: [ImageRequest]) async throws {
    for request in requests {
      var request = request
      request.cachePolicy = .reload
      _ = try await pipeline.image(for: request)
    }
  }

  private func step(_ id: String) -> ImageProcessor { .custom(id: id) { $0 } }

  @Test
  func nothingInMemoryIsNothing() async throws {
    #expect(pipeline.cachedVariant(for: request(nil)) == nil)
    try await remember([request(nil)])
    #expect(pipeline.cachedVariant(for: ImageRequest(url: "https://example.org/b.png")) == nil)
    #expect(pipeline.cachedVariant(for: request(nil) { $0.cachePolicy = .reload }) == nil)
    await pipeline.cache.removeAll()
    #expect(pipeline.cachedVariant(for: request(nil)) == nil)
  }

  @Test
  func theSmallestThatIsSharpElseTheLargestIsTaken() async throws {
    try await remember([16.0, 32, 64, 128].map { request(.pixels($0, $0)) })
    #expect(pipeline.cachedVariant(for: request(.pixels(20, 20)))?.image.width == 32)
    #expect(pipeline.cachedVariant(for: request(.pixels(64, 64)))?.image.width == 64)
    #expect(pipeline.cachedVariant(for: request(.pixels(65, 65)))?.image.width == 128)
    let whole = try #require(pipeline.cachedVariant(for: request(nil)))
    #expect(whole.image.width == 128)
    #expect(whole.pixelRatio == 0.8)
    #expect(whole.processing == .same)
    #expect(whole.isSameView)
    #expect(!whole.isStale)
    let small = try #require(pipeline.cachedVariant(for: request(.pixels(8, 8))))
    #expect((small.image.width, small.pixelRatio) == (16, 2))
  }

  @Test
  func whatShowsTheSameViewIsPreferred() async throws {
    try await remember([request(.pixels(120, 120, .fill)), request(.pixels(20, 20))])
    // In its own aspect the small one looks like it, the square does not.
    #expect(pipeline.cachedVariant(for: request(.pixels(160, 160)))?.image.width == 20)
    // Of a square both show the view; the square has more pixels.
    let square = try #require(pipeline.cachedVariant(for: request(.pixels(100, 100, .fill))))
    #expect((square.image.width, square.image.height, square.isSameView) == (120, 120, true))
    await pipeline.cache.remove(request(nil))
    try await remember([request(.pixels(120, 120, .fill))])
    let other = try #require(pipeline.cachedVariant(for: request(.pixels(160, 160))))
    #expect(!other.isSameView)
  }

  @Test
  func whatIsProcessedAlikeIsPreferredThenWhatIsNotProcessed() async throws {
    let round = request(.pixels(16, 16)) { $0.processors = [step("round")] }
    let other = request(.pixels(160, 160)) { $0.processors = [step("other")] }
    try await remember([other])
    let wanted = request(.pixels(64, 64)) { $0.processors = [step("round")] }
    await pipeline.cache.removeAll()
    pipeline.cache[other] = .testPattern(width: 160, height: 120)
    #expect(pipeline.cachedVariant(for: wanted)?.processing == .other)
    #expect(pipeline.cachedVariant(for: request(.pixels(64, 64)))?.processing == .other)
    pipeline.cache[request(.pixels(32, 32))] = .testPattern(width: 32, height: 24)
    #expect(pipeline.cachedVariant(for: wanted)?.processing == CachedVariant.Processing.none)
    #expect(pipeline.cachedVariant(for: request(.pixels(64, 64)))?.processing == .same)
    pipeline.cache[round] = .testPattern(width: 16, height: 12)
    #expect(pipeline.cachedVariant(for: wanted)?.processing == .same)
    #expect(pipeline.cachedVariant(for: wanted)?.image.width == 16)
  }

  @Test
  func neverAcrossScopesOrFrames() async throws {
    try await remember([request(.pixels(32, 32)) { $0.cachePartition = "ann" }])
    #expect(pipeline.cachedVariant(for: request(.pixels(64, 64))) == nil)
    #expect(pipeline.cachedVariant(for: request(.pixels(64, 64)) { $0.cachePartition = "bob" }) == nil)
    #expect(pipeline.cachedVariant(for: request(.pixels(64, 64)) { $0.cachePartition = "ann" }) != nil)
    #expect(
      pipeline.cachedVariant(
        for: request(.pixels(64, 64)) {
          $0.cachePartition = "ann"
          $0.frame = 1
        }
      ) == nil
    )
  }

  @Test
  func neverInOtherColours() async throws {
    try await remember([request(.pixels(32, 32)) { $0.colorSpace = .displayP3 }])
    #expect(pipeline.cachedVariant(for: request(.pixels(64, 64))) == nil)
    #expect(pipeline.cachedVariant(for: request(.pixels(64, 64)) { $0.colorSpace = .displayP3 }) != nil)
  }

  static let kinds: [(Bool, DynamicRange)] = [(true, .standard), (false, .high), (true, .high)]

  /// The keys of what moves, and of what is brighter than white, have more parts.
  @Test(arguments: kinds)
  func neverInOtherColoursAlsoIfItMovesOrIsBright(animates: Bool, range: DynamicRange) async throws {
    func request(_ side: Double, _ space: ColorSpace, isPlain: Bool = false) -> ImageRequest {
      self.request(.pixels(side, side)) {
        $0.colorSpace = space
        if !isPlain { ($0.animates, $0.dynamicRange) = (animates, range) }
      }
    }
    var round = request(32, .displayP3)
    round.processors = [step("round")]
    try await remember([request(32, .displayP3), round])
    for isPlain in [false, true] {
      #expect(pipeline.cachedVariant(for: request(64, .sRGB, isPlain: isPlain)) == nil)
      #expect(pipeline.cachedVariant(for: request(64, .displayP3, isPlain: isPlain))?.processing == .same)
    }
    await pipeline.cache.removeAll()
    try await remember([request(32, .displayP3, isPlain: true)])
    #expect(pipeline.cachedVariant(for: request(64, .sRGB)) == nil)
    #expect(pipeline.cachedVariant(for: request(64, .displayP3))?.processing == .same)
  }

  @Test
  func whatVariesByAHeaderServesThoseWhoSendTheSame() async throws {
    parts.loader.answer(
      url,
      with: try Bitmap.testPattern(width: 32, height: 24).encoded(as: .png),
      headers: ["Cache-Control": "max-age=60", "Vary": "Accept-Language"],
    )
    try await remember([request(.pixels(16, 16)) { $0.headers["Accept-Language"] = "de" }])
    #expect(pipeline.cachedVariant(for: request(nil)) == nil)
    #expect(pipeline.cachedVariant(for: request(nil) { $0.headers["Accept-Language"] = "de" }) != nil)
  }

  @Test
  func aStaleOneSaysThatItIs() async throws {
    try await remember([request(.pixels(32, 32))])
    parts.clock.advance(by: .seconds(61))
    #expect(pipeline.cachedVariant(for: request(.pixels(64, 64)))?.isStale == true)
  }

  @Test
  func ofSeveralSourcesTheFirstThatHasOneCounts() async throws {
    try await remember([ImageRequest(url: "https://example.org/b.png", size: .pixels(16, 16))])
    let several = ImageRequest(.first(of: [.url(url), .url("https://example.org/b.png")]))
    #expect(pipeline.cachedVariant(for: several)?.image.width == 16)
    try await remember([request(.pixels(32, 32))])
    #expect(pipeline.cachedVariant(for: several)?.image.width == 32)
  }

  @Test
  func itIsNeverTheFinalImage() async throws {
    try await remember([request(.pixels(16, 16))])
    #expect(pipeline.cachedImage(for: request(.pixels(64, 64))) == nil)
    #expect(try await pipeline.image(for: request(.pixels(64, 64))).width == 64)
  }

  @Test(arguments: [TargetSize.pixels(0, 0), .pixels(-1, 5), .pixels(.nan, 5), .pixels(.infinity, 5)])
  func aSizeThatIsNoneHasNoVariant(size: TargetSize) async throws {
    try await remember([request(.pixels(16, 16))])
    #expect(pipeline.cachedVariant(for: request(size)) == nil)
  }
}
