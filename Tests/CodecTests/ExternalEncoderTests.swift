import Testing
import VitrineAVIF
import VitrineImaging
import VitrineJXL
import VitrineRuntime
import VitrineTestSupport
import VitrineTesting

/// What the encoders of AVIF and JPEG XL have in common.
struct ExternalEncoderTests {
  /// What a decoder makes of what an encoder made.
  private func roundTrip(_ bitmap: Bitmap, _ encoding: ImageEncoding) throws -> Bitmap {
    try decode(encoders.encode(bitmap, as: encoding)).bitmap
  }

  private static let sizes = [
    [1, 1], [2, 1], [1, 2], [2, 2], [3, 3], [3, 1], [1, 3], [17, 31], [64, 64], [65, 63], [300, 5], [5, 300],
  ]

  @Test(arguments: Written.allCases, sizes)
  func losslessKeepsEveryPixelOfAnySize(_ written: Written, _ size: [Int]) throws {
    let bitmap = Bitmap.noisy(width: size[0], height: size[1])

    let decoded = try roundTrip(bitmap, written.lossless)

    #expect(decoded.alpha == .opaque)
    #expect(decoded.psnr(against: bitmap) == .infinity)
  }

  /// Colours below nothing are kept, too.
  @Test(arguments: Written.allCases, sizes)
  func losslessKeepsCoverage(_ written: Written, _ size: [Int]) throws {
    let bitmap = Bitmap.noisy(width: size[0], height: size[1], alpha: .straight)

    let decoded = try roundTrip(bitmap, written.lossless)

    #expect(decoded.hasCoverage(of: bitmap))
    #expect(decoded.psnr(against: bitmap) == .infinity)
  }

  @Test(arguments: Written.allCases, sizes)
  func picturesOfAnySizeAreEncoded(_ written: Written, _ size: [Int]) throws {
    let bitmap = Bitmap.solid(SIMD4(200, 120, 40, 255), width: size[0], height: size[1])

    let decoded = try roundTrip(bitmap, written.lossy)

    #expect(decoded.size == size)
    #expect(decoded.psnr(against: bitmap) > 35)
  }

  @Test(arguments: Written.allCases)
  func moreQualityIsMoreBytesAndAPictureThatIsMoreLikeTheOriginal(_ written: Written) throws {
    let bitmap = Bitmap.noisy(width: 200, height: 150)

    let results = try [10, 50, 90].map { quality in
      let file = try encoders.encode(bitmap, as: ImageEncoding(written.format, quality: quality))
      return (count: file.count, psnr: try decode(file).bitmap.psnr(against: bitmap))
    }

    #expect(results[0].count < results[1].count && results[1].count < results[2].count, "\(results)")
    #expect(results[0].psnr < results[1].psnr && results[1].psnr < results[2].psnr, "\(results)")
  }

  @Test(arguments: Written.allCases)
  func theDefaultIsCloseToTheOriginal(_ written: Written) throws {
    let bitmap = Bitmap.testPattern(width: 200, height: 150)

    #expect(try roundTrip(bitmap, written.lossy).psnr(against: bitmap) > 38)
  }

  @Test(arguments: Written.allCases)
  func coverageIsKeptAtAnyQuality(_ written: Written) throws {
    let bitmap = Bitmap.noisy(width: 67, height: 41, alpha: .straight)

    let decoded = try roundTrip(bitmap, ImageEncoding(written.format, quality: 20))

    #expect(decoded.alpha == .straight)
    #expect(decoded.hasCoverage(of: bitmap, within: written == .avif ? 0 : 9))
  }

  @Test(arguments: Written.allCases)
  func aPictureWithoutTransparencyHasNoAlphaChannel(_ written: Written) throws {
    let file = try encoders.encode(.solid(SIMD4(1, 2, 3, 255), width: 9, height: 9), as: written.lossy)

    #expect(try !registry.info(of: file).hasAlpha)
  }

  @Test(arguments: Written.allCases, [true, false])
  func displayP3ComesBack(_ written: Written, _ isLossless: Bool) throws {
    // A red that sRGB does not have.
    let bitmap = unsafe Bitmap(width: 32, height: 32, alpha: .opaque, colorSpace: .displayP3) { bytes in
      for index in 0..<1024 {
        unsafe bytes.storeBytes(of: SIMD4<UInt8>(250, 10, 20, 255), toByteOffset: index * 4, as: SIMD4<UInt8>.self)
      }
    }

    let file = try encoders.encode(bitmap, as: isLossless ? written.lossless : written.lossy)

    let decoded = try decode(file) { $0.colorSpace = .displayP3 }.bitmap
    #expect(decoded[16, 16].isWithin(isLossless ? 1 : 4, of: SIMD4(250, 10, 20, 255)), "\(decoded[16, 16])")
    #expect(try decode(file).bitmap[16, 16].isWithin(4, of: SIMD4(255, 0, 0, 255)))
    #expect(try registry.info(of: file).colorProfile != nil)
  }

