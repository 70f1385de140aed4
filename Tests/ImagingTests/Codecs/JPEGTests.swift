import Testing
import VitrineImaging
import VitrineRuntime
import VitrineTestSupport
import VitrineTesting

struct JPEGTests {
  @Test(arguments: [[0], [0x41, 0xFF, 0, 0x42], [UInt8](repeating: 0xD8, count: 999)] as [[UInt8]])
  func bytesBehindTheFirstMarkerArePassedOver(bytes: [UInt8]) throws {
    let file = try Bitmap.testPattern(width: 64, height: 48).encoded(as: .jpeg)
    let spoiled = file.prefix(2) + bytes + file.dropFirst(2)

    #expect(ImageFormat.sniff(spoiled) == .jpeg)
    #expect(try decode(spoiled).bitmap.pixels == decode(file).bitmap.pixels)
    #expect(try decode(spoiled, .pixels(8, 8)).bitmap.pixels == decode(file, .pixels(8, 8)).bitmap.pixels)
  }

  static let fixtures = [
    "baseline-420", "baseline-444", "baseline-422", "baseline-411", "baseline-440", "progressive-420", "restart-420",
    "rgb", "arithmetic", "grey", "grey-progressive", "cmyk", "ycck", "cmyk-plain",
  ]

  // Two levels: the reference is another build of libjpeg, whose vector code may round its own way.
  @Test(arguments: fixtures)
  func everyKindDecodesAsAnotherDecoderHasIt(name: String) throws {
    let bitmap = try Bitmap(decoding: Fixture.data("\(name).jpg"))

    #expect(bitmap.largestDifference(from: try Fixture.reference(name)) <= 2)
  }

  @Test(arguments: fixtures)
  func everyKindHasNoAlpha(name: String) throws {
    let decoded = try decode(Fixture.data("\(name).jpg"))

    #expect(decoded.bitmap.alpha == .opaque)
    #expect(decoded.bitmap.pixels.allSatisfy { $0.w == 255 })
    #expect(decoded.damage == nil)
  }

  @Test(arguments: fixtures)
  func everyKindIsShrunkWhileDecoding(name: String) throws {
    let reference = try Fixture.reference(name)

    let thumbnail = try decode(Fixture.data("\(name).jpg"), .pixels(12, 12)).bitmap

    let expected = ReferenceResampler().resample(reference, width: 12, height: 8)
    #expect(thumbnail.size == [12, 8])
    #expect(thumbnail.psnr(against: expected) > 28)
  }

  @Test(arguments: ["baseline-420", "progressive-420", "grey", "cmyk", "ycck"])
  func restIsReadWithoutWarningOfTheSizeInTheHeader(name: String) throws {
    let header = try info(Fixture.data("\(name).jpg"))

    #expect(header.format == .jpeg)
    #expect([header.width, header.height] == [61, 43] as [Int])
    #expect(header.bitsPerComponent == 8)
    #expect(!header.hasAlpha)
    #expect(header.streamsRows == !name.hasPrefix("progressive"))
  }

  @Test
  func onePixelIsAnImage() throws {
    let bitmap = try Bitmap(decoding: Fixture.data("one-pixel.jpg"))

    #expect(bitmap.size == [1, 1])
    #expect(bitmap[0, 0].isWithin(4, of: SIMD4(200, 30, 60, 255)))
  }

  /// The middle of what is dark, and how much of it there is, as fractions of the sides.
  static func darkCentre(_ bitmap: Bitmap) -> SIMD3<Double> {
    var sum = SIMD3<Double>()
    for y in 0..<bitmap.height {
      for x in 0..<bitmap.width {
        let weight = Double(255 - bitmap[x, y].y)
        let place = SIMD3((Double(x) + 0.5) / Double(bitmap.width), (Double(y) + 0.5) / Double(bitmap.height), 1)
        sum += place * weight
      }
    }
    return SIMD3(sum.x / sum.z, sum.y / sum.z, sum.z / 255 / Double(bitmap.width * bitmap.height))
  }

  static let oddPicture = Bitmap.pixels(width: 203, height: 157, alpha: .opaque) { x, y in
    let value: UInt8 = (110..<190).contains(x) && (90..<140).contains(y) ? 0 : 255
    return SIMD4(value, value, value, 255)
  }

