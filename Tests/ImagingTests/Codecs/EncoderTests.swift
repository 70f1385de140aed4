import Testing
import VitrineImaging
import VitrineRuntime
import VitrineTestSupport
import VitrineTesting

struct EncoderTests {
  static let see = Bitmap.pixels(width: 67, height: 45) { x, y in
    SIMD4(UInt8(x * 3), UInt8(y * 5), UInt8(x * y / 12), UInt8(min(255, x * 7)))
  }

  @Test(arguments: ImageEncoding.PNGCompression.allCases)
  func aPNGComesBackExactly(compression: ImageEncoding.PNGCompression) throws {
    let picture = Bitmap.testPattern(width: 67, height: 45)

    let file = try picture.encoded(as: .png(compression))

    let decoded = try decode(file)
    #expect(decoded.bitmap.largestDifference(from: picture) == 0)
    #expect(!decoded.info.hasAlpha)
  }

  @Test
  func aTransparentPNGComesBackExactly() throws {
    let decoded = try decode(Self.see.encoded(as: .png))

    #expect(decoded.info.hasAlpha)
    #expect(decoded.bitmap.largestDifference(from: Self.see) == 0)
  }

  @Test
  func aPremultipliedBitmapIsWrittenStraight() throws {
    let decoded = try decode(Self.see.premultiplied().encoded(as: .png)).bitmap

    #expect(decoded.premultiplied().largestDifference(from: Self.see.premultiplied()) == 0)
  }

  @Test
  func alphaThatIsAlwaysFullIsNotWritten() throws {
    let picture = Bitmap.pixels(width: 5, height: 5) { x, y in SIMD4(UInt8(x), UInt8(y), 0, 255) }

    #expect(try info(picture.encoded(as: .png)).hasAlpha == false)
  }

  @Test(arguments: Shape.written([.jpeg, .webp]))
  func aPictureComesBackAlmostTheSame(format: ImageFormat) throws {
    let picture = Bitmap.testPattern(width: 120, height: 80)

    let file = try picture.encoded(as: format)

    #expect(ImageFormat.sniff(file) == format)
    #expect(try Bitmap(decoding: file).psnr(against: picture) >= 35)
  }

  @Test(.enabled(if: !Shape.isApple))
  func aTransparentWebPKeepsItsCoverage() throws {
    let decoded = try decode(Self.see.encoded(as: ImageEncoding(.webp, quality: 95)))

    #expect(decoded.info.hasAlpha)
    let coverage = zip(decoded.bitmap.pixels, Self.see.pixels).map { abs(Int($0.w) - Int($1.w)) }
    #expect(coverage.allSatisfy { $0 <= 1 })
    #expect(decoded.bitmap.flattenedOverWhite().psnr(against: Self.see.flattenedOverWhite()) > 27)
  }

  @Test
  func aTransparentJPEGIsLaidOverWhite() throws {
    let picture = Bitmap.pixels(width: 32, height: 16) { x, _ in x < 16 ? SIMD4(0, 0, 0, 0) : SIMD4(200, 30, 30, 255) }

    let bitmap = try Bitmap(decoding: picture.encoded(as: .jpeg))

    #expect(bitmap[4, 8].isWithin(3, of: SIMD4(255, 255, 255, 255)))
    #expect(bitmap[28, 8].isWithin(6, of: SIMD4(200, 30, 30, 255)))
  }

  @Test(arguments: Shape.written([.jpeg, .webp]))
  func higherQualityTakesMoreBytes(format: ImageFormat) throws {
    let picture = Bitmap.busy(width: 120, height: 90, alpha: false)

    let sizes = try [10, 40, 70, 85, 100].map { try picture.encoded(as: ImageEncoding(format, quality: $0)).count }

    #expect(sizes == sizes.sorted())
    #expect(Set(sizes).count == sizes.count)
  }

  @Test(arguments: Shape.written([.jpeg, .webp]), [(-5, 1), (0, 1), (101, 100), (1000, 100)])
  func aQualityBeyondTheScaleIsBroughtIntoIt(format: ImageFormat, quality: (given: Int, used: Int)) throws {
    let picture = Bitmap.testPattern(width: 40, height: 30)

    let given = try picture.encoded(as: ImageEncoding(format, quality: quality.given))

    #expect(given == (try picture.encoded(as: ImageEncoding(format, quality: quality.used))))
  }

  @Test(
    arguments: [(ImageFormat.jpeg, 65_501), (.webp, 16_384)].filter { !Shape.written([$0.0]).isEmpty },
    [true, false],
  )
  func sidesThatAFormatCannotHoldAreRefused(kind: (format: ImageFormat, side: Int), isWide: Bool) {
    let (width, height) = isWide ? (kind.side, 1) : (1, kind.side)
    let picture = Bitmap.solid(SIMD4(9, 9, 9, 255), width: width, height: height)

    let error = failure { try picture.encoded(as: kind.format) }

    #expect(error?.code == .notEncodable)
    #expect(error?.format == kind.format)
    #expect(error?.detail.contains("\(kind.side - 1)") == true)
  }

  @Test
  func aFormatWithoutAnEncoderIsRefused() {
    let error = failure { try Bitmap.testPattern(width: 2, height: 2).encoded(as: .jxl) }

    #expect(error?.code == .notEncodable)
    #expect(error?.format == .jxl)
  }

  @Test
  func anEncoderOfOnesOwnIsPreferred() throws {
    struct Own: ImageEncoder {
      var format: ImageFormat { .png }
      func encode(_ input: EncoderInput, _ options: PNGOptions) throws(ImageError) -> Data { Data([1, 2, 3]) }
    }
    var registry = EncoderRegistry([PNGEncoder()])

    registry.add(Own())

    #expect(try registry.encode(.testPattern(width: 2, height: 2), as: .png()) == Data([1, 2, 3]))
  }

  @Test(arguments: Shape.written([.png, .jpeg, .webp]))
  func onePixelCanBeWritten(format: ImageFormat) throws {
    let bitmap = try Bitmap(
      decoding: Bitmap.solid(SIMD4(120, 130, 140, 255), width: 1, height: 1).encoded(as: format)
    )

    #expect(bitmap[0, 0].isWithin(4, of: SIMD4(120, 130, 140, 255)))
  }
}
