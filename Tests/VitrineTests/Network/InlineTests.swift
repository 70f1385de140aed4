import Testing
import Vitrine
import VitrineImaging
import VitrineRuntime
import VitrineTestSupport
import VitrineTesting

/// Images that are written in their address.
@Suite(.patient)
struct InlineTests {
  private let parts = PipelineParts()
  private let pipeline: ImagePipeline
  private let file = TestPicture.png

  init() {
    pipeline = .testing(parts)
  }

  private var address: String { "data:image/png;base64,\(file.base64EncodedString())" }

  @Test
  func itIsLoadedWithoutALoaderAndKeptInMemory() async throws {
    let whole = try Bitmap(decoding: file)
    for request in [ImageRequest(url: address), ImageRequest(url: try #require(URL(string: address)))] {
      #expect(try await pipeline.image(for: request).largestDifference(from: whole) == 0)
      #expect(pipeline.cachedImage(for: request)?.origin == .memory)
    }
    #expect(try await pipeline.data(for: ImageRequest(url: address)) == file)
    #expect(try await pipeline.image(for: ImageRequest(url: address, size: .pixels(16, 12))).width == 16)
    // From a function that is asked for a size, and as one of several.
    let sized = ImageSource.url { [address] _ in address }
    #expect(try await pipeline.image(for: ImageRequest(sized)).width == 64)
    #expect(try await pipeline.image(for: ImageRequest(.first(of: [.url("data:,x"), .url(address)]))).width == 64)
    await pipeline.cache.flush()
    #expect(parts.loader.counts.loads == 0)
    #expect(parts.diskCache.counts.writes == 0)
    #expect(pipeline.loadCount == 0)
  }

  @Test
  func keysAndNamesAreShortAndTellTextsApart() throws {
    let long = "data:image/png;base64," + String(repeating: "A", count: 1 << 20)
    let request = ImageRequest(url: long)
    #expect(request.imageKey.bytes.count < 200)
    #expect(request.source.description.count == 49)
    #expect(request.source.description.hasPrefix("data:image/png;base64,AAAA"))
    #expect(request.imageKey == ImageRequest(url: long).imageKey)
    #expect(request.imageKey != ImageRequest(url: long + "A").imageKey)
    #expect(request.imageKey != ImageRequest(url: "\(long.dropLast())B").imageKey)
    var scoped = request
    scoped.cachePartition = "me"
    #expect(request.imageKey != scoped.imageKey)
  }

  @Test(arguments: ["data:image/png;base64,%%%", "data:image/png", "DATA:;base64,A"])
  func whatIsSpoiledIsNoAddress(address: String) async {
    let error = await #expect(throws: LoadError.self) { try await pipeline.image(for: ImageRequest(url: address)) }
    #expect(error?.code == .invalidURL)
    #expect(error?.stage == .request)
    #expect(error?.source == address)
    #expect(parts.loader.counts.loads == 0)
  }

  @Test
  func whatIsNoImageFailsToDecode() async {
    let error = await #expect(throws: LoadError.self) {
      try await pipeline.image(for: ImageRequest(url: "data:,hello"))
    }
    #expect(error?.code == .undecodable)
  }
}
