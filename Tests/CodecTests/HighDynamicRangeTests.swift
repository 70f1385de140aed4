import Testing
import VitrineImaging
import VitrineRuntime
import VitrineTestSupport
import VitrineTesting

/// PQ and HLG in external formats, beside the same components in a PNG, whose colours other tests compare with formulas.
struct HighDynamicRangeTests {
  struct File: Sendable, CustomTestStringConvertible {
    var name: String
    /// The PNG of the same components.
    var reference: String
    /// The mean difference in levels that compression may make.
    var tolerance: Double

    var testDescription: String { name }
  }

  static let files = [
    File(name: "pq.avif", reference: "pq.png", tolerance: 3),
    // 12 bits, limited range, chroma at half the size; and red, green and blue as they are.
    File(name: "hlg.avif", reference: "hlg.png", tolerance: 4),
    File(name: "pq-identity.avif", reference: "pq.png", tolerance: 0.5),
    File(name: "pq.heic", reference: "pq.png", tolerance: 1.5),
    File(name: "pq.jxl", reference: "pq.png", tolerance: 0),
    // It names its peak, 1,000 nits, in place of which the PNG's is measured.
    File(name: "hlg.jxl", reference: "hlg.png", tolerance: 2.5),
    File(name: "pq-lossy.jxl", reference: "pq.png", tolerance: 3),
  ]

  static func data(_ name: String) throws -> Data { try Fixture.data(name) }

  static func difference(_ one: Bitmap, _ two: Bitmap) -> Double {
    var sum = 0
    for y in 0..<one.height {
      for x in 0..<one.width {
        for place in 0..<3 { sum += abs(Int(one[x, y][place]) - Int(two[x, y][place])) }
      }
    }
    return Double(sum) / Double(3 * one.width * one.height)
  }

  @Test(arguments: files)
  func theHeaderSaysWhatItIs(file: File) throws {
    let info = try registry.info(of: Self.data(file.name))

    #expect(info.dynamicRange == .high)
    #expect(info.transferFunction == String(file.reference.prefix { $0 != "." }))
    #expect(info.colorProfile == nil)
  }

  @Test(arguments: files, [nil, TargetSize.pixels(20, 20), .pixels(8, 8)])
  func coloursAreThoseOfThePNG(file: File, size: TargetSize?) throws {
    // The peak of each is measured after compression, and moves all others with it.
    let expected = try DecoderRegistry.standard.decode(Self.data(file.reference), DecodeOptions(size: size)).bitmap
    let bitmap = try decode(Self.data(file.name), size).bitmap

    #expect(bitmap.width == expected.width && bitmap.height == expected.height)
    #expect(bitmap.alpha == .opaque)
    #expect(Self.difference(bitmap, expected) <= file.tolerance + (size == nil ? 0 : 1.5))
    let inP3 = try decode(Self.data(file.name), size) { $0.colorSpace = .displayP3 }.bitmap
    #expect(inP3.colorSpace == .displayP3)
    #expect(Self.difference(inP3, bitmap) > 1)
  }

  /// What is said of the mastering and of the content is in boxes that no library here reads.
  @Test(.needsCorpus)
  func thePeakIsThatOfTheBoxes() throws {
    let headroom = try #require(registry.info(of: Corpus.data("avif/tests/data/seine_hdr_rec2020.avif")).headroom)
    #expect(abs(headroom - 703.0 / 203) < 0.001)
  }

  /// A picture is mapped to the same colours, whether its primaries are those of BT.2020, of Display P3 or of sRGB.
  @Test(.needsCorpus, arguments: ["colors_hdr_p3.avif", "colors_hdr_rec2020.avif", "colors_text_hdr_p3.avif"])
  func primariesDoNotMatter(name: String) throws {
    func bitmap(_ name: String) throws -> Bitmap { try decode(Corpus.data("avif/tests/data/\(name)")).bitmap }
    let srgb = name.contains("text") ? "colors_text_hdr_srgb.avif" : "colors_hdr_srgb.avif"
    #expect(try Self.difference(bitmap(name), bitmap(srgb)) < 8)
  }
}
