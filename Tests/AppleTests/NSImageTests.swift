#if os(macOS) || os(Linux)
import AppKit
import Testing
import Vitrine
import VitrineApple
import VitrineTesting

struct NSImageTests {
  @Test
  func anImageSharesThePixelsOfItsBitmapAndGivesThemBack() throws {
    let bitmap = Bitmap.testPattern(width: 40, height: 30)
    let image = try #require(NSImage(bitmap, scale: 2))

    #expect(image.size == CGSize(width: 20, height: 15))
    let back = try Bitmap(image)
    #expect([back.width, back.height] == [40, 30] as [Int])
    #expect(back[7, 9] == bitmap[7, 9])
    #expect(try Bitmap(image, size: .pixels(20, 20)).height == 15)
  }
}
#endif
