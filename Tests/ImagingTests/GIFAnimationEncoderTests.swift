import Testing
import VitrineImaging
import VitrineRuntime
import VitrineTestSupport
import VitrineTesting

struct GIFAnimationEncoderTests {
  /// An animated PNG of whole frames with their durations in milliseconds.
  static func movie(_ frames: [Bitmap], delays: [Int], plays: Int = 0) throws -> ImageContainer {
    let (width, height) = (frames[0].width, frames[0].height)
    var bytes: [UInt8] = [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A]
    bytes += PNGFile.chunk("IHDR", .big32(width) + .big32(height) + [8, 6, 0, 0, 0])
    bytes += PNGFile.chunk("acTL", .big32(frames.count) + .big32(plays))
    var number = 0
    for (frame, delay) in zip(frames, delays) {
      let place: [UInt8] = .big32(width) + .big32(height) + .big32(0) + .big32(0)
      bytes += PNGFile.chunk("fcTL", .big32(number) + place + .big16(delay) + .big16(1000) + [0, 0])
      var lines: [UInt8] = []
      for y in 0..<height {
        lines.append(0)
        for x in 0..<width { lines += [frame[x, y].x, frame[x, y].y, frame[x, y].z, frame[x, y].w] }
      }
      if number == 0 {
        bytes += PNGFile.chunk("IDAT", PNGFile.zlib(lines))
      } else {
        bytes += PNGFile.chunk("fdAT", .big32(number + 1) + PNGFile.zlib(lines))
      }
      number += number == 0 ? 1 : 2
    }
    return try decode(Data(bytes + PNGFile.chunk("IEND", []))) { $0.animates = true }
  }

