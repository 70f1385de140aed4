import CGTK
import Vitrine
import VitrineTesting
import XCTest

@testable import VitrineGTK

final class TextureTests: WidgetTestCase {
  private static func bitmap(_ alpha: Bitmap.Alpha) -> Bitmap {
    .pixels(width: 37, height: 11, alpha: alpha) { x, y in
      let coverage = alpha == .opaque ? 255 : UInt8((x * 7 + y * 3) % 256)
      let most = alpha == .premultiplied ? Int(coverage) + 1 : 256
      return SIMD4(UInt8(x * 5 % most), UInt8(y * 20 % most), UInt8((x + y) * 4 % most), coverage)
    }
  }

  private static func assertSame(_ first: [[UInt8]], _ second: [[UInt8]], within tolerance: Int) {
    XCTAssertEqual(first.count, second.count)
    for (one, other) in zip(first, second) {
      for (a, b) in zip(one, other) where abs(Int(a) - Int(b)) > tolerance {
        return XCTFail("\(one) instead of \(other)")
      }
    }
  }

  func testAnOpaqueTextureHasTheBitmapsPixels() {
    MainActor.assumeIsolated {
      let texture = Texture(Self.bitmap(.opaque))
      unsafe Self.assertSame(pixels(of: texture.pointer), texture.bitmap.multipliedPixels, within: 0)
    }
  }

  func testAPremultipliedTextureIsNotMultipliedAgain() {
    MainActor.assumeIsolated {
      let texture = Texture(Self.bitmap(.premultiplied))
      unsafe Self.assertSame(pixels(of: texture.pointer), texture.bitmap.multipliedPixels, within: 0)
    }
  }

  func testAStraightTextureIsMultipliedOnce() {
    MainActor.assumeIsolated {
      let texture = Texture(Self.bitmap(.straight))
      // GDK rounds a product in its own way.
      unsafe Self.assertSame(pixels(of: texture.pointer), texture.bitmap.multipliedPixels, within: 1)
    }
  }

  func testATextureKeepsThePixelsOfABitmapThatIsGone() {
    MainActor.assumeIsolated {
      let expected = Self.bitmap(.opaque).multipliedPixels
      let texture = unsafe Self.bitmap(.opaque).makeTexture()
      // Whoever allocates now would get the memory, had it been freed.
      let others = (0..<50).map { _ in Bitmap.solid(SIMD4(1, 2, 3, 255), width: 37, height: 11) }
      unsafe Self.assertSame(pixels(of: texture), expected, within: 0)
      unsafe g_object_unref(UnsafeMutableRawPointer(texture))
      XCTAssertEqual(others.count, 50)
    }
  }
}
