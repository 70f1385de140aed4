import Testing
import VitrineCaching
import VitrineHTTP
import VitrineImaging
import VitrineRuntime
import VitrineTestSupport
import VitrineTesting

@testable import Vitrine

/// Requests that come between the end of a download and the first decode of it.
@Suite(.patient)
struct ArrivedBytesTests {
  private static let url = "https://example.org/a.png"
  private let parts = PipelineParts()
  private let pipeline: ImagePipeline

  init() { pipeline = .testing(parts) }

  private func request(_ side: Double) -> ImageRequest {
    ImageRequest(url: Self.url, size: .pixels(side, side))
  }

  /// Downloads an image while its decode is held, lets `body` begin other loads, and lets the decodes go on.
  private func whileDecoding(
    _ file: Data = TestPicture.png,
    _ fields: HTTPFields = ["Cache-Control": "max-age=60"],
    _ body: () async throws -> Void,
  ) async throws {
    parts.loader.answer(Self.url, with: file, headers: fields)
    let gate = try pipeline.context.decodeQueue.hold()
    let first = pipeline.imageTask(for: request(32))
    try await until { pipeline.context.decodeQueue.pendingCount == 1 }
    do {
      try await body()
    } catch {
      gate.open()
      throw error
    }
    gate.open()
    _ = try? await first.image
  }

  private var loads: Int { parts.loader.counts.loads }

  @Test
  func anotherSizeDownloadsNothing() async throws {
    var second: ImageTask?
    try await whileDecoding {
      second = pipeline.imageTask(for: request(16))
      try await until { pipeline.context.decodeQueue.pendingCount == 2 }
    }
    #expect(try await second?.image.width == 16)
    #expect(loads == 1)
    await pipeline.cache.flush()
    #expect(await pipeline.cache.data(for: ImageRequest(url: Self.url)) == TestPicture.png)
  }

  @Test
  func theBytesThemselvesDownloadNothing() async throws {
    try await whileDecoding {
      let data = try await pipeline.data(for: ImageRequest(url: Self.url))
      #expect(data == TestPicture.png)
    }
    #expect(loads == 1)
  }

  @Test
  func anEncodedFileDownloadsNothing() async throws {
    var file: Task<EncodedImage, any Error>?
    try await whileDecoding {
      file = Task { try await pipeline.encoded(for: request(16), as: .png()) }
      try await until { pipeline.context.decodeQueue.pendingCount == 2 }
    }
    #expect(try await file?.value.width == 16)
    #expect(loads == 1)
  }

  @Test(arguments: ["no-store", "no-cache", "max-age=0"])
  func whatMayNotAnswerALaterRequestIsAskedForAgain(control: String) async throws {
    var second: ImageTask?
    try await whileDecoding(TestPicture.png, ["Cache-Control": control]) {
      second = pipeline.imageTask(for: request(16))
      try await until { pipeline.context.decodeQueue.pendingCount == 2 }
    }
    #expect(try await second?.image.width == 16)
    #expect(loads == 2)
  }

  @Test
  func aReloadAsksAgain() async throws {
    var second: ImageTask?
    try await whileDecoding {
      var request = request(16)
      request.cachePolicy = .reload
      second = pipeline.imageTask(for: request)
      try await until { pipeline.context.decodeQueue.pendingCount == 2 }
    }
    #expect(try await second?.image.width == 16)
    #expect(loads == 2)
  }

  @Test
  func afterARemovalTheyAreAskedForAgain() async throws {
    var second: ImageTask?
    try await whileDecoding {
      await pipeline.cache.remove(ImageRequest(url: Self.url))
      second = pipeline.imageTask(for: request(16))
      try await until { pipeline.context.decodeQueue.pendingCount == 2 }
    }
    #expect(try await second?.image.width == 16)
    #expect(loads == 2)
  }

  @Test
  func noImageIsAnErrorForBothAndIsNotKept() async throws {
    let text = Data("This is no image.".utf8)
    var second: ImageTask?
    try await whileDecoding(text) {
      second = pipeline.imageTask(for: request(16))
      try await until { pipeline.context.decodeQueue.pendingCount == 2 }
    }
    let error = await #expect(throws: LoadError.self) { try await second?.image }
    #expect(error?.code == .undecodable)
    #expect(loads == 1)
    await pipeline.cache.flush()
    #expect(await pipeline.cache.data(for: ImageRequest(url: Self.url)) == nil)
  }

  @Test
  func aCallerThatLeavesLeavesNothingBehind() async throws {
    parts.loader.answer(Self.url, with: TestPicture.png, headers: ["Cache-Control": "max-age=60"])
    let gate = try pipeline.context.decodeQueue.hold()
    let first = pipeline.imageTask(for: request(32))
    try await until { pipeline.context.decodeQueue.pendingCount == 1 }
    first.cancel()
    try await until { pipeline.context.decodeQueue.pendingCount == 0 }
    let second = pipeline.imageTask(for: request(16))
    try await until { pipeline.context.decodeQueue.pendingCount == 1 }
    gate.open()
    #expect(try await second.image.width == 16)
    #expect(loads <= 2)
  }
}
