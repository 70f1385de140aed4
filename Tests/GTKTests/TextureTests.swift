import CGTK
import Vitrine
import VitrineImaging
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

  func testATextureOfHighRangeHasItsLight() throws {
    let light: [SIMD4<Float>] = [
      SIMD4(0, 0, 0, 1), SIMD4(1, 1, 1, 1), SIMD4(4, 4, 4, 1), SIMD4(0.5, 0.5, 0.5, 0.5), SIMD4(3.5, 1, 0.25, 1),
      SIMD4(0, 0, 0, 0),
    ]
    try MainActor.assumeIsolated {
      let texture = unsafe Self.highRange(light).makeTexture()
      guard HighRangeBitmap.hasTextures else {
        unsafe XCTAssertNil(texture)
        throw XCTSkip("GTK here is older than 4.16; make check NAME=newer-gtk runs this with a newer one")
      }
      let made = try unsafe XCTUnwrap(texture)
      defer { unsafe g_object_unref(UnsafeMutableRawPointer(made)) }
      // Linear light with the primaries of sRGB, multiplied by alpha.
      let read = unsafe LinearTexture.pixels(made, count: light.count)
      for (pixel, expected) in zip(read, light) {
        // The columns of the matrix from Display P3 to sRGB.
        var other =
          expected.x * SIMD4(1.224940, -0.042057, -0.019638, 0) + expected.y * SIMD4(-0.224940, 1.042057, -0.078636, 0)
        other += expected.z * SIMD4(0, 0, 1.098274, 0)
        other.w = expected.w
        XCTAssertLessThan((pixel - other).max(), 0.005, "\(pixel) instead of \(other)")
        XCTAssertGreaterThan((pixel - other).min(), -0.005, "\(pixel) instead of \(other)")
      }
    }
  }

  func testAnImageWithHighRangeIsDrawnWithItWhereGTKCan() {
    MainActor.assumeIsolated {
      let bitmap = Self.bitmap(.opaque)
      XCTAssertFalse(Texture(bitmap).hasHighRange)
      let texture = Texture(bitmap, Self.highRange([SIMD4(4, 4, 4, 1)]))
      XCTAssertEqual(texture.hasHighRange, HighRangeBitmap.hasTextures)
      // Its layout is that of the picture.
      XCTAssertTrue(texture.bitmap.isSamePixels(as: bitmap))
    }
  }

  /// A row of pixels: linear light with the primaries of Display P3, multiplied by alpha.
  private static func highRange(_ light: [SIMD4<Float>]) -> HighRangeBitmap {
    unsafe HighRangeBitmap(width: light.count, height: 1, headroom: 4) { pixels in
      let halves = light.flatMap { (0..<4).map { [pixel = $0] in Float16(pixel[$0]).bitPattern } }
      unsafe halves.withUnsafeBytes { unsafe pixels.copyMemory(from: $0) }
    }
  }
}

/// Functions of GTK 4.16, which older headers lack.
private enum LinearTexture {
  private typealias Make = @convention(c) (OpaquePointer) -> OpaquePointer
  private typealias State = @convention(c) () -> OpaquePointer
  private typealias SetState = @convention(c) (OpaquePointer, OpaquePointer) -> Void
  private typealias SetFormat = @convention(c) (OpaquePointer, CUnsignedInt) -> Void
  private typealias Download = @convention(c) (OpaquePointer, UnsafeMutableRawPointer, Int) -> Void
  private typealias Free = @convention(c) (OpaquePointer) -> Void

  /// Returns the pixels of a texture of one row.
  static func pixels(_ texture: OpaquePointer, count: Int) -> [SIMD4<Float>] {
    let downloader = unsafe function("gdk_texture_downloader_new", Make.self)(texture)
    defer { unsafe function("gdk_texture_downloader_free", Free.self)(downloader) }
    let state = unsafe function("gdk_color_state_get_srgb_linear", State.self)()
    unsafe function("gdk_texture_downloader_set_color_state", SetState.self)(downloader, state)
    unsafe function("gdk_texture_downloader_set_format", SetFormat.self)(
      downloader,
      GDK_MEMORY_R32G32B32A32_FLOAT_PREMULTIPLIED.rawValue,
    )
    var pixels = [SIMD4<Float>](repeating: .zero, count: count)
    unsafe pixels.withUnsafeMutableBytes {
      guard let start = $0.baseAddress else { return }
      unsafe function("gdk_texture_downloader_download_into", Download.self)(downloader, start, $0.count)
    }
    return pixels
  }

  private static func function<F>(_ name: String, _ type: F.Type) -> F {
    // The declarations above are those of GTK's documentation.
    unsafe unsafeBitCast(dlsym(nil, name), to: type)
  }
}
