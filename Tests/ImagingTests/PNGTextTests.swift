import Testing
import VitrineRuntime
import VitrineTestSupport
import VitrineTesting

@testable import VitrineImaging

struct PNGTextTests {
  private static let file = { () -> Data in
    let plain = [UInt8]((try? Bitmap.solid([1, 2, 3, 255], width: 5, height: 4).encoded(as: .png)) ?? Data())
    let texts = ["Title\0caf\u{E9}", "Title\0second", "Empty\0", "\0no keyword", "no text"]
    let chunks = texts.flatMap { chunk("tEXt", $0.unicodeScalars.map { UInt8($0.value) }) }
    return Data(plain[..<33] + chunks + plain[33...])
  }()

  private static func chunk(_ type: String, _ body: [UInt8]) -> [UInt8] {
    // Nobody checks the sum of a text.
    [0, 0, 0, UInt8(body.count)] + type.utf8 + body + [0, 0, 0, 0]
  }

  @Test
  func textsAreInLatin1AndTheFirstOfAKeywordCounts() throws {
    let text = try #require(PNGText(Self.file))
    #expect((text.width, text.height) == (5, 4))
    #expect(text.fields == ["Title": "café", "Empty": "", "": "no keyword"])
  }

  @Test
  func aFileThatEndsAnywhereBeforeItsEndHasNoTexts() {
    for count in 0..<Self.file.count { #expect(PNGText(Self.file.prefix(count)) == nil) }
    #expect(PNGText(Self.file + [1, 2, 3]) != nil)
    #expect(PNGText(Data("GIF89a".utf8)) == nil)
  }

  @Test(arguments: [
    ("baseline-420.jpg", true), ("animated.png", false), ("animated.webp", false), ("bits-24.bmp", true),
  ])
  func aBeginningTellsWhetherAFileMoves(_ name: String, isStill: Bool) throws {
    let file = try Fixture.data(name)
    #expect(ImageFormat.isStill(beginning: Data(file.prefix(4096))) == isStill)
    #expect(ImageFormat.isStill(beginning: Self.file))
    // The image data may be preceded by more than the beginning, and so may what makes it move.
    #expect(!ImageFormat.isStill(beginning: Data(Self.file.prefix(60))))
    #expect(!ImageFormat.isStill(beginning: Data()))
  }
}
