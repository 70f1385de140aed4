import Testing
import VitrineImaging
import VitrineRuntime
import VitrineTestSupport
import VitrineTesting

/// Pictures of one column and of one row, red at their beginning and blue at their end.
struct ThinTests {
  static let formats: [ImageFormat] = Shape.written([.jpeg, .png, .webp, .qoi]) + [.gif, .bmp, .ico]
  static let length = 37
  private static let red = SIMD4<UInt8>(220, 40, 30, 255)
  private static let blue = SIMD4<UInt8>(30, 40, 220, 255)

  private static func color(_ index: Int) -> SIMD4<UInt8> { index < length / 2 ? red : blue }

  private static func size(_ isTall: Bool) -> (width: Int, height: Int) { isTall ? (1, length) : (length, 1) }

  private static func file(_ format: ImageFormat, isTall: Bool) throws -> Data {
    let (width, height) = size(isTall)
    // Rows from below, each filled up to four bytes.
    let rows = (0..<height).reversed().flatMap { y in
      let row = (0..<width).flatMap { x in [color(x + y).z, color(x + y).y, color(x + y).x] }
      return row + [UInt8](repeating: 0, count: (4 - row.count % 4) % 4)
    }
    switch format {
    case .gif:
      let frame = GIFFile.Frame(width: width, height: height) { x, y in x + y < length / 2 ? 0 : 1 }
      return GIFFile(width: width, height: height, palette: [red, blue], frames: [frame]).data
    case .bmp: return BMPTests.file(width: width, height: height, bits: 24, pixels: rows)
    case .ico:
      return ICOTests.file([ICOTests.picture(bits: 24, width: width, height: height, rows, mask: [])])
    default:
      let picture = Bitmap.pixels(width: width, height: height, alpha: .opaque) { x, y in color(x + y) }
      return try picture.encoded(as: ImageEncoding(format, quality: 100))
    }
  }

  @Test(arguments: formats, [true, false])
  func everyFormatKeepsThem(format: ImageFormat, isTall: Bool) throws {
    let bitmap = try decode(Self.file(format, isTall: isTall)).bitmap

    #expect([bitmap.width, bitmap.height] == [Self.size(isTall).width, Self.size(isTall).height] as [Int])
    Self.expectEnds(of: bitmap)
  }

  @Test(arguments: formats, [true, false])
  func everyFormatKeepsThemInAThumbnail(format: ImageFormat, isTall: Bool) throws {
    let file = try Self.file(format, isTall: isTall)

    for quality in DecodeQuality.allCases {
      for mode in TargetSize.Mode.allCases {
        let bitmap = try decode(file, .pixels(9, 9, mode)) { $0.quality = quality }.bitmap

        #expect([bitmap.width, bitmap.height] == (isTall ? [1, 9] : [9, 1]) as [Int])
        // Of what fills a box only the middle is left.
        if mode != .fill { Self.expectEnds(of: bitmap) }
      }
      let enlarged = try decode(file, .pixels(4, 80, .exact, enlarges: true)) { $0.quality = quality }.bitmap
      #expect([enlarged.width, enlarged.height] == [4, 80] as [Int])
    }
  }

  @Test(arguments: formats, [true, false])
  func aPartOfThemIsThatPart(format: ImageFormat, isTall: Bool) throws {
    let file = try Self.file(format, isTall: isTall)
    let whole = try decode(file).bitmap
    let part =
      isTall ? PixelRegion(x: 0, y: 15, width: 5, height: 10) : PixelRegion(x: 15, y: 0, width: 10, height: 5)

    let bitmap = try decode(file) { $0.region = part }.bitmap

    #expect([bitmap.width, bitmap.height] == (isTall ? [1, 10] : [10, 1]) as [Int])
    for index in 0..<10 {
      let (own, stored) =
        isTall ? (bitmap[0, index], whole[0, 15 + index]) : (bitmap[index, 0], whole[15 + index, 0])
      #expect(own == stored)
    }
  }

  private static func expectEnds(of bitmap: Bitmap, sourceLocation: SourceLocation = #_sourceLocation) {
    // A JPEG shares its chroma among neighbours.
    #expect(bitmap[0, 0].isWithin(40, of: red), sourceLocation: sourceLocation)
    #expect(bitmap[bitmap.width - 1, bitmap.height - 1].isWithin(40, of: blue), sourceLocation: sourceLocation)
  }
}
