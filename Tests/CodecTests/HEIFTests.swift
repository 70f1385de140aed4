import Testing
import VitrineImaging
import VitrineRuntime
import VitrineTestSupport
import VitrineTesting

struct HEIFTests {
  /// Turned by a property of the file, whose EXIF has the area in the camera's pixels.
  @Test(.needsCorpus)
  func theAreaThatAPhoneFocusedOnIsUpright() throws {
    let file = try Corpus.data("photos/heic/mobile/iphone_13_pro_max.HEIC")
    let image = try decode(file, .pixels(60, 60))
    #expect(image.bitmap.size == [45, 60])
    let area = try #require(image.subjects.first)
    #expect(area.kind == .subject)
    for (found, wanted) in [(area.x, 0.2827), (area.y, 0.2236), (area.width, 0.4392), (area.height, 0.5484)] {
      #expect(abs(found - wanted) < 0.0005, "\(area)")
    }
  }

  @Test(arguments: [("grey.heic", ColorModel.gray), ("alpha.heic", .rgb), ("10-bit.heic", .rgb)])
  func greysAreTold(name: String, model: ColorModel) throws {
    #expect(try registry.info(of: Fixture.data(name)).colorModel == model)
  }

  @Test
  func theThumbnailServesARequestThatItIsLargeEnoughFor() throws {
    let file = try Fixture.data("thumbnail.heic")
    // The file's thumbnail has 64x48 pixels and the picture itself 320x240: without its data only the thumbnail
    // decodes.
    let onlyThumbnail = try Self.withoutPicture(file)

    let decoded = try decode(onlyThumbnail, .pixels(40, 40))

    #expect(decoded.bitmap.size == [40, 30])
    let whole = try decode(file).bitmap.resized(to: .pixels(40, 40))
    #expect(decoded.bitmap.psnr(against: whole) > 27)
  }

  @Test
  func theThumbnailDoesNotServeARequestThatItIsTooSmallFor() throws {
    let onlyThumbnail = try Self.withoutPicture(Fixture.data("thumbnail.heic"))

    #expect(throws: ImageError.self) { try decode(onlyThumbnail, .pixels(60, 60)) }
    #expect(throws: Never.self) { try decode(onlyThumbnail, .pixels(60, 60)) { $0.quality = .fast } }
  }

  @Test(arguments: DecodeQuality.allCases)
  func aThumbnailOfAnotherSizeThanItDeclaresIsNotUsed(quality: DecodeQuality) throws {
    var file = try Fixture.data("thumbnail.heic")
    let size = Data([0, 0, 0, 64, 0, 0, 0, 48])
    let place = try #require(file.firstRange(of: size))
    // The same shape, and larger.
    file.replaceSubrange(place, with: Data([0, 0, 0, 80, 0, 0, 0, 60]))

    let decoded = try decode(file, .pixels(40, 40)) { $0.quality = quality }

    let whole = try decode(Fixture.data("thumbnail.heic")).bitmap.resized(to: .pixels(40, 40))
    #expect(decoded.bitmap.psnr(against: whole) > 27)
  }

  @Test
  func theOrientationInEXIFIsNotAppliedAgain() throws {
    let file = try Fixture.data("orientation-6.heic")

    let info = try registry.info(of: file)

    #expect(file.firstRange(of: Data("Exif".utf8)) != nil)
    #expect(info.orientation == .right)
    #expect([info.width, info.height] == [48, 32])
  }

  @Test
  func aPictureOf10BitsIsMirrored() throws {
    let image = try decode(Fixture.data("orientation-5-10-bit.heic"), .pixels(48, 32))

    #expect(image.info.orientation == .leftMirrored)
    #expect(image.bitmap.psnr(against: try Fixture.reference("upright")) > 35)
  }

  @Test(arguments: [TargetSize.pixels(320, 320), .pixels(60, 60)])
  func aTurnIsCounterClockwise(size: TargetSize) throws {
    var file = try Fixture.data("orientation-6-thumbnail.heic")
    let right = try decode(file, size)
    for turn in try Self.turns(file) { file[turn] = 1 }

    let left = try decode(file, size)

    #expect([right.info.orientation, left.info.orientation] == [.right, .left])
    let turned = try ImageProcessor.rotate(quarterTurns: 2).process(left.bitmap)
    #expect(turned.largestDifference(from: right.bitmap) <= (size == .pixels(320, 320) ? 0 : 2))
  }

  @Test
  func aThumbnailOfAnotherOrientationIsNotUsed() throws {
    var file = try Fixture.data("orientation-6-thumbnail.heic")
    let onlyThumbnail = try Self.withoutPicture(file)
    #expect(throws: Never.self) { try decode(onlyThumbnail, .pixels(60, 60)) }
    // The thumbnail, which is the second item, is turned the other way.
    file[try Self.turns(file)[1]] = 1

    let decoded = try decode(file, .pixels(60, 60))

    let whole = try decode(Fixture.data("orientation-6-thumbnail.heic")).bitmap.resized(to: .pixels(60, 60))
    #expect(decoded.bitmap.psnr(against: whole) > 40)
  }

  @Test
  func thereIsOneFrame() throws {
    #expect(failure { try decode(Fixture.data("lossy.heic")) { $0.frame = 1 } }?.code == .noSuchFrame)
  }

  @Test(arguments: ["heic", "heix", "hevc", "msf1"])
  func theBrandsOfHEVCAreHEIC(brand: String) throws {
    var file = try Fixture.data("lossy.heic")
    file.replaceSubrange(8..<12, with: Data(brand.utf8))

    #expect(try registry.info(of: file).format == .heic)
    #expect(throws: Never.self) { try decode(file) }
  }

  @Test
  func aSequenceWithoutAPrimaryImageIsSaidToBeUnsupported() {
    let brands = Data([0, 0, 0, 20]) + Data("ftypmsf1".utf8) + Data([0, 0, 0, 0]) + Data("hevc".utf8)
    let file = brands + Data([0, 0, 0, 16]) + Data("moov".utf8) + Data([0, 0, 0, 8]) + Data("free".utf8)

    let error = failure { try decode(file) }

    #expect(error?.code == .unsupported)
    #expect(error?.detail.contains("sequences") == true)
  }

  /// The places of the angles in a file that has two, of the picture and of the thumbnail.
  private static func turns(_ file: Data) throws -> [Int] {
    let first = try #require(file.firstRange(of: Data("irot".utf8))).upperBound
    return [first, try #require(file[first...].firstRange(of: Data("irot".utf8))).upperBound]
  }

  /// The file with the coded data of its larger picture spoiled.
  private static func withoutPicture(_ file: Data) throws -> Data {
    var spoiled = file
    let start = try #require(file.firstRange(of: Data("mdat".utf8))).upperBound
    // What was coded first is the picture, and it is longer than the thumbnail.
    for index in start + 4..<start + 300 { spoiled[index] = 0 }
    return spoiled
  }
}
