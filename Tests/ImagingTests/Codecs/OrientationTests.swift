import Testing
import VitrineRuntime
import VitrineTestSupport
import VitrineTesting

@testable import VitrineImaging

struct OrientationTests {
  /// Where the stored top left and top right corners are seen: (right?, bottom?), from the EXIF standard's own wording.
  ///
  /// "6: the 0th row is at the visual right-hand side, the 0th column at the visual top", and so on.
  static let corners: [(Orientation, topLeft: [Int], topRight: [Int])] = [
    (.up, [0, 0], [1, 0]), (.upMirrored, [1, 0], [0, 0]), (.down, [1, 1], [0, 1]), (.downMirrored, [0, 1], [1, 1]),
    (.leftMirrored, [0, 0], [0, 1]), (.right, [1, 0], [1, 1]), (.rightMirrored, [1, 1], [1, 0]),
    (.left, [0, 1], [0, 0]),
  ]

  @Test(arguments: corners)
  func theStoredCornersGoWhereTheStandardSays(orientation: Orientation, topLeft: [Int], topRight: [Int]) {
    let (width, height) = (5, 3)
    let (seenWidth, seenHeight) = orientation.applied(width: width, height: height)

    let first = orientation.upright(x: 0, y: 0, width: width, height: height)
    let second = orientation.upright(x: width - 1, y: 0, width: width, height: height)

    #expect([first.x, first.y] == [topLeft[0] * (seenWidth - 1), topLeft[1] * (seenHeight - 1)] as [Int])
    #expect([second.x, second.y] == [topRight[0] * (seenWidth - 1), topRight[1] * (seenHeight - 1)] as [Int])
  }

  @Test(arguments: Orientation.allCases)
  func everyPixelHasItsOwnPlace(orientation: Orientation) {
    let (width, height) = (7, 4)
    let seen = orientation.applied(width: width, height: height)
    var places: Set<[Int]> = []

    for y in 0..<height {
      for x in 0..<width {
        let place = orientation.upright(x: x, y: y, width: width, height: height)
        #expect((0..<seen.width).contains(place.x) && (0..<seen.height).contains(place.y))
        places.insert([place.x, place.y])
      }
    }

    #expect(places.count == width * height)
  }

  @Test(arguments: Orientation.allCases)
  func theStoredRectangleOfAPixelIsThatPixel(orientation: Orientation) {
    let (width, height) = (7, 4)
    for y in 0..<height {
      for x in 0..<width {
        let place = orientation.upright(x: x, y: y, width: width, height: height)

        let rect = PixelRect(x: Double(place.x), y: Double(place.y), width: 1, height: 1)
        let stored = orientation.stored(rect, width: Double(width), height: Double(height))

        #expect(stored == PixelRect(x: Double(x), y: Double(y), width: 1, height: 1))
      }
    }
  }

  @Test(arguments: Orientation.allCases, [true, false])
  func aJPEGIsTurnedUprightOnce(orientation: Orientation, littleEndian: Bool) throws {
    let picture = Bitmap.testPattern(width: 90, height: 60)
    let file = try picture.stored(orientation).encoded(as: ImageEncoding(.jpeg, quality: 95))
      .withEXIF(orientation, littleEndian: littleEndian)

    let decoded = try decode(file)

    #expect(decoded.info.orientation == orientation)
    #expect(decoded.bitmap.size == [90, 60])
    #expect(decoded.bitmap.psnr(against: picture) > 35)
  }

  @Test(arguments: Orientation.allCases)
  func aThumbnailIsTurnedUprightOnce(orientation: Orientation) throws {
    let picture = Bitmap.testPattern(width: 240, height: 160)
    let file = try picture.stored(orientation).encoded(as: ImageEncoding(.jpeg, quality: 95)).withEXIF(orientation)

    let thumbnail = try decode(file, .pixels(33, 33)).bitmap

    #expect(thumbnail.size == [33, 22])
    #expect(thumbnail.psnr(against: .testPattern(width: 33, height: 22)) > 30)
  }

  @Test(arguments: Orientation.allCases)
  func aCropIsMadeInTheUprightPicture(orientation: Orientation) throws {
    // Everything but the middle square is black; the square has a pattern of its own.
    let picture = Bitmap.pixels(width: 60, height: 40, alpha: .opaque) { x, y in
      guard (10..<50).contains(x) else { return SIMD4(0, 0, 0, 255) }
      return x < 30 ? SIMD4(y < 20 ? 250 : 130, 30, 30, 255) : SIMD4(30, y < 20 ? 250 : 130, 30, 255)
    }
    let file = try picture.stored(orientation).encoded(as: .png)
      .withPNGChunk("eXIf", TIFFBlock.orientation(orientation.rawValue, littleEndian: true))

    let crop = try decode(file, .pixels(40, 40, .fill)).bitmap

    let expected = Bitmap.pixels(width: 40, height: 40, alpha: .opaque) { x, y in picture[x + 10, y] }
    #expect(crop.largestDifference(from: expected) == 0)
  }

  @Test(arguments: Orientation.allCases, [true, false])
  func aPNGIsTurnedUprightExactly(orientation: Orientation, littleEndian: Bool) throws {
    let picture = Bitmap.testPattern(width: 37, height: 21)
    let file = try picture.stored(orientation).encoded(as: .png)
      .withPNGChunk("eXIf", TIFFBlock.orientation(orientation.rawValue, littleEndian: littleEndian))

    let decoded = try decode(file)

    #expect(decoded.bitmap.size == [37, 21])
    #expect(decoded.bitmap.largestDifference(from: picture) == 0)
  }

