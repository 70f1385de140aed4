import Synchronization
import Testing
import VitrineImaging
import VitrineTestSupport
import VitrineTesting

@testable import VitrineText

/// Texts that become bitmaps, compared with one another, since the fonts are the machine's.
struct TextTests {
  @Test
  func lettersHaveTheColourAndTheRestIsTransparent() throws {
    let bitmap = try Bitmap(text: "Hill", size: 40, color: PixelColor(0x14283C))

    #expect(bitmap.alpha == .straight && bitmap.colorSpace == .sRGB)
    let ink = bitmap.ink(above: 250)
    #expect(ink.width > bitmap.width / 2 && bitmap[0, 0].w == 0)
    #expect(bitmap.pixels.filter { $0.w == 255 }.allSatisfy { $0 == SIMD4(20, 40, 60, 255) })
  }

  @Test
  func theOpacityIsThatOfTheColour() throws {
    let bitmap = try Bitmap(text: "█", size: 40, color: .white.opacity(0.4))

    #expect(bitmap.pixels.map(\.w).max() == 102)
    #expect(bitmap.pixels.filter { $0.w == 102 }.allSatisfy { $0.x > 253 })
  }

  #if VITRINE_APPLE
  // The letters of Apple's system font have other distances at each size.
  private static let growingFonts: [TextFont] = [.serif, .monospaced]
  #else
  private static let growingFonts: [TextFont] = [.sansSerif, .serif, .monospaced]
  #endif

  @Test(arguments: growingFonts)
  func aTextGrowsWithItsFont(font: TextFont) throws {
    let small = try Bitmap(text: "Sunset", font: font, size: 20)
    let large = try Bitmap(text: "Sunset", font: font, size: 80)

    #expect(abs(large.width - 4 * small.width) <= 6 && abs(large.height - 4 * small.height) <= 6)
    // Between two lines there is about the size of the font.
    #expect((80..<160).contains(large.height))
  }

  @Test
  func stylesLookDifferent() throws {
    let fonts: [TextFont] = [
      .sansSerif, .serif, .monospaced, TextFont("sans-serif", isBold: true), TextFont("serif", isItalic: true),
    ]
    let texts = try fonts.map { try Bitmap(text: "Sunset", font: $0, size: 40).content }
    #expect(Set(texts).count == fonts.count)
  }

