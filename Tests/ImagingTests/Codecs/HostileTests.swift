import Testing
import VitrineImaging
import VitrineRuntime
import VitrineTestSupport
import VitrineTesting

struct HostileTests {
  static let sizes = [nil, TargetSize.pixels(64, 64)]

  @Test(arguments: HostileImage.all.filter { $0.limit != nil }, sizes)
  func aBombIsRefusedByTheLimitItPasses(image: HostileImage, size: TargetSize?) {
    let error = failure { try decode(image.data, size) }

    #expect(error?.code == .overLimit)
    // At its own size such a picture is also too large as a result, which is checked first.
    let isLarge = size == nil && image.limit == .memoryByteCount
    #expect(error?.limit == (isLarge ? .outputByteCount : image.limit))
    #expect(error?.detail.contains("limit") == true)
  }

  // These limits depend on what is requested.
  private static let known: [DecodeLimits.Name?] = [nil, .composedPixelCount, .memoryByteCount]

  @Test(arguments: HostileImage.all.filter { !known.contains($0.limit) })
  func itIsRefusedByItsHeaderAlone(image: HostileImage) {
    #expect(failure { try info(image.data) }?.limit == image.limit)
  }

  @Test(arguments: HostileImage.all.filter { $0.limit == nil && $0.name.hasPrefix("4294967295") })
  func aSizeThatNothingCouldHaveIsCorrupt(image: HostileImage) {
    #expect(failure { try decode(image.data) }?.code == .corrupt)
  }

  @Test
  func textsThatAreNotAskedForAreNotInflated() throws {
    let image = try #require(HostileImage.all.first { $0.name.hasPrefix("20-texts") })

    // Any of them is over the limit.
    let decoded = try decode(image.data) { $0.limits.metadataByteCount = 1_000_000 }

    #expect(decoded.bitmap.size == [86, 1])
  }

  @Test
  func aBitmapThatHasNextToNoneOfItsRowsIsNotDrawn() throws {
    let image = try #require(HostileImage.all.first { $0.name.hasPrefix("alpha-31000") })
    let questions = Lock(0)

    let error = failure {
      try decode(image.data, .pixels(64, 64)) {
        $0.isCancelled = {
          questions.withLock {
            $0 += 1; return false
          }
        }
      }
    }

    #expect(error?.code == .truncated)
    #expect(questions.withLock { $0 } <= 2)
  }

  @Test
  func runsThatEndEarlyAreKnownBeforeTheirPictureIsHeld() throws {
    // Two pixels of a picture of 200 MB.
    let file = BMPTests.file(
      width: 2_500,
      height: 20_000,
      bits: 8,
      compression: 1,
      extra: BMPTests.fourColors,
      pixels: [2, 1],
    )
    let header = try info(file)

    let damage = try unsafe file.withUnsafeBytes { bytes in
      try unsafe BMPDecoder().open(bytes, RowRequest(info: header, minimumScale: 1))?.damage
    }

    #expect(damage?.code == .truncated)
  }

  @Test(arguments: [("still.gif", 1), ("animated.webp", 3), ("animated.png", 3)])
  func framesBelowTheOneAskedForAreCounted(name: String, frame: Int) throws {
    let still = try Fixture.data(name)
    let file = name == "still.gif" ? try Self.twoFrames() : still
    let info = try info(file)
    let pixels = info.width * info.height

    let error = failure {
      try decode(file) { options in
        options.frame = frame
        options.limits.composedPixelCount = pixels
      }
    }

    #expect(error?.code == .overLimit)
    #expect(error?.limit == .composedPixelCount)
    #expect(throws: Never.self) {
      try decode(file) { options in
        options.frame = frame
        options.limits.composedPixelCount = pixels * (frame + 1)
      }
    }
  }

  /// The second has a transparent colour, so that the first may show through.
  static func twoFrames() throws -> Data {
    let frames = [0, 1].map { color in GIFFile.Frame(width: 50, height: 50, transparent: 3 * color) { _, _ in color } }
    return GIFFile(width: 50, height: 50, palette: GIFTests.palette, frames: frames).data
  }

  @Test
  func framesThatTheOneAskedForHidesAreNotDrawn() throws {
    let frames = (0..<3).map { color in GIFFile.Frame(width: 50, height: 50) { _, _ in color } }
    let file = GIFFile(width: 50, height: 50, palette: GIFTests.palette, frames: frames).data

    let image = try decode(file) { options in
      options.frame = 2
      options.limits.composedPixelCount = 50 * 50
    }

    #expect(image.bitmap[7, 7] == GIFTests.palette[2])
  }

  @Test
  func aFrameLargerThanThePictureCountsWithAllItsPixels() throws {
    let frames = [
      GIFFile.Frame(width: 50, height: 50) { _, _ in 0 },
      GIFFile.Frame(width: 1, height: 1, transparent: 3) { _, _ in 1 },
    ]
    let file = GIFFile(width: 1, height: 1, palette: GIFTests.palette, frames: frames).data

    let error = failure {
      try decode(file) { options in
        options.frame = 1
        options.limits.composedPixelCount = 2499
      }
    }

    #expect(error?.limit == .composedPixelCount)
  }

  @Test
  func composingAFrameHoldsThePicture() throws {
    let file = try Self.twoFrames()

    #expect(throws: Never.self) { try decode(file) { $0.limits.heldPixelCount = 2499 } }
    let error = failure {
      try decode(file) { options in
        options.frame = 1
        options.limits.heldPixelCount = 2499
      }
    }
    #expect(error?.limit == .heldPixelCount)
  }

  @Test
  func anIconHasNoMorePicturesThanFramesAreAllowed() throws {
    let file = try Fixture.data("bmp.ico")

    #expect(failure { try decode(file) { $0.limits.frameCount = 1 } }?.limit == .frameCount)
  }

  @Test
  func everyLimitHasItsDefault() {
    let limits = DecodeLimits()

    #expect(limits.heldPixelCount == 100_000_000)
    #expect(limits.pixelCount == 1_000_000_000)
    #expect(limits.composedPixelCount == 2_000_000_000)
    #expect(limits.side == 65_535)
    #expect(limits.outputByteCount == 268_435_456)
    #expect(limits.frameCount == 10_000)
    #expect(limits.warningCount == 100)
    #expect(limits.metadataByteCount == 16_777_216)
    #expect(limits.memoryByteCount == min(350_000_000, MemoryLimit.bytes / 2))
    #expect(limits.timeLimit == nil)
  }

  @Test
  func otherLimitsAreNamedToo() throws {
    let png = try Bitmap.testPattern(width: 20, height: 10).encoded(as: .png)
    let jpeg = try Fixture.data("baseline-420.jpg")

    #expect(failure { try decode(png) { $0.limits.outputByteCount = 799 } }?.limit == .outputByteCount)
    #expect(failure { try decode(png) { $0.limits.side = 19 } }?.limit == .side)
    #expect(failure { try decode(jpeg) { $0.limits.timeLimit = .zero } }?.limit == .timeLimit)
    #expect(failure { try decode(jpeg) { $0.isCancelled = { true } } }?.limit == nil)
    #expect(failure { try decode(jpeg.prefix(jpeg.count / 2)) }?.limit == nil)
  }
}
