import Testing
import VitrineRuntime
import VitrineTestSupport
import VitrineTesting

@testable import VitrineImaging

/// The bytes that decoding holds, as the header tells them.
struct HeldMemoryTests {
  @Test(arguments: HostileImage.lateFrames, HostileTests.sizes)
  func aLateFrameOfAHugeCanvasIsRefused(image: HostileImage, size: TargetSize?) {
    let error = failure { try decode(image.data, size ?? .pixels(300, 300)) { $0.frame = 1 } }

    #expect(error?.code == .overLimit)
    #expect(error?.limit == .memoryByteCount)
    #expect(error?.detail.contains("MB to decode, over the limit of") == true)
  }

  @Test(.enabled(if: !Shape.isApple), arguments: HostileImage.canvases)
  func itsFirstFrameHoldsNoCanvas(image: HostileImage) throws {
    let decoded = try decode(image.data, .pixels(40, 40)) {
      $0.limits.memoryByteCount = 100_000
      $0.acceptsPartial = true
    }

    #expect(decoded.bitmap.size == [40, 40])
  }

  @Test
  func a90ByteWebPIsNinetyBytes() {
    #expect(HostileImage.canvas.data.count <= 90)
    #expect(HostileImage.lateFrames.allSatisfy { $0.data.count < 400_000 })
  }

  @Test(arguments: [("interlaced.gif", 1), ("animated.webp", 1), ("animated.png", 1), ("rle-8.bmp", 0)])
  func whatIsHeldCounts(name: String, frame: Int) throws {
    let file = name == "interlaced.gif" ? try HostileTests.twoFrames() : try Fixture.data(name)
    let header = try info(file)
    let picture = 4 * header.width * header.height

    let error = failure {
      try decode(file, .pixels(8, 8)) { options in
        options.frame = frame
        options.limits.memoryByteCount = picture
      }
    }

    #expect(error?.limit == .memoryByteCount)
    #expect(throws: Never.self) {
      try decode(file, .pixels(8, 8)) { options in
        options.frame = frame
        options.limits.memoryByteCount = picture * 5 + 2 * file.count + 10_000
      }
    }
  }

  /// The size of a photograph, and whether it is progressive.
  static let photographs = [(4000, 3000, true), (8064, 6048, true), (11_600, 8600, true), (11_600, 8600, false)]

  @Test(.enabled(if: !Shape.isApple), arguments: photographs)
  func aPhotographOfUpTo100MegapixelsIsWithinTheLimit(width: Int, height: Int, isProgressive: Bool) throws {
    let file = try LimitTests.jpeg(width, height, isProgressive: isProgressive)
    let header = try info(file)

    let memory = try unsafe file.withUnsafeBytes { bytes in
      try unsafe JPEGDecoder().memory(of: bytes, RowRequest(info: header, minimumScale: 0.5))
    }

    // Coefficients of 4:2:0.
    let blocks = 2 * 3 * ((width + 15) / 16) * ((height + 15) / 16) * 2 * 64
    #expect(memory.codec == (isProgressive ? blocks : 0))
    #expect(memory.total(output: 4 * 1000 * 1000, decodesInPlace: false) <= 350_000_000)
  }

  @Test(.enabled(if: !Shape.isApple))
  func theFileAndTheResultCount() throws {
    let file = try Bitmap.testPattern(width: 100, height: 100).encoded(as: .png)

    #expect(failure { try decode(file) { $0.limits.memoryByteCount = 40_000 } }?.limit == .memoryByteCount)
    #expect(throws: Never.self) { try decode(file) { $0.limits.memoryByteCount = 40_000 + file.count } }
  }

  @Test(.enabled(if: !Shape.isApple))
  func aPictureThatIsDecodedIntoItsResultIsNotHeldTwice() throws {
    let file = try Bitmap.testPattern(width: 100, height: 100).encoded(as: .webp)
    let most = 40_000 * 2 + file.count

    #expect(throws: Never.self) { try decode(file) { $0.limits.memoryByteCount = most } }
    #expect(failure { try decode(file) { $0.limits.memoryByteCount = 1000 } }?.limit == .memoryByteCount)
  }

  @Test
  func aDecoderOfOnesOwnHoldsWhatItSays() {
    var info = ImageInfo(format: .png, storedWidth: 100, storedHeight: 50)
    #expect(DecodeMemory(info).codec == 20_000)
    info.streamsRows = true
    #expect(DecodeMemory(info).codec == 0)
    info.workingByteCount = 77
    #expect(DecodeMemory(info).codec == 77)
  }

  /// The system may make the whole picture first, and frees it then.
  @Test(.enabled(if: Shape.isApple))
  func aThumbnailOf48MegapixelsIsWithinTheLimit() throws {
    let (width, height) = (8000, 6000)
    var gif = LimitTests.gif(width, height)
    // A first frame as large as the picture.
    gif.replaceSubrange(50..<54, with: gif[6..<10])
    let files: [(any ImageDecoder, Data)] = [
      (PNGDecoder(), LimitTests.png(width, height)), (GIFDecoder(), gif),
      (WebPDecoder(), LimitTests.webp(width, height)),
    ]
    for (decoder, file) in files {
      let header = try info(file)
      func total(_ scale: Double) throws -> Int {
        let memory = try unsafe file.withUnsafeBytes { bytes in
          try unsafe decoder.memory(of: bytes, RowRequest(info: header, minimumScale: scale))
        }
        return memory.total(output: Int(4 * scale * 8000 * scale * 6000), decodesInPlace: false)
      }

      #expect(try (192_000_000...210_000_000).contains(total(0.05)), "\(header.format)")
      #expect(try total(1) > 350_000_000, "\(header.format)")
    }
  }

  @Test
  func sizesOfStrangersDoNotOverflow() {
    let memory = DecodeMemory(codec: .max, rows: .max, transient: .max)

    #expect(memory.total(output: .max, decodesInPlace: false) == .max)
  }
}