  @Test
  func aFamilyWithoutItalicsIsSlanted() throws {
    // On Apple's platforms this family has one style. Elsewhere another family is drawn in its place.
    let (upright, italic) = (TextFont("Papyrus"), TextFont("Papyrus", isItalic: true))
    #expect(
      try Bitmap(text: "Sunset", font: upright, size: 40).content
        != Bitmap(text: "Sunset", font: italic, size: 40).content
    )
    #expect(throws: Never.self) { try Bitmap(text: "Sunset", font: TextFont("Papyrus", isBold: true), size: 40) }
  }

  @Test
  func aFontThatDoesNotExistIsReplaced() throws {
    for family in ["No Such Font", "", "\0", "a, b", String(repeating: "x", count: 100_000)] {
      let bitmap = try Bitmap(text: "Sunset", font: TextFont(family), size: 40)
      #expect(bitmap.ink(above: 200).width > 40)
    }
  }

  // MARK: Lines

  @Test
  func aLineBreakBeginsALine() throws {
    let one = try Bitmap(text: "a", size: 40)
    for text in ["a\na", "a\r\na", "a\ra", "a\u{2028}a", "a\u{2029}a"] {
      let two = try Bitmap(text: text, size: 40)
      #expect(two.width == one.width && abs(two.height - 2 * one.height) <= 1)
    }
  }

  @Test
  func linesEndAtTheWidth() throws {
    let (line, word) = (try Bitmap(text: "one two three four", size: 20), try Bitmap(text: "three", size: 20))

    let wrapped = try Bitmap(text: "one two three four", size: 20, width: word.width + 4)

    #expect(wrapped.width <= word.width + 4 && wrapped.width > word.width / 2)
    #expect(wrapped.height >= 3 * line.height - 3)
    #expect(try Bitmap(text: "one two three four", size: 20, width: line.width + 1).height == line.height)
    #expect(try Bitmap(text: "one two", size: 20, width: .max).height == line.height)
  }

  @Test
  func aWordThatIsTooLongIsBroken() throws {
    let bitmap = try Bitmap(text: String(repeating: "m", count: 100), size: 20, width: 90)
    #expect(bitmap.width <= 90 && bitmap.height > 400)
  }

  @Test
  func aWidthBelowACharacterHasOneOnEachLine() throws {
    let (line, lines) = (try Bitmap(text: "a", size: 20), try Bitmap(text: "abc", size: 20, width: 1))
    #expect(abs(lines.height - 3 * line.height) <= 3)
    // Each of the two is a character of several others.
    let (flag, family) = ("🇩🇪", "👩‍👩‍👧")
    let broken = try Bitmap(text: flag + family, size: 20, width: 1)
    #expect(try broken.content == Bitmap(text: flag + "\n" + family, size: 20).content)
  }

  @Test
  func aSpaceAtTheEndOfALineHasNoRoom() throws {
    // A line ends between the words, and both lines end at the same edge.
    let hebrew = "\u{05E9}\u{05DC}\u{05D5}\u{05DD}"
    for (short, long, alignment) in [("mm", "mmmm", .trailing), (hebrew, hebrew + hebrew, .leading)]
      as [(String, String, TextAlignment)]
    {
      let width = try Bitmap(text: long, size: 20).width
      let text = try Bitmap(text: "\(short) \(long)", size: 20, width: width + 4, alignment: alignment)
      #expect(abs(text.width - width) <= 1)
      for half in try text.halves { #expect(text.width - half.ink(above: 100).maxX < 5) }
    }
  }

  @Test
  func theAlignmentPlacesShortLines() throws {
    let places = try TextAlignment.allCases.map { alignment in
      let text = try Bitmap(text: "MMMMMMMM\nM", size: 20, alignment: alignment)
      let lower = try text.halves[1]
      return (start: lower.ink(above: 128).x, end: text.width - lower.ink(above: 128).maxX)
    }
    #expect(places[0].start < 4 && places[0].end > 80)
    #expect(abs(places[1].start - places[1].end) < 4)
    #expect(places[2].start > 80 && places[2].end < 4)
  }

  @Test
  func aTextFromRightToLeftBeginsOnTheRight() throws {
    // Hebrew: eight letters, and one.
    let text = try Bitmap(text: "\u{05E9}\u{05DC}\u{05D5}\u{05DD}\u{05E9}\u{05DC}\u{05D5}\u{05DD}\n\u{05E9}", size: 20)
    #expect(try text.halves[1].ink(above: 100).x > text.width / 2)
  }

  @Test
  func aLineWithoutLettersHasTheDirectionOfTheLineBefore() throws {
    let text = try Bitmap(text: "\u{05E9}\u{05DC}\u{05D5}\n1", size: 20)
    #expect(try text.halves[1].ink(above: 100).x > text.width / 2)
  }

  @Test
  func linesOfBothDirectionsBeginAtBothEdgesOfTheWidth() throws {
    let halves = try Bitmap(text: "ab\n\u{05E9}", size: 20, width: 200).halves
    #expect((199...202).contains(halves[0].width))
    #expect(halves[0].ink(above: 100).maxX < 100 && halves[1].ink(above: 100).x > 150)
  }

  // MARK: Bad input

  @Test(arguments: [0, -1, .nan, .infinity, -.infinity, -0.0] as [Double])
  func anImpossibleSizeIsAnError(size: Double) {
    #expect(failure { try Bitmap(text: "a", size: size) }?.code == .invalidSize)
  }

  @Test(arguments: [1e9, 65_536, 1e300, .greatestFiniteMagnitude])
  func aSizeOverTheLimitIsAnError(size: Double) {
    #expect(failure { try Bitmap(text: "a", size: size) }?.code == .overLimit)
  }

  @Test
  func aTinySizeIsOnePixel() throws {
    #expect(try Bitmap(text: "a", size: .leastNonzeroMagnitude).size == [1, 1])
  }

  @Test(arguments: [0, -1, .min])
  func anImpossibleWidthIsAnError(width: Int) {
    #expect(failure { try Bitmap(text: "a", size: 9, width: width) }?.code == .invalidSize)
  }

  @Test
  func anEmptyTextIsAnError() {
    #expect(failure { try Bitmap(text: "", size: 9) }?.code == .invalidSize)
  }

  @Test
  func aLongTextIsAnError() throws {
    let error = failure { try Bitmap(text: String(repeating: "a", count: 10_000_000), size: 9) }
    #expect(error?.code == .overLimit && error?.detail == "a text of 10000000 bytes, over the limit of 16384")
    // The longest one, in lines.
    #expect(try Bitmap(text: String(repeating: "a", count: 16_384), size: 9, width: 2000).width <= 2000)
    #expect(failure { try Bitmap(text: String(repeating: "a", count: 16_384), size: 33) }?.code == .overLimit)
  }

  @Test
  func aBitmapOverTheLimitsIsAnError() {
    // A line of more than 32,767 pixels, and many lines.
    for text in [String(repeating: "m", count: 4000), String(repeating: "\n", count: 4000)] {
      let error = failure { try Bitmap(text: text, size: 30) }
      #expect(error?.code == .overLimit && error?.limit == .side)
    }
    var limits = DecodeLimits()
    limits.outputByteCount = 1000
    #expect(failure { try Bitmap(text: "Sunset", size: 40, limits: limits) }?.limit == .outputByteCount)
    (limits.outputByteCount, limits.side) = (1 << 28, 30)
    #expect(failure { try Bitmap(text: "Sunset", size: 30, limits: limits) }?.limit == .side)
  }

  @Test
  func aTextIsNotMarkup() throws {
    let (plain, bold) = (try Bitmap(text: "a", size: 40), try Bitmap(text: "<b>a</b>", size: 40))
    #expect(bold.width > 4 * plain.width)
    #expect(throws: Never.self) { try Bitmap(text: "<b>&amp &; </i", size: 40) }
  }

  @Test
  func aNULIsAReplacementCharacter() throws {
    #expect(try Bitmap(text: "a\0b", size: 40).content == Bitmap(text: "a\u{FFFD}b", size: 40).content)
  }

  @Test(arguments: [
    "\n", " ", "\u{200B}", "\u{202E}", "\u{0301}\u{0301}\u{0301}", "\u{10FFFF}", "\u{FDFD}", "🇩🇪👩‍👩‍👧", "\t\t",
  ])
  func oddTextsHaveAPicture(text: String) throws {
    let bitmap = try Bitmap(text: text, size: 16)
    #expect(bitmap.width >= 1 && (1..<200).contains(bitmap.height))
  }

  @Test
  func threadsMakeTheSamePixels() async throws {
    let expected = try Bitmap(text: "Sunset at sea", size: 30, width: 120).content
    try await withThrowingTaskGroup(of: Bool.self) { group in
      for _ in 0..<40 {
        group.addTask { try Bitmap(text: "Sunset at sea", size: 30, width: 120).content == expected }
      }
      for try await isEqual in group { #expect(isEqual) }
    }
  }

  // MARK: On an image

  private static let gray = Bitmap.solid(SIMD4(100, 100, 100, 255), width: 200, height: 100)

  @Test(
    arguments: [
      (Anchor.topLeft, 10, 10), (.topRight, 190, 10), (.bottomLeft, 10, 90), (.bottomRight, 190, 90),
      (.center, 100, 50),
    ] as [(Anchor, Int, Int)]
  )
  func aTextIsAtItsAnchor(anchor: Anchor, x: Int, y: Int) throws {
    let result = try ImageProcessor.text("█", size: 20, at: anchor, margin: 10).process(Self.gray)

    #expect(result.alpha == .opaque && result.size == [200, 100])
    let changed = PixelRegion.around(result) { $0.x > 200 }
    // The edge of the text, or its middle, within a part of the line's height.
    func edge(_ first: Int, _ end: Int, _ share: Double) -> Double { Double(first) * (1 - share) + Double(end) * share }
    #expect(abs(edge(changed.x, changed.maxX, anchor.x) - Double(x)) < 5)
    #expect(abs(edge(changed.y, changed.maxY, anchor.y) - Double(y)) < 9)
  }

  @Test
  func aTextKeepsWithinTheMarginsUnlessAWidthSaysOtherwise() throws {
    let text = "one two three four five six"
    let narrow = try ImageProcessor.text(text, size: 12, at: .left, margin: 40).process(Self.gray)
    let wide = try ImageProcessor.text(text, size: 12, at: .left, margin: 40, width: 1000).process(Self.gray)
    let (inside, outside) = (PixelRegion.around(narrow) { $0.x > 150 }, PixelRegion.around(wide) { $0.x > 150 })
    #expect(inside.x >= 40 && inside.maxX <= 160 && outside.maxX > 160)
    #expect(inside.height > outside.height)
  }

  @Test
  func theSizeMayBeAFractionAndHavePoints() throws {
    let fraction = try ImageProcessor.text("a", size: .fraction(0.2)).process(Self.gray)
    let points = try ImageProcessor.text("a", size: .points(10)).process(Self.gray, ProcessingContext(scale: 2))
    let pixels = try ImageProcessor.text("a", size: 20).process(Self.gray)
    #expect(fraction.content == pixels.content && points.content == pixels.content)
  }

  @Test
  func aTextThatShowsNothingCopiesNothing() throws {
    for processor in [ImageProcessor.text("", size: 20), .text("a", size: 20, color: .clear)] {
      #expect(try processor.process(Self.gray).content == Self.gray.content)
      #expect(try Self.gray.isSamePixels(as: processor.process(Self.gray)))
    }
  }

  @Test
  func aTextThatIsLargerThanTheImageIsCutOff() throws {
    let result = try ImageProcessor.text("H", size: 300, at: .topLeft).process(Self.gray)
    #expect(result.size == [200, 100] && result.content != Self.gray.content)
  }

  @Test
  func anErrorNamesTheStep() {
    for processor in [
      ImageProcessor.text("a", size: 0), .text("a", size: 9, margin: -1), .text("a", size: 9, width: .pixels(.nan)),
      .text("a", size: 1e9),
    ] {
      let error = failure { try processor.process(Self.gray) }
      #expect(error?.detail.hasPrefix("text(\"a\"") == true, "\(processor)")
    }
  }

  @Test
  func aTextThatIsNoLongerWantedIsNotDrawn() {
    // Asked before the text, and wanted no longer once its lines have their places.
    let calls = Mutex(0)
    let context = ProcessingContext(isCancelled: {
      calls.withLock { calls in
        calls += 1
        return calls > 1
      }
    })
    let error = failure { try ImageProcessor.text("a", size: 9).process(Self.gray, context) }
    #expect(error?.code == .cancelled && calls.withLock { $0 } == 2)
  }

  @Test
  func identifiersTellAllParametersApart() {
    let long = String(repeating: "a", count: 70)
    let processors: [ImageProcessor] = [
      .text("a", size: 9), .text("b", size: 9), .text("a", font: .serif, size: 9), .text("a", size: 9.5),
      .text("a", font: TextFont("sans-serif", isBold: true), size: 9), .text("a", size: .points(9)),
      .text("a", font: TextFont("sans-serif", isItalic: true), size: 9), .text("a", size: 9, color: .black),
      .text("a", size: 9, at: .top), .text("a", size: 9, margin: 1), .text("a", size: 9, width: 1),
      .text("a", size: 9, alignment: .center), .text("a", size: 9, alignment: .trailing),
      .text("a\",\"sans-serif", font: "", size: 9), .text("a", font: "\",\"sans-serif", size: 9), .text("\\", size: 9),
      .text(long, size: 9), .text(long + "b", size: 9), .text("\u{E9}", size: 9), .text("e\u{301}", size: 9),
    ]
    #expect(Set(processors).count == processors.count)
    #expect(processors[0].identifier == "text(\"a\",\"sans-serif\",9px,#FFFFFF,at 1 1)")
    #expect(ImageProcessor.text("a", size: .points(9)).identifier(atScale: 2).hasSuffix("@2x"))
    #expect(processors[16].identifier.utf8.count < 120)
  }
}

extension PixelRegion {
  fileprivate var maxX: Int { x + width }
  fileprivate var maxY: Int { y + height }

  /// The smallest part with all pixels of a kind; an empty one if there is none.
  fileprivate static func around(_ bitmap: Bitmap, _ isWanted: (SIMD4<UInt8>) -> Bool) -> PixelRegion {
    var (left, right, top, bottom) = (bitmap.width, 0, bitmap.height, 0)
    for y in 0..<bitmap.height {
      for x in 0..<bitmap.width where isWanted(bitmap[x, y]) {
        (left, right, top, bottom) = (min(left, x), max(right, x + 1), min(top, y), max(bottom, y + 1))
      }
    }
    return PixelRegion(x: left, y: top, width: max(0, right - left), height: max(0, bottom - top))
  }
}

extension Bitmap {
  /// The upper half and the lower one.
  fileprivate var halves: [Bitmap] {
    get throws { try [0, height / 2].map { try cropped(x: 0, y: $0, width: width, height: height / 2) } }
  }

  fileprivate var pixels: [SIMD4<UInt8>] { (0..<height).flatMap { y in (0..<width).map { self[$0, y] } } }

  /// The smallest part with all pixels of more than a coverage.
  fileprivate func ink(above alpha: UInt8) -> PixelRegion { .around(self) { $0.w > alpha } }
}
