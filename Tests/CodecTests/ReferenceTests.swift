import Testing
import VitrineImaging
import VitrineRuntime
import VitrineTestSupport
import VitrineTesting

/// Pixels against those that other decoders made of the same files.
struct ReferenceTests {
  struct Sample: Sendable, CustomTestStringConvertible {
    var name: String
    /// The most that a component may differ by.
    var tolerance: Int
    /// What it is compared with.
    var reference: String
    var testDescription: String { name }

    init(_ name: String, within tolerance: Int, of reference: String? = nil) {
      (self.name, self.tolerance, self.reference) = (name, tolerance, reference ?? name)
    }
  }

  /// Pillow brings a libavif of its own, which interpolates chroma in another way: 2 levels for 4:4:4, more where
  /// chroma is subsampled and beside edges.
  static let avif = [
    Sample("lossy-420.avif", within: 8), Sample("444-10-bit.avif", within: 2), Sample("422-12-bit.avif", within: 8),
    Sample("420-12-bit.avif", within: 1), Sample("grey.avif", within: 1), Sample("lossless.avif", within: 0),
    Sample("alpha.avif", within: 2),
    Sample("premultiplied.avif", within: 3), Sample("grid.avif", within: 8), Sample("crop.avif", within: 8),
  ]

  /// ImageMagick converts to RGB itself, and repeats chroma where libheif does not.
  static let heif = [
    Sample("lossy.heic", within: 12), Sample("10-bit.heic", within: 12), Sample("grey.heic", within: 2),
    Sample("alpha.heic", within: 2),
  ]

  /// Exact where nothing is lost; JPEG within another libjpeg's chroma, CMYK within rounding, colours multiplied by
  /// their coverage within what that leaves of them (see below).
  static let tiff = [
    Sample("lzw.tiff", within: 0, of: "picture"), Sample("packbits.tiff", within: 0, of: "picture"),
    Sample("tiles.tiff", within: 0, of: "picture"), Sample("planes.tiff", within: 0, of: "picture"),
    Sample("big-endian.tiff", within: 0, of: "picture"), Sample("bigtiff.tiff", within: 0, of: "picture"),
    Sample("16-bit.tiff", within: 0, of: "picture"), Sample("palette.tiff", within: 0), Sample("grey.tiff", within: 0),
    Sample("grey-16-bit.tiff", within: 0, of: "grey.tiff"), Sample("fax.tiff", within: 0),
    Sample("bilevel.tiff", within: 0), Sample("jpeg.tiff", within: 3), Sample("cmyk.tiff", within: 1),
    Sample("alpha.tiff", within: 0),
  ]

  /// Exact where nothing is lost; else against `djxl`, which dithers nothing either.
  static let jxl = [
    Sample("lossless.jxl", within: 0, of: "picture"), Sample("container.jxl", within: 0, of: "picture"),
    Sample("16-bit.jxl", within: 0, of: "picture"), Sample("alpha.jxl", within: 0, of: "picture-alpha"),
    Sample("grey.jxl", within: 0, of: "grey.tiff"), Sample("lossy.jxl", within: 1),
  ]

  static let all = avif + heif + jxl + tiff

  @Test(arguments: all)
  func everyKindDecodesAsElsewhere(sample: Sample) throws {
    let reference = try Fixture.reference(sample.reference)

    let bitmap = try decode(Fixture.data(sample.name)).bitmap

    #expect(bitmap.size == reference.size)
    #expect((bitmap.alpha == .opaque) == !reference.hasTransparency)
    #expect(bitmap.visible.largestDifference(from: reference.visible) <= sample.tolerance)
  }

  @Test(arguments: all)
  func aThumbnailIsThatOfTheWholePicture(sample: Sample) throws {
    let size = TargetSize.pixels(20, 20)
    let whole = try decode(Fixture.data(sample.name)).bitmap
    let file = try whole.encoded(as: .png)

    let thumbnail = try decode(Fixture.data(sample.name), size).bitmap

    #expect(thumbnail.largestDifference(from: try Bitmap(decoding: file, size: size)) == 0)
  }

  @Test(
    arguments: (1...8).flatMap { number in [".avif", ".heic", ".jxl", ".tiff"].map { "orientation-\(number)\($0)" } }
  )
  func everyOrientationIsUprightOnce(name: String) throws {
    let upright = try Fixture.reference("upright")

    let bitmap = try decode(Fixture.data(name)).bitmap

    #expect(bitmap.size == upright.size)
    #expect(bitmap.psnr(against: upright) > 35)
  }

  @Test(
    arguments: (1...8).flatMap { number in [".avif", ".heic", ".jxl", ".tiff"].map { "orientation-\(number)\($0)" } }
  )
  func everyOrientationIsUprightInAThumbnail(name: String) throws {
    let size = TargetSize.pixels(24, 24)
    let upright = try Bitmap(decoding: Fixture.data("upright.reference.png"), size: size)

    let bitmap = try decode(Fixture.data(name), size).bitmap

    #expect(bitmap.size == upright.size)
    #expect(bitmap.psnr(against: upright) > 35)
  }

  @Test(arguments: ["animated.avif", "animated.jxl"])
  func everyFrameOfAnAnimationIsItself(name: String) throws {
    let file = try Fixture.data(name)

    for frame in 0..<3 {
      let bitmap = try decode(file) { $0.frame = frame }.bitmap
      let reference = try Fixture.reference("\(name).frame-\(frame)")
      #expect(bitmap.psnr(against: reference) > 38, "frame \(frame)")
    }
    #expect(failure { try decode(file) { $0.frame = 3 } }?.code == .noSuchFrame)
    #expect(failure { try decode(file) { $0.frame = -1 } }?.code == .noSuchFrame)
  }

  @Test(arguments: ["display-p3.avif", "display-p3.heic", "display-p3.jxl", "display-p3.tiff"])
  func displayP3IsBroughtToSRGB(name: String) throws {
    let decoded = try decode(Fixture.data(name))

    #expect(decoded.info.colorProfile?.name?.contains("P3") == true)
    // The red rectangle is (220, 30, 30) in Display P3, which is (240, -40, -2) in sRGB, cut to what there is.
    #expect(decoded.bitmap[12, 10].isWithin(6, of: SIMD4(240, 0, 0, 255)))
  }

  @Test(arguments: Corpus.files(ending: ".avif", ".heic", ".heif", ".jxl", ".svg", ".tif", ".tiff"))
  func aFileOfTheCorpusDecodesOrSaysWhyNot(path: String) throws {
    let file = try Corpus.data(path)

    do throws(ImageError) {
      let decoded = try decode(file, .pixels(64, 64))
      #expect(max(decoded.bitmap.width, decoded.bitmap.height) <= 64)
    } catch {
      #expect([.corrupt, .truncated, .unsupported].contains(error.code), "\(error)")
      #expect(error.detail.count > 10)
    }
  }
}
