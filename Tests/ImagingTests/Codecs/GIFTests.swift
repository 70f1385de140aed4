import Testing
import VitrineImaging
import VitrineRuntime
import VitrineTestSupport
import VitrineTesting

struct GIFTests {
  static let red = SIMD4<UInt8>(255, 0, 0, 255)
  static let green = SIMD4<UInt8>(0, 255, 0, 255)
  static let blue = SIMD4<UInt8>(0, 0, 255, 255)
  static let white = SIMD4<UInt8>(255, 255, 255, 255)
  static let clear = SIMD4<UInt8>()
  static let palette = [red, green, blue, white]
  static let letters: [Character: SIMD4<UInt8>] = ["r": red, "g": green, "b": blue, "w": white, ".": clear]

  /// A file of 4x3 pixels.
  static func file(_ frames: GIFFile.Frame...) -> Data {
    GIFFile(width: 4, height: 3, palette: palette, frames: frames).data
  }

  static func frame(
    _ color: Int,
    left: Int = 0,
    top: Int = 0,
    width: Int = 4,
    height: Int = 3,
    _ disposal: GIFFile.Disposal = .none,
  ) -> GIFFile.Frame {
    GIFFile.Frame(left: left, top: top, width: width, height: height, disposal: disposal) { _, _ in color }
  }

  /// The picture that letters draw, a word for each row.
  static func picture(_ rows: String) -> [SIMD4<UInt8>] {
    rows.split(separator: " ").joined().compactMap { letters[$0] }
  }

  static func seen(_ file: Data, frame: Int = 0) throws -> [SIMD4<UInt8>] {
    try decode(file) { $0.frame = frame }.bitmap.pixels
  }

  @Test(arguments: ["still", "interlaced"])
  func aStillPictureDecodesAsAnotherDecoderHasIt(name: String) throws {
    let bitmap = try Bitmap(decoding: Fixture.data("\(name).gif"))

    #expect(bitmap.largestDifference(from: try Fixture.reference(name)) == 0)
  }

  @Test
  func aPlainPictureIsOpaque() throws {
    let decoded = try decode(Self.file(Self.frame(2)))

    #expect(!decoded.info.hasAlpha)
    #expect(decoded.bitmap.alpha == .opaque)
    #expect(decoded.bitmap.pixels.allSatisfy { $0 == Self.blue })
  }

  /// Pillow, ImageMagick, libvips and Chromium show it black.
  @Test
  func aFileWithoutAnyPaletteIsBlack() throws {
    let frame: [UInt8] = [0x2C, 0, 0, 0, 0, 1, 0, 1, 0, 0, 8, 4, 0, 1, 4, 4, 0]
    let file = Data(Array("GIF87a".utf8) + [1, 0, 1, 0, 0, 0, 0] + frame + [0x3B])

    #expect(try decode(file).bitmap[0, 0] == SIMD4(0, 0, 0, 255))
  }

  @Test(arguments: [1, 2, 3, 5, 8, 9, 17])
  func interlacedRowsComeToTheirPlaces(height: Int) throws {
    var frame = GIFFile.Frame(width: 3, height: height) { x, y in (x + y) % 4 }
    let plain = GIFFile(width: 3, height: height, palette: Self.palette, frames: [frame]).data
    frame.isInterlaced = true
    let interlaced = GIFFile(width: 3, height: height, palette: Self.palette, frames: [frame]).data

    #expect(try Self.seen(interlaced) == Self.seen(plain))
  }

  @Test
  func aFirstFrameMayLeavePartOfTheCanvasFree() throws {
    let file = Self.file(Self.frame(0, left: 1, top: 1, width: 2, height: 1))

    #expect(try info(file).hasAlpha)
    #expect(try Self.seen(file) == Self.picture(".... .rr. ...."))
  }

  @Test
  func aTransparentColourLetsThrough() throws {
    var frame = GIFFile.Frame(width: 4, height: 3) { x, _ in x % 2 }
    frame.transparent = 1
    let file = Self.file(frame)

    #expect(try info(file).hasAlpha)
    #expect(try Self.seen(file) == Self.picture("r.r. r.r. r.r."))
  }

  @Test(arguments: [GIFFile.Disposal.none, .keep])
  func aFrameThatStaysIsDrawnOver(disposal: GIFFile.Disposal) throws {
    let file = Self.file(
      Self.frame(0, disposal),
      Self.frame(1, left: 1, top: 0, width: 2, height: 2, disposal),
      Self.frame(2, left: 2, top: 1, width: 2, height: 2),
    )

    #expect(try Self.seen(file, frame: 1) == Self.picture("rggr rggr rrrr"))
    #expect(try Self.seen(file, frame: 2) == Self.picture("rggr rgbb rrbb"))
  }

  @Test
  func aFrameTakenAwayLeavesNothing() throws {
    let file = Self.file(
      Self.frame(0),
      Self.frame(1, left: 1, top: 0, width: 2, height: 2, .background),
      Self.frame(2, left: 2, top: 1, width: 1, height: 1),
    )

    #expect(try Self.seen(file, frame: 1) == Self.picture("rggr rggr rrrr"))
    #expect(try Self.seen(file, frame: 2) == Self.picture("r..r r.br rrrr"))
  }

  @Test
  func aFrameTakenBackLeavesWhatWasBefore() throws {
    let file = Self.file(
      Self.frame(0),
      Self.frame(1, left: 1, top: 0, width: 2, height: 2, .previous),
      Self.frame(2, left: 2, top: 1, width: 1, height: 1, .previous),
      Self.frame(3, left: 0, top: 2, width: 4, height: 1),
    )

    #expect(try Self.seen(file, frame: 2) == Self.picture("rrrr rrbr rrrr"))
    #expect(try Self.seen(file, frame: 3) == Self.picture("rrrr rrrr wwww"))
  }

