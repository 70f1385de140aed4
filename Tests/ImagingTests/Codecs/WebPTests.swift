import Testing
import VitrineImaging
import VitrineRuntime
import VitrineTestSupport
import VitrineTesting

struct WebPTests {
  @Test
  func anAnimationWithoutFramesCountsAsOne() throws {
    var file = try Fixture.data("animated.webp")
    // The chunks of the frames get names that nobody knows.
    while let range = file.firstRange(of: Data("ANMF".utf8)) { file.replaceSubrange(range, with: Data("ANMX".utf8)) }

    #expect(try DecoderRegistry.standard.info(of: file).frameCount == 1)
    #expect(throws: ImageError.self) { try decode(file) }
  }

  // One level: the reference is another build of libwebp, whose vector code may round its own way.
  @Test(arguments: [("lossless", 0), ("lossless-alpha", 0), ("lossy", 1), ("lossy-alpha", 1)])
  func everyKindDecodesAsAnotherDecoderHasIt(name: String, tolerance: Int) throws {
    let decoded = try decode(Fixture.data("\(name).webp"))

    #expect(decoded.info.format == .webp)
    #expect(decoded.info.hasAlpha == name.hasSuffix("alpha"))
    #expect(decoded.bitmap.largestDifference(from: try Fixture.reference(name)) <= tolerance)
  }

  @Test(arguments: ["lossless", "lossless-alpha", "lossy", "lossy-alpha"], [6, 13, 30, 50])
  func everyKindIsShrunkWhileDecoding(name: String, width: Int) throws {
    let thumbnail = try decode(Fixture.data("\(name).webp"), .pixels(width: Double(width))).bitmap

    let reference = try Fixture.reference(name)
    let expected = ReferenceResampler().resample(reference, width: thumbnail.width, height: thumbnail.height)
    #expect(thumbnail.width == width)
    #expect(thumbnail.flattenedOverWhite().psnr(against: expected.flattenedOverWhite()) > 30)
  }

  @Test(arguments: 0..<4)
  func anyFrameOfAnAnimationCanBeHad(frame: Int) throws {
    let bitmap = try decode(Fixture.data("animated.webp")) { $0.frame = frame }.bitmap

    #expect(bitmap.largestDifference(from: try Fixture.reference("animated.frame-\(frame)")) == 0)
  }

  @Test
  func anAnimationTellsFramesAndDuration() throws {
    let header = try info(Fixture.data("animated.webp"))

    // 100, 5, 200 and 10 ms, of which 5 and 10 are shown for 100.
    #expect(header.frameCount == 4)
    #expect(abs(header.duration - 0.5) < 1e-9)
    #expect(header.hasAlpha)
    #expect(try DecoderRegistry.standard.frameDelays(of: Fixture.data("animated.webp")) == [0.1, 0.1, 0.2, 0.1])
  }

  @Test(arguments: [0, 1, 300])
  func aLoopCountIsTold(count: Int) throws {
    var file = try Fixture.data("animated.webp")
    let start = try #require(file.firstRange(of: Data([UInt8].text("ANIM")))).upperBound + 8
    file.replaceSubrange(start..<start + 2, with: [UInt8].little16(count))

    #expect(try info(file).loopCount == count)
  }

  @Test(arguments: [4, 1000, -1])
  func aFrameThatIsNotThereIsAnError(frame: Int) throws {
    let file = try Fixture.data("animated.webp")

    let error = failure { try decode(file) { $0.frame = frame } }

    #expect(error?.code == .noSuchFrame)
    #expect(error?.detail.contains("4 frames") == true)
  }

  @Test
  func aStillPictureHasNoDuration() throws {
    let header = try info(Fixture.data("lossy.webp"))

    #expect(header.frameCount == 1)
    #expect(header.duration == 0)
  }

  @Test(arguments: ["lossy", "lossless"])
  func aTruncatedFileSaysSo(name: String) throws {
    let file = try Fixture.data("\(name).webp")

    let error = failure { try decode(file.prefix(file.count * 3 / 4)) }

    #expect(error?.code == .truncated)
    #expect(error?.format == .webp)
  }
}
