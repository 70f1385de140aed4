import Testing
import VitrineImaging
import VitrineRuntime
import VitrineTestSupport
import VitrineTesting

struct FrameSourceTests {
  /// Frames of all disposals at places of their own, some interlaced, some transparent.
  static func animation(seed: UInt64, frameCount: Int = 12) -> Data {
    var generator = SplitMix64(seed: seed)
    let frames = (0..<frameCount).map { number in
      let (width, height) = (Int.random(in: 1...20, using: &generator), Int.random(in: 1...14, using: &generator))
      let shift = Int.random(in: 0...3, using: &generator)
      var frame = GIFFile.Frame(width: width, height: height) { x, y in (x / 2 + y / 3 + shift) % 4 }
      frame.left = Int.random(in: 0...8, using: &generator)
      frame.top = Int.random(in: 0...8, using: &generator)
      frame.disposal = [.none, .keep, .background, .previous].randomElement(using: &generator) ?? .none
      frame.transparent = Bool.random(using: &generator) ? Int.random(in: 0...3, using: &generator) : nil
      frame.delay = 5 + number
      frame.isInterlaced = Bool.random(using: &generator)
      return frame
    }
    return GIFFile(width: 20, height: 14, palette: GIFTests.palette, frames: frames).data
  }

  static let files = ["animated.png", "animated.webp", "hidden-default.png", "gif 1", "gif 2", "gif 3", "gif 4"]

  static func data(_ name: String) throws -> Data {
    guard name.hasPrefix("gif ") else { return try Fixture.data(name) }
    return animation(seed: UInt64(name.dropFirst(4)) ?? 0)
  }

  @Test(arguments: files)
  func eachFrameIsTheOneThatIsDecodedByItself(name: String) throws {
    let file = try Self.data(name)
    let delays = try DecoderRegistry.standard.frameDelays(of: file)
    var source = try FrameSource(file)
    #expect(source.delays == delays)

    for round in 0..<2 {
      for index in delays.indices {
        let next = try source.next()
        let frame = try #require(next)
        #expect(frame.index == index)
        #expect(frame.delay == delays[index])
        let alone = try decode(file) { $0.frame = index }.bitmap
        #expect(frame.bitmap.seen == alone.seen, "frame \(index), round \(round)")
      }
      let end = try source.next()
      #expect(end == nil)
      source.rewind()
    }
  }

  @Test(arguments: files)
  func framesMayBeAskedForInAnyOrder(name: String) throws {
    let file = try Self.data(name)
    var source = try FrameSource(file)
    let pictures = try (0..<source.info.frameCount).map { index in try decode(file) { $0.frame = index }.bitmap.seen }
    var generator = SplitMix64(seed: 7)

    for _ in 0..<40 {
      let index = Int.random(in: pictures.indices, using: &generator)
      try source.seek(to: index)
      let frame = try source.next()
      #expect(frame?.bitmap.seen == pictures[index], "frame \(index)")
    }
  }

  /// The limit on drawn pixels counts what a frame costs.
  @Test(arguments: ["animated.png", "animated.webp", "gif 1", "gif 2"])
  func theNextFrameCostsNoMoreThanItsOwnPixels(name: String) throws {
    let file = try Self.data(name)
    var options = DecodeOptions()
    let info = try DecoderRegistry.standard.info(of: file)
    options.limits.composedPixelCount = info.width * info.height
    var source = try FrameSource(file, options)
    let last = info.frameCount - 1

    for _ in 0...last { _ = try source.next() }

    var other = try FrameSource(file, options)
    try other.seek(to: last)
    #expect(failure { _ = try other.next() }?.limit == .composedPixelCount)
    options.frame = last
    #expect(failure { try DecoderRegistry.standard.decode(file, options) }?.limit == .composedPixelCount)
  }

  @Test(arguments: ["animated.png", "gif 1", "gif 2", "gif 3", "gif 4"])
  func aFrameThatCostsTooMuchLeavesTheOneThatIsShown(name: String) throws {
    let file = try Self.data(name)
    var options = DecodeOptions()
    let info = try DecoderRegistry.standard.info(of: file)
    options.limits.composedPixelCount = info.width * info.height
    var source = try FrameSource(file, options)
    var refused = 0
    for index in 0..<info.frameCount - 2 {
      let frame = try source.frame(at: index)
      try source.seek(to: info.frameCount - 1)
      do throws(ImageError) { _ = try source.next() } catch { refused += 1 }
      guard refused > index else { break }
      try source.seek(to: index)
      let again = try source.next()
      #expect(again?.bitmap.seen == frame.bitmap.seen, "frame \(index)")
    }
    #expect(refused > 0)
  }

