import Testing
import VitrineImaging
import VitrineRuntime
import VitrineTestSupport
import VitrineTesting

@testable import VitrineText

struct ZZPictures {
  @Test
  func pictures() throws {
    guard let folder = ProcessInfo.processInfo.environment["ZZ"] else { return }
    var card = try Bitmap(width: 900, height: 900, color: .white)
    let texts: [(String, TextFont, Double, TextAlignment, Int?)] = [
      ("Sunset at sea: wrapping a longer text at 260 pixels, with Quality fi ffl.", .serif, 24, .leading, 260),
      ("centred\nlines of\ntext", .sansSerif, 28, .center, nil),
      ("trailing\nlines of\ntext", TextFont("sans-serif", isBold: true), 28, .trailing, nil),
      ("שלום עולם, זה טקסט ארוך מימין לשמאל\nמרחבא", .sansSerif, 26, .leading, 260),
      ("مرحبا بالعالم، هذا نص عربي طويل يلتف", .sansSerif, 26, .leading, 260),
      ("日本語の文章は、空白なしで折り返されます。漢字とかな。中文 한국어", .sansSerif, 26, .leading, 260),
      ("😀👩‍👩‍👧🇩🇪 emoji ❤️ text", .sansSerif, 36, .leading, 300),
      ("<b>no markup</b> & a NUL: \0.", TextFont("monospace", isItalic: true), 20, .leading, nil),
      ("No such font", "No Such Font", 30, .leading, nil),
      ("हिन्दी देवनागरी ไทย ἑλληνικά Кириллица", .sansSerif, 26, .leading, 400),
    ]
    var (x, y, row) = (20, 20, 0)
    for (text, font, size, alignment, width) in texts {
      let bitmap = try Bitmap(text: text, font: font, size: size, color: .black, width: width, alignment: alignment)
      if x + bitmap.width > 880 { (x, y, row) = (20, y + row + 20, 0) }
      card.draw(try Bitmap(width: bitmap.width, height: bitmap.height, color: PixelColor(0xFFE8C0)), at: (x, y))
      card.draw(bitmap, at: (x, y))
      x += bitmap.width + 20
      row = max(row, bitmap.height)
    }
    try card.encoded(as: .png).write(to: URL(filePath: folder + "/texts.png"))
    let photo = try Bitmap(
      decoding: Data(contentsOf: URL(filePath: "Examples/Photographs/autumn-avenue-nikon.jpg")),
      size: .pixels(400),
    )
    var sheet = try Bitmap(width: 1220, height: 900, color: .clear)
    let processors: [ImageProcessor] = [
      .sepia(), .sepia(0.5), .duotone(shadows: PixelColor(0x1A2A6C), highlights: PixelColor(0xFDBB2D)),
      .colorMatrix([-1, 0, 0, 0, 1, 0, -1, 0, 0, 1, 0, 0, -1, 0, 1, 0, 0, 0, 1, 0]),
      .text("© Ada", font: .serif, size: .fraction(0.06), at: .bottomRight, margin: 16),
      .text(
        "A title that is long enough to be wrapped in the middle",
        size: 40,
        color: .white.opacity(0.6),
        at: .center,
        margin: 20,
        alignment: .center,
      ),
    ]
    for (index, processor) in processors.enumerated() {
      sheet.draw(try processor.process(photo), at: (x: index % 3 * 410, y: index / 3 * 310))
    }
    sheet.draw(photo.premultiplied(), at: (x: 1000, y: 560), opacity: 0.7)
    sheet.draw(photo, at: (x: -200, y: 700), opacity: 0.5)
    try sheet.encoded(as: .png).write(to: URL(filePath: folder + "/sheet.png"))
    let clock = ContinuousClock()
    for (name, text) in [
      ("latin", String(repeating: "word and ", count: 1820)), ("cjk", String(repeating: "日本語文章", count: 1090)),
      ("arabic", String(repeating: "مرحبا ", count: 1480)),
    ] {
      let first = try clock.measure { _ = try Bitmap(text: text, size: 20, width: 1500) }
      let second = try clock.measure { _ = try Bitmap(text: text, size: 20, width: 1500) }
      print("ZZ", name, text.utf8.count, first, second)
    }
    print("ZZ short", try clock.measure { _ = try Bitmap(text: "© Ada", size: 20) })
    for text in ["\u{FDFD}", "𒐫", "ꧽ", "\u{12031}", "m", "W"] {
      let b = try Bitmap(text: text, size: 100)
      print(
        "ZZ width",
        text,
        Double(b.width) / 100 / Double(text.utf8.count),
        Double(b.height) / 100 / Double(text.utf8.count),
      )
    }
  }
}
