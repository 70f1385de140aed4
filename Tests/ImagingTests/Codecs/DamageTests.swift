import Testing
import VitrineImaging
import VitrineRuntime
import VitrineTestSupport
import VitrineTesting

/// Files cut short and spoiled: an error, or, where asked, the part that decoded; never a crash.
struct DamageTests {
  struct Sample: Sendable, CustomTestStringConvertible {
    var name: String
    var testDescription: String { name }

    init(_ name: String) { self.name = name }

    func data() throws -> Data {
      switch name {
      case "plain.png": try Bitmap.testPattern(width: 31, height: 23).encoded(as: .png)
      case "stored.png": PNGTests.file(PNGTests.Kind(colorType: .rgba, depth: 8, isInterlaced: false)).data
      case "adam7.png":
        PNGTests.file(PNGTests.Kind(colorType: .rgb, depth: 8, isInterlaced: true), width: 75, height: 75).data
      case "tall.png":
        PNGTests.file(PNGTests.Kind(colorType: .rgba, depth: 8, isInterlaced: false), width: 75, height: 75).data
      case "tall.jpg": try Bitmap.busy(width: 75, height: 100, alpha: false).encoded(as: .jpeg)
      case "palette.png": PNGTests.file(PNGTests.Kind(colorType: .palette, depth: 4, isInterlaced: false)).data
      case "profile.png":
        try Bitmap.testPattern(width: 9, height: 9).encoded(as: .png)
          .withPNGChunk("iCCP", InfoTests.pngProfile(ICCProfile.version4(german: "Farben", english: "Colours")))
          .withPNGChunk("eXIf", TIFFBlock.orientation(6, littleEndian: true))
      case "exif.jpg":
        try Bitmap.testPattern(width: 24, height: 16).encoded(as: .jpeg).withEXIF(.right)
          .withJPEGSegment(0xE2, .text("ICC_PROFILE\0") + [1, 1] + ICCProfile.version2("Colours"))
      case "animated.gif": Self.animatedGIF
      default: try Fixture.data(name)
      }
    }

    private static var animatedGIF: Data {
      let frames = [GIFFile.Disposal.none, .background, .previous, .keep].enumerated().map { index, disposal in
        var frame = GIFFile.Frame(left: index, top: index, width: 8, height: 6, disposal: disposal) { x, y in
          (x + y) % 4
        }
        frame.transparent = index
        return frame
      }
      return GIFFile(width: 12, height: 9, palette: GIFTests.palette, frames: frames).data
    }
  }

  /// Their rows come one after another.
  static let sequential = [
    "baseline-420.jpg", "grey.jpg", "cmyk.jpg", "restart-420.jpg", "exif.jpg", "plain.png", "stored.png", "palette.png",
    "still.gif", "bits-4.bmp", "bits-24.bmp", "os2.bmp", "v5-alpha.bmp", "rle-8.bmp", "png.ico", "bmp.ico",
    "palette.ico",
    "rgb.qoi", "rgba.qoi", "lossy.webp", "lossless.webp", "lossy-alpha.webp", "lossless-alpha.webp",
  ].map { Sample($0) }

  /// High enough for rows to be left when the decoder loses those that it was reading together with the missing ones.
  static let tall = ["tall.jpg", "grey.jpg", "tall.png", "still.gif"].map { Sample($0) } + sequential.suffix(4)

  /// They come coarsely first.
  static let coarseFirst = ["progressive-420.jpg", "grey-progressive.jpg", "adam7.png", "interlaced.gif"].map {
    Sample($0)
  }

  /// Those of `tall` of which it is known how many rows are there.
  ///
  /// ImageIO is given no GIF, PNG or WebP that is cut, but a JPEG whose rows Vitrine has counted.
  static let counted = Shape.isApple ? tall.filter { $0.name.hasSuffix(".jpg") } : tall

  /// Those of `coarseFirst` that ImageIO is given.
  static let coarse = Shape.isApple ? coarseFirst.filter { !$0.name.hasSuffix(".gif") } : coarseFirst

  static let all =
    sequential + coarseFirst
    + ["profile.png", "animated.png", "hidden-default.png", "animated.gif", "animated.webp"].map { Sample($0) }

