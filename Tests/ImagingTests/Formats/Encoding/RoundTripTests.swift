import Testing
import VitrineImaging
import VitrineRuntime
import VitrineTesting

/// What is encoded comes back, in every format, at every small size, with and without transparency.
struct RoundTripTests {
  /// The formats and options of which every pixel comes back, save the colours of transparent ones.
  private static let exact: [ImageEncoding] = [
    .png(), .png(.smallest), .qoi(), .webp(isLossless: true),
  ].filter { $0.format.map { !Shape.written([$0]).isEmpty } ?? false }

  private static let lossy: [ImageEncoding] = [
    .jpeg(quality: 95), .jpeg(quality: 95, subsampling: .yuv444), .jpeg(quality: 95, subsampling: .yuv422),
    .jpeg(quality: 95, isProgressive: true), .webp(quality: 95), .webp(quality: 95, effort: 0),
  ].filter { $0.format.map { !Shape.written([$0]).isEmpty } ?? false }

  private static func picture(_ width: Int, _ height: Int, alpha: Bool) -> Bitmap {
    Bitmap.pixels(width: width, height: height) { x, y in
      SIMD4(UInt8(40 + x * 160 / width), UInt8(60 + y * 120 / height), 130, alpha ? UInt8(x * 251 / width) : 255)
    }
  }

  @Test(arguments: exact)
  func losslessFormatsGiveBackEveryPixel(_ encoding: ImageEncoding) throws {
    for alpha in [false, true] {
      for width in [1, 2, 3, 4, 5, 17, 64, 257] {
        for height in [1, 2, 3, 7, 33] {
          let picture = Self.picture(width, height, alpha: alpha)
          let decoded = try decode(picture.encoded(as: encoding))
          let comment: Comment = "\(encoding), \(width)x\(height), \(alpha)"
          #expect(decoded.info.hasAlpha == picture.hasTransparency, comment)
          #expect(decoded.bitmap.premultiplied().largestDifference(from: picture.premultiplied()) == 0, comment)
        }
      }
    }
  }

  @Test(arguments: lossy)
  func lossyFormatsGiveBackNearlyThePicture(_ encoding: ImageEncoding) throws {
    for width in [1, 2, 3, 9, 16, 50] {
      for height in [1, 2, 3, 8, 31] {
        let picture = Bitmap.pixels(width: width, height: height) { x, y in
          SIMD4(UInt8(90 + 2 * x), UInt8(120 + 2 * y), UInt8(130 - x), 255)
        }
        let decoded = try decode(picture.encoded(as: encoding))
        #expect(decoded.bitmap.psnr(against: picture) > 36, "\(encoding), \(width)x\(height)")
      }
    }
  }

  @Test(arguments: [16, 4000])
  func aPictureThatIsOneLineComesBack(length: Int) throws {
    for encoding in Self.exact {
      for (width, height) in [(length, 1), (1, length)] {
        let picture = Self.picture(width, height, alpha: false)
        #expect(try decode(picture.encoded(as: encoding)).bitmap.largestDifference(from: picture) == 0)
      }
    }
  }

  @Test
  func noiseComesBackFromEveryLosslessFormat() throws {
    let picture = Bitmap.busy(width: 311, height: 207, alpha: false)
    for encoding in Self.exact {
      #expect(try decode(picture.encoded(as: encoding)).bitmap.largestDifference(from: picture) == 0, "\(encoding)")
    }
  }

