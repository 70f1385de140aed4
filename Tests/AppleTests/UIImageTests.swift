#if !os(macOS)
import Testing
import UIKit
import Vitrine
import VitrineApple
import VitrineRuntime
import VitrineTesting

struct UIImageTests {
  private static func corner(width: Int, height: Int) -> Bitmap {
    unsafe Bitmap(width: width, height: height, alpha: .opaque) { pixels in
      for offset in stride(from: 0, to: pixels.count, by: 4) {
        let (x, y) = (offset / 4 % width, offset / 4 / width)
        let isCorner = x < width / 2 && y < height / 2
        unsafe pixels.storeBytes(
          of: isCorner ? SIMD4<UInt8>(250, 0, 0, 255) : SIMD4(0, 0, 250, 255),
          toByteOffset: offset,
          as: SIMD4<UInt8>.self,
        )
      }
    }
  }

  @Test
  func anImageSharesThePixelsOfItsBitmap() throws {
    let bitmap = Bitmap.testPattern(width: 40, height: 30)
    let image = try #require(UIImage(bitmap, scale: 2))

    #expect(image.size == CGSize(width: 20, height: 15))
    #expect(image.scale == 2)
    #expect(image.imageOrientation == .up)
    #if os(Linux)
    let address = unsafe bitmap.withUnsafeBytes { $0.baseAddress }
    #expect(unsafe image.cgImage?.dataProvider?._address == address)
    #endif
    let back = try Bitmap(image)
    #expect([back.width, back.height] == [40, 30] as [Int])
    #expect(back[7, 9] == bitmap[7, 9])
  }

  /// Where the top left corner of the stored picture is seen (CIPA DC-008, table 6).
  @Test(arguments: [
    (UIImage.Orientation.up, 0, 0), (.upMirrored, 1, 0), (.down, 1, 1), (.downMirrored, 0, 1), (.leftMirrored, 0, 0),
    (.right, 1, 0), (.rightMirrored, 1, 1), (.left, 0, 1),
  ])
  func itsOrientationIsApplied(orientation: UIImage.Orientation, x: Int, y: Int) throws {
    let stored = try #require(Self.corner(width: 20, height: 10).cgImage)
    let image = UIImage(cgImage: stored, scale: 1, orientation: orientation)

    let bitmap = try Bitmap(image)

    let isTurned = [.left, .right, .leftMirrored, .rightMirrored].contains(orientation)
    #expect([bitmap.width, bitmap.height] == (isTurned ? [10, 20] : [20, 10]) as [Int])
    let seen = bitmap[x == 0 ? 1 : bitmap.width - 2, y == 0 ? 1 : bitmap.height - 2]
    #expect(seen == SIMD4(250, 0, 0, 255))
    #expect(try image.decoded().imageOrientation == .up)
  }

  @Test
  func aThumbnailIsMadeInThreeWays() async throws {
    let image = try #require(UIImage(Bitmap.testPattern(width: 120, height: 80), scale: 3))

    let now = try image.decoded(at: .pixels(30, 30))
    let later = try await image.byDecoding(at: .pixels(30, 30))
    let outcome = Deferred<Result<UIImage, ImageError>>()
    #expect(image.decode(at: .pixels(30, 30)) { outcome.resolve($0) } != nil)
    let called = try await outcome.value().get()

    for made in [now, later, called] {
      #expect(made.cgImage.map { [$0.width, $0.height] } == [30, 20] as [Int])
      #expect(made.scale == 3)
    }
  }

  @Test
  func aSymbolHasNoPixelsAndSaysSo() async throws {
    let symbol = try #require(UIImage(systemName: "photo"))
    let error = #expect(throws: ImageError.self) { try symbol.decoded() }
    #expect(error?.code == .unsupported)
    #expect(error?.detail == "the image has no pixels of its own")
    let outcome = Deferred<Result<UIImage, ImageError>>()
    #expect(symbol.decode { outcome.resolve($0) } == nil)
    guard case .failure(let failure) = await outcome.value() else {
      Issue.record("a symbol was decoded")
      return
    }
    #expect(failure.code == .unsupported)
  }
}
#endif