  /// Two opaque pictures on a canvas of 3x3 that does not say it is transparent; only the second one is as large.
  @Test
  func aFrameThatLeavesPixelsFreeIsTransparentThere() throws {
    func chunk(_ type: String, _ body: [UInt8]) -> [UInt8] {
      [UInt8].text(type) + [UInt8].little32(body.count) + body + (body.count % 2 == 1 ? [0] : [])
    }
    func frame(_ side: Int, _ codes: [UInt8]) -> [UInt8] {
      let size = [UInt8(side - 1), 0, 0]
      let place: [UInt8] = [0, 0, 0, 0, 0, 0] + size + size + [100, 0, 0, 0]
      return chunk("ANMF", place + chunk("VP8L", [0x2F, UInt8(side - 1), UInt8(side - 1) << 6, 0, 0] + codes))
    }
    // No transforms, then five codes of one symbol each: black, and not transparent.
    let black: [UInt8] = [0x88, 0x88, 0xFE, 0x07]
    let body =
      [UInt8].text("WEBP") + chunk("VP8X", [2, 0, 0, 0, 2, 0, 0, 2, 0, 0]) + chunk("ANIM", [0, 0, 0, 0, 0, 0])
      + frame(1, black) + frame(3, black)
    let file = Data([UInt8].text("RIFF") + [UInt8].little32(body.count) + body)
    var source = try FrameSource(file)
    #expect(!source.info.hasAlpha)

    let (first, second) = (try source.next()?.bitmap, try source.next()?.bitmap)

    #expect(first?.pixels == [SIMD4(0, 0, 0, 255)] + [SIMD4](repeating: SIMD4(), count: 8))
    #expect(second?.pixels == [SIMD4](repeating: SIMD4(0, 0, 0, 255), count: 9))
  }

  @Test
  func aFrameIsDecodedAtTheSizeThatIsShown() throws {
    var source = try FrameSource(Fixture.data("animated.png"), DecodeOptions(size: .pixels(12, 12)))
    while let frame = try source.next() {
      let alone = try decode(Fixture.data("animated.png"), .pixels(12, 12)) { $0.frame = frame.index }.bitmap
      #expect(frame.bitmap.size == alone.size)
      // ImageIO makes a smaller picture of one that needs no canvas.
      if !Shape.isApple { #expect(frame.bitmap.seen == alone.seen) }
    }
  }

  @Test(arguments: ["baseline-420.jpg", "still.gif", "lossy.webp", "lossless.webp"])
  func aStillImageHasOneFrame(name: String) throws {
    var source = try FrameSource(Fixture.data(name))
    #expect(source.delays == [0])
    let (first, second) = (try source.next(), try source.next())
    #expect(first?.bitmap.seen == (try decode(Fixture.data(name)).bitmap.seen))
    #expect(first?.delay == 0)
    #expect(second == nil)
  }

  @Test
  func aDamagedFrameIsAnErrorAndThoseBeforeItAreShown() throws {
    let whole = try HostileTests.twoFrames()
    var source = try FrameSource(whole.prefix(whole.count - 800))
    let first = try source.next()

    #expect(failure { _ = try source.next() }?.code == .truncated)
    // The position stays, and the frame before can still be had.
    #expect(source.position == 1)
    #expect(failure { _ = try source.next() }?.code == .truncated)
    source.rewind()
    let again = try source.next()
    #expect(again?.bitmap.seen == first?.bitmap.seen)
    #expect(first?.bitmap.seen == (try decode(whole).bitmap.seen))
  }

  @Test
  func aFrameThatDoesNotExistIsNamed() throws {
    var source = try FrameSource(Self.animation(seed: 1))
    #expect(failure { try source.seek(to: 13) }?.code == .noSuchFrame)
    #expect(failure { try source.seek(to: -1) }?.detail == "no frame -1: there are 12 frames, counted from 0")
    try source.seek(to: 12)
    let frame = try source.next()
    #expect(frame == nil)
  }

  @Test
  func itCanBeCancelledAndGoesOn() throws {
    let isCancelled = Lock(true)
    var options = DecodeOptions()
    options.isCancelled = { isCancelled.withLock { $0 } }
    let file = Self.animation(seed: 5)
    var source = try FrameSource(file, options)

    #expect(failure { _ = try source.next() }?.isCancellation == true)
    isCancelled.withLock { $0 = false }
    let frame = try source.next()

    #expect(frame?.index == 0)
    #expect(frame?.bitmap.seen == (try decode(file).bitmap.seen))
  }

  @Test
  func limitsAreCheckedBeforeAFrameIsDecoded() throws {
    var options = DecodeOptions()
    options.limits.memoryByteCount = 500
    #expect(failure { _ = try FrameSource(Self.animation(seed: 1), options) }?.limit == .memoryByteCount)
    options = DecodeOptions()
    options.limits.frameCount = 11
    #expect(failure { _ = try FrameSource(Self.animation(seed: 1), options) }?.limit == .frameCount)
    #expect(failure { _ = try FrameSource(Data("not an image".utf8)) }?.code == .unrecognised)
    #expect(failure { _ = try FrameSource(Data()) }?.code == .unrecognised)
  }

  static let answers: [[Double]] = [
    [], [0.5], [0, -1, .nan, .infinity, -.infinity, 1e300, 0.02], [Double](repeating: 0, count: 7),
    [Double](repeating: 0.2, count: 99),
  ]

  /// A decoder of a user's may say anything, and so may another process that was taken over.
  @Test(arguments: answers)
  func everyFrameHasADelayThatCanBeWaitedFor(answer: [Double]) throws {
    let expected = (0..<7).map { index in
      let delay = answer.indices.contains(index) ? answer[index] : 0
      return delay > 0.011 ? min(delay, 1e6) : 0.1
    }
    var there = DecoderRegistry([])
    there.add(TimedElsewhere(delays: answer))
    for registry in [there, DecoderRegistry([TimedDecoder(delays: answer)])] {
      let source = try FrameSource(StubDecoder.file, decoders: registry)
      #expect(source.delays == expected)
      #expect(try registry.frameDelays(of: StubDecoder.file) == expected)
    }
  }

  /// A decoder of a user's has frames that do not build on one another.
  @Test
  func framesOfAUsersDecoderAreDecodedOneByOne() throws {
    var registry = DecoderRegistry.standard
    registry.add(StripesDecoder())
    var source = try FrameSource(StripesDecoder.file, decoders: registry)
    var reds: [UInt8] = []
    while let frame = try source.next() { reds.append(frame.bitmap[0, 0].x) }
    #expect(reds == [0, 60, 120])
  }
}

/// Seven frames, and delays as told.
private struct TimedDecoder: ImageDecoder {
  static let info: ImageInfo = {
    var info = ImageInfo(format: .qoi, storedWidth: 8, storedHeight: 6)
    info.frameCount = 7
    return info
  }()