  @Test
  func displayP3ComesBackWithItsProfile() throws {
    // Colours that sRGB lacks among them.
    let picture = unsafe Bitmap(width: 24, height: 24, alpha: .opaque, colorSpace: .displayP3) { bytes in
      // 24 rows of 24 pixels.
      for index in 0..<576 {
        let color = [UInt8(index % 24 * 10), UInt8(index / 24 * 10), 60, 255]
        for (component, value) in color.enumerated() { unsafe bytes[index * 4 + component] = value }
      }
    }
    for encoding in Self.exact where encoding.format != .qoi {
      let file = try picture.encoded(as: encoding)
      #expect(try DecoderRegistry.standard.metadata(of: file).colorProfile?.name == "Display P3", "\(encoding)")
      let back = try decode(file) { $0.colorSpace = .displayP3 }.bitmap
      #expect(back.largestDifference(from: picture) <= 1, "\(encoding)")
      #expect(try decode(file).bitmap.largestDifference(from: picture.converted(to: .sRGB)) <= 2, "\(encoding)")
    }
    // A format without a place for it gets sRGB.
    #expect(try decode(picture.encoded(as: .qoi())).bitmap.largestDifference(from: picture.converted(to: .sRGB)) <= 1)
    // Those that lose something have the profile, too.
    for encoding in Self.lossy {
      let file = try picture.encoded(as: encoding)
      #expect(try DecoderRegistry.standard.metadata(of: file).colorProfile?.name == "Display P3", "\(encoding)")
      #expect(try decode(file) { $0.colorSpace = .displayP3 }.bitmap.psnr(against: picture) > 30, "\(encoding)")
    }
  }

  @Test
  func grayInDisplayP3StaysGray() throws {
    let picture = unsafe Bitmap(width: 16, height: 16, alpha: .opaque, colorSpace: .displayP3) { bytes in
      // 16 rows of 16 pixels.
      for index in 0..<1024 { unsafe bytes[index] = index % 4 == 3 ? 255 : UInt8(index / 4) }
    }
    for encoding in Self.exact {
      let file = try picture.encoded(as: encoding)
      #expect(
        try decode(file) { $0.colorSpace = .displayP3 }.bitmap.largestDifference(from: picture) == 0,
        "\(encoding)",
      )
    }
    for encoding in Self.lossy {
      let back = try decode(picture.encoded(as: encoding)) { $0.colorSpace = .displayP3 }.bitmap
      #expect(back.psnr(against: picture) > 36, "\(encoding)")
    }
  }

  @Test(.enabled(if: !Shape.isApple), arguments: [0, 4, 6])
  func lossyWebPKeepsItsCoverage(effort: Int) throws {
    for (width, height) in [(1, 1), (2, 3), (17, 9), (64, 50)] {
      let picture = Bitmap.pixels(width: width, height: height) { x, y in
        SIMD4(UInt8(90 + x), UInt8(120 + y), 130, UInt8((x * 255 / width + y * 3) & 255))
      }
      let decoded = try decode(picture.encoded(as: .webp(quality: 90, effort: effort)))
      #expect(decoded.info.hasAlpha == picture.hasTransparency)
      #expect(decoded.bitmap.pixels.map(\.w) == picture.pixels.map(\.w), "\(width)x\(height)")
      #expect(decoded.bitmap.premultiplied().psnr(against: picture.premultiplied()) > 36, "\(width)x\(height)")
    }
  }

  /// The whole file, and not only where the encoder writes metadata.
  @Test
  func noByteOfThePlaceIsInAFileWithoutMetadata() throws {
    let texts = ["2024:02:28", "GPS", "41,37.5S", "Maker", "Rights"].map { Data($0.utf8) }
    for littleEndian in [true, false] {
      let (exif, _) = WrittenMetadataTests.located(littleEndian: littleEndian)
      var image = ImageContainer(Self.picture(40, 30, alpha: false))
      image.metadata = .made(exif: exif.data, xmp: XMPFile.packet(attributes: "exif:GPSLatitude=\"41,37.5S\""))
      let numbers = [5_432_177, 1_234_577].flatMap { [Data([UInt8].little32($0)), Data([UInt8].big32($0))] }
      for encoding in Self.exact + Self.lossy + [.gif()] {
        let file = try EncoderRegistry.standard.encode(image, as: encoding).data
        for secret in numbers + texts { #expect(file.firstRange(of: secret) == nil, "\(encoding)") }
        let kept = try EncoderRegistry.standard.encode(image, as: encoding.metadata(.keep)).data
        // The search would find it.
        guard try DecoderRegistry.standard.metadata(of: kept).exif != nil else { continue }
        #expect(numbers.contains { kept.firstRange(of: $0) != nil }, "\(encoding)")
      }
    }
  }
}
