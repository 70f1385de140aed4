import Testing
import VitrineRuntime
import VitrineTesting

@testable import VitrineImaging

/// Levels of gray, one byte a pixel.
struct GrayTests {
  private static func picture(alpha: Bitmap.Alpha = .opaque) -> Bitmap {
    .pixels(width: 46, height: 31, alpha: alpha) { x, y in
      SIMD4(
        UInt8(5 * x),
        UInt8(8 * y),
        UInt8(255 - 3 * x),
        alpha == .opaque ? 255 : UInt8(255 * y / 30),
      )
    }
  }

  /// In floats, as the recommendation writes it.
  private static func level(_ pixel: SIMD4<UInt8>, over background: Double = 255) -> Double {
    let luma = 0.2126 * Double(pixel.x) + 0.7152 * Double(pixel.y) + 0.0722 * Double(pixel.z)
    let coverage = Double(pixel.w) / 255
    return luma * coverage + background * (1 - coverage)
  }

  private static func expectLevels(of gray: GrayBitmap, _ bitmap: Bitmap, over background: Double = 255) {
    #expect([gray.width, gray.height] == [bitmap.width, bitmap.height] as [Int])
    for y in 0..<gray.height {
      for x in 0..<gray.width {
        let expected = level(bitmap[x, y], over: background)
        guard abs(Double(gray[x, y]) - expected) > 1 else { continue }
        Issue.record("\(x), \(y): \(gray[x, y]) in place of \(expected)")
        return
      }
    }
  }

  @Test
  func everyLevelOfGrayIsKept() throws {
    let ramp = Bitmap.pixels(width: 256, height: 1, alpha: .opaque) { x, _ in
      SIMD4(UInt8(x), UInt8(x), UInt8(x), 255)
    }

    let gray = try DecoderRegistry.standard.decodeGray(ramp.encoded(as: .png)).bitmap

    #expect((0..<256).allSatisfy { Int(gray[$0, 0]) == $0 })
    #expect(Bitmap(gray).largestDifference(from: ramp) == 0)
    #expect(gray.byteCount == 256)
  }

  @Test(
    arguments: Shape.written([.png, .webp, .qoi, .jpeg]),
    [TargetSize?.none, .pixels(17, 17), .pixels(9, 14, .fill)],
  )
  func colorsBecomeTheLumaOfWhatDecodeGives(format: ImageFormat, size: TargetSize?) throws {
    let file = try Self.picture().encoded(as: format)
    let options = DecodeOptions(size: size)

    let gray = try DecoderRegistry.standard.decodeGray(file, options).bitmap

    Self.expectLevels(of: gray, try DecoderRegistry.standard.decode(file, options).bitmap)
  }

  @Test(arguments: [0, 100, 255] as [UInt8])
  func whatIsTransparentShowsTheBackground(background: UInt8) throws {
    let picture = Self.picture(alpha: .straight)

    let decoded = try DecoderRegistry.standard.decodeGray(picture.encoded(as: .png), over: background).bitmap
    let made = GrayBitmap(picture, over: background)

    Self.expectLevels(of: decoded, picture, over: Double(background))
    Self.expectLevels(of: made, picture, over: Double(background))
  }

  @Test(arguments: Orientation.allCases, [TargetSize?.none, .pixels(20, 20)])
  func everyOrientationIsUpright(orientation: Orientation, size: TargetSize?) throws {
    let tag: [UInt8] = [0x01, 0x12, 0, 3, 0, 0, 0, 1, 0, UInt8(orientation.rawValue), 0, 0]
    let exif = Array("Exif\0\0MM".utf8) + [0, 42, 0, 0, 0, 8, 0, 1] + tag + [0, 0, 0, 0]
    let stored = try Self.picture().encoded(as: .jpeg)
    let file = stored.prefix(2) + Data([0xFF, 0xE1, 0, UInt8(exif.count + 2)] + exif) + stored.dropFirst(2)
    let options = DecodeOptions(size: size)

    let gray = try DecoderRegistry.standard.decodeGray(file, options).bitmap

    Self.expectLevels(of: gray, try DecoderRegistry.standard.decode(file, options).bitmap)
  }

  @Test
  func theLimitCountsAByteAPixel() throws {
    let file = try Bitmap.testPattern(width: 100, height: 100).encoded(as: .png)
    var options = DecodeOptions()
    options.limits.outputByteCount = 10_000

    #expect(try DecoderRegistry.standard.decodeGray(file, options).bitmap.byteCount == 10_000)
    options.limits.outputByteCount = 9999
    let error = #expect(throws: ImageError.self) { try DecoderRegistry.standard.decodeGray(file, options) }
    #expect(error?.limit == .outputByteCount)
  }

  @Test(.enabled(if: !Shape.isApple))
  func whatIsMissingIsBackgroundIfAPartWillDo() throws {
    let file = try Bitmap.testPattern(width: 300, height: 512).encoded(as: .jpeg)
    var options = DecodeOptions()
    let truncated = file.prefix(file.count * 4 / 5)

    #expect(throws: ImageError.self) { try DecoderRegistry.standard.decodeGray(truncated, options) }
    options.acceptsPartial = true
    let image = try DecoderRegistry.standard.decodeGray(truncated, options, over: 77)

    #expect(image.damage?.code == .truncated)
    #expect((0..<64).allSatisfy { image.bitmap[$0, 511] == 77 })
    let colors = try DecoderRegistry.standard.decode(truncated, options).bitmap
    Self.expectLevels(of: image.bitmap, colors, over: 77)
    #expect(colors[0, 0].w == 255)
  }

  @Test
  func cancellingEndsIt() throws {
    let file = try Self.picture().encoded(as: .png)
    var options = DecodeOptions()
    options.isCancelled = { true }

    let error = #expect(throws: ImageError.self) { try DecoderRegistry.standard.decodeGray(file, options) }

    #expect(error?.isCancellation == true)
  }
}