  @Test(arguments: Orientation.allCases)
  func theHeaderSpeaksOfTheUprightSize(orientation: Orientation) throws {
    let file = try Bitmap.testPattern(width: 90, height: 60).stored(orientation).encoded(as: .jpeg)
      .withEXIF(orientation)

    let header = try info(file)

    #expect([header.width, header.height] == [90, 60] as [Int])
    #expect([header.storedWidth, header.storedHeight] == (orientation.swapsAxes ? [60, 90] : [90, 60]) as [Int])
  }

  @Test(arguments: [0, 9, 65_535])
  func anOrientationThatDoesNotExistIsUpright(value: Int) throws {
    let block: [UInt8] = .text("Exif\0\0") + TIFFBlock.orientation(value, littleEndian: true)
    let file = try Bitmap.testPattern(width: 30, height: 20).encoded(as: .jpeg).withJPEGSegment(0xE1, block)

    #expect(try info(file).orientation == .up)
  }

  @Test
  func damagedEXIFIsNoReasonToFail() throws {
    let whole = [UInt8].text("Exif\0\0") + TIFFBlock.orientation(6, littleEndian: false)
    let plain = try Bitmap.testPattern(width: 30, height: 20).encoded(as: .jpeg)

    for count in 0..<whole.count {
      let file = plain.withJPEGSegment(0xE1, Array(whole.prefix(count)))
      #expect(throws: Never.self) { try decode(file) }
    }
  }

  @Test
  func onlyTheFirstEXIFCounts() throws {
    let file = try Bitmap.testPattern(width: 30, height: 20).encoded(as: .jpeg).withEXIF(.down).withEXIF(.right)

    #expect(try info(file).orientation == .right)
  }

  /// How XMP says it: as an attribute or as an element.
  static let packets = [#"<rdf:Description tiff:Orientation="6"/>"#, "<tiff:Orientation>6</tiff:Orientation>"]

  @Test(arguments: packets, Shape.isApple ? ["jpeg", "png"] : ["jpeg", "png", "webp"])
  func xmpCountsWhereEXIFHasNone(packet: String, format: String) throws {
    let picture = Bitmap.testPattern(width: 40, height: 20)
    let xmp: [UInt8] = .text(packet)
    let file =
      switch format {
      case "jpeg": try picture.encoded(as: .jpeg).withJPEGSegment(0xE1, .text("http://ns.adobe.com/xap/1.0/\0") + xmp)
      case "png": try picture.encoded(as: .png).withPNGChunk("iTXt", .text("XML:com.adobe.xmp\0\0\0\0\0") + xmp)
      default: try picture.encoded(as: .webp).withWebPChunk("XMP ", xmp)
      }

    #expect(try info(file).orientation == .right)
    #expect(try decode(file).bitmap.size == [20, 40])
  }

  @Test
  func exifCountsBeforeXMP() throws {
    let file = try Bitmap.testPattern(width: 40, height: 20).encoded(as: .jpeg).withEXIF(.down)
      .withJPEGSegment(0xE1, .text("http://ns.adobe.com/xap/1.0/\0" + Self.packets[0]))

    #expect(try info(file).orientation == .down)
  }

  @Test(arguments: Shape.isApple ? ["png"] : ["png", "webp"])
  func exifOfPNGAndWebPIsApplied(format: String) throws {
    let picture = Bitmap.testPattern(width: 40, height: 20)
    let exif = TIFFBlock.orientation(6, littleEndian: true)
    let file =
      format == "png"
      ? try picture.encoded(as: .png).withPNGChunk("eXIf", exif)
      : try picture.encoded(as: .webp).withWebPChunk("EXIF", exif)

    #expect(try info(file).orientation == .right)
    #expect(try decode(file).bitmap.size == [20, 40])
  }

  @Test(arguments: ["tiff:Orientation=\"9\"", "tiff:Orientation=\"16\"", "tiff:Orientation", "tiff:Orientation=\"0\""])
  func nonsenseInXMPIsUpright(packet: String) throws {
    let file = try Bitmap.testPattern(width: 40, height: 20).encoded(as: .jpeg)
      .withJPEGSegment(0xE1, .text("http://ns.adobe.com/xap/1.0/\0" + packet))

    #expect(try info(file).orientation == .up)
  }
}

extension Data {
  /// The same WebP with a further chunk, in the extended format.
  func withWebPChunk(_ type: String, _ body: [UInt8]) throws -> Data {
    let header = try info(self)
    let picture = self[12...]
    let size = [UInt8].little32(header.width - 1).prefix(3) + [UInt8].little32(header.height - 1).prefix(3)
    let flags: UInt8 = type == "EXIF" ? 0x08 : 0x04
    var content: [UInt8] = .text("WEBPVP8X") + .little32(10) + [flags | (header.hasAlpha ? 0x10 : 0), 0, 0, 0] + size
    content += Array(picture) + .text(type) + .little32(body.count) + body + (body.count % 2 == 1 ? [0] : [])
    return Data(.text("RIFF") + .little32(content.count) + content)
  }
}