  // The sides are no multiples of 8, so that at a scale of 1/8 the last pixel stands for less than the others do.
  @Test(arguments: DecodeQuality.allCases, [25, 49, 100])
  func shrinkingWhileDecodingMovesNothing(quality: DecodeQuality, width: Int) throws {
    let file = try Self.oddPicture.encoded(as: ImageEncoding(.jpeg, quality: 95))
    let size = TargetSize.pixels(width: Double(width))

    let thumbnail = try decode(file, size) { $0.quality = quality }.bitmap

    let (seen, expected) = (Self.darkCentre(thumbnail), Self.darkCentre(Self.oddPicture))
    #expect(abs(seen.x - expected.x) * Double(width) < 0.1)
    #expect(abs(seen.y - expected.y) * Double(width) < 0.1)
    #expect(abs(seen.z - expected.z) < 0.01)
  }

  @Test(arguments: DecodeQuality.allCases)
  func shrinkingWhileDecodingIsCloseToShrinkingAfter(quality: DecodeQuality) throws {
    let file = try Photograph.data("autumn-avenue-nikon.jpg")
    let size = TargetSize.pixels(61, 61)
    let whole = try Bitmap(decoding: file).encoded(as: .png)

    let thumbnail = try decode(file, size) { $0.quality = quality }.bitmap

    #expect(thumbnail.psnr(against: try Bitmap(decoding: whole, size: size)) > (quality == .fast ? 25 : 32))
  }

  @Test(arguments: DecodeQuality.allCases)
  func aCropOfAShrunkPictureStaysInTheMiddle(quality: DecodeQuality) throws {
    let picture = Bitmap.pixels(width: 403, height: 101, alpha: .opaque) { x, _ in
      let value: UInt8 = (182..<221).contains(x) ? 0 : 255
      return SIMD4(value, value, value, 255)
    }
    let file = try picture.encoded(as: ImageEncoding(.jpeg, quality: 95))

    let thumbnail = try decode(file, .pixels(11, 11, .fill)) { $0.quality = quality }.bitmap

    #expect(thumbnail.size == [11, 11])
    #expect(abs(Self.darkCentre(thumbnail).x - 0.5) * 11 < 0.1)
  }

  @Test
  func aFileThatLacksOnlyItsLastMarkerIsWhole() throws {
    // Nothing counts the rows of inks, or the scans, for ImageIO.
    let uncounted = ["cmyk", "ycck", "cmyk-plain", "progressive-420", "grey-progressive"]
    let unknown = ["arithmetic"] + (Shape.isApple ? uncounted : [])
    for name in Self.fixtures where !unknown.contains(name) {
      let file = try Fixture.data("\(name).jpg")

      let decoded = try decode(file.dropLast(2))

      #expect(decoded.damage == nil)
      #expect(decoded.bitmap.largestDifference(from: try Bitmap(decoding: file)) == 0, "\(name)")
    }
  }

  @Test
  func bytesBehindTheImageAreOfNoConcern() throws {
    let file = try Fixture.data("baseline-420.jpg")

    let bitmap = try Bitmap(decoding: file + Data(repeating: 0x41, count: 1000))

    #expect(bitmap.largestDifference(from: try Bitmap(decoding: file)) == 0)
  }

  @Test
  func aJPEGHasOneFrame() throws {
    let file = try Fixture.data("baseline-420.jpg")

    let error = failure { try decode(file) { $0.frame = 1 } }

    #expect(error?.code == .noSuchFrame)
  }

  @Test(arguments: [
    (0xC3, "lossless"), (0xCB, "lossless"), (0xC5, "hierarchical"), (0xC7, "hierarchical"), (0xCF, "hierarchical"),
  ])
  func aKindThatNoOneUsesIsUnsupportedByName(marker: Int, name: String) throws {
    var file = try Fixture.data("baseline-420.jpg")
    let header = try #require(file.firstRange(of: Data([0xFF, 0xC0])))
    file[header.lowerBound + 1] = UInt8(marker)

    let error = failure { try decode(file) }

    #expect(error?.code == .unsupported)
    #expect(error?.detail.contains(name) == true)
  }

  @Test
  func twelveBitsAreUnsupportedByName() throws {
    var file = try Fixture.data("baseline-420.jpg")
    let header = try #require(file.firstRange(of: Data([0xFF, 0xC0])))
    file[header.lowerBound + 1] = 0xC1
    file[header.lowerBound + 4] = 12

    let error = failure { try decode(file) }

    #expect(error?.code == .unsupported)
    #expect(error?.detail.contains("12 bits") == true)
    // The header can be read nevertheless.
    #expect(try info(file).bitsPerComponent == 12)
  }
}
