import Testing
import VitrineImaging
import VitrineRuntime
import VitrineTestSupport
import VitrineTesting

/// Pictures of one column and of one row of 37 pixels, red at their beginning and blue at their end.
struct ThinTests {
  private static let red = SIMD4<UInt8>(220, 40, 30, 255)
  private static let blue = SIMD4<UInt8>(30, 40, 220, 255)

  static func file(_ format: String, isTall: Bool) throws -> Data {
    guard format == "tiff" else { return try Fixture.data("thin-\(isTall ? "tall" : "wide").\(format)") }
    let pixels = (0..<37).flatMap { index in
      let color = index < 18 ? red : blue
      return [color.x, color.y, color.z]
    }
    let tags = [(256, isTall ? 1 : 37), (257, isTall ? 37 : 1), (262, 2), (277, 3), (278, 37)]
    let directory = TIFFTests.page(
      at: 8,
      next: 0,
      tags: tags.map { (tag: $0.0, type: 3, count: 1, value: $0.1) } + [(tag: 279, type: 4, count: 1, value: 111)],
    )
    // A directory stands at an even place.
    return Data(
      [0x49, 0x49, 42, 0] + TIFFTests.little(8 + pixels.count + 1, 4) + pixels + [0] + directory.dropFirst(4)
    )
  }

  @Test(arguments: ["avif", "heic", "jxl", "tiff"], [true, false])
  func everyFormatKeepsThem(format: String, isTall: Bool) throws {
    let bitmap = try decode(Self.file(format, isTall: isTall)).bitmap

    #expect(bitmap.size == (isTall ? [1, 37] : [37, 1]))
    Self.expectEnds(of: bitmap)
  }

  @Test(arguments: ["avif", "heic", "jxl", "tiff"], [true, false])
  func everyFormatKeepsThemInAThumbnail(format: String, isTall: Bool) throws {
    for mode in TargetSize.Mode.allCases {
      let bitmap = try decode(Self.file(format, isTall: isTall), .pixels(9, 9, mode)).bitmap

      #expect(bitmap.size == (isTall ? [1, 9] : [9, 1]))
      // Of what fills a box only the middle is left.
      if mode != .fill { Self.expectEnds(of: bitmap) }
    }
  }

  private static func expectEnds(of bitmap: Bitmap, sourceLocation: SourceLocation = #_sourceLocation) {
    #expect(bitmap[0, 0].isWithin(40, of: red), sourceLocation: sourceLocation)
    #expect(bitmap[bitmap.width - 1, bitmap.height - 1].isWithin(40, of: blue), sourceLocation: sourceLocation)
  }
}