  // MARK: Animations

  private static let moving = MovingPicture(delays: [0.04, 0.1, 1.5, 1.0 / 30], loopCount: 3, width: 33, height: 21) {
    frame,
    x,
    y in
    SIMD4(UInt8(60 * frame + x), UInt8(4 * y), 90, 255)
  }

  @Test(arguments: Written.allCases)
  func anAnimationKeepsItsFramesAndDelays(_ written: Written) throws {
    let file = try encoders.encode(Self.moving.container, as: written.lossless).data

    var frames = try FrameSource(file, decoders: registry)
    #expect(frames.info.frameCount == 4)
    for (index, delay) in Self.moving.delays.enumerated() {
      let frame = try #require(try frames.next())
      #expect(frame.bitmap.psnr(against: Self.moving.frame(index)) == .infinity, "frame \(index)")
      #expect(abs(frame.delay - delay) < 1e-4, "frame \(index): \(frame.delay)")
    }
  }

  /// Both libraries count durations in 32 bits.
  @Test(arguments: Written.allCases)
  func aFrameThatStaysForEverIsClamped(_ written: Written) throws {
    let moving = MovingPicture(delays: [1e9, 0.5, 1e6], width: 8, height: 8) { frame, _, _ in
      SIMD4(UInt8(90 * frame), 0, 0, 255)
    }

    let file = try encoders.encode(moving.container, as: written.lossless).data

    let delays = try FrameSource(file, decoders: registry).delays
    #expect(zip(delays, [40_000, 0.5, 40_000]).allSatisfy { abs($0 - $1) < 0.01 }, "\(delays)")
  }

  @Test(arguments: Written.allCases, [[1, 1], [2, 3], [3, 1], [17, 31]])
  func animationsOfAnySizeAreEncoded(_ written: Written, _ size: [Int]) throws {
    let moving = MovingPicture(delays: [0.1, 0.1, 0.1], width: size[0], height: size[1]) { frame, _, _ in
      SIMD4(UInt8(100 * frame), 120, 40, 255)
    }

    let file = try encoders.encode(moving.container, as: written.lossless).data

    var frames = try FrameSource(file, decoders: registry)
    for index in 0..<3 {
      #expect(try frames.next()?.bitmap.psnr(against: moving.frame(index)) == .infinity, "frame \(index)")
    }
  }

  @Test(arguments: Written.allCases, [0, 1, 2, 7])
  func anAnimationKeepsItsLoopCount(_ written: Written, _ count: Int) throws {
    var moving = Self.moving
    moving.loopCount = count

    let file = try encoders.encode(moving.container, as: written.fast).data

    #expect(try registry.info(of: file).loopCount == count)
  }

  /// As writers say it, in the duration of the track: all ones, and the largest numbers with a sign; and beyond counting.
  @Test(arguments: [UInt64.max, .init(Int64.max), .init(UInt32.max), .init(Int32.max), 1 << 60])
  func anAVIFMayRepeatForEver(duration: UInt64) throws {
    var moving = Self.moving
    moving.loopCount = 3
    var file = try encoders.encode(moving.container, as: Written.avif.fast).data
    let header = try #require(file.firstRange(of: Data("tkhd".utf8)))
    // Version 1: behind the flags and four fields of 8, 8, 4 and 4 bytes.
    let place = header.upperBound + 28
    file.replaceSubrange(place..<place + 8, with: (0..<8).map { UInt8(truncatingIfNeeded: duration >> (56 - 8 * $0)) })

    #expect(try registry.info(of: file).loopCount == 0)
  }

