import Testing
import VitrineImaging
import VitrineRuntime
import VitrineTestSupport
import VitrineTesting

struct LimitTests {
  static func png(_ width: Int, _ height: Int, isInterlaced: Bool = false) -> Data {
    let header: [UInt8] = .big32(width) + .big32(height) + [8, 6, 0, 0, isInterlaced ? 1 : 0]
    return Data(SniffingTests.png + PNGFile.chunk("IHDR", header) + PNGFile.chunk("IDAT", PNGFile.zlib([0])))
  }

  static func jpeg(_ width: Int, _ height: Int, isProgressive: Bool = false) throws -> Data {
    var file = try Fixture.data(isProgressive ? "progressive-420.jpg" : "baseline-420.jpg")
    let header = try #require(file.firstRange(of: Data([0xFF, isProgressive ? 0xC2 : 0xC0, 0, 17, 8])))
    let start = header.upperBound
    file.replaceSubrange(start..<start + 4, with: [UInt8].big16(height) + .big16(width))
    return file
  }

  static func gif(_ width: Int, _ height: Int) -> Data {
    let frame = GIFFile.Frame(width: 1, height: 1) { _, _ in 0 }
    return GIFFile(width: width, height: height, palette: GIFTests.palette, frames: [frame]).data
  }

  static func webp(_ width: Int, _ height: Int) -> Data {
    var body: [UInt8] = .text("VP8X") + .little32(10) + [0x02, 0, 0, 0]
    body += [UInt8].little32(width - 1).prefix(3) + [UInt8].little32(height - 1).prefix(3)
    body += .text("ANIM") + .little32(6) + [0, 0, 0, 0, 0, 0]
    return Data(.text("RIFF") + .little32(body.count + 4) + .text("WEBP") + body)
  }

  static let huge: [(String, Data)] = [
    ("png", png(60_000, 60_000)), ("png", png(2_000_000_000, 2_000_000_000)), ("png", png(70_000, 1)),
    ("interlaced png", png(11_000, 11_000, isInterlaced: true)), ("gif", gif(65_535, 65_535)),
    ("webp", webp(16_384, 16_384)),
  ]

  @Test(arguments: huge)
  func aHeaderThatPromisesTooMuchIsRefused(name: String, file: Data) {
    let error = failure { try decode(file, .pixels(10, 10)) }

    #expect(error?.code == .overLimit)
    #expect(error?.detail.contains("over the limit") == true)
  }

  @Test(arguments: huge)
  func readingTheHeaderRefusesItToo(name: String, file: Data) {
    #expect(failure { try info(file) }?.code == .overLimit)
  }

  @Test(arguments: [true, false])
  func aHugeJPEGIsRefused(isProgressive: Bool) throws {
    let file = try Self.jpeg(65_535, 65_535, isProgressive: isProgressive)

    #expect(failure { try decode(file, .pixels(10, 10)) }?.code == .overLimit)
  }

  @Test
  func aProgressiveJPEGThatMustBeHeldIsRefusedEarlier() throws {
    let size = (width: 20_000, height: 20_000)

    #expect(failure { try info(Self.jpeg(size.width, size.height, isProgressive: true)) }?.code == .overLimit)
    #expect(throws: Never.self) { try info(Self.jpeg(size.width, size.height)) }
  }

  @Test
  func anImageWithoutAPixelIsCorrupt() throws {
    for file in [Self.png(0, 5), Self.png(5, 0), try Self.jpeg(0, 5), try Self.jpeg(5, 0)] {
      #expect(failure { try decode(file) }?.code == .corrupt)
    }
  }

  @Test(.enabled(if: !Shape.isApple))
  func theLimitIsOnPixelsNotOnTheThumbnail() throws {
    let file = try Bitmap.testPattern(width: 20, height: 20).encoded(as: .webp)

    let error = failure { try decode(file, .pixels(2, 2)) { $0.limits.pixelCount = 399 } }

    #expect(error?.code == .overLimit)
    #expect(throws: Never.self) { try decode(file) { $0.limits.pixelCount = 400 } }
  }

  @Test
  func imagesThatAreHeldHaveANarrowerLimit() throws {
    let file = try Bitmap.testPattern(width: 20, height: 20).encoded(as: .jpeg)

    #expect(throws: Never.self) { try decode(file) { $0.limits.heldPixelCount = 1 } }
    #expect(failure { try decode(file) { $0.limits.pixelCount = 399 } }?.code == .overLimit)
  }

