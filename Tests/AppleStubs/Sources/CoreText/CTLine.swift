/// What belongs to the bounds of a line.
public struct CTLineBoundsOptions: OptionSet, Sendable {
  /// The bits.
  public let rawValue: UInt

  /// Makes options of their bits.
  public init(rawValue: UInt) { self.rawValue = rawValue }

  /// Only the outlines of letters.
  public static let useGlyphPathBounds = CTLineBoundsOptions(rawValue: 1 << 3)
}

/// A line of text.
public final class CTLine {
  let font: CTFont
  let color: CGColor
  /// The letters from left to right, with their places.
  let letters: [(glyph: Glyph, x: Double)]
  let width: Double
  let spaces: Double

  init(_ typesetter: CTTypesetter, _ range: CFRange) {
    (font, color) = (typesetter.font, typesetter.color)
    let (size, glyphs) = (typesetter.font.size, typesetter.glyphs(in: range))
    var x = 0.0
    letters = Self.ordered(glyphs, isRightToLeft: typesetter.isRightToLeft).map { glyph in
      defer { x += glyph.width * size }
      return (glyph, x)
    }
    width = x
    spaces = glyphs.reversed().prefix { $0.isSpace }.reduce(0) { $0 + $1.width * size }
  }

  /// Returns the characters in the order in which they are seen.
  ///
  /// Those without a direction have that of the paragraph. The stub knows nothing of levels and of numbers.
  private static func ordered(_ glyphs: [Glyph], isRightToLeft: Bool) -> [Glyph] {
    var runs: [(glyphs: [Glyph], isRightToLeft: Bool)] = []
    for glyph in glyphs {
      let direction = glyph.isRightToLeft ?? isRightToLeft
      if runs.last?.isRightToLeft != direction { runs.append(([], direction)) }
      runs[runs.count - 1].glyphs.append(glyph)
    }
    let parts = runs.map { $0.isRightToLeft ? $0.glyphs.reversed() : $0.glyphs }
    return Array((isRightToLeft ? parts.reversed() : parts).joined())
  }

  /// The outlines, counted from the line's start and its baseline, with the leaning of the font.
  var outlines: [(bar: Bar, slant: Double)] {
    letters.flatMap { letter in
      letter.glyph.bars.map { bar in
        let scaled = Bar(
          left: letter.x + bar.left * font.size,
          right: letter.x + bar.right * font.size,
          bottom: bar.bottom * font.size,
          top: bar.top * font.size,
        )
        return (scaled, font.slant)
      }
    }
  }
}

/// Returns the width of a line, with spaces at its end, and writes its heights.
public func CTLineGetTypographicBounds(
  _ line: CTLine,
  _ ascent: UnsafeMutablePointer<CGFloat>?,
  _ descent: UnsafeMutablePointer<CGFloat>?,
  _ leading: UnsafeMutablePointer<CGFloat>?,
) -> Double {
  ascent?.pointee = CTFontGetAscent(line.font)
  descent?.pointee = CTFontGetDescent(line.font)
  leading?.pointee = CTFontGetLeading(line.font)
  return line.width
}

/// Returns the width of the spaces at the end of a line.
public func CTLineGetTrailingWhitespaceWidth(_ line: CTLine) -> Double { line.spaces }

/// Returns the box around the outlines, counted from the start of the baseline; the stub has no other.
public func CTLineGetBoundsWithOptions(_ line: CTLine, _ options: CTLineBoundsOptions) -> CGRect {
  precondition(options == .useGlyphPathBounds)
  return line.outlines.reduce(CGRect.null) { box, outline in
    let (bar, lower, upper) = (outline.bar, outline.slant * outline.bar.bottom, outline.slant * outline.bar.top)
    let (left, right) = (bar.left + min(lower, upper), bar.right + max(lower, upper))
    return box.union(CGRect(x: left, y: bar.bottom, width: right - left, height: bar.top - bar.bottom))
  }
}

/// Draws a line at the context's place of text.
public func CTLineDraw(_ line: CTLine, _ context: CGContext) {
  let (start, baseline) = (Double(context.textPosition.x), Double(context.textPosition.y))
  for (bar, slant) in line.outlines {
    // Rows and columns of pixels, counted from the top left.
    let reach = (slant * bar.bottom, slant * bar.top)
    let columns = pixels(start + bar.left + min(reach.0, reach.1), start + bar.right + max(reach.0, reach.1))
    let bottom = Double(context.height) - baseline - bar.bottom
    for row in pixels(bottom - (bar.top - bar.bottom), bottom) {
      let coverage = columns.map { column in
        // Four parts of the row.
        (0..<4).reduce(0.0) { sum, part in
          let y = Double(context.height) - baseline - Double(row) - (Double(part) + 0.5) / 4
          guard y >= bar.bottom, y < bar.top else { return sum }
          let (left, right) = (start + bar.left + slant * y, start + bar.right + slant * y)
          return sum + max(0, min(right, Double(column) + 1) - max(left, Double(column))) / 4
        }
      }
      context._draw(line.color, row: row, from: columns.lowerBound, coverage: coverage)
    }
  }
}

/// Returns the pixels that a stretch touches.
private func pixels(_ start: Double, _ end: Double) -> Range<Int> {
  Int(start.rounded(.down))..<max(Int(start.rounded(.down)), Int(end.rounded(.up)))
}
