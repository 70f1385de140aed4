import Testing
import Vitrine
import VitrineHTTP
import VitrineImaging
import VitrineRuntime
import VitrineSandbox
import VitrineTestSupport
import VitrineTesting

/// The recipe for URLs and files of strangers: what each of its bounds refuses, and the message that it gives.
@Suite(.patient)
struct StrangersTests {
  private static let url = "https://example.invalid/a.png"
  private let loader = FakeLoader()

  /// A pipeline with the bounds of the recipe.
  private func start(
    _ change: (inout ImagePipeline.Configuration) throws -> Void = { _ in }
  ) throws -> ImagePipeline {
    try ImagePipeline(.ephemeral) {
      $0.maxResponseBytes = 20_000_000
      $0.queueLimit = 200
      $0.decodeLimits.pixelCount = 40_000_000
      $0.decodeLimits.memoryByteCount = 200_000_000
      $0.decodeLimits.frameCount = 500
      $0.decodeLimits.timeLimit = .seconds(10)
      $0.loader = loader
      $0.decoders = try Sandbox.built().decoders
      try change(&$0)
    }
  }

  private func refusal(_ source: ImageSource, by pipeline: ImagePipeline) async -> LoadError? {
    do throws(LoadError) {
      _ = try await pipeline.image(for: ImageRequest(source, size: .pixels(80, 80)))
      return nil
    } catch {
      return error
    }
  }

  private func hostile(_ name: String) throws -> ImageSource {
    .data(try #require(HostileImage.all.first { $0.name == name }).data, id: name)
  }

  @Test
  func tooManyPixels() async throws {
    let error = try await refusal(hostile("50000x50000.png"), by: start())
    #expect(error?.detail == "png of 50000x50000 pixels, over the limit of 40 megapixels")
    #expect((error?.cause as? ImageError)?.limit?.description == "pixelCount")
  }

  @Test
  func tooMuchMemory() async throws {
    let pipeline = try start { $0.decodeLimits.pixelCount = 100_000_000 }
    let error = try await refusal(hostile("interlaced-9500x9500.png"), by: pipeline)
    let detail = try #require(error?.detail)
    #expect(detail.hasPrefix("png of 9500x9500 pixels needs "))
    #expect(detail.hasSuffix(" MB to decode, over the limit of 200 MB"))
    #expect((error?.cause as? ImageError)?.limit?.description == "memoryByteCount")
  }

  @Test
  func tooManyFrames() async throws {
    let error = try await refusal(hostile("20000-frames.png"), by: start())
    #expect(error?.detail == "apng of 20000 frames, over the limit of 500")
    #expect((error?.cause as? ImageError)?.limit?.description == "frameCount")
  }

  @Test
  func tooMuchTime() async throws {
    let file = try Bitmap.testPattern(width: 400, height: 300).encoded(as: .png)
    let pipeline = try start { $0.decodeLimits.timeLimit = .nanoseconds(1) }
    let error = await refusal(.data(file, id: "slow"), by: pipeline)
    #expect(error?.detail == "decoding took longer than the limit of 1e-09 seconds")
    #expect((error?.cause as? ImageError)?.code == .outOfTime)
  }

  @Test
  func noImage() async throws {
    let error = try await refusal(.data(Data("<html>".utf8), id: "page"), by: start())
    #expect(error?.detail.hasPrefix("not an image") == true)
    #expect((error?.cause as? ImageError)?.code == .unrecognised)
  }

  @Test
  func aDecoderThatIsTakenOver() async throws {
    let pipeline = try start { $0.decoders = try Sandbox.rogue().decoders }
    let error = await refusal(.data(RogueTests.file("crash"), id: "crash"), by: pipeline)
    #expect(error?.detail.contains("crashed") == true)
    #expect((error?.cause as? ImageError)?.code == .decoderFailed)
  }

  @Test
  func tooManyBytes() async throws {
    let pipeline = try start {
      $0.loader = WholeBodyLoader { request in
        (HTTPResponse(status: 200, headers: ["Content-Length": "20000001"], url: request.url), Data())
      }
    }
    let error = await refusal(.url(Self.url), by: pipeline)
    #expect(error?.code == .tooLarge)
    #expect(error?.detail == "the response has 20000001 bytes, more than the limit of 20000000")
  }

  @Test(arguments: [
    ("http://127.0.0.1/a.png", "the address guard refuses 127.0.0.1"),
    ("http://0x7f.1/a.png", "the address guard refuses 127.0.0.1"),
    ("https://example.invalid:8443/a.png", "the address guard does not allow port 8443"),
    ("file:///etc/passwd", "file URLs are not allowed here"),
  ])
  func anAddressThatIsNoneOfTheirs(url: String, message: String) async {
    let pipeline = ImagePipeline(.ephemeral) { $0.addressGuard = AddressGuard() }
    let error = await refusal(.url(url), by: pipeline)
    #expect(error?.code == .forbidden)
    #expect(error?.detail.hasPrefix(message) == true, "\(error?.detail ?? "no error")")
  }

  @Test
  func tooManyAtOnce() async throws {
    let pipeline = try start {
      $0.queueLimit = 0
      $0.decoders = .standard
    }
    let error = await refusal(.url(Self.url), by: pipeline)
    #expect(error?.code == .overloaded)
    #expect(error?.detail == "0 loads are waiting already")
  }
}
