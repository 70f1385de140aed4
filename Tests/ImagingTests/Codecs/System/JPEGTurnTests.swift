import Testing
import VitrineRuntime
import VitrineTestSupport
import VitrineTesting

@testable import VitrineImaging

/// JPEG files that are turned without decoding.
struct JPEGTurnTests {
  /// A picture whose places all differ, of whole units of blocks for every subsampling.
  private static func file(
    width: Int = 64,
    height: Int = 48,
    _ subsampling: ImageEncoding.Subsampling = .yuv420,
    isProgressive: Bool = false,
  ) throws -> Data {
    let picture = Bitmap.pixels(width: width, height: height) { x, y in
      SIMD4(UInt8(255 * x / width), UInt8(255 * y / height), UInt8((x * y) & 127), 255)
    }
    return try picture.encoded(as: .jpeg(quality: 90, subsampling: subsampling, isProgressive: isProgressive))
  }

  @Test(arguments: Orientation.allCases, [ImageEncoding.Subsampling.yuv444, .yuv420])
  func aTurnedFileHasTheTurnedPixels(orientation: Orientation, subsampling: ImageEncoding.Subsampling) throws {
    let file = try Self.file(subsampling)
    let turned = try #require(try JPEGTurn(orientation).turned(file))
    let (before, after) = try (decode(file).bitmap, decode(turned).bitmap)

    let size = orientation.applied(width: 64, height: 48)
    #expect(after.width == size.width && after.height == size.height)
    // Coefficients are the same; how they become pixels is rounded in another order.
    var most = 0
    for y in 0..<48 {
      for x in 0..<64 {
        let place = orientation.upright(x: x, y: y, width: 64, height: 48)
        let (one, other) = (before[x, y], after[place.x, place.y])
        for part in 0..<3 { most = max(most, abs(Int(one[part]) - Int(other[part]))) }
      }
    }
    #expect(most <= (subsampling == .yuv444 ? 3 : 12))
  }

  @Test(arguments: [false, true])
  func turnsThatGoRoundLoseNothing(isProgressive: Bool) throws {
    let file = try Self.file(isProgressive: isProgressive)
    let same = try #require(try JPEGTurn(.up).turned(file))
    for (turn, opposite) in [
      (Orientation.right, Orientation.left), (.down, .down), (.left, .right), (.upMirrored, .upMirrored),
      (.leftMirrored, .leftMirrored),
    ] {
      let there = try #require(try JPEGTurn(.up, then: turn).turned(file))
      let back = try #require(try JPEGTurn(.up, then: opposite).turned(there))
      // Byte for byte: each coefficient is back.
      #expect(back == same)
    }
    #expect(try decode(same).bitmap.psnr(against: decode(file).bitmap) == .infinity)
  }

  @Test(arguments: Orientation.allCases, Orientation.allCases)
  func aTurnComesAfterTheOrientation(orientation: Orientation, turn: Orientation) {
    // The place of a pixel that is in no middle.
    let upright = orientation.upright(x: 1, y: 0, width: 5, height: 4)
    let (width, height) = orientation.applied(width: 5, height: 4)
    let turned = turn.upright(x: upright.x, y: upright.y, width: width, height: height)
    let same = Orientation.allCases.filter {
      $0.upright(x: 1, y: 0, width: 5, height: 4) == turned && JPEGTurn($0) == JPEGTurn(orientation, then: turn)
    }
    #expect(same.count == 1)
  }

  @Test
  func anEdgeWithinABlockIsNotMirrored() throws {
    let file = try Self.file(width: 63, height: 48)
    // The right edge is in the way of a mirror, and not of a transposition.
    #expect(try JPEGTurn(.upMirrored).turned(file) == nil)
    #expect(try JPEGTurn(.left).turned(file) == nil)
    #expect(try JPEGTurn(.leftMirrored).turned(file) != nil)
    let down = try #require(try JPEGTurn(.downMirrored).turned(file))
    #expect(try decode(down).bitmap.width == 63)
  }

