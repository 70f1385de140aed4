import Testing
import VitrineAVIF
import VitrineImaging
import VitrineRuntime
import VitrineTestSupport
import VitrineTesting

/// Thumbnails of AVIF, whose planes are shrunk before they become RGB: the picture that RGB shrunk would be.
struct AVIFMeansTests {
  /// Slopes and edges, of a size that no block divides.
  private static let picture = Bitmap.pixels(width: 331, height: 217, alpha: .opaque) { x, y in
    let isInside = (x / 40 + y / 30) % 2 == 0
    let (red, green) = (UInt8(40 + x / 2), UInt8(30 + y / 2))
    return isInside ? SIMD4(red, green, 90, 255) : SIMD4(green, 200, red, 255)
  }

  private func thumbnails(_ file: Data, _ side: Double) throws -> (Bitmap, Bitmap) {
    (try decode(file, .pixels(side, side)).bitmap, try decode(file).bitmap.resized(to: .pixels(side, side)))
  }

  @Test(arguments: AVIFOptions.Subsampling.allCases, [8.0, 17, 30, 41, 77])
  func aThumbnailIsThatOfTheWholePicture(subsampling: AVIFOptions.Subsampling, side: Double) throws {
    let file = try encoders.encode(Self.picture, as: .avif(quality: 95, subsampling: subsampling, speed: 10))

    let (shrunk, whole) = try thumbnails(file, side)

    #expect(shrunk.size == whole.size)
    #expect(shrunk.psnr(against: whole) > 40)
  }

  @Test(arguments: ["444-10-bit.avif", "422-12-bit.avif", "420-12-bit.avif", "grey.avif", "lossless.avif", "grid.avif"])
  func itIsForEveryKindOfFile(name: String) throws {
    let file = try Fixture.data(name)
    let info = try registry.info(of: file)

    let (shrunk, whole) = try thumbnails(file, Double(max(info.width, info.height) / 10))

    #expect(shrunk.psnr(against: whole) > 32)
  }

  /// Colours are weighted with their coverage, and cropped pictures begin within a block.
  @Test(arguments: ["alpha.avif", "premultiplied.avif", "crop.avif"])
  func coverageAndCropsAreLeftToTheFilter(name: String) throws {
    let file = try Fixture.data(name)
    let info = try registry.info(of: file)

    let (shrunk, whole) = try thumbnails(file, Double(max(info.width, info.height) / 10))

    #expect(shrunk.largestDifference(from: whole) == 0)
  }

  @Test
  func linearLightIsMadeOfAllPixels() throws {
    let file = try encoders.encode(Self.picture, as: .avif(speed: 10))
    let light = try decode(file, .pixels(40, 40)) { $0.usesLinearLight = true }.bitmap

    #expect(light.psnr(against: try decode(file, .pixels(40, 40)).bitmap) < 60)
  }

  @Test
  func cancellingStopsBetweenBlocks() throws {
    let file = try encoders.encode(Self.picture, as: .avif(speed: 10))
    let calls = Watched(0)

    let error = failure {
      try decode(file, .pixels(20, 20)) {
        $0.isCancelled = {
          calls.change { $0 += 1 }
          return calls.value > 3
        }
      }
    }

    #expect(error?.code == .cancelled)
  }
}
