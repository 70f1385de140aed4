import CoreGraphics
import Foundation
import Testing
import VitrineImaging
import VitrineRuntime
import VitrineTestSupport
import VitrineTesting

struct CGImageTests {
  private static func picture(_ alpha: Bitmap.Alpha) -> Bitmap {
    .pixels(width: 7, height: 5, alpha: alpha) { x, y in
      SIMD4(UInt8(x * 30), UInt8(y * 40), 90, alpha == .opaque ? 255 : UInt8(255 - x * 20))
    }
  }

  @Test(arguments: [Bitmap.Alpha.opaque, .straight])
  func itSharesThePixelsAndKeepsThemAlive(alpha: Bitmap.Alpha) throws {
    var bitmap: Bitmap? = Self.picture(alpha)
    #if os(Linux)
    let address = unsafe bitmap?.withUnsafeBytes { $0.baseAddress }
    #endif
    let pixels = bitmap?.pixels

    let image = try #require(bitmap?.cgImage)
    bitmap = nil

    #if os(Linux)
    #expect(unsafe image.dataProvider?._address == address)
    #endif
    #expect([image.width, image.height, image.bytesPerRow] == [7, 5, 28] as [Int])
    #expect(image.alphaInfo == (alpha == .opaque ? .noneSkipLast : .last))
    #expect(image.colorSpace?.name == CGColorSpace.sRGB)
    #expect(try Bitmap(image).pixels == pixels)
  }

  @Test
  func premultipliedPixelsStayWhatTheyAre() throws {
    let image = try #require(Self.picture(.straight).premultiplied().cgImage)
    #expect(image.alphaInfo == .premultipliedLast)
    // Dividing what was multiplied loses at most a level where coverage is high.
    #expect(try Bitmap(image).largestDifference(from: Self.picture(.straight)) <= 1)
  }

  @Test
  func coloursOfDisplayP3KeepTheirNumbersAndTheirSpace() throws {
    let wide = Self.picture(.opaque).converted(to: .displayP3)
    let image = try #require(wide.cgImage)
    #expect(image.colorSpace?.name == CGColorSpace.displayP3)
    #expect(try Bitmap(image, colorSpace: .displayP3).pixels == wide.pixels)
    #expect(try Bitmap(image).largestDifference(from: wide.converted(to: .sRGB)) <= 1)
  }

  @Test
  func aThumbnailOfAnImageAtHandIsMadeInThreeWays() async throws {
    let image = try #require(Bitmap.testPattern(width: 120, height: 80).cgImage)
    let expected = try Bitmap.testPattern(width: 120, height: 80).resized(to: .pixels(30, 30))

    let now = try Bitmap(image, size: .pixels(30, 30))
    let later = try await Bitmap.byPreparing(image, size: .pixels(30, 30))
    let outcome = Deferred<Result<Bitmap, ImageError>>()
    Bitmap.prepare(image, size: .pixels(30, 30)) { outcome.resolve($0) }
    let called = try await outcome.value().get()

    for made in [now, later, called] { #expect(made.largestDifference(from: expected) <= 1) }
    #expect(now.size == [30, 20])
  }

  @Test
  func preparingCanBeCancelled() async throws {
    let image = try #require(Bitmap.testPattern(width: 120, height: 80).cgImage)
    let task = Task {
      unsafe withUnsafeCurrentTask { unsafe $0?.cancel() }
      do throws(ImageError) {
        _ = try await Bitmap.byPreparing(image, size: .pixels(30, 30))
        return nil as ImageError.Code?
      } catch {
        return error.code
      }
    }
    #expect(await task.value == .cancelled)
  }

  @Test
  func whatIsTooLargeIsRefused() throws {
    let image = try #require(Bitmap.testPattern(width: 120, height: 80).cgImage)
    var limits = DecodeLimits()
    limits.pixelCount = 1000
    let error = failure { try Bitmap(image, limits: limits) }
    #expect(error?.code == .overLimit)
  }
}