  let delays: [Double]
  let formats: [ImageFormat] = [.qoi]

  func info(
    of bytes: UnsafeRawBufferPointer,
    format: ImageFormat,
    limits: DecodeLimits,
  ) throws(ImageError) -> ImageInfo? { Self.info }

  func open(_ bytes: UnsafeRawBufferPointer, _ request: RowRequest) throws(ImageError) -> (any RowSource)? {
    try unsafe StubDecoder().open(bytes, request)
  }

  func frameDelays(of bytes: UnsafeRawBufferPointer, _ info: ImageInfo) throws(ImageError) -> [Double] { delays }
}

/// The same in another process.
private struct TimedElsewhere: RemoteDecoder {
  let delays: [Double]
  let formats: [ImageFormat] = [.qoi]

  func answer(
    _ question: DecodeQuestion,
    about input: DecodeInput,
    of format: ImageFormat,
  ) throws(ImageError) -> DecodeAnswer {
    switch question.kind {
    case .info: .info(TimedDecoder.info)
    case .frameDelays: .frameDelays(delays)
    default: throw ImageError(.unsupported, "only asked for the facts")
    }
  }
}

/// Three frames, each of one colour.
private struct StripesDecoder: ImageDecoder {
  static let format = ImageFormat(name: "stripes", mediaType: "image/x-stripes", fileExtension: "stripes")
  static let file = Data("STRIPES of three colours".utf8)

  var formats: [ImageFormat] { [Self.format] }

  func recognizes(_ bytes: UnsafeRawBufferPointer) -> ImageFormat? {
    unsafe bytes.starts(with: Array("STRIPES".utf8)) ? Self.format : nil
  }

  func info(
    of bytes: UnsafeRawBufferPointer,
    format: ImageFormat,
    limits: DecodeLimits,
  ) throws(ImageError) -> ImageInfo? {
    var info = ImageInfo(format: format, storedWidth: 4, storedHeight: 4)
    (info.frameCount, info.duration) = (3, 3)
    return info
  }

  func open(_ bytes: UnsafeRawBufferPointer, _ request: RowRequest) throws(ImageError) -> (any RowSource)? {
    let red = UInt8(60 * request.frame)
    return HeldRows(width: 4, height: 4, hasAlpha: false) { (pixels, _) throws(ImageError) in
      for offset in stride(from: 0, to: pixels.count, by: 4) {
        pixels.store(SIMD4(red, 0, 0, 255), at: offset)
      }
    }
  }
}

extension Bitmap {
  /// The pixels as they are seen: those that are transparent are alike.
  fileprivate var seen: [SIMD4<UInt8>] { pixels.map { $0.w == 0 ? SIMD4() : $0 } }
}
