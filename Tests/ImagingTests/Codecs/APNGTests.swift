import Testing
import VitrineImaging
import VitrineRuntime
import VitrineTestSupport
import VitrineTesting

struct APNGTests {
  // One level: both blend in whole numbers, each in its own way.
  @Test(arguments: ["animated", "hidden-default"], 0..<5)
  func everyFrameIsComposedAsAnotherDecoderHasIt(name: String, frame: Int) throws {
    let decoded = try decode(Fixture.data("\(name).png")) { $0.frame = frame }

    let expected = try Fixture.reference("apng.frame-\(frame)")
    #expect(decoded.info.format == .apng)
    #expect(decoded.bitmap.premultiplied().largestDifference(from: expected.premultiplied()) <= 1)
  }

  @Test(arguments: ["animated", "hidden-default"])
  func framesDelaysAndLoopsAreTold(name: String) throws {
    let file = try Fixture.data("\(name).png")

    let header = try info(file)

    // 1/10 s; 0 becomes 0.1; 3/100 s; 1/4 s; 2/0 stands for 2/100.
    #expect(header.frameCount == 5)
    #expect(header.loopCount == 3)
    #expect(try DecoderRegistry.standard.frameDelays(of: file) == [0.1, 0.1, 0.03, 0.25, 0.02])
    #expect(abs(header.duration - 0.5) < 1e-9)
  }

  @Test
  func aFrameThatIsNotThereIsAnError() throws {
    let file = try Fixture.data("animated.png")

    #expect(failure { try decode(file) { $0.frame = 5 } }?.code == .noSuchFrame)
  }

  @Test(arguments: [nil, TargetSize.pixels(9, 9)])
  func everyPrefixIsAnErrorOrTheFrame(size: TargetSize?) throws {
    let file = try Fixture.data("animated.png")
    for frame in [1, 4] {
      let whole = try decode(file, size) { $0.frame = frame }.bitmap
      for count in stride(from: 0, to: file.count, by: 7) {
        do throws(ImageError) {
          let bitmap = try decode(file.prefix(count), size) { $0.frame = frame }.bitmap
          #expect(bitmap.largestDifference(from: whole) == 0, "\(count)")
        } catch {
          #expect([.truncated, .unrecognised, .noSuchFrame].contains(error.code), "\(count): \(error)")
        }
      }
    }
  }

  @Test
  func aFrameThatIsCutKeepsThoseBelow() throws {
    let file = try Fixture.data("animated.png")
    let before = try decode(file) { $0.frame = 2 }.bitmap

    let decoded = try decode(file.prefix(file.count - 150)) { options in
      options.frame = 4
      options.acceptsPartial = true
    }

    #expect(decoded.damage?.code == .truncated)
    #expect(decoded.bitmap.size == before.size)
    #expect(decoded.bitmap.pixels.contains { $0.w > 0 })
  }

  /// A file of two frames, the second one as given.
  static func file(
    _ width: Int,
    _ height: Int,
    left: Int,
    top: Int,
    dispose: UInt8 = 0,
    blend: UInt8 = 0,
  ) throws -> Data {
    let still = try Bitmap.testPattern(width: 12, height: 9).encoded(as: .png)
    var first: [UInt8] = .big32(0) + .big32(12) + .big32(9) + .big32(0)
    first += .big32(0) + .big16(1) + .big16(10) + [0, 0]
    var second: [UInt8] = .big32(1) + .big32(width) + .big32(height)
    second += .big32(left) + .big32(top) + .big16(1) + .big16(10) + [dispose, blend]
    let data: [UInt8] = .big32(2) + PNGFile.zlib([UInt8](repeating: 0, count: 100))
    return still.withPNGChunk("fcTL", first).withPNGChunk("acTL", .big32(2) + .big32(0)).dropLast(12)
      + Data(PNGFile.chunk("fcTL", second) + PNGFile.chunk("fdAT", data) + PNGFile.chunk("IEND", []))
  }