  @Test(arguments: Orientation.allCases, [false, true])
  func metadataStayAndTheOrientationIsUpright(orientation: Orientation, littleEndian: Bool) throws {
    let file = try Self.file().withEXIF(orientation, littleEndian: littleEndian)
    let before = try DecoderRegistry.standard.info(of: file)
    try #require(before.orientation == orientation)
    let turned = try #require(try JPEGTurn(orientation).turned(file))
    let after = try DecoderRegistry.standard.info(of: turned)
    #expect(after.orientation == .up && (after.width, after.height) == (before.width, before.height))
    #expect(
      try DecoderRegistry.standard.metadata(of: turned).exif?.count
        == DecoderRegistry.standard.metadata(of: file).exif?.count
    )
  }

  @Test
  func damagedFilesAreRefused() throws {
    let file = try Self.file()
    for count in stride(from: 0, to: file.count, by: 37) {
      #expect(throws: ImageError.self) { try JPEGTurn(.right).turned(file.prefix(count)) }
    }
  }

  @Test
  func aPictureOfTooManyPixelsIsRefusedBeforeItIsRead() throws {
    var limits = DecodeLimits()
    limits.heldPixelCount = 64 * 48 - 1
    let file = try Self.file()
    let error = #expect(throws: ImageError.self) { try JPEGTurn(.right).turned(file, limits: limits) }
    #expect(error?.code == .overLimit)
  }

  @Test
  func aSecondPictureInTheFileIsNotLost() throws {
    var file = try Self.file()
    let body = Array("MPF\0II*\0".utf8) + [UInt8](repeating: 0, count: 20)
    file.insert(contentsOf: [0xFF, 0xE2, 0, UInt8(body.count + 2)] + body, at: 2)
    let error = #expect(throws: ImageError.self) { try JPEGTurn(.right).turned(file) }
    #expect(error?.code == .unsupported)
  }

  // MARK: Beside jpegtran

  private static let program = "/usr/bin/jpegtran"
  private static let hasJPEGTran = unsafe access(program, X_OK) == 0

  /// Returns what jpegtran of libjpeg-turbo makes of a file.
  private static func jpegtran(_ arguments: String, _ file: Data) throws -> Data {
    let folder = try TemporaryFolder()
    defer { withExtendedLifetime(folder) {} }
    let (input, output) = (folder.path + "/in.jpg", folder.path + "/out.jpg")
    try file.write(to: URL(filePath: input))
    guard let pipe = unsafe popen("\(program) -copy all \(arguments) -outfile \(output) \(input)", "r") else {
      throw ImageError(.decoderFailed, "no jpegtran")
    }
    let status = unsafe pclose(pipe)
    #expect(status == 0)
    return try Data(contentsOf: URL(filePath: output))
  }

  private static let commands: [Orientation: String] = [
    .up: "", .upMirrored: "-flip horizontal", .down: "-rotate 180", .downMirrored: "-flip vertical",
    .leftMirrored: "-transpose", .right: "-rotate 90", .rightMirrored: "-transverse", .left: "-rotate 270",
  ]

  @Test(.enabled(if: hasJPEGTran), arguments: Orientation.allCases, [false, true])
  func coefficientsAreThoseOfJPEGTran(orientation: Orientation, isProgressive: Bool) throws {
    let command = try #require(Self.commands[orientation]) + (isProgressive ? " -progressive" : "")
    for subsampling in [ImageEncoding.Subsampling.yuv444, .yuv420] {
      let file = try Self.file(subsampling, isProgressive: isProgressive)
      let (own, other) = (try JPEGTurn(orientation).turned(file), try Self.jpegtran(command, file))
      // Written again in one way, files of the same coefficients and tables are the same bytes.
      #expect(try JPEGTurn(.up).turned(#require(own)) == JPEGTurn(.up).turned(other))
    }
  }

  @Test(.enabled(if: hasJPEGTran), arguments: ["16x16+0+0", "33x20+16+16", "48x32+16+0", "64x48+0+0", "1x1+48+32"])
  func aCropHasTheCoefficientsOfJPEGTran(crop: String) throws {
    let numbers = crop.split { "x+".contains($0) }.compactMap { Int($0) }
    let part = PixelRegion(x: numbers[2], y: numbers[3], width: numbers[0], height: numbers[1])
    let file = try Self.file()
    let (own, other) = (try JPEGTurn(.up).turned(file, keeping: part), try Self.jpegtran("-crop \(crop)", file))
    #expect(try JPEGTurn(.up).turned(#require(own)) == JPEGTurn(.up).turned(other))
  }

  // MARK: Crops

  @Test(arguments: Orientation.allCases, Orientation.allCases)
  func aCropThatIsTurnedHasThePixelsOfThePart(orientation: Orientation, turn: Orientation) throws {
    // An edge within a unit, so that only one side of each axis is on a border.
    let file = try Self.file(width: 75, height: 61).withEXIF(orientation)
    let before = try decode(file).bitmap
    let units = try JPEGUnits(file)
    for part in [
      PixelRegion(x: 19, y: 5, width: 30, height: 33),
      PixelRegion(x: 0, y: 0, width: before.width, height: before.height),
      PixelRegion(x: before.width - 20, y: before.height - 30, width: 20, height: 30),
    ] {
      for keepsSize in [false, true] {
        let jpegTurn = JPEGTurn(orientation, then: turn)
        let kept = try #require(units.nearest(to: part, jpegTurn, keepsSize: keepsSize))
        #expect(kept.clipped(width: before.width, height: before.height) == kept)
        #expect(abs(kept.x - part.x) < 16 && abs(kept.y - part.y) < 16)
        let after = try decode(#require(try jpegTurn.turned(file, keeping: kept))).bitmap
        let size = turn.applied(width: kept.width, height: kept.height)
        #expect(after.size == [size.width, size.height])
        var most = 0
        for y in 0..<kept.height {
          for x in 0..<kept.width {
            let place = turn.upright(x: x, y: y, width: kept.width, height: kept.height)
            let (one, other) = (before[kept.x + x, kept.y + y], after[place.x, place.y])
            for part in 0..<3 { most = max(most, abs(Int(one[part]) - Int(other[part]))) }
          }
        }
        // Chroma is smoothed over another edge.
        #expect(most <= 40)
      }
    }
  }

  @Test
  func aPartKeepsItsSizeOrItsPixels() throws {
    let units = try JPEGUnits(Self.file())
    let part = PixelRegion(x: 21, y: 18, width: 20, height: 20)
    #expect(
      units.nearest(to: part, JPEGTurn(.up), keepsSize: false) == PixelRegion(x: 16, y: 16, width: 25, height: 22)
    )
    #expect(
      units.nearest(to: part, JPEGTurn(.up), keepsSize: true) == PixelRegion(x: 16, y: 16, width: 20, height: 20)
    )
    // Mirrored, the right edge comes first.
    #expect(
      units.nearest(to: part, JPEGTurn(.upMirrored), keepsSize: false)
        == PixelRegion(x: 21, y: 16, width: 27, height: 22)
    )
    // Within the only unit, which is not whole.
    let small = try JPEGUnits(Self.file(width: 12, height: 48))
    #expect(small.nearest(to: part, JPEGTurn(.upMirrored), keepsSize: false) == nil)
    #expect(
      small.nearest(to: PixelRegion(x: 3, y: 3, width: 4, height: 4), JPEGTurn(.upMirrored), keepsSize: true) == nil
    )
  }

  @Test
  func aPartOutsideThePictureIsRefused() throws {
    let file = try Self.file()
    for part in [
      PixelRegion(x: 0, y: 0, width: 65, height: 48), PixelRegion(x: -16, y: 0, width: 32, height: 48),
      PixelRegion(x: 0, y: 0, width: 0, height: 16),
    ] {
      #expect(throws: ImageError.self) { try JPEGTurn(.up).turned(file, keeping: part) }
    }
    // Not on the border of a unit.
    #expect(try JPEGTurn(.up).turned(file, keeping: PixelRegion(x: 8, y: 0, width: 16, height: 16)) == nil)
  }

  @Test
  func metadataDescribeThePartAndShowNothingElse() throws {
    let hidden = Array("the thumbnail of all of it".utf8)
    let xmp = """
      <x:xmpmeta xmlns:x="adobe:ns:meta/"><rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#">\
      <rdf:Description xmlns:tiff="http://ns.adobe.com/tiff/1.0/" tiff:Orientation="6" tiff:ImageWidth="64"/></rdf:RDF>\
      </x:xmpmeta>
      """
    let second = "http://ns.adobe.com/xmp/extension/\0" + String(repeating: "A", count: 32)
    let file = try Self.file()
      .withJPEGSegment(0xE1, .text(second) + .big32(26) + .big32(0) + hidden)
      .withJPEGSegment(0xE1, .text("http://ns.adobe.com/xap/1.0/\0" + xmp))
      .withJPEGSegment(0xED, .text("Photoshop 3.0\0"))
    let cropped = try #require(
      try JPEGTurn(.right).turned(file, keeping: PixelRegion(x: 0, y: 0, width: 48, height: 16))
    )
    #expect(cropped.firstRange(of: Data(hidden)) == nil)
    #expect(cropped.firstRange(of: Data("Photoshop 3.0".utf8)) != nil)
    #expect(try DecoderRegistry.standard.info(of: cropped).orientation == .up)
  }
}
