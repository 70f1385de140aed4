import Testing
import VitrineImaging
import VitrineRuntime
import VitrineTestSupport
import VitrineTesting

/// Anchors, and the parts of pictures.
struct CroppingTests {
  static let anchors: [(Anchor, x: Double, y: Double)] = [
    (.topLeft, 0, 0), (.top, 0.5, 0), (.topRight, 1, 0), (.left, 0, 0.5), (.center, 0.5, 0.5), (.right, 1, 0.5),
    (.bottomLeft, 0, 1), (.bottom, 0.5, 1), (.bottomRight, 1, 1), (Anchor(x: 0.25, y: 0.75), 0.25, 0.75),
  ]

  /// Every pixel says where it is.
  static func places(_ width: Int, _ height: Int) -> Bitmap {
    .pixels(width: width, height: height, alpha: .opaque) { x, y in SIMD4(UInt8(x), UInt8(y), 7, 255) }
  }

  @Test(arguments: anchors)
  func fillingKeepsThePartAtTheAnchor(anchor: Anchor, x: Double, y: Double) throws {
    let wide = try decode(Self.places(80, 20).encoded(as: .png), .pixels(20, 20, .fill, anchor: anchor)).bitmap
    let high = try decode(Self.places(20, 80).encoded(as: .png), .pixels(20, 20, .fill, anchor: anchor)).bitmap

    #expect(wide.size == [20, 20])
    #expect(wide[0, 0] == SIMD4(UInt8(x * 60), 0, 7, 255))
    #expect(high[0, 0] == SIMD4(0, UInt8(y * 60), 7, 255))
  }

  @Test(arguments: Orientation.allCases)
  func theAnchorIsThatOfTheUprightPicture(orientation: Orientation) throws {
    let picture = Bitmap.testPattern(width: 96, height: 48)
    let file = try picture.stored(orientation).encoded(as: ImageEncoding(.jpeg, quality: 100)).withEXIF(orientation)

    let result = try decode(file, .pixels(48, 48, .fill, anchor: .right)).bitmap

    #expect(result.psnr(against: try picture.cropped(x: 48, y: 0, width: 48, height: 48)) > 38)
  }

  @Test
  func anchorsAreCutToTheUnitSquare() {
    #expect(Anchor(x: -3, y: 9) == .bottomLeft)
    #expect(Anchor(x: .nan, y: .infinity) == .bottom)
  }

  @Test(arguments: [(0, 0, 12, 9), (3, 2, 4, 5), (11, 8, 1, 1), (0, 8, 12, 1)])
  func aPartIsThoseVeryPixels(x: Int, y: Int, width: Int, height: Int) throws {
    let part = try Self.places(12, 9).cropped(x: x, y: y, width: width, height: height)

    #expect(part.size == [width, height])
    #expect(part.alpha == .opaque)
    #expect(part[0, 0] == SIMD4(UInt8(x), UInt8(y), 7, 255))
    #expect(part[width - 1, height - 1] == SIMD4(UInt8(x + width - 1), UInt8(y + height - 1), 7, 255))
  }

  @Test(arguments: [
    (0, 0, 0, 5), (0, 0, 5, -1), (-1, 0, 5, 5), (8, 0, 5, 5), (0, 5, 5, 5), (Int.max, Int.max, 5, 5),
    (0, 0, Int.max, Int.max), (Int.min, 0, Int.max, 5),
  ])
  func aPartThatIsNotThereIsAnError(x: Int, y: Int, width: Int, height: Int) {
    let error = failure { try Self.places(12, 9).cropped(x: x, y: y, width: width, height: height) }

    #expect(error?.code == .invalidSize)
  }

  @Test(arguments: anchors)
  func aSizeIsCutOutAtTheAnchor(anchor: Anchor, x: Double, y: Double) throws {
    let part = try Self.places(32, 24).cropped(width: 12, height: 8, anchor: anchor)

    #expect(part.size == [12, 8])
    #expect(part[0, 0] == SIMD4(UInt8(x * 20), UInt8(y * 16), 7, 255))
  }

  @Test
  func aSizeLargerThanThePictureIsThePicture() throws {
    #expect(try Self.places(12, 9).cropped(width: 100, height: 4).size == [12, 4])
    #expect(try Self.places(12, 9).cropped(width: 100, height: .max).size == [12, 9])
    #expect(failure { try Self.places(12, 9).cropped(width: 0, height: 4) }?.code == .invalidSize)
  }

  static let ratios: [(Double, [Int])] = [
    (1, [9, 9]), (2, [12, 6]), (0.5, [5, 9]), (1e9, [12, 1]), (1e-300, [1, 9]), (1e300, [12, 1]),
  ]

  @Test(arguments: ratios)
  func anAspectRatioIsKept(ratio: Double, size: [Int]) throws {
    #expect(try Self.places(12, 9).cropped(aspectRatio: ratio).size == size)
  }

  @Test(arguments: [0, -1, .nan, .infinity] as [Double])
  func anImpossibleAspectRatioIsAnError(ratio: Double) {
    #expect(failure { try Self.places(12, 9).cropped(aspectRatio: ratio) }?.code == .invalidSize)
  }

  @Test
  func croppersAreNamedByWhatTheyDo() throws {
    let croppers: [ImageProcessor] = [
      .crop(x: 1, y: 2, width: 3, height: 4), .crop(width: 3, height: 4), .crop(width: 3, height: 4, anchor: .top),
      .crop(aspectRatio: 0.75), .crop(aspectRatio: 0.75, anchor: .left),
    ]

    #expect(Set(croppers).count == croppers.count)
    #expect(try croppers[0].process(Self.places(9, 9))[0, 0] == SIMD4(1, 2, 7, 255))
    #expect(try croppers[2].process(Self.places(9, 9))[0, 0] == SIMD4(3, 0, 7, 255))
    #expect(try croppers[4].process(Self.places(8, 8)).size == [6, 8])
  }
}
