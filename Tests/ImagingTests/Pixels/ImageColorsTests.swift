import Testing
import VitrineTesting

@testable import VitrineImaging

struct ImageColorsTests {
  @Test
  func coloursHaveTheirSharesOfThePicture() throws {
    let bitmap = Bitmap.pixels(width: 40, height: 40) { x, _ in
      x < 30 ? SIMD4(255, 0, 0, 255) : SIMD4(0, 0, 255, 255)
    }

    let colors = try ImageColors(bitmap)

    #expect(colors.palette.map(\.color) == [PixelColor(0xFF0000), PixelColor(0x0000FF)])
    #expect(colors.palette.map(\.share) == [0.75, 0.25])
    #expect(colors.dominant == PixelColor(0xFF0000))
    // Of linear light, three quarters and one quarter.
    #expect(colors.average == PixelColor(0xE10089))
  }

  @Test
  func pixelsThatAreNotSeenDoNotCount() throws {
    let bitmap = Bitmap.pixels(width: 20, height: 20, alpha: .straight) { x, _ in
      x < 15 ? SIMD4(9, 200, 9, 100) : SIMD4(40, 50, 60, 255)
    }

    let colors = try ImageColors(bitmap)

    #expect(colors.average == PixelColor(0x28323C) && colors.palette.map(\.share) == [1])
    let nothing = try ImageColors(Bitmap.solid(SIMD4(1, 2, 3, 0), width: 5, height: 5))
    #expect(nothing.average == nil && nothing.dominant == nil && nothing.palette.isEmpty)
  }

  @Test
  func aPaletteOfManyColoursIsShortAndWhole() throws {
    let bitmap = Bitmap.pixels(width: 300, height: 200) { x, y in
      SIMD4(UInt8(x * 255 / 299), UInt8(y * 255 / 199), UInt8((x + y) % 256), 255)
    }

    let palette = try ImageColors(bitmap).palette

    #expect(palette.count == ImageColors.paletteCount)
    #expect(abs(palette.reduce(0) { $0 + $1.share } - 1) < 1e-5)
    #expect(zip(palette, palette.dropFirst()).allSatisfy { $0.share >= $1.share })
  }
}
