import Testing
import VitrineImaging
import VitrineRuntime
import VitrineTestSupport
import VitrineTesting

/// Files cut short and spoiled: an error that says why, never a crash, never another picture.
struct DamageTests {
  static let samples = [
    "lossy-420.avif", "alpha.avif", "grid.avif", "animated.avif", "orientation-5.avif",
    "lossy.heic", "alpha.heic", "thumbnail.heic", "display-p3.heic", "lossy.jxl", "lossless.jxl", "container.jxl",
    "animated.jxl", "progressive.jxl", "alpha.jxl", "lzw.tiff", "tiles.tiff", "pages.tiff",
    "jpeg.tiff", "fax.tiff", "bigtiff.tiff",
    "display-p3.tiff", "alpha.tiff", "float.tiff", "420-12-bit.avif", "thin-wide.heic",
  ]

  @Test(arguments: samples)
  func everyPrefixIsTruncatedOrThePicture(name: String) throws {
    let file = try Fixture.data(name)
    let whole = try decode(file).bitmap

    var wrong: [String] = []
    for count in stride(from: 0, to: file.count, by: max(1, file.count / 120)) {
      do throws(ImageError) {
        let bitmap = try decode(file.prefix(count)).bitmap
        if bitmap.size != whole.size || bitmap.largestDifference(from: whole) > 0 {
          wrong.append("\(count): a picture")
        }
      } catch {
        let expected: [ImageError.Code] = count < 32 ? [.truncated, .unrecognised] : [.truncated]
        if !expected.contains(error.code) { wrong.append("\(count): \(error.code), \(error)") }
      }
    }

    #expect(wrong.isEmpty)
  }

  @Test(arguments: ["lossy-420.avif", "lossy.heic", "lossy.jxl", "container.jxl", "lzw.tiff", "bigtiff.tiff"])
  func randomBytesBehindASignatureNeverDoHarm(name: String) throws {
    let file = try Fixture.data(name)
    var generator = SplitMix64(seed: 7)

    for length in [2, 4, 12, 16, 32, 64] {
      for _ in 0..<20 {
        let rest = (0..<400).map { _ in UInt8.random(in: 0...255, using: &generator) }
        // A TIFF's directory begins anywhere, a box and a frame of random bytes may be a tiny picture.
        _ = try? decode(file.prefix(length) + Data(rest), .pixels(5, 5)) { options in
          options.limits.pixelCount = 20_000
        }
      }
    }
    #expect(failure { try decode(Data()) }?.code == .unrecognised)
  }

  @Test(arguments: samples)
  func spoiledBytesNeverDoHarm(name: String) throws {
    let file = try Fixture.data(name)
    var generator = SplitMix64(seed: 90_125)

    for _ in 0..<120 {
      var spoiled = file
      for _ in 0..<Int.random(in: 1...3, using: &generator) {
        spoiled[Int.random(in: 0..<file.count, using: &generator)] = .random(in: 0...255, using: &generator)
      }
      let size = Bool.random(using: &generator) ? TargetSize.pixels(7, 7) : nil
      let frame = name.hasPrefix("animated") ? Int.random(in: 0...2, using: &generator) : 0
      _ = try? decode(spoiled, size) { options in
        options.frame = frame
        options.limits.pixelCount = 1 << 20
        options.acceptsPartial = Bool.random(using: &generator)
      }
    }
  }
}