  static let sizes: [TargetSize?] = [nil, .pixels(7, 7)]

  @Test(arguments: all, sizes)
  func everyPrefixIsAnErrorOrThePicture(sample: Sample, size: TargetSize?) throws {
    let file = try sample.data()
    let whole = try decode(file, size).bitmap

    var wrong: [String] = []
    for count in stride(from: 0, to: file.count, by: max(1, file.count / 300)) {
      do throws(ImageError) {
        let bitmap = try decode(file.prefix(count), size).bitmap
        if bitmap.size != whole.size || bitmap.largestDifference(from: whole) > 0 {
          wrong.append("\(count): a picture")
        }
      } catch {
        // Below a dozen bytes, for BMP 18, there is not even a signature.
        let expected: [ImageError.Code] = count < 18 ? [.truncated, .unrecognised] : [.truncated]
        if !expected.contains(error.code) { wrong.append("\(count): \(error.code), \(error)") }
      }
    }

    #expect(wrong.isEmpty)
  }

  @Test(arguments: all, sizes)
  func aPartialPictureSaysThatItIs(sample: Sample, size: TargetSize?) throws {
    let file = try sample.data()
    let whole = try decode(file, size).bitmap

    var wrong: [Int] = []
    for count in stride(from: 0, to: file.count, by: max(1, file.count / 150)) {
      guard let decoded = try? decode(file.prefix(count), size, { $0.acceptsPartial = true }) else { continue }
      guard decoded.damage == nil else { continue }
      if decoded.bitmap.size != whole.size || decoded.bitmap.largestDifference(from: whole) > 0 { wrong.append(count) }
    }

    #expect(wrong.isEmpty)
  }

