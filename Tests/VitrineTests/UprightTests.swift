import Testing
import Vitrine
import VitrineImaging
import VitrineRuntime
import VitrineTestSupport
import VitrineTesting

/// Turning pictures upright on their way through a pipeline: once, whichever tier they come from.
@Suite(.patient)
struct UprightTests {
  private static let url = "https://example.org/turned.jpg"

  /// A picture 90 pixels wide and 60 high as stored, whose EXIF says how it is to be turned.
  private static func file(_ orientation: Orientation) throws -> Data {
    let tag: [UInt8] = [0x01, 0x12, 0, 3, 0, 0, 0, 1, 0, UInt8(orientation.rawValue), 0, 0]
    let exif = Array("Exif\0\0MM".utf8) + [0, 42, 0, 0, 0, 8, 0, 1] + tag + [0, 0, 0, 0]
    let stored = try Bitmap.testPattern(width: 90, height: 60).encoded(as: .jpeg)
    return stored.prefix(2) + Data([0xFF, 0xE1, 0, UInt8(exif.count + 2)] + exif) + stored.dropFirst(2)
  }

  @Test(arguments: Orientation.allCases, [TargetSize?.none, .pixels(30, 30)])
  func anImageFromTheDiskIsTurnedNoFurther(orientation: Orientation, size: TargetSize?) async throws {
    let parts = PipelineParts()
    let file = try Self.file(orientation)
    let expected = try DecoderRegistry.standard.decode(file, DecodeOptions(size: size)).bitmap
    parts.loader.answer(Self.url, with: file, headers: ["Cache-Control": "max-age=60"])
    let request = ImageRequest(url: Self.url, size: size)

    let loaded = try await ImagePipeline.testing(parts).image(for: request)
    await parts.diskCache.wait(forWrites: 1)
    // As after a new start of the program: nothing is in memory.
    let task = ImagePipeline.testing(parts).imageTask(for: request)
    let again = try await task.image

    #expect(try await task.response.origin == .disk)
    #expect((expected.height > expected.width) == orientation.swapsAxes)
    #expect(loaded.largestDifference(from: expected) == 0)
    #expect(again.largestDifference(from: expected) == 0)
  }

  @Test
  func whatIsCutFailsAndStaysInNoCache() async throws {
    let parts = PipelineParts()
    let pipeline = ImagePipeline.testing(parts)
    let whole = try Self.file(.up)
    let file = whole.prefix(whole.count / 2)
    parts.loader.answer(Self.url, with: file, headers: ["Cache-Control": "max-age=60"])
    let request = ImageRequest(url: Self.url)

    await #expect(throws: LoadError.self) { try await pipeline.image(for: request) }

    #expect(await !pipeline.cache.contains(request))
  }
}
