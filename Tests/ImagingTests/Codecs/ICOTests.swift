import Testing
import VitrineImaging
import VitrineRuntime
import VitrineTestSupport
import VitrineTesting

struct ICOTests {
  static let names = ["png", "bmp"]

  @Test(arguments: names)
  func theLargestPictureIsTheImage(name: String) throws {
    let decoded = try decode(Fixture.data("\(name).ico"))

    #expect(decoded.info.format == .ico)
    #expect(decoded.info.frameCount == 1)
    #expect(decoded.bitmap.largestDifference(from: try Fixture.reference("icon-48")) == 0)
  }

  @Test(arguments: names, [16, 32, 48])
  func thePictureOfTheSizeAskedForIsTakenAsItIs(name: String, side: Int) throws {
    for quality in DecodeQuality.allCases {
      let bitmap = try decode(Fixture.data("\(name).ico"), .pixels(Double(side), Double(side))) {
        $0.quality = quality
      }.bitmap

      #expect(bitmap.largestDifference(from: try Fixture.reference("icon-\(side)")) == 0)
    }
  }

  // ImageIO makes a PNG smaller in its own way.
  @Test(arguments: Shape.isApple ? ["bmp"] : names)
  func betweenTwoSizesTheLargerIsShrunk(name: String) throws {
    let bitmap = try decode(Fixture.data("\(name).ico"), .pixels(24, 24)).bitmap

    let expected = try Fixture.reference("icon-32").resized(to: .pixels(24, 24))
    #expect(bitmap.largestDifference(from: expected) == 0)
  }

  @Test
  func aMaskSaysWhatIsTransparent() throws {
    let bitmap = try Bitmap(decoding: Fixture.data("palette.ico"))

    let expected = try Fixture.reference("palette-ico")
    #expect(bitmap.premultiplied().largestDifference(from: expected.premultiplied()) == 0)
    #expect(bitmap.hasTransparency)
  }

  @Test
  func aCursorIsAnIcon() throws {
    let cursor = try Fixture.data("palette.ico").replacing(2, with: 2)

    #expect(try decode(cursor).bitmap.size == [32, 32])
  }

  /// A directory and its pictures, 1x1 pixels of 24 or 32 bits unless given.
  static func file(_ pictures: [[UInt8]], lengths: [Int]? = nil) -> Data {
    var bytes: [UInt8] = .little16(0) + .little16(1) + .little16(pictures.count)
    var offset = 6 + pictures.count * 16
    for (index, picture) in pictures.enumerated() {
      bytes += [1, 1, 0, 0, 1, 0, 0, 0] + .little32(lengths?[index] ?? picture.count) + .little32(offset)
      offset += picture.count
    }
    return Data(bytes + pictures.joined())
  }

  static func picture(bits: Int, width: Int = 1, height: Int = 1, _ pixels: [UInt8], mask: [UInt8]) -> [UInt8] {
    let header: [UInt8] = .little32(40) + .little32(width) + .little32(height * 2) + .little16(1) + .little16(bits)
    return header + [UInt8](repeating: 0, count: 24) + pixels + mask
  }

  @Test(arguments: [
    (24, [3, 2, 1, 0], [0, 0, 0, 0], SIMD4<UInt8>(1, 2, 3, 255)),
    (24, [3, 2, 1, 0], [0x80, 0, 0, 0], SIMD4<UInt8>(0, 0, 0, 0)),
    (24, [3, 2, 1, 0], [], SIMD4<UInt8>(1, 2, 3, 255)),
    // Alpha counts and not the mask, unless all of it is 0.
    (32, [3, 2, 1, 100], [0x80, 0, 0, 0], SIMD4<UInt8>(1, 2, 3, 100)),
    (32, [3, 2, 1, 0], [0, 0, 0, 0], SIMD4<UInt8>(1, 2, 3, 255)),
    (32, [3, 2, 1, 0], [0x80, 0, 0, 0], SIMD4<UInt8>(0, 0, 0, 0)),
  ])
  func alphaAndMaskAgree(bits: Int, pixels: [UInt8], mask: [UInt8], expected: SIMD4<UInt8>) throws {
    let file = Self.file([Self.picture(bits: bits, pixels, mask: mask)])

    #expect(try decode(file).bitmap.pixels == [expected])
  }

  @Test(arguments: [0, 44, 1_000_000])
  func aMaskCountsAlthoughTheLengthIsWrong(length: Int) throws {
    let hidden = Self.picture(bits: 24, [3, 2, 1, 0], mask: [0x80, 0, 0, 0])
    let other = Self.picture(bits: 24, [9, 9, 9, 0], mask: [0, 0, 0, 0])

    #expect(try decode(Self.file([hidden], lengths: [length])).bitmap.pixels == [SIMD4()])
    #expect(try decode(Self.file([hidden, other], lengths: [length, 0])).bitmap.pixels == [SIMD4()])
  }

  @Test
  func thePictureBehindIsNoMask() throws {
    let bare = Self.picture(bits: 24, [3, 2, 1, 0], mask: [])
    let other = Self.picture(bits: 1, [0xFF, 0xFF, 0xFF, 0xFF], mask: [0xFF, 0xFF, 0xFF, 0xFF])

    #expect(try decode(Self.file([bare, other])).bitmap.pixels == [SIMD4(1, 2, 3, 255)])
  }

  @Test
  func ofOneSizeTheDeepestIsTaken() throws {
    let shallow = Self.picture(bits: 24, [9, 9, 9, 0], mask: [0, 0, 0, 0])
    let deep = Self.picture(bits: 32, [1, 1, 1, 255], mask: [0, 0, 0, 0])

    #expect(try decode(Self.file([shallow, deep])).bitmap.pixels == [SIMD4(1, 1, 1, 255)])
    #expect(try decode(Self.file([deep, shallow])).bitmap.pixels == [SIMD4(1, 1, 1, 255)])
  }

  @Test
  func aCorruptPictureIsPassedOver() throws {
    let good = Self.picture(bits: 24, [9, 9, 9, 0], mask: [0, 0, 0, 0])
    let bad = Self.picture(bits: 23, width: 9, height: 9, [9, 9, 9, 0], mask: [0, 0, 0, 0])

    #expect(try decode(Self.file([bad, good])).bitmap.pixels == [SIMD4(9, 9, 9, 255)])
    #expect(failure { try decode(Self.file([bad])) }?.code == .corrupt)
  }

  @Test
  func aSizeThatTheDirectoryHidesIsRefused() {
    let huge = Self.picture(bits: 1, width: 60_000, height: 60_000, [], mask: [])

    #expect(failure { try decode(Self.file([huge])) }?.code == .truncated)
    #expect(
      failure { try decode(Self.file([huge + [UInt8](repeating: 0, count: 64)])) }?.code == .overLimit
    )
  }

  @Test
  func manyEntriesOfOnePictureCostLittle() throws {
    let picture = Self.picture(bits: 24, [9, 9, 9, 0], mask: [0, 0, 0, 0])
    var bytes: [UInt8] = .little16(0) + .little16(1) + .little16(5000)
    let sizes: [UInt8] = .little32(picture.count) + .little32(6 + 5000 * 16)
    for _ in 0..<5000 { bytes += [1, 1, 0, 0, 1, 0, 24, 0] + sizes }

    #expect(try decode(Data(bytes + picture)).bitmap.pixels == [SIMD4(9, 9, 9, 255)])
  }
}
