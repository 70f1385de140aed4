import Testing
import VitrineImaging
import VitrineRuntime
import VitrineTestSupport
import VitrineTesting

struct ThumbnailTests {
  /// A JPEG file of 600x400 pixels or as given, with a thumbnail of one colour to be told by.
  static func file(
    _ thumbnail: (width: Int, height: Int),
    of size: (width: Int, height: Int) = (600, 400),
    orientation: Orientation = .up,
    top: SIMD4<UInt8> = SIMD4(200, 0, 0, 255),
    showing other: SIMD4<UInt8> = SIMD4(0, 120, 0, 255),
  ) throws -> Data {
    let green = SIMD4<UInt8>(0, 180, 0, 255)
    let small = try Bitmap.pixels(width: thumbnail.width, height: thumbnail.height, alpha: .opaque) { _, y in
      y < 10 ? SIMD4(200, 0, 0, 255) : green
    }.encoded(as: .jpeg)
    let large = try Bitmap.pixels(width: size.width, height: size.height, alpha: .opaque) { _, y in
      y < size.height / 10 ? top : other
    }.encoded(as: .jpeg)
    var exif: [UInt8] = .text("MM") + .big16(42) + .big32(8)
    exif += .big16(1) + .big16(0x0112) + .big16(3) + .big32(1)
    exif += .big16(orientation.rawValue) + .big16(0) + .big32(26)
    exif += .big16(2) + .big16(0x0201) + .big16(4) + .big32(1) + .big32(56)
    exif += .big16(0x0202) + .big16(4) + .big32(1) + .big32(small.count) + .big32(0)
    return large.withJPEGSegment(0xE1, .text("Exif\0\0") + exif + small)
  }

  /// Whether what is seen is the thumbnail and not the picture.
  static func isThumbnail(_ bitmap: Bitmap) -> Bool { bitmap[bitmap.width / 2, bitmap.height / 2].y > 150 }

  static func isUsed(_ file: Data, _ size: TargetSize?, _ quality: DecodeQuality = .fast) throws -> Bool {
    isThumbnail(try decode(file, size) { $0.quality = quality }.bitmap)
  }

  @Test
  func theThumbnailOfACameraIsFound() throws {
    let file = try Fixture.data("metadata.jpg")

    let found = try #require(try DecoderRegistry.standard.embeddedThumbnail(of: file))

    // Both are stored on their side.
    let picture = try decode(file, .pixels(20, 30)).bitmap
    #expect(found.bitmap.size == [20, 30])
    #expect(found.bitmap.psnr(against: picture) > 25)
  }

  @Test(arguments: Orientation.allCases)
  func aThumbnailIsTurnedUpright(orientation: Orientation) throws {
    let file = try Self.file((150, 100), orientation: orientation)

    let bitmap = try #require(try DecoderRegistry.standard.embeddedThumbnail(of: file)).bitmap

    let corner = orientation.upright(x: 75, y: 3, width: 150, height: 100)
    #expect(bitmap.size == (orientation.swapsAxes ? [100, 150] : [150, 100]))
    #expect(bitmap[corner.x, corner.y].isWithin(20, of: SIMD4(200, 0, 0, 255)))
    #expect(Self.isThumbnail(bitmap))
    #expect(try decode(file, .pixels(90, 90)) { $0.quality = .fast }.bitmap[30, 30].y > 150)
  }

  @Test(arguments: ["baseline-420.jpg", "lossless.webp", "rgb.qoi", "metadata.png"])
  func aFileWithoutAThumbnailHasNone(name: String) throws {
    #expect(try DecoderRegistry.standard.embeddedThumbnail(of: Fixture.data(name)) == nil)
  }

  @Test(arguments: DecodeQuality.allCases)
  func onlyTheFastWayTakesIt(quality: DecodeQuality) throws {
    let isUsed = try Self.isUsed(Self.file((150, 100)), .pixels(100, 100), quality)

    #expect(isUsed == (quality == .fast))
  }

  @Test(arguments: [
    (TargetSize.pixels(150, 150), true), (.pixels(151, 151), false), (.pixels(100, 100, .fill), true),
    (.pixels(101, 101, .fill), false), (.pixels(150, 10, .exact), true), (.pixels(10, 101, .exact), false),
  ])
  func itIsTakenWhereItIsLargeEnough(size: TargetSize, isUsed: Bool) throws {
    #expect(try Self.isUsed(Self.file((150, 100)), size) == isUsed)
  }

  @Test
  func itIsNotTakenForTheImagesOwnSize() throws {
    #expect(try !Self.isUsed(Self.file((150, 100)), nil))
  }

  @Test(arguments: [(160, 120, false), (160, 107, true), (160, 106, true), (160, 108, false), (100, 150, false)])
  func itIsTakenWhereItHasTheShapeOfTheImage(width: Int, height: Int, isUsed: Bool) throws {
    #expect(try Self.isUsed(Self.file((width, height)), .pixels(80, 80)) == isUsed)
  }

  @Test(
    .enabled(if: !Shape.isApple),
    arguments: [(60, 40, true), (40, 60, true), (61, 40, false), (120, 80, false), (0, 0, true)],
  )
  func itIsNotTakenOfAPictureThatWasCropped(width: Int, height: Int, isUsed: Bool) throws {
    var file = try Fixture.data("metadata.jpg")
    // PixelXDimension and PixelYDimension, as SHORT.
    for (tag, value) in [(0xA002, width), (0xA003, height)] {
      let entry = try #require(file.firstRange(of: Data([UInt8].big16(tag) + .big16(3) + .big32(1)))).upperBound
      file.replaceSubrange(entry..<entry + 2, with: [UInt8].big16(value))
    }
    let size = TargetSize.pixels(20, 20)
    let thumbnail = try #require(try DecoderRegistry.standard.embeddedThumbnail(of: file)).bitmap.resized(to: size)

    let bitmap = try decode(file, size) { $0.quality = .fast }.bitmap

    // What is resized upright and not as stored is rounded elsewhere.
    #expect((bitmap.psnr(against: thumbnail) > 45) == isUsed)
  }

  @Test
  func aSpoiledThumbnailIsPassedOver() throws {
    var file = try Self.file((150, 100))
    let start = try #require(file.firstRange(of: Data([0xFF, 0xC0]))).lowerBound
    // A height of 0.
    file[start + 5] = 0
    file[start + 6] = 0

    #expect(try !Self.isUsed(file, .pixels(80, 80)))
  }

  @Test
  func aThumbnailLargerThanTheImageIsNotTaken() throws {
    #expect(try !Self.isUsed(Self.file((150, 100), of: (90, 60)), .pixels(60, 60)))
  }

  @Test
  func aCancelledRequestIsNotServedByIt() throws {
    let file = try Self.file((150, 100))
    let questions = Counter()

    let error = failure {
      try decode(file, .pixels(80, 80)) { options in
        options.quality = .fast
        options.isCancelled = { questions.increase() > 1 }
      }
    }

    #expect(error?.code == .cancelled)
  }

  @Test(arguments: [SIMD4<UInt8>(0, 0, 200, 255), SIMD4(255, 255, 255, 255), SIMD4(0, 0, 0, 255)])
  func aThumbnailThatShowsSomethingElseIsNotUsed(color: SIMD4<UInt8>) throws {
    let file = try Self.file((150, 100), top: color, showing: color)

    #expect(try decode(file, .pixels(80, 80)) { $0.quality = .fast }.bitmap[40, 26].isWithin(12, of: color))
  }
}