  @Test
  func animationsOfAFewPixelsComeBack() throws {
    for width in 1...3 {
      for height in 1...3 {
        let frames = (0..<3).map { frame in
          Bitmap.pixels(width: width, height: height) { x, y in
            SIMD4(UInt8(80 * frame), UInt8(60 * x), UInt8(60 * y), frame == 1 && x == 0 ? 0 : 255)
          }
        }
        let back = try Self.frames(Self.encoded(Self.movie(frames, delays: [100, 100, 100])))
        #expect(back.count == 3)
        for (frame, original) in zip(back, frames) {
          #expect(
            frame.premultiplied().largestDifference(from: original.premultiplied()) == 0,
            "\(width)x\(height)",
          )
        }
      }
    }
  }

  static func encoded(_ movie: ImageContainer, _ encoding: ImageEncoding = .gif()) throws -> Data {
    try EncoderRegistry.standard.encode(movie, as: encoding).data
  }

  static func frames(_ file: Data) throws -> [Bitmap] {
    var source = try FrameSource(file)
    var frames: [Bitmap] = []
    while let frame = try source.next() { frames.append(frame.bitmap) }
    return frames
  }

  /// The durations in hundredths of a second.
  static func delays(_ file: Data) throws -> [Int] {
    try DecoderRegistry.standard.frameDelays(of: file).map { Int(($0 * 100).rounded()) }
  }

  /// Compares what can be seen: colours, and where there are none.
  static func expectEqual(
    _ seen: [Bitmap],
    _ wanted: [Bitmap],
    sourceLocation: SourceLocation = #_sourceLocation,
  ) {
    #expect(seen.count == wanted.count, sourceLocation: sourceLocation)
    for (index, (one, other)) in zip(seen, wanted).enumerated() {
      let isEqual = zip(one.pixels, other.pixels).allSatisfy { (one: SIMD4<UInt8>, other: SIMD4<UInt8>) -> Bool in
        one == other || (one.w == 0 && other.w == 0)
      }
      #expect(isEqual, "frame \(index)", sourceLocation: sourceLocation)
    }
  }

  /// A square that wanders over a background.
  static func wandering(
    _ count: Int,
    background: SIMD4<UInt8>,
    square: SIMD4<UInt8> = SIMD4(250, 20, 20, 255),
  ) -> [Bitmap] {
    (0..<count).map { number in
      .pixels(width: 40, height: 30) { x, y in
        (number * 3..<number * 3 + 8).contains(x) && (number * 2..<number * 2 + 8).contains(y) ? square : background
      }
    }
  }

  @Test(arguments: [SIMD4<UInt8>(10, 20, 30, 255), SIMD4()])
  func framesOfFewColoursComeBackExactly(background: SIMD4<UInt8>) throws {
    let frames = Self.wandering(8, background: background)

    let file = try Self.encoded(Self.movie(frames, delays: Array(repeating: 70, count: 8)))

    try Self.expectEqual(Self.frames(file), frames)
    #expect(try Self.delays(file) == Array(repeating: 7, count: 8))
  }

  @Test(arguments: 0..<60)
  func anythingThatAppearsAndDisappearsComesBack(seed: Int) throws {
    var generator = SplitMix64(seed: UInt64(seed))
    let colors = GIFEncoderTests.colors([2, 3, 9, 255][seed % 4]) + [SIMD4()]
    let (width, height) = (Int.random(in: 1...12, using: &generator), Int.random(in: 1...12, using: &generator))
    var pixels = (0..<width * height).map { _ in colors[Int.random(in: colors.indices, using: &generator)] }
    let frames = (0..<10).map { _ in
      // Rectangles of one colour, or of none, or of anything.
      let (left, top) = (Int.random(in: 0..<width, using: &generator), Int.random(in: 0..<height, using: &generator))
      let kind = Int.random(in: 0..<4, using: &generator)
      let color = kind == 0 ? SIMD4() : colors[Int.random(in: colors.indices, using: &generator)]
      for y in top..<Int.random(in: top...height, using: &generator) {
        for x in left..<Int.random(in: left...width, using: &generator) {
          pixels[y * width + x] = kind < 3 ? color : colors[Int.random(in: colors.indices, using: &generator)]
        }
      }
      let now = pixels
      return Bitmap.pixels(width: width, height: height) { x, y in now[y * width + x] }
    }
    let movie = try Self.movie(frames, delays: Array(repeating: 100, count: frames.count))

    let file = try Self.encoded(movie)

    // What is equal to the frame before it, is shown for longer.
    let delays = try Self.delays(file)
    #expect(delays.reduce(0, +) == 100)
    let seen = zip(try Self.frames(file), delays).flatMap { Array(repeating: $0, count: $1 / 10) }
    Self.expectEqual(seen, frames)
  }

  @Test(arguments: [0, 1, 2, 3, 65_536])
  func theNumberOfPlaysComesBack(plays: Int) throws {
    let frames = Self.wandering(2, background: SIMD4(1, 2, 3, 255))

    let file = try Self.encoded(Self.movie(frames, delays: [100, 100], plays: plays))

    #expect(try info(file).loopCount == plays)
  }

  @Test
  func equalFramesBecomeOneThatIsShownForLonger() throws {
    let frames = Self.wandering(3, background: SIMD4(1, 2, 3, 255))
    let order = [0, 0, 0, 1, 2, 2, 0]

    let file = try Self.encoded(Self.movie(order.map { frames[$0] }, delays: [50, 60, 70, 80, 90, 100, 110]))

    try Self.expectEqual(Self.frames(file), [0, 1, 2, 0].map { frames[$0] })
    #expect(try Self.delays(file) == [18, 8, 19, 11])
  }

  @Test
  func aMovieOfEqualFramesIsAStillPicture() throws {
    let frame = Bitmap.testPattern(width: 8, height: 8)

    let file = try Self.encoded(Self.movie([frame, frame, frame], delays: [100, 100, 100]))

    #expect(try info(file).frameCount == 1)
    #expect(try Bitmap(decoding: file).largestDifference(from: frame) == 0)
  }

  @Test
  func whatIsTooLongForOneFrameIsShownByTwo() throws {
    let frames = Self.wandering(2, background: SIMD4(1, 2, 3, 255))
    let order = Array(repeating: frames[0], count: 11) + [frames[1]]

    let file = try Self.encoded(Self.movie(order, delays: Array(repeating: 65_000, count: 12)))

    try Self.expectEqual(Self.frames(file), [frames[0], frames[0], frames[1]])
    #expect(try Self.delays(file) == [65_000, 6_500, 6_500])
  }

  @Test
  func roundedDurationsDoNotAddUp() throws {
    let frames = Self.wandering(12, background: SIMD4(1, 2, 3, 255))

    let file = try Self.encoded(Self.movie(frames, delays: Array(repeating: 33, count: 12)))

    #expect(try Self.delays(file) == [3, 4, 3, 3, 4, 3, 3, 3, 4, 3, 3, 4])
  }

  @Test
  func framesTooShortForBrowsersAreLeftOutSoThatTheOthersAreInTime() throws {
    let frames = (0..<60).map { Bitmap.solid(SIMD4(UInt8($0), 9, 9, 255), width: 4, height: 3) }

    let file = try Self.encoded(Self.movie(frames, delays: Array(repeating: 13, count: 60)))

    let delays = try Self.delays(file)
    #expect(delays.allSatisfy { $0 >= 2 })
    #expect(abs(delays.reduce(0, +) - 78) <= 1)
    #expect(delays.count > 30)
  }

  @Test
  func onlyWhatChangesIsWritten() throws {
    let background = GIFEncoderTests.noise(100, 100, GIFEncoderTests.colors(200), seed: 5)
    let frames = (0..<10).map { number in
      Bitmap.pixels(width: 100, height: 100, alpha: .opaque) { x, y in
        (number * 9..<number * 9 + 6).contains(x) && y < 6 ? SIMD4(255, 0, 255, 255) : background[x, y]
      }
    }
    let still = try background.encoded(as: .gif)

    let file = try Self.encoded(Self.movie(frames, delays: Array(repeating: 50, count: 10)))

    try Self.expectEqual(Self.frames(file), frames)
    #expect(file.count < still.count + 9 * 600)
  }

  @Test
  func whatStandsStillIsNotDrawnAnew() throws {
    let background = GIFEncoderTests.waves(80, 60)
    let frames = (0..<5).map { number in
      Bitmap.pixels(width: 80, height: 60, alpha: .opaque) { x, y in
        // One pixel in every sixteenth.
        (x + number) % 4 == 0 && y % 4 == 0 ? SIMD4(UInt8(number * 50), UInt8(x), UInt8(y), 255) : background[x, y]
      }
    }

    let seen = try Self.frames(Self.encoded(Self.movie(frames, delays: Array(repeating: 50, count: 5))))

    for (number, frame) in seen.enumerated().dropFirst() {
      let (before, now) = (frames[number - 1].pixels, frames[number].pixels)
      let still = zip(before, now).map { $0 == $1 }
      let isSeen = zip(seen[number - 1].pixels, frame.pixels).map { $0 == $1 }
      #expect(zip(still, isSeen).allSatisfy { !$0 || $1 })
      #expect(frame.psnr(against: frames[number]) > 28)
    }
  }

  @Test
  func aSceneThatChangesGetsColoursOfItsOwn() throws {
    let scenes = [Bitmap.testPattern(width: 90, height: 60), GIFEncoderTests.waves(90, 60)]
    let frames = (0..<6).map { scenes[$0 / 2 % 2].tinted(UInt8($0)) }

    let seen = try Self.frames(Self.encoded(Self.movie(frames, delays: Array(repeating: 50, count: 6))))

    #expect(seen.count == 6)
    for (one, other) in zip(seen, frames) { #expect(one.psnr(against: other) > 30) }
  }

  @Test(arguments: [2, 3, 16], ImageEncoding.Dithering.allCases)
  func noFrameHasMoreColoursThanAllowed(count: Int, dithering: ImageEncoding.Dithering) throws {
    let scene = GIFEncoderTests.waves(60, 50)
    let frames = (0..<4).map { number in
      Bitmap.pixels(width: 60, height: 50) { x, y in
        (x + number * 5) % 20 == 0 ? SIMD4() : scene[(x + number) % 60, y]
      }
    }

    let file = try Self.encoded(
      Self.movie(frames, delays: Array(repeating: 50, count: 4)),
      .gif(colorCount: count, dithering: dithering),
    )

    let seen = try Self.frames(file)
    #expect(zip(seen, frames).allSatisfy { zip($0.pixels, $1.pixels).allSatisfy { $0.w == $1.w } })
    let coverage = Set(try #require(seen.first).pixels)
    #expect(coverage.count <= count)
  }

  @Test
  func aMovieInTwoColoursHasBoth() throws {
    let frames = (0..<3).map { Bitmap.testPattern(width: 60, height: 40).tinted(UInt8($0 * 9)) }

    let seen = try Self.frames(
      Self.encoded(Self.movie(frames, delays: [50, 50, 50]), .gif(colorCount: 2))
    )

    #expect(seen.allSatisfy { Set($0.pixels).count == 2 })
  }

  @Test
  func xmpStandsBeforeTheFrames() throws {
    let movie = try Self.movie(Self.wandering(3, background: SIMD4()), delays: [50, 50, 50])
    let packet = Data("<x:xmpmeta/>".utf8)
    let input = EncoderInput(movie.bitmap, animation: movie.animation, metadata: WrittenMetadata(xmp: packet))

    let file = try GIFEncoder().encode(input, GIFOptions())

    #expect(try DecoderRegistry.standard.metadata(of: file).xmp == packet)
    #expect(try info(file).frameCount == 3)
  }

  @Test
  func encodingIsGivenUpWhenAsked() throws {
    let movie = try Self.movie(Self.wandering(5, background: SIMD4()), delays: Array(repeating: 50, count: 5))
    let questions = Counter()
    _ = try EncoderRegistry.standard.encode(movie, as: .gif()) { questions.increase() < 0 }
    let last = questions.increase() - 1
    #expect(last > 12)
    for stop in 1...last {
      let asked = Counter()
      let error = failure {
        try EncoderRegistry.standard.encode(movie, as: .gif()) { asked.increase() >= stop }
      }
      #expect(error?.code == .cancelled)
    }
  }

  @Test
  func aProcessedAnimationIsWrittenAsItIsSeen() throws {
    let frames = Self.wandering(4, background: SIMD4(10, 20, 30, 255))
    let movie = try Self.movie(frames, delays: Array(repeating: 50, count: 4))

    let file = try Self.encoded(ImageProcessor.flip(.horizontal).process(movie))

    let flipped = frames.map { frame in
      Bitmap.pixels(width: 40, height: 30) { x, y in frame[39 - x, y] }
    }
    try Self.expectEqual(Self.frames(file), flipped)
  }
}

extension Bitmap {
  /// The bitmap with a little more red, so that each frame differs from the others.
  fileprivate func tinted(_ more: UInt8) -> Bitmap {
    .pixels(width: width, height: height, alpha: .opaque) { x, y in
      let pixel = self[x, y]
      return SIMD4(pixel.x / 2 + more, pixel.y, pixel.z, 255)
    }
  }
}
