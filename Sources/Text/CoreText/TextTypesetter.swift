import CoreGraphics
import CoreText
import VitrineImaging
import VitrineRuntime

/// A line of a text: its letters, its measures and its place, in pixels.
struct TextLine {
  /// The letters; `nil` for an empty line.
  let letters: CTLine?
  let isRightToLeft: Bool
  /// The width without spaces at the end.
  let width: Double
  /// The width of spaces at the end.
  let spaces: Double
  let ascent: Double
  let height: Double
  /// The box around the letters' outlines, counted from the start of the baseline upwards; `nil` if they have none.
  let ink: CGRect?
  /// The place of the letters' left end.
  var x = 0.0
  /// The place of their baseline, counted downwards.
  var baseline = 0.0
}

/// Breaks paragraphs into lines.
struct TextTypesetter {
  private let font: CTFont
  private let color: CGColor
  private let width: Double?

  /// Makes a typesetter of a font, a colour and a width at which lines end.
  init(_ font: CTFont, _ color: PixelColor, width: Double?) {
    (self.font, self.width) = (font, width)
    self.color = CGColor(
      srgbRed: CGFloat(color.red) / 255,
      green: CGFloat(color.green) / 255,
      blue: CGFloat(color.blue) / 255,
      alpha: CGFloat(color.alpha) / 255,
    )
  }

  /// Returns the lines of a paragraph, of which there is at least one.
  func lines(of paragraph: TextParagraph) throws(ImageError) -> [TextLine] {
    guard !paragraph.text.isEmpty else { return [line(nil, paragraph)] }
    let text = String(paragraph.text)
    let attributes: [NSAttributedString.Key: Any] = [
      NSAttributedString.Key(rawValue: kCTFontAttributeName as String): font,
      NSAttributedString.Key(rawValue: kCTForegroundColorAttributeName as String): color,
      NSAttributedString.Key(rawValue: kCTParagraphStyleAttributeName as String): style(paragraph),
    ]
    let string = NSAttributedString(string: text, attributes: attributes)
    // Without options CoreText refuses a text that would take it unreasonably long.
    guard let typesetter = CTTypesetterCreateWithAttributedStringAndOptions(string as CFAttributedString, nil) else {
      throw ImageError(.processingFailed, "CoreText refuses to lay out the text, as too much work")
    }
    var (lines, start) = ([TextLine](), 0)
    while start < string.length {
      let next = nextLine(typesetter, text, start..<string.length, paragraph)
      lines.append(next.line)
      start += next.count
    }
    return lines
  }

  /// Returns a line that begins at an offset in UTF-16, and its length, at least 1.
  private func nextLine(
    _ typesetter: CTTypesetter,
    _ text: String,
    _ rest: Range<Int>,
    _ paragraph: TextParagraph,
  ) -> (line: TextLine, count: Int) {
    func made(_ count: Int) -> (line: TextLine, count: Int) {
      let range = CFRange(location: rest.lowerBound, length: count)
      return (line(CTTypesetterCreateLine(typesetter, range), paragraph), count)
    }
    guard let width else { return made(rest.count) }
    // A width below one character has that character.
    func limited(_ count: Int) -> Int {
      let first = text[String.Index(utf16Offset: rest.lowerBound, in: text)...].first
      return min(count > 0 ? count : first?.utf16.count ?? 1, rest.count)
    }
    let whole = made(limited(CTTypesetterSuggestLineBreak(typesetter, rest.lowerBound, width)))
    guard whole.line.width > width else { return whole }
    // A word longer than the width.
    return made(limited(CTTypesetterSuggestClusterBreak(typesetter, rest.lowerBound, width)))
  }

  /// Measures a line, which is at least as high as the font.
  private func line(_ letters: CTLine?, _ paragraph: TextParagraph) -> TextLine {
    var (ascent, descent, leading) = (CGFloat(0), CGFloat(0), CGFloat(0))
    var (width, spaces, ink) = (0.0, 0.0, CGRect.null)
    if let letters {
      // CoreText writes the three numbers before it returns.
      width = unsafe CTLineGetTypographicBounds(letters, &ascent, &descent, &leading)
      spaces = CTLineGetTrailingWhitespaceWidth(letters)
      ink = CTLineGetBoundsWithOptions(letters, .useGlyphPathBounds)
    }
    (ascent, descent) = (max(ascent, CTFontGetAscent(font)), max(descent, CTFontGetDescent(font)))
    leading = max(leading, CTFontGetLeading(font))
    return TextLine(
      letters: letters,
      isRightToLeft: paragraph.isRightToLeft,
      width: max(0, width - spaces),
      spaces: spaces,
      ascent: Double(ascent),
      height: Double(ascent + descent + leading),
      ink: ink.isEmpty || ink.isInfinite ? nil : ink,
    )
  }

  /// Returns the style that tells CoreText the direction of a paragraph.
  private func style(_ paragraph: TextParagraph) -> CTParagraphStyle {
    let direction = paragraph.isRightToLeft ? CTWritingDirection.rightToLeft : .leftToRight
    // Both pointers are valid during the call, in which CoreText copies the direction.
    return unsafe withUnsafePointer(to: direction) { direction in
      let setting = unsafe CTParagraphStyleSetting(
        spec: .baseWritingDirection,
        valueSize: MemoryLayout<CTWritingDirection>.size,
        value: direction,
      )
      return unsafe withUnsafePointer(to: setting) { unsafe CTParagraphStyleCreate($0, 1) }
    }
  }
}
