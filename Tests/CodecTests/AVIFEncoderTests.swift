import Testing
import VitrineTestSupport
@testable import VitrineAVIF
import VitrineImaging
import VitrineRuntime
import VitrineTesting

struct AVIFEncoderTests {
  private static let picture = Bitmap.noisy(width: 160, height: 120)
  private static let exif = Data("MM\0\u{2A}\0\0\0\u{8}\0\0\0\0\0\0".utf8)
  private static let xmp = Data("<x:xmpmeta xmlns:x='adobe:ns:meta/'/>".utf8)

  @Test
  func lessSubsamplingKeepsMoreColour() throws {
    let red = Bitmap.pixels(width: 64, height: 64, alpha: .opaque) { x, y in
      (x + y) % 2 == 0 ? SIMD4(255, 0, 0, 255) : SIMD4(0, 0, 255, 255)
    }

    let results = try AVIFOptions.Subsampling.allCases.map { subsampling in
      try decode(encoders.encode(red, as: .avif(quality: 90, subsampling: subsampling))).bitmap.psnr(against: red)
    }

    #expect(results[0] < 25 && results[2] > 30, "\(results)")
    #expect(results[0] <= results[1] && results[1] < results[2], "\(results)")
  }

  @Test
  func theSpeedChangesTheBytes() throws {
    let files = try [4, 10].map { try encoders.encode(Self.picture, as: .avif(speed: $0)) }

    #expect(files[0] != files[1])
  }

  /// Items have their place in the file, and a length (ISO/IEC 14496-12, 8.11.3).
  @Test
  func metadataIsWritten() throws {
    let metadata = WrittenMetadata(exif: Self.exif, xmp: Self.xmp)

    let file = try AVIFEncoder().encode(EncoderInput(Self.picture, metadata: metadata), AVIFOptions())

    let meta = try #require(file.boxes("meta").first)
    #expect(meta.firstRange(of: Data("Exif".utf8)) != nil)
    #expect(meta.firstRange(of: Data("application/rdf+xml".utf8)) != nil)
    #expect(file.firstRange(of: [0, 0, 0, 0] + Self.exif) != nil)
    #expect(file.firstRange(of: Self.xmp) != nil)
    #expect(try decode(file).bitmap.psnr(against: Self.picture) > 25)
  }

  /// The pixels are upright, whatever EXIF says.
  @Test
  func anOrientationInMetadataTurnsNothing() throws {
    // One entry: orientation 6.
    let exif = Data([0x4D, 0x4D, 0, 42, 0, 0, 0, 8, 0, 1, 1, 0x12, 0, 3, 0, 0, 0, 1, 0, 6, 0, 0, 0, 0, 0, 0])

    let file = try AVIFEncoder().encode(
      EncoderInput(Self.picture, metadata: WrittenMetadata(exif: exif)),
      AVIFOptions(),
    )

    #expect(try registry.info(of: file).orientation == .up)
  }

  @Test
  func anAnimationWithMetadataIsWhole() throws {
    let moving = MovingPicture(delays: [0.1, 0.2], loopCount: 2, hasAlpha: true, width: 20, height: 20) { frame, x, y in
      SIMD4(UInt8(100 * frame), UInt8(10 * x), UInt8(10 * y), UInt8(5 * x + 100))
    }
    let image = try moving.container
    let metadata = WrittenMetadata(exif: Self.exif, xmp: Self.xmp)

    let file = try AVIFEncoder().encode(
      EncoderInput(image.bitmap, animation: image.animation, metadata: metadata),
      AVIFOptions(isLossless: true, speed: 10),
    )

    var frames = try FrameSource(file, decoders: registry)
    #expect(frames.info.loopCount == 2)
    for index in 0..<2 {
      let frame = try #require(try frames.next())
      #expect(frame.bitmap.hasCoverage(of: moving.frame(index)), "frame \(index)")
      #expect(frame.bitmap.psnr(against: moving.frame(index)) == .infinity, "frame \(index)")
    }
    #expect(file.firstRange(of: Self.exif) != nil)
    #expect(file.firstRange(of: Self.xmp) != nil)
  }

  @Test
  func aSideOverTheLimitIsAnErrorThatSaysSo() throws {
    let error = failure {
      try encoders.encode(.solid(SIMD4(0, 0, 0, 255), width: 65_537, height: 1), as: .avif(speed: 10))
    }

    #expect(error?.code == .notEncodable)
    #expect(error?.detail == "65537x1 pixels are too many for avif, whose sides end at 65536")
  }

  @Test
  func bytesThatLibavifDoesNotWriteAreNoSequence() {
    for text in ["", "    mdat", "\0\0\0\u{8}free\0\0\0\u{8}mdat", "\0\0\0\u{10}moov\0\0\0\u{9}trak\0\0\0\u{8}mdat"] {
      #expect(AVIFSequence.file(Data(text.utf8), loopCount: 1) == nil)
    }
  }
}