  @Test
  func transparentPixelsOfALaterFrameKeepWhatIsBelow() throws {
    var hole = GIFFile.Frame(width: 4, height: 3) { x, y in x == y ? 2 : 1 }
    hole.transparent = 1
    let file = Self.file(Self.frame(0), hole)

    #expect(try Self.seen(file, frame: 1) == Self.picture("brrr rbrr rrbr"))
  }

  @Test
  func aFrameBeyondTheCanvasIsCut() throws {
    let file = Self.file(
      Self.frame(0),
      Self.frame(1, left: 3, top: 2, width: 5, height: 5, .background),
      Self.frame(2, left: 9, top: 9, width: 2, height: 2, .background),
      Self.frame(3, left: 0, top: 0, width: 1, height: 1),
    )

    #expect(try Self.seen(file, frame: 1) == Self.picture("rrrr rrrr rrrg"))
    #expect(try Self.seen(file, frame: 2) == Self.picture("rrrr rrrr rrr."))
    #expect(try Self.seen(file, frame: 3) == Self.picture("wrrr rrrr rrr."))
  }

  /// As in browsers.
  @Test(arguments: [(6, 7), (6, 2), (1, 5)])
  func aFirstFrameLargerThanTheCanvasIsTheCanvas(width: Int, height: Int) throws {
    let file = Self.file(
      GIFFile.Frame(left: 2, top: 1, width: width, height: height) { x, y in x == 0 && y == 0 ? 1 : 0 },
      Self.frame(2, left: 0, top: 1, width: 1, height: 1),
    )
    let (first, second) = (try decode(file).bitmap, try decode(file) { $0.frame = 1 }.bitmap)

    #expect(first.size == [width, height] && second.size == [width, height])
    #expect(first.pixels == [Self.green] + [SIMD4<UInt8>](repeating: Self.red, count: width * height - 1))
    #expect(second[0, 0] == Self.green && second[0, 1] == Self.blue)
    #expect(try decode(file, .pixels(1, 1)).bitmap[0, 0].x > 100)
  }

  @Test(arguments: [0, 1, 2, 3])
  func aThumbnailOfAFrameShowsThatFrame(frame: Int) throws {
    let file = GIFFile(
      width: 40,
      height: 40,
      palette: Self.palette,
      frames: (0..<4).map { Self.frame($0, width: 40, height: 40) },
    ).data

    let thumbnail = try decode(file, .pixels(10, 10)) { $0.frame = frame }.bitmap

    #expect(thumbnail.pixels.allSatisfy { $0 == Self.palette[frame] })
  }

  @Test
  func framesAndDurationAreTold() throws {
    let delays = [50, 0, 1, 2]
    let frames = delays.map { delay in
      var frame = Self.frame(0)
      frame.delay = delay
      return frame
    }
    let header = try info(GIFFile(width: 4, height: 3, palette: Self.palette, frames: frames).data)

    // 0.5 s, twice 0.1 s for what says 0 and 0.01, 0.02 s.
    #expect(header.frameCount == 4)
    #expect(abs(header.duration - 0.72) < 1e-9)
  }

  @Test
  func theDelayOfEachFrameIsTold() throws {
    let frames = [50, 0, 1, 2].map { delay in
      var frame = Self.frame(0)
      frame.delay = delay
      return frame
    }
    let file = GIFFile(width: 4, height: 3, palette: Self.palette, frames: frames).data

    #expect(try DecoderRegistry.standard.frameDelays(of: file) == [0.5, 0.1, 0.1, 0.02])
    #expect(try DecoderRegistry.standard.frameDelays(of: Self.file(Self.frame(0))) == [0])
  }

  @Test(arguments: [(0, 0), (1, 2), (7, 8), (65_535, 65_536)])
  func aLoopCountIsOneLessInTheFile(stored: Int, loops: Int) throws {
    let file = Self.file(Self.frame(0), Self.frame(1))
    let block: [UInt8] = [0x21, 0xFF, 11] + .text("NETSCAPE2.0") + [3, 1] + .little16(stored) + [0]
    let headerEnd = 13 + 24

    let looped = file.prefix(headerEnd) + Data(block) + file.dropFirst(headerEnd)

    #expect(try info(looped).loopCount == loops)
    #expect(try info(file).loopCount == 1)
    #expect(try Self.seen(looped, frame: 1) == Self.seen(file, frame: 1))
  }

  @Test
  func aStillPictureHasNoDuration() throws {
    #expect(try info(Self.file(Self.frame(0))).duration == 0)
  }

  @Test
  func aFrameThatIsNotThereIsAnError() throws {
    let file = Self.file(Self.frame(0), Self.frame(1))

    #expect(failure { try decode(file) { $0.frame = 2 } }?.code == .noSuchFrame)
    #expect(failure { try decode(file) { $0.frame = -1 } }?.code == .noSuchFrame)
  }

  @Test
  func aGIFWithoutAPaletteIsCorrupt() {
    let bytes: [UInt8] =
      .text("GIF89a") + [4, 0, 3, 0, 0, 0, 0, 0x2C, 0, 0, 0, 0, 4, 0, 3, 0, 0, 3, 2, 0x08, 0x09, 0, 0x3B]

    #expect(failure { try decode(Data(bytes)) }?.code == .corrupt)
  }
}