  @Test(arguments: counted)
  func theRowsBeforeTheCutAreRightAndTheRestIsTransparent(sample: Sample) throws {
    let file = try sample.data()
    let whole = try decode(file).bitmap

    let decoded = try decode(file.prefix(file.count * 4 / 5)) { $0.acceptsPartial = true }

    let bitmap = decoded.bitmap
    #expect(decoded.damage?.code == .truncated)
    #expect(bitmap.size == whole.size)
    #expect(bitmap.alpha == .straight)
    let good = (0..<whole.height).prefix { y in (0..<whole.width).allSatisfy { bitmap[$0, y] == whole[$0, y] } }.count
    #expect(good > 0)
    // The row of blocks in which a JPEG ends is shown, grey where it is missing.
    let end = sample.name.hasSuffix(".jpg") ? min(whole.height, good + 18) : good
    for y in end..<whole.height { #expect((0..<whole.width).allSatisfy { bitmap[$0, y].w == 0 }, "row \(y)") }
  }

  /// Whatever the number of rows that are read at once.
  @Test(.disabled(if: Shape.isApple, "ImageIO is given no such file"), arguments: ["busy.png", "busy.gif"])
  func noRowThatTheDataHaveIsLost(name: String) throws {
    let format = ImageFormat(fileExtension: String(name.suffix(3)))
    let whole = Bitmap.busy(width: 300, height: 100, alpha: false)
    let file = try whole.encoded(as: ImageEncoding(try #require(format)))
    let reference = try decode(file).bitmap
    var rows: [Int] = []
    for percent in 30..<70 {
      let bitmap = try decode(file.prefix(file.count * percent / 100)) { $0.acceptsPartial = true }.bitmap
      let shown = (0..<100).prefix { bitmap[0, $0].w == 255 }.count
      rows.append(shown)
      for y in 0..<shown { #expect((0..<300).allSatisfy { bitmap[$0, y] == reference[$0, y] }, "\(percent): \(y)") }
    }
    // A hundredth of the data is about a row.
    let steps = zip(rows, rows.dropFirst()).map { $1 - $0 }
    #expect(steps.allSatisfy { (0...4).contains($0) }, "\(rows)")
  }

  @Test(arguments: ["plain.png", "still.gif", "lossy.webp"])
  func aFileWithoutARowIsAnErrorEvenIfDamageIsAccepted(name: String) throws {
    let file = try Sample(name).data()
    let length = try #require((0..<file.count).first { (try? info(file.prefix($0))) != nil })

    let error = failure { try decode(file.prefix(length)) { $0.acceptsPartial = true } }

    #expect(error?.code == .truncated)
  }

  /// As many rows as other programs show that go on after the end, Pillow with `LOAD_TRUNCATED_IMAGES` for one.
  @Test(.disabled(if: Shape.isApple, "ImageIO is given the rows that are whole"), arguments: [8, 4, 2, 1])
  func aCutJPEGShowsTheRowOfBlocksItEndsIn(eighths: Int) throws {
    let file = try Bitmap.busy(width: 160, height: 96, alpha: false).encoded(as: .jpeg)
    let size = TargetSize.pixels(Double(20 * eighths), Double(12 * eighths))
    let whole = try decode(file, size).bitmap
    let markers = zip(file, file.dropFirst()).enumerated()
    let start = try #require(markers.first { $0.element == (0xFF, 0xDA) }).offset

    var (ends, blocks): (Set<Int>, Set<Int>) = ([], [])
    for count in stride(from: start + 20, to: file.count - 2, by: 50) {
      guard let decoded = try? decode(file.prefix(count), size, { $0.acceptsPartial = true }) else { continue }
      let bitmap = decoded.bitmap
      let shown = (0..<whole.height).prefix { bitmap[0, $0].w == 255 }.count
      #expect(decoded.damage?.code == .truncated)
      ends.insert(shown)
      let inLast = max(0, shown - 1 - eighths)
      blocks.insert((0..<whole.width).prefix { bitmap[$0, inLast] == whole[$0, inLast] }.count / (2 * eighths))
      // The rows above the last row of blocks are whole, and of that the blocks that are there.
      let rows = 2 * eighths
      for y in 0..<max(0, shown - rows - 6) {
        #expect((0..<whole.width).allSatisfy { bitmap[$0, y] == whole[$0, y] }, "\(count): row \(y)")
      }
    }

    #expect(ends.count >= 4, "\(ends)")
    #expect(blocks.count >= 4, "\(blocks)")
  }

  /// Of the others the cut leaves no whole row of the thumbnail, which is an error.
  static let withRows = counted.filter {
    !["still.gif", "lossy-alpha.webp"].contains($0.name) && !(Shape.isApple && $0.name == "grey.jpg")
  }

  @Test(arguments: withRows)
  func theRowsBeforeTheCutAreInAThumbnailToo(sample: Sample) throws {
    let file = try sample.data()
    let size = TargetSize.pixels(14, 14)
    let whole = try decode(file, size).bitmap

    let decoded = try decode(file.prefix(file.count * 3 / 5), size) { $0.acceptsPartial = true }

    #expect(decoded.damage?.code == .truncated)
    #expect(decoded.bitmap.size == whole.size)
    #expect(decoded.bitmap[6, whole.height - 1].w == 0)
  }

  @Test(arguments: coarseFirst, sizes)
  func aCoarsePictureIsAnErrorUnlessAskedFor(sample: Sample, size: TargetSize?) throws {
    let file = try sample.data()

    let error = failure { try decode(file.prefix(file.count * 4 / 5), size) }

    #expect(error?.code == .truncated)
  }

  @Test(arguments: coarse, sizes)
  func aCoarsePictureIsShownWhenAskedFor(sample: Sample, size: TargetSize?) throws {
    let file = try sample.data()
    let whole = try decode(file, size).bitmap

    let decoded = try decode(file.prefix(file.count * 4 / 5), size) { $0.acceptsPartial = true }

    // Half the rows of an interlaced GIF are in its last pass.
    #expect(decoded.damage?.code == .truncated)
    #expect(decoded.bitmap.pixels.count { $0.w > 0 } > whole.width * whole.height / 3)
  }

  @Test
  func aPartialPictureIsTurnedUprightToo() throws {
    let picture = Bitmap.testPattern(width: 160, height: 96)
    let file = try picture.stored(.down).encoded(as: .jpeg).withEXIF(.down)

    let decoded = try decode(file.prefix(file.count * 4 / 5)) { $0.acceptsPartial = true }

    #expect(decoded.damage?.code == .truncated)
    #expect(decoded.bitmap[0, 0].w == 0)
    #expect(decoded.bitmap[159, 95].isWithin(12, of: Bitmap.testPatternCorners[3]))
  }

  @Test(.enabled(if: !Shape.isApple))
  func aLaterFrameThatIsCutKeepsThoseBelow() throws {
    let frames = [0, 1].map { color in GIFFile.Frame(width: 50, height: 50) { _, _ in color } }
    let file = GIFFile(width: 50, height: 50, palette: GIFTests.palette, frames: frames).data

    let decoded = try decode(file.prefix(file.count - 800)) { options in
      options.frame = 1
      options.acceptsPartial = true
    }

    #expect(decoded.damage?.code == .truncated)
    #expect(decoded.bitmap[0, 0] == GIFTests.green)
    #expect(decoded.bitmap[49, 49] == GIFTests.red)
  }

  @Test(arguments: all)
  func spoiledBytesNeverDoHarm(sample: Sample) throws {
    let file = try sample.data()
    var generator = SplitMix64(seed: 20_240)

    for _ in 0..<250 {
      var spoiled = file
      for _ in 0..<Int.random(in: 1...3, using: &generator) {
        spoiled[Int.random(in: 0..<file.count, using: &generator)] = .random(in: 0...255, using: &generator)
      }
      let size = Self.sizes[Int.random(in: 0...1, using: &generator)]
      let frame = sample.name.hasPrefix("animated") ? Int.random(in: 0...3, using: &generator) : 0
      let decoded = try? decode(spoiled, size) { options in
        // A spoiled size may be large, and this is a debug build.
        options.limits.pixelCount = 20_000
        options.frame = frame
        options.acceptsPartial = true
      }

      guard let decoded, size == nil else { continue }
      #expect(decoded.bitmap.size == [decoded.info.width, decoded.info.height])
    }
  }

  @Test(arguments: all)
  func aSpoiledHeaderNeverDoesHarm(sample: Sample) throws {
    let file = try sample.data()

    for offset in 0..<min(file.count, 64) {
      for byte in [0, 1, 0x7F, 0x80, 0xFF] as [UInt8] {
        _ = try? decode(file.replacing(offset, with: byte), .pixels(5, 5)) { options in
          options.limits.pixelCount = 20_000
        }
      }
    }
  }

  @Test
  func randomBytesBehindASignatureNeverDoHarm() {
    var generator = SplitMix64(seed: 7)
    for (_, signature) in SniffingTests.signatures {
      for _ in 0..<20 {
        let rest = (0..<200).map { _ in UInt8.random(in: 0...255, using: &generator) }
        _ = try? decode(Data(signature + rest), .pixels(5, 5)) { options in
          options.limits.pixelCount = 20_000
        }
      }
    }
  }

  @Test(.enabled(if: !Shape.isApple))
  func tooManyFaultsMakeAFileCorrupt() throws {
    var file = try Bitmap.busy(width: 120, height: 120, alpha: false).encoded(as: .jpeg)
    // Markers that do not belong there: each is a warning.
    for offset in stride(from: file.count / 4, to: file.count - 2, by: 40) {
      file[offset] = 0xFF
      file[offset + 1] = 0xD3
    }

    let error = failure { try decode(file) { $0.limits.warningCount = 0 } }

    #expect(error?.code == .corrupt)
  }

  @Test(.enabled(if: !Shape.isApple))
  func aJPEGOfManyFaultsIsDamagedAndShownToItsLastRow() throws {
    let whole = Bitmap.busy(width: 400, height: 400, alpha: false)
    var file = try whole.encoded(as: .jpeg)
    for offset in stride(from: file.count / 4, to: file.count - 2, by: file.count / 400) {
      file[offset] = 0xFF
      file[offset + 1] = 0xD3
    }

    #expect(failure { try decode(file) { $0.limits.warningCount = 0 } }?.code == .corrupt)
    for size: TargetSize? in [nil, .pixels(200, 200), .pixels(50, 50)] {
      let decoded = try decode(file, size) { ($0.acceptsPartial, $0.limits.warningCount) = (true, 0) }
      #expect(decoded.damage?.limit == .warningCount)
      let last = decoded.bitmap.height - 1
      #expect((0..<decoded.bitmap.width).allSatisfy { decoded.bitmap[$0, last].w == 255 })
    }
  }

  /// libjpeg makes up the rows after the marker, all grey.
  @Test(.enabled(if: !Shape.isApple), arguments: [nil, TargetSize.pixels(20, 12)])
  func aJPEGWhoseEndComesTooEarlyIsCut(size: TargetSize?) throws {
    let file = try Bitmap.busy(width: 160, height: 96, alpha: false).encoded(as: .jpeg)
    let cut = file.prefix(file.count / 2) + [0xFF, 0xD9]

    #expect(failure { try decode(cut, size) }?.code == .truncated)

    let decoded = try decode(cut, size) { $0.acceptsPartial = true }
    #expect(decoded.damage?.code == .truncated)
    #expect(decoded.bitmap[0, 0].w == 255 && decoded.bitmap[0, decoded.bitmap.height - 1].w == 0)
  }

  // MARK: Animations

  /// As a GIF does, whose later frames are missing.
  @Test(.enabled(if: !Shape.isApple), arguments: ["animated.webp", "animated.gif"])
  func theFirstFrameOfACutAnimationIsWhole(name: String) throws {
    let file = try Sample(name).data()
    let whole = try decode(file).bitmap

    let decoded = try decode(file.prefix(file.count * 9 / 10))

    #expect(decoded.damage == nil)
    #expect(decoded.bitmap.largestDifference(from: whole) == 0)
  }

  @Test(.enabled(if: !Shape.isApple), arguments: [false, true])
  func theRowsOfTheFirstFrameOfACutWebPAreShown(animates: Bool) throws {
    let file = try Photograph.data("houses-animated.webp")
    let whole = try decode(file).bitmap

    let decoded = try decode(file.prefix(file.count / 5)) { ($0.acceptsPartial, $0.animates) = (true, animates) }

    let shown = (0..<whole.height).prefix { decoded.bitmap[0, $0].w == 255 }.count
    #expect(decoded.damage?.code == .truncated)
    #expect(decoded.animation == nil)
    #expect(shown > whole.height / 4 && shown < whole.height, "\(shown)")
    for y in 0..<shown {
      #expect((0..<whole.width).allSatisfy { decoded.bitmap[$0, y] == whole[$0, y] }, "row \(y)")
    }
  }

  @Test(.enabled(if: !Shape.isApple), arguments: [ImageFormat.gif, .webp])
  func aCutAnimationIsWrittenWithTheFramesBeforeTheDamage(format: ImageFormat) throws {
    let file = try Photograph.data("boats-animated.gif")
    let cut = file.prefix(file.count * 7 / 10)
    let count = try info(file).frameCount
    let strict = try decode(cut) { $0.animates = true }
    #expect(failure { _ = try EncoderRegistry.standard.encode(strict, as: ImageEncoding(format)) }?.code == .truncated)

    let decoded = try decode(cut) { ($0.acceptsPartial, $0.animates) = (true, true) }
    let written = try EncoderRegistry.standard.encode(decoded, as: ImageEncoding(format)).data

    #expect(decoded.damage == nil && decoded.animation?.damage?.code == .truncated)
    let frames = try info(written).frameCount
    #expect(frames > 1 && frames < count, "\(frames) of \(count)")
  }

  // MARK: Encoding

  /// The missing part must not make a PNG of a photograph.
  @Test
  func aDamagedPhotographIsStillWrittenAsJPEGWithTheMissingPartWhite() throws {
    let file = try Bitmap.busy(width: 160, height: 96, alpha: false).encoded(as: .jpeg)
    let decoded = try decode(file.prefix(file.count / 2)) { $0.acceptsPartial = true }

    let written = try EncoderRegistry.standard.encode(decoded, as: .automatic())

    #expect(written.format == .jpeg)
    #expect(try decode(written.data).bitmap[80, 95].isWithin(3, of: SIMD4(255, 255, 255, 255)))
  }
}
