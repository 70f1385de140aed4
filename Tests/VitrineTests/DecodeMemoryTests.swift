import Testing
import Vitrine
import VitrineImaging
import VitrineRuntime
import VitrineTestSupport
import VitrineTesting

/// The memory of all decodes of a pipeline together.
@Suite(.patient)
struct DecodeMemoryTests {
  /// A PNG decoder that claims to hold a megabyte, and counts the open images.
  private struct HeavyDecoder: ImageDecoder {
    let inner = PNGDecoder()
    let open = Lock((now: 0, most: 0))

    var formats: [ImageFormat] { inner.formats }

    func info(
      of bytes: UnsafeRawBufferPointer,
      format: ImageFormat,
      limits: DecodeLimits,
    ) throws(ImageError) -> ImageInfo? {
      var info = try unsafe inner.info(of: bytes, format: format, limits: limits)
      info?.workingByteCount = 1_000_000
      return info
    }

    func open(_ bytes: UnsafeRawBufferPointer, _ request: RowRequest) throws(ImageError) -> (any RowSource)? {
      guard let rows = try unsafe inner.open(bytes, request) else { return nil }
      return CountedRows(rows, open)
    }
  }

  private final class CountedRows: RowSource {
    let rows: any RowSource
    let open: Lock<(now: Int, most: Int)>
    var width: Int { rows.width }
    var height: Int { rows.height }
    var hasAlpha: Bool { rows.hasAlpha }

    init(_ rows: any RowSource, _ open: Lock<(now: Int, most: Int)>) {
      (self.rows, self.open) = (rows, open)
      open.withLock { $0 = ($0.now + 1, max($0.most, $0.now + 1)) }
    }

    deinit { open.withLock { $0.now -= 1 } }

    func read(into rows: UnsafeMutableRawBufferPointer, bytesPerRow: Int, count: Int) throws(ImageError) -> Int {
      try unsafe self.rows.read(into: rows, bytesPerRow: bytesPerRow, count: count)
    }
  }

  private let parts = PipelineParts()

  private func urls(_ file: Data) -> [String] {
    let urls = (0..<8).map { "https://example.org/\($0).png" }
    for url in urls { parts.loader.answer(url, with: file) }
    return urls
  }

  @Test(arguments: [(500_000, 1), (2_500_000, 2)])
  func decodesWaitForOneAnother(budget: Int, most: Int) async throws {
    let decoder = HeavyDecoder()
    let urls = try urls(Bitmap.testPattern(width: 300, height: 200).encoded(as: .png))
    let pipeline = ImagePipeline.testing(parts) {
      $0.decoders = DecoderRegistry([decoder])
      $0.maxConcurrentDecodes = 8
      $0.maxConcurrentDecodeBytes = budget
    }

    let images = try await withThrowingTaskGroup { group in
      for url in urls { group.addTask { try await pipeline.image(for: ImageRequest(url: url)) } }
      return try await group.reduce(into: []) { $0.append($1) }
    }

    #expect(images.count == 8)
    #expect(decoder.open.withLock { $0.most } <= most)
    #expect(decoder.open.withLock { $0.now } == 0)
  }

  @Test(arguments: HostileImage.lateFrames)
  func eightBombsAtOnceAreEachRefusedByTheirLimit(image: HostileImage) async {
    let pipeline = ImagePipeline.testing(parts)
    let limits = await withTaskGroup { group in
      for url in urls(image.data) {
        group.addTask {
          var request = ImageRequest(url: url, size: .pixels(300, 300))
          request.frame = 1
          do {
            _ = try await pipeline.image(for: request)
            return nil as DecodeLimits.Name?
          } catch {
            return ((error as? LoadError)?.cause as? ImageError)?.limit
          }
        }
      }
      return await group.reduce(into: []) { $0.append($1) }
    }

    #expect(limits == [DecodeLimits.Name?](repeating: .memoryByteCount, count: 8))
  }

  @Test
  func eightHugeCanvasesAtOnceShowTheirFirstFrames() async throws {
    let pipeline = ImagePipeline.testing(parts) { $0.decodeLimits.memoryByteCount = 1_000_000 }

    for url in urls(HostileImage.canvas.data).prefix(2) {
      let image = try await pipeline.image(for: ImageRequest(url: url, size: .pixels(10, 10)))
      #expect([image.width, image.height] == [10, 10] as [Int])
    }
  }
}
