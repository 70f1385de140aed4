import Foundation
import ImageIO
import VitrineTestSupport
import struct StubCodecs.StubFile
import Testing
import VitrineImaging
import VitrineRuntime
import VitrineTesting

/// HEIC, AVIF and TIFF, whose headers are ImageIO's; the stub's files stand for them.
struct ImageIODecoderTests {
  private static func picture(_ width: Int, _ height: Int, _ red: UInt8) throws -> Data {
    try Bitmap.solid(SIMD4(red, 90, 30, 255), width: width, height: height).encoded(as: .png)
  }

  @Test
  func theMainPictureIsWhatIsShown() throws {
    var file = StubFile("public.heic", [try Self.picture(8, 8, 10), try Self.picture(30, 20, 200)])
    file.primary = 1

    let info = try DecoderRegistry.standard.info(of: file.data)
    let image = try decode(file.data)

    #expect(info.format == .heic)
    #expect([info.width, info.height, info.frameCount] == [30, 20, 1] as [Int])
    #expect(image.bitmap.size == [30, 20])
    #expect(abs(Int(image.bitmap[3, 3].x) - 200) <= 1)
  }

  @Test
  func aSequenceHasFramesDelaysAndLoops() throws {
    var file = StubFile("public.heic", try [10, 100, 250].map { try Self.picture(12, 9, $0) })
    file.delays = [0.2, 0.005, 1.5]

    let info = try DecoderRegistry.standard.info(of: file.data)

    #expect([info.frameCount, info.loopCount] == [3, 3] as [Int])
    #expect(try DecoderRegistry.standard.frameDelays(of: file.data) == [0.2, 0.1, 1.5])
    for (frame, red) in [10, 100, 250].enumerated() {
      let image = try decode(file.data) { $0.frame = frame }
      #expect(abs(Int(image.bitmap[1, 1].x) - red) <= 1)
    }
    let error = failure { try decode(file.data) { $0.frame = 3 } }
    #expect(error?.code == .noSuchFrame)
  }

  @Test
  func pagesOfATIFFHaveTheirOwnSizes() throws {
    let file = StubFile("public.tiff", [try Self.picture(8, 8, 10), try Self.picture(30, 20, 200)]).data

    #expect(try decode(file).bitmap.size == [8, 8])
    #expect(try decode(file) { $0.frame = 1 }.bitmap.size == [30, 20])
    #expect(try decode(file, .pixels(15, 15)) { $0.frame = 1 }.bitmap.size == [15, 10])
  }

  @Test
  func aFileThatEndsEarlyIsTruncatedAndImageIODoesNotSeeIt() throws {
    let file = StubFile("public.heic", [try Self.picture(30, 20, 200)]).data
    for count in [40, file.count / 2, file.count - 1] {
      let calls = Calls()
      let error = calls.during { failure { try decode(file.prefix(count)) } }
      #expect(error?.code == .truncated)
      #expect(calls.list.isEmpty)
    }
  }

  @Test
  func garbageIsAnErrorThatNamesTheFormat() {
    let error = failure { try decode(Data([0x49, 0x49, 42, 0]) + Data(repeating: 7, count: 100)) }
    #expect(error?.code == .corrupt)
    #expect(error?.format == .tiff)
    #expect(error?.detail == "corrupt: the system cannot decode it")
  }

  @Test
  func whatIsTooLargeIsRefusedBeforeItIsDecoded() throws {
    let file = StubFile("public.avif", [try Self.picture(300, 200, 200)]).data
    let calls = Calls()
    let error = calls.during {
      failure {
        try decode(file) {
          $0.limits.pixelCount = 1000
        }
      }
    }
    #expect(error?.code == .overLimit)
    #expect(!calls.list.contains { if case .thumbnail = $0 { true } else { false } })
  }

  @Test
  func theCommonFieldsAreReadFromItsProperties() throws {
    let file = StubFile("public.heic", [try Fixture.data("metadata.png")]).data
    let own = try DecoderRegistry.standard.metadata(of: Fixture.data("metadata.png"))

    let metadata = try DecoderRegistry.standard.metadata(of: file)

    #expect(metadata.exif == nil)
    #expect(metadata.fields.make == own.fields.make)
    #expect(metadata.fields.fNumber == own.fields.fNumber)
    #expect(metadata.fields.latitude == own.fields.latitude)
    #expect(metadata.xmp == own.xmp)
    #expect(own.fields.make != nil && own.xmp != nil)
  }

  @Test(arguments: [ImageFormat.heic, .avif, .tiff])
  func whatIsWrittenCanBeRead(format: ImageFormat) throws {
    let picture = Bitmap.testPattern(width: 40, height: 30)

    let file = try picture.encoded(as: format)

    #expect(ImageFormat.sniff(file) == format)
    #expect(try decode(file).bitmap.psnr(against: picture) > 30)
  }

  @Test
  func qualityReachesTheEncoderAsAShare() throws {
    let calls = Calls()
    _ = try calls.during {
      try Bitmap.testPattern(width: 9, height: 9).encoded(as: ImageEncoding(.jpeg, quality: 40))
    }
    guard case .finalize("public.jpeg", let options) = calls.list.last else {
      Issue.record("\(calls.list)")
      return
    }
    #expect(options["kCGImageDestinationLossyCompressionQuality"] as? Double == 0.4)
  }

  @Test
  func withoutLossIsRefusedWhereTheSystemCannot() {
    let error = failure {
      try Bitmap.testPattern(width: 9, height: 9).encoded(as: ImageEncoding(.heic, isLossless: true))
    }
    #expect(error?.code == .notEncodable)
    #expect(error?.detail == "heic cannot be encoded without loss by the system")
  }
}