  @Test(arguments: [
    (13, 1, 0, 0, 0, 0), (1, 10, 0, 0, 0, 0), (1, 1, 12, 0, 0, 0), (1, 1, 0, 9, 0, 0), (0, 1, 0, 0, 0, 0),
    (1, 1, 0xFFFF_FFFF, 0, 0, 0), (0xFFFF_FFFF, 1, 1, 0, 0, 0), (1, 1, 0, 0, 3, 0), (1, 1, 0, 0, 0, 2),
  ])
  func aFrameOutsideTheCanvasOrTheStandardIsCorrupt(
    width: Int,
    height: Int,
    left: Int,
    top: Int,
    dispose: UInt8,
    blend: UInt8,
  ) throws {
    let file = try Self.file(width, height, left: left, top: top, dispose: dispose, blend: blend)

    #expect(failure { try decode(file) { $0.frame = 1 } }?.code == .corrupt)
    // The first one is good.
    #expect(try decode(file).bitmap.size == [12, 9])
  }

  @Test
  func aWrongChecksumInALaterFrameIsCorrupt() throws {
    let file = try Fixture.data("animated.png")
    let data = try #require(file.lastRange(of: Data([UInt8].text("fdAT"))))

    let error = failure {
      try decode(file.replacing(data.upperBound + 20, with: file[data.upperBound + 20] ^ 0x55)) { $0.frame = 4 }
    }

    #expect(error?.code == .corrupt)
  }

  @Test
  func aFrameThatIsDeclaredAndNeverComesIsNotThere() throws {
    let still = try Bitmap.testPattern(width: 12, height: 9).encoded(as: .png)
    let file = still.withPNGChunk("acTL", .big32(3) + .big32(0))

    #expect(failure { try decode(file.dropLast(12)) { $0.frame = 2 } }?.code == .truncated)
    // The whole file has none.
    #expect(try info(file).frameCount == 1)
    #expect(try DecoderRegistry.standard.frameDelays(of: file) == [0])
  }

  /// A default picture, and an animation of one frame beside it.
  static func hidden(_ frame: [UInt8], width: Int = 12, height: Int = 9) throws -> Data {
    let still = try Bitmap.testPattern(width: 12, height: 9).encoded(as: .png)
    var control: [UInt8] = .big32(0) + .big32(width) + .big32(height)
    control += .big32(0) + .big32(0) + .big16(1) + .big16(10) + [0, 0]
    return still.withPNGChunk("acTL", .big32(1) + .big32(0)).dropLast(12)
      + Data(PNGFile.chunk("fcTL", control) + PNGFile.chunk("fdAT", .big32(1) + frame) + PNGFile.chunk("IEND", []))
  }

