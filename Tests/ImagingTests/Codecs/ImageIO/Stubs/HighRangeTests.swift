import CoreGraphics
import Foundation
import ImageIO
import Testing
import VitrineImaging
import VitrineRuntime
import VitrineTestSupport
import VitrineTesting

import struct StubCodecs.StubFile

struct HighRangeTests {
  /// Black on the left, and four times as bright as white on the right.
  private static func file(headroom: Int = 4) throws -> Data {
    let picture = Bitmap.pixels(width: 40, height: 20, alpha: .opaque) { x, _ in
      x < 20 ? SIMD4(0, 0, 0, 255) : SIMD4(255, 255, 255, 255)
    }
    var file = StubFile("public.heic", [try picture.encoded(as: .png)])
    file.headroom = headroom
    return file.data
  }

  @Test
  func whatIsBrighterThanWhiteIsDecodedIfAskedFor() throws {
    let plain = try decode(Self.file())
    let image = try decode(Self.file(), .pixels(20, 20)) { $0.dynamicRange = .high }

    #expect(plain.highRange == nil)
    let bright = try #require(image.highRange)
    #expect([bright.width, bright.height, bright.byteCount] == [20, 10, 1600] as [Int])
    #expect(bright.headroom == 4)
    #expect(bright[18, 5] == SIMD4(4, 4, 4, 1))
    #expect(bright[2, 5] == SIMD4(0, 0, 0, 1))
    // What a page can show is there as well, and no brighter than its white.
    #expect(image.bitmap.size == [20, 10])
    #expect(image.bitmap[18, 5] == SIMD4(255, 255, 255, 255))
  }

  @Test
  func aPartAndAnAspectAreThoseOfTheBitmap() throws {
    let image = try decode(Self.file(), .pixels(10, 10, .fill)) { $0.dynamicRange = .high }
    let bright = try #require(image.highRange)
    #expect([bright.width, bright.height] == [10, 10] as [Int])
    #expect(bright[1, 5].x == 0)
    #expect(bright[8, 5].x == 4)

    let part = try decode(Self.file()) {
      $0.dynamicRange = .high
      $0.region = PixelRegion(x: 15, y: 0, width: 10, height: 10)
    }
    #expect(part.highRange.map { [$0.width, $0.height] } == [10, 10] as [Int])
    #expect(part.highRange?[4, 5].x == 0)
    #expect(part.highRange?[5, 5].x == 4)
  }

  @Test
  func anOrdinaryFileHasNone() throws {
    for file in [try Self.file(headroom: 1), try Bitmap.testPattern(width: 9, height: 9).encoded(as: .png)] {
      #expect(try decode(file) { $0.dynamicRange = .high }.highRange == nil)
    }
  }

  @Test
  func imageIOIsAskedForTheRangeOfEach() throws {
    let file = try Self.file()
    let calls = Calls()
    _ = try calls.during { try decode(file, .pixels(20, 20)) { $0.dynamicRange = .high } }
    let asked = calls.list.compactMap { call -> String? in
      if case .thumbnail(_, let options) = call { options["kCGImageSourceDecodeRequest"] as? String } else { nil }
    }
    #expect(asked == ["kCGImageSourceDecodeToSDR", "kCGImageSourceDecodeToHDR"])
  }

  @Test
  func anImageOfCoreGraphicsSharesThePixelsAndHasTheHeadroom() throws {
    let bright = try #require(try decode(Self.file()) { $0.dynamicRange = .high }.highRange)
    let image = try #require(bright.cgImage)
    let address = unsafe bright.withUnsafeBytes { $0.baseAddress }
    #expect(unsafe image.dataProvider?._address == address)
    #expect(image.contentHeadroom == 4)
    #expect([image.bitsPerComponent, image.bitsPerPixel, image.bytesPerRow] == [16, 64, 320] as [Int])
    #expect(image.colorSpace?.name == CGColorSpace.extendedLinearDisplayP3)
  }

  @Test
  func processingLeavesNone() throws {
    var image = try decode(Self.file()) { $0.dynamicRange = .high }
    #expect(image.highRange != nil)
    image = image.replacing(image.bitmap)
    #expect(image.highRange == nil)
  }
}
