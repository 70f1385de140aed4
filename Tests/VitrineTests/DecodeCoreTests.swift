import Testing
import Vitrine
import VitrineImaging
import VitrineRuntime
import VitrineTestSupport
import VitrineTesting

/// The threads that a pipeline lends to decodes: all of them to a lone image, one to each of many.
@Suite(
  .patient,
  .enabled(if: CoreBudget.machine.count > 1, "a machine with one core has none to lend"),
)
struct DecodeCoreTests {
  /// Notes the number of threads of each image, after as many have begun as the test says.
  private final class NotingDecoder: ImageDecoder {
    let formats: [ImageFormat] = [.png]
    let noted = Lock<[Int]>([])
    /// The number of images that must have begun before the first goes on, those that have, and those that are open.
    private let meeting = Monitor((expected: 1, begun: 0, open: 0))

    func expect(_ count: Int) {
      meeting.withLock { $0 = (count, 0, 0) }
      noted.withLock { $0 = [] }
    }

    func info(
      of bytes: UnsafeRawBufferPointer,
      format: ImageFormat,
      limits: DecodeLimits,
    ) throws(ImageError) -> ImageInfo? {
      // Of a format whose codec can use many threads.
      ImageInfo(format: .heic, storedWidth: 2000, storedHeight: 1000)
    }

    /// Asked in a decode, which has its core then, and by nobody else.
    func info(
      ofFrame frame: Int,
      of bytes: UnsafeRawBufferPointer,
      _ info: ImageInfo,
      limits: DecodeLimits,
    ) throws(ImageError) -> ImageInfo {
      meeting.withLock { $0.begun += 1 }
      meeting.broadcast()
      _ = meeting.wait { $0.begun >= $0.expected ? .leave(true) : .wait }
      return info
    }

    func open(_ bytes: UnsafeRawBufferPointer, _ request: RowRequest) throws(ImageError) -> (any RowSource)? {
      noted.withLock { $0.append(request.threadCount) }
      // None gives its core back before each has been lent what there is.
      meeting.withLock { $0.open += 1 }
      meeting.broadcast()
      _ = meeting.wait { $0.open >= $0.expected ? .leave(true) : .wait }
      throw ImageError(.corrupt, "corrupt: noted")
    }
  }

  private let parts = PipelineParts()
  private let decoder = NotingDecoder()
  private let pipeline: ImagePipeline

  init() throws {
    pipeline = ImagePipeline.testing(parts) { [decoder] in
      $0.decoders = DecoderRegistry([decoder])
      $0.maxConcurrentDecodes = 2
    }
    for index in 0..<4 {
      let file = try Bitmap.testPattern(width: 8 + index, height: 8).encoded(as: .png)
      parts.loader.answer("https://example.org/\(index).png", with: file)
    }
  }

  /// Loads images at once; returns the number of threads of each.
  private func threads(_ indices: Range<Int>) async -> [Int] {
    decoder.expect(indices.count)
    await withTaskGroup { group in
      for index in indices {
        group.addTask { [pipeline] in
          _ = try? await pipeline.image(for: ImageRequest(url: "https://example.org/\(index).png"))
        }
      }
    }
    return decoder.noted.withLock { $0 }
  }

  @Test
  func aLoneImageHasTheIdleCores() async { #expect(await threads(0..<1) == [2]) }

  @Test
  func ofManyImagesEachHasOne() async {
    let many = await threads(0..<2)
    let lone = await threads(2..<3)

    #expect(many == [1, 1])
    // They gave their cores back.
    #expect(lone == [2])
  }

  /// As many as the pipeline decodes at once, whatever the machine has.
  @Test
  func aPipelineOfOneDecodeLendsNone() async {
    let narrow = ImagePipeline.testing(parts) { [decoder] in
      $0.decoders = DecoderRegistry([decoder])
      $0.maxConcurrentDecodes = 1
    }
    decoder.expect(1)
    _ = try? await narrow.image(for: ImageRequest(url: "https://example.org/0.png"))

    #expect(decoder.noted.withLock { $0 } == [1])
  }
}
