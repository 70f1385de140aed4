import CoreText
import Testing
import VitrineImaging
import VitrineTestSupport

@testable import VitrineText

/// Texts whose places and errors only the stub of CoreText foretells.
struct CoreTextStubTests {
  @Test
  func aTextThatIsTooMuchWorkIsAnError() {
    let accents = "e" + String(repeating: "\u{301}", count: 2000)
    #expect(failure { try Bitmap(text: accents, size: 9) }?.code == .processingFailed)
    #expect(failure { try Bitmap(text: "a\n" + accents, size: 9) }?.code == .processingFailed)
  }

  @Test
  func aLetterThatLeansOutOfItsLineIsNotCutOff() throws {
    let lines = try ["l", "l\nMM"].map { try Bitmap(text: $0, font: TextFont("serif", isItalic: true), size: 100) }
    // Letters lean by 14 pixels, of which 7 are their own room.
    #expect((37...38).contains(lines[0].width) && lines[0].height == 114)
    #expect((187...188).contains(lines[1].width) && lines[1].height == 228)
  }

  @Test
  func spacesAtTheEndAreOnTheLeftOfALineFromRightToLeft() throws {
    let layout = try TextLayout("\u{05E9}  ", .sansSerif, size: 100, color: .black, width: nil, .leading)
    #expect((55...56).contains(layout.width) && layout.height == 110)
    let bitmap = try Bitmap(text: "\u{05E9}  ", size: 100)
    #expect(bitmap[6, 50].w == 0 && bitmap[7, 50].w == 255 && bitmap[47, 50].w == 255 && bitmap[48, 50].w == 0)
  }

  @Test
  func theFontsAreTheSystems() {
    let fonts: [TextFont] = [.sansSerif, .serif, .monospaced, "Papyrus", "No Such Font"]
    let sizes = fonts.map { CTFontGetLeading(CTFont.matching($0, size: 100)) }
    #expect(sizes == [0, 4, 0, 0, 0])
    #expect(CTFontGetSize(CTFont.matching(.serif, size: .leastNonzeroMagnitude)) < 0.001)
  }
}