  @Test(arguments: Written.allCases)
  func aFrameMayBecomeTransparentAfterAnOpaqueOne(_ written: Written) throws {
    let moving = MovingPicture(delays: [0.1, 0.1, 0.1], hasAlpha: true, width: 16, height: 16) { frame, x, _ in
      SIMD4(200, 100, 0, frame == 0 ? 255 : UInt8(16 * x))
    }

    let file = try encoders.encode(moving.container, as: written.lossy).data

    var frames = try FrameSource(file, decoders: registry)
    for index in 0..<3 {
      let frame = try #require(try frames.next())
      #expect(frame.bitmap.hasCoverage(of: moving.frame(index), within: written == .avif ? 0 : 1), "frame \(index)")
    }
  }

  @Test(arguments: Written.allCases)
  func anAnimationIsCloseToTheOriginal(_ written: Written) throws {
    let file = try encoders.encode(Self.moving.container, as: written.lossy).data

    var frames = try FrameSource(file, decoders: registry)
    for index in 0..<4 {
      let frame = try #require(try frames.next())
      #expect(frame.bitmap.psnr(against: Self.moving.frame(index)) > 33, "frame \(index)")
    }
  }

  @Test(arguments: Written.allCases)
  func equalPicturesGiveEqualFiles(_ written: Written) throws {
    let first = try encoders.encode(Self.moving.container, as: written.fast).data

    #expect(try encoders.encode(Self.moving.container, as: written.fast).data == first)
    // The seconds since 1904 that a library writes would differ later: none are written.
    if written == .avif { #expect(!first.prefix(2000).contains(sequenceOfTime: Date().timeIntervalSince1970)) }
  }

  // MARK: Cancellation and errors

  @Test(arguments: Written.allCases)
  func aCancelledAnimationStopsBetweenFrames(_ written: Written) throws {
    let seen = Lock(0)
    let moving = MovingPicture(delays: [Double](repeating: 0.1, count: 200), width: 8, height: 8) { frame, _, _ in
      seen.withLock { $0 = max($0, frame) }
      return SIMD4(UInt8(frame), 0, 0, 255)
    }

    let error = failure {
      try encoders.encode(moving.container, as: written.fast, isCancelled: { seen.withLock { $0 } >= 3 })
    }

    #expect(error?.code == .cancelled)
    #expect(seen.withLock { $0 } < 6)
  }

  @Test(arguments: Written.allCases)
  func framesOfOtherSizesAreAnErrorThatSaysSo(_ written: Written) throws {
    let small = Bitmap.testPattern(width: 4, height: 4)
    let input = EncoderInput(small, animation: try Self.moving.container.animation)

    let error = failure { try written.encode(input) }

    #expect(error?.code == .notEncodable)
    #expect(error?.detail == "cannot be encoded as \(written): its frames have different sizes")
  }

  @Test
  func optionsAreClamped() {
    #expect(AVIFOptions(quality: 0, speed: -1) == AVIFOptions(quality: 1, speed: 0))
    #expect(AVIFOptions(quality: 101, speed: 11) == AVIFOptions(quality: 100, speed: 10))
    #expect(JXLOptions(quality: -5, effort: 0) == JXLOptions(quality: 1, effort: 1))
    #expect(JXLOptions(quality: 99, effort: 10) == JXLOptions(quality: 99, effort: 9))
  }

  @Test
  func everyOptionChangesTheIdentifier() {
    let identifiers =
      [
        AVIFOptions(), AVIFOptions(quality: 60), AVIFOptions(isLossless: true), AVIFOptions(subsampling: .yuv444),
        AVIFOptions(speed: 6), AVIFOptions(isLossless: true, speed: 6),
      ].map { encoders.identifier(of: ImageEncoding(.avif, $0)) }
      + [
        JXLOptions(), JXLOptions(quality: 60), JXLOptions(isLossless: true), JXLOptions(effort: 7),
        JXLOptions(isProgressive: true),
      ].map { encoders.identifier(of: ImageEncoding(.jxl, $0)) }

    #expect(Set(identifiers).count == identifiers.count, "\(identifiers)")
    #expect(encoders.identifier(of: ImageEncoding(.avif)) == encoders.identifier(of: .avif()))
    #expect(encoders.identifier(of: ImageEncoding(.jxl)) == encoders.identifier(of: .jxl()))
  }
}

extension Data {
  /// Returns `true` if a time of ISO media files is in the bytes that is less than a day from `time`, since 1970.
  fileprivate func contains(sequenceOfTime time: Double) -> Bool {
    let bytes = Array(self)
    return bytes.indices.dropLast(3).contains { index in
      let seconds = bytes[index..<index + 4].reduce(0) { $0 << 8 | Int($1) } - 2_082_844_800
      return abs(seconds - Int(time)) < 86_400
    }
  }
}