  @Test
  func aBrokenAnimationShowsItsDefaultPicture() throws {
    let picture = Bitmap.testPattern(width: 12, height: 9)
    let broken = [
      try Self.hidden([1, 2, 3]), try Self.hidden(PNGFile.zlib([9, 9, 9])), try Self.hidden([], width: 13),
    ]

    for file in broken { #expect(try decode(file).bitmap.pixels == picture.pixels) }
    // One that is good is shown.
    let rows = [UInt8](repeating: 0, count: 9 * (1 + 12 * 4))
    #expect(try decode(Self.hidden(PNGFile.zlib(rows))).bitmap.pixels != picture.pixels)
  }

  @Test
  func infoCountsTheFramesThatAreThere() throws {
    let rows = [UInt8](repeating: 0, count: 9 * (1 + 12 * 4))
    var file = try Self.hidden(PNGFile.zlib(rows))
    let count = try #require(file.firstRange(of: Data([UInt8].text("acTL")))).upperBound
    file.replaceSubrange(count..<count + 4, with: [UInt8].big32(7000))

    #expect(try info(file).frameCount == 1)
  }

  @Test
  func tooManyFramesAreRefused() throws {
    let file = try Bitmap.testPattern(width: 12, height: 9).encoded(as: .png)
      .withPNGChunk("acTL", .big32(0x7FFF_FFFF) + .big32(0)).dropLast(12)

    #expect(failure { try info(file) }?.code == .overLimit)
    #expect(failure { try DecoderRegistry.standard.frameDelays(of: file) }?.code == .overLimit)
  }

  @Test
  func composingIsGivenUpWhenAsked() throws {
    let file = try Fixture.data("animated.png")
    let questions = Counter()

    let error = failure {
      try decode(file) { options in
        options.frame = 4
        options.isCancelled = { questions.increase() > 4 }
      }
    }

    #expect(error?.code == .cancelled)
  }

  @Test
  func aCanvasThatMustBeHeldIsRefusedEarlier() throws {
    let file = try Fixture.data("animated.png")

    let error = failure {
      try decode(file) { options in
        options.frame = 1
        options.limits.heldPixelCount = 32 * 24 - 1
      }
    }

    #expect(error?.code == .overLimit)
  }

  // What was taken back, taken away or covered must not be read for nothing, and must not be missed.
  @Test(arguments: 0..<60)
  func aFrameIsTheSameWhereverComposingBegins(seed: Int) throws {
    var generator = SplitMix64(seed: UInt64(seed))
    var frames: [RandomFrame] = []
    for index in 0..<6 {
      frames.append(RandomFrame(index == 0, &generator))
    }
    var canvas = [SIMD4<UInt8>](repeating: SIMD4(), count: 12)
    for (index, frame) in frames.enumerated() {
      let saved = canvas
      frame.draw(on: &canvas)
      let bitmap = try decode(RandomFrame.file(frames)) { $0.frame = index }.bitmap
      #expect(bitmap.pixels == canvas, "frame \(index)")
      frame.dispose(&canvas, saved)
    }
  }
}

/// Part of an animation of 4x3 pixels, each opaque or not there at all.
private struct RandomFrame {
  var left = 0
  var top = 0
  var width = 4
  var height = 3
  var disposal: Int
  var blend: Int
  var pixels: [SIMD4<UInt8>]

  init(_ isFirst: Bool, _ generator: inout SplitMix64) {
    if !isFirst, Bool.random(using: &generator) {
      (left, top) = (.random(in: 0..<4, using: &generator), .random(in: 0..<3, using: &generator))
      (width, height) = (.random(in: 1...4 - left, using: &generator), .random(in: 1...3 - top, using: &generator))
    }
    disposal = .random(in: 0...2, using: &generator)
    blend = .random(in: 0...1, using: &generator)
    pixels = (0..<width * height).map { _ in
      let level = UInt8.random(in: 0...255, using: &generator)
      return Bool.random(using: &generator) ? SIMD4(level, level, 9, 255) : SIMD4()
    }
  }

  func draw(on canvas: inout [SIMD4<UInt8>]) {
    for (index, pixel) in pixels.enumerated() where blend == 0 || pixel.w > 0 {
      canvas[(top + index / width) * 4 + left + index % width] = pixel
    }
  }

  func dispose(_ canvas: inout [SIMD4<UInt8>], _ saved: [SIMD4<UInt8>]) {
    if disposal == 2 { canvas = saved }
    guard disposal == 1 else { return }
    for index in pixels.indices { canvas[(top + index / width) * 4 + left + index % width] = SIMD4() }
  }

  static func file(_ frames: [RandomFrame]) -> Data {
    var bytes = SniffingTests.png + PNGFile.chunk("IHDR", .big32(4) + .big32(3) + [8, 6, 0, 0, 0])
    bytes += PNGFile.chunk("acTL", .big32(frames.count) + .big32(0))
    for (index, frame) in frames.enumerated() {
      var control: [UInt8] = .big32(index * 2) + .big32(frame.width) + .big32(frame.height)
      control += .big32(frame.left) + .big32(frame.top) + .big16(1) + .big16(10)
      bytes += PNGFile.chunk("fcTL", control + [UInt8(frame.disposal), UInt8(frame.blend)])
      let lines = (0..<frame.height).flatMap { row -> [UInt8] in
        [0] + frame.pixels[row * frame.width..<(row + 1) * frame.width].flatMap { [$0.x, $0.y, $0.z, $0.w] }
      }
      let data = PNGFile.zlib(lines)
      bytes += index == 0 ? PNGFile.chunk("IDAT", data) : PNGFile.chunk("fdAT", .big32(index * 2 + 1) + data)
    }
    return Data(bytes + PNGFile.chunk("IEND", []))
  }
}