  @Test
  func aSideIsLimited() throws {
    let file = try Bitmap.testPattern(width: 20, height: 5).encoded(as: .png)

    #expect(failure { try decode(file) { $0.limits.side = 19 } }?.code == .overLimit)
  }

  @Test
  func theResultIsLimited() throws {
    let file = try Bitmap.testPattern(width: 20, height: 10).encoded(as: .png)

    let error = failure { try decode(file) { $0.limits.outputByteCount = 799 } }

    #expect(error?.code == .overLimit)
    #expect(throws: Never.self) { try decode(file) { $0.limits.outputByteCount = 800 } }
    #expect(throws: Never.self) { try decode(file, .pixels(10, 10)) { $0.limits.outputByteCount = 200 } }
  }

  @Test(arguments: [
    TargetSize.pixels(30_000, 30_000, .exact, enlarges: true), .pixels(width: 9e8, enlarges: true),
    .pixels(9e8, 9e8, .exact, enlarges: true), .pixels(9e8, 9e8, .fill, enlarges: true),
  ])
  func enlargingBeyondTheLimitIsRefused(size: TargetSize) throws {
    let file = try Bitmap.testPattern(width: 1, height: 10).encoded(as: .png)

    #expect(failure { try decode(file, size) }?.code == .overLimit)
  }

  @Test
  func framesAreLimited() throws {
    let file = try Fixture.data("animated.webp")

    #expect(failure { try decode(file) { $0.limits.frameCount = 3 } }?.code == .overLimit)
    #expect(throws: Never.self) { try decode(file) { $0.limits.frameCount = 4 } }
  }

  @Test
  func aTimeLimitOfZeroIsOver() throws {
    let file = try Fixture.data("baseline-420.jpg")

    let error = failure { try decode(file) { $0.limits.timeLimit = .zero } }

    #expect(error?.code == .outOfTime)
    #expect(error?.isCancellation == false)
  }

  static let files = [
    "baseline-420.jpg", "progressive-420.jpg", "lossy.webp", "animated.webp", "still.gif", "interlaced.gif",
  ]

  @Test(arguments: files)
  func whatIsCancelledBeforehandDoesNotBegin(name: String) throws {
    let file = try Fixture.data(name)

    let error = failure { try decode(file) { $0.isCancelled = { true } } }

    #expect(error?.isCancellation == true)
  }

  @Test(arguments: files, [nil, TargetSize.pixels(10, 10)])
  func whatIsCancelledUnderWayStops(name: String, size: TargetSize?) throws {
    let file = try Fixture.data(name)
    let questions = Lock(0)

    let error = failure {
      try decode(file, size) { options in
        options.isCancelled = {
          questions.withLock {
            $0 += 1; return $0 > 1
          }
        }
        options.acceptsPartial = true
      }
    }

    #expect(error?.code == .cancelled)
    #expect(questions.withLock { $0 } == 2)
  }

  @Test(.enabled(if: !Shape.isApple))
  func anInterlacedPNGIsCancelledBetweenRows() throws {
    let kind = PNGTests.Kind(colorType: .rgb, depth: 8, isInterlaced: true)
    let file = PNGTests.file(kind).data
    let questions = Lock(0)

    let error = failure {
      try decode(file) {
        $0.isCancelled = {
          questions.withLock {
            $0 += 1; return $0 > 4
          }
        }
      }
    }

    #expect(error?.code == .cancelled)
  }

  @Test
  func aProfileOverTheLimitIsLeftOut() throws {
    let profile = ICCProfile.version2(String(repeating: "n", count: 2000))
    let plain = Bitmap.testPattern(width: 8, height: 8)
    var limits = DecodeLimits()
    limits.metadataByteCount = 1000
    let jpeg = try plain.encoded(as: .jpeg).withJPEGSegment(0xE2, .text("ICC_PROFILE\0") + [1, 1] + profile)

    let header = try info(jpeg, limits: limits)

    #expect(header.colorProfile == nil)
    #expect(try info(jpeg).colorProfile != nil)
  }

  @Test
  func theProfileOfADecoderOfOnesOwnIsLimited() {
    var stub = StubDecoder()
    stub.profile = ColorProfile(data: Data(count: 2000))
    let registry = DecoderRegistry([stub])
    var limits = DecodeLimits()
    limits.metadataByteCount = 1999

    #expect(failure { try registry.info(of: StubDecoder.file, limits: limits) }?.code == .overLimit)
  }
}
