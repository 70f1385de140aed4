/// Breaks a string into lines.
///
/// The stub has one font for all of the string.
public final class CTTypesetter {
  let font: CTFont
  let color: CGColor
  let isRightToLeft: Bool
  private let glyphs: [Glyph]

  init?(_ string: CFAttributedString) {
    // A character with a thousand accents is too much work for the stub.
    guard string.length > 0, string.string.allSatisfy({ $0.utf16.count < 1000 }) else { return nil }
    let attributes = string.attributes(at: 0, effectiveRange: nil)
    func attribute<T>(_ name: CFString, _ type: T.Type) -> T? {
      attributes[NSAttributedString.Key(rawValue: name as String)] as? T
    }
    font = attribute(kCTFontAttributeName, CTFont.self) ?? CTFont(.system, 12)
    color =
      attribute(kCTForegroundColorAttributeName, CGColor.self) ?? CGColor(srgbRed: 0, green: 0, blue: 0, alpha: 1)
    isRightToLeft = attribute(kCTParagraphStyleAttributeName, CTParagraphStyle.self)?.direction == .rightToLeft
    glyphs = string.string.map { [font] in Glyph($0, font) }
  }

  /// Returns the characters that begin in a range of UTF-16's units.
  func glyphs(in range: CFRange) -> [Glyph] {
    var place = 0
    return glyphs.filter { glyph in
      defer { place += glyph.length }
      return place >= range.location && place < range.location + range.length
    }
  }

  /// Returns the length of the characters that fit into a width, without the spaces at their end.
  ///
  /// Whole words, of which the first may be longer, or any characters.
  func length(from start: Int, _ width: Double, wholeWords: Bool) -> Int {
    var (place, right, end) = (0, 0.0, 0)
    for glyph in glyphs(in: CFRange(location: start, length: .max - start)) {
      right += glyph.width * font.size
      if !glyph.isSpace, right > width, end > 0 || !wholeWords { return end }
      place += glyph.length
      if glyph.isSpace || !wholeWords { end = place }
    }
    return place
  }
}

/// Makes a typesetter; `nil` for a string that would take unreasonably long.
public func CTTypesetterCreateWithAttributedStringAndOptions(
  _ string: CFAttributedString,
  _ options: CFDictionary?,
) -> CTTypesetter? { CTTypesetter(string) }

/// Returns the length of the line that begins at a place.
///
/// A word that is too long is a line that is too long, which the documentation does not exclude.
public func CTTypesetterSuggestLineBreak(
  _ typesetter: CTTypesetter,
  _ startIndex: CFIndex,
  _ width: Double,
) -> CFIndex { typesetter.length(from: startIndex, width, wholeWords: true) }

/// Returns the length of the line that begins at a place and may end within a word; 0 if no character fits.
public func CTTypesetterSuggestClusterBreak(
  _ typesetter: CTTypesetter,
  _ startIndex: CFIndex,
  _ width: Double,
) -> CFIndex { typesetter.length(from: startIndex, width, wholeWords: false) }

/// Makes a line of a part of the string.
public func CTTypesetterCreateLine(_ typesetter: CTTypesetter, _ stringRange: CFRange) -> CTLine {
  CTLine(typesetter, stringRange)
}
