import CoreText
import Foundation
import Testing

struct CoreTextTests {
  private static func typesetter(
    _ text: String,
    _ direction: CTWritingDirection = .leftToRight,
  ) throws -> CTTypesetter {
    let style = withUnsafePointer(to: direction) { direction in
      let setting = CTParagraphStyleSetting(spec: .baseWritingDirection, valueSize: 1, value: direction)
      return withUnsafePointer(to: setting) { CTParagraphStyleCreate($0, 1) }
    }
    let font = CTFontCreateWithName("Menlo" as CFString, 10, nil)
    let attributes: [NSAttributedString.Key: Any] = [
      NSAttributedString.Key(rawValue: kCTFontAttributeName as String): font,
      NSAttributedString.Key(rawValue: kCTParagraphStyleAttributeName as String): style,
    ]
    return try #require(
      CTTypesetterCreateWithAttributedStringAndOptions(NSAttributedString(string: text, attributes: attributes), nil)
    )
  }

  /// Returns the columns, of 6 points each, in which a line shows something.
  private static func columns(_ typesetter: CTTypesetter, _ range: Range<Int>) throws -> [Int] {
    let line = CTTypesetterCreateLine(typesetter, CFRange(location: range.lowerBound, length: range.count))
    let width = Int(CTLineGetTypographicBounds(line, nil, nil, nil).rounded())
    var pixels = [UInt8](repeating: 0, count: 4 * width * 10)
    try pixels.withUnsafeMutableBytes { pixels in
      let context = try #require(
        CGContext(
          data: pixels.baseAddress,
          width: width,
          height: 10,
          bitsPerComponent: 8,
          bytesPerRow: 4 * width,
          space: CGColorSpaceCreateDeviceRGB(),
          bitmapInfo: CGImageAlphaInfo.premultipliedLast.rawValue,
        )
      )
      context.textPosition = CGPoint(x: 0, y: 2)
      CTLineDraw(line, context)
    }
    return (0..<width / 6).filter { pixels[4 * (5 * width + 6 * $0 + 3) + 3] == 255 }
  }

  @Test
  func aLineEndsAfterTheSpaceBeforeTheWordThatDoesNotFit() throws {
    let typesetter = try Self.typesetter("ab cd efgh")
    #expect(CTTypesetterSuggestLineBreak(typesetter, 0, 30) == 6)
    #expect(CTTypesetterSuggestLineBreak(typesetter, 0, 29) == 3)
    #expect(CTTypesetterSuggestLineBreak(typesetter, 6, 100) == 4)
    // A word that is too long is not broken, except by the other call.
    #expect(CTTypesetterSuggestLineBreak(typesetter, 6, 13) == 4)
    #expect(CTTypesetterSuggestClusterBreak(typesetter, 6, 13) == 2)
    #expect(CTTypesetterSuggestClusterBreak(typesetter, 6, 1) == 0)
  }

  @Test
  func aLineMeasuresTheSpacesAtItsEnd() throws {
    let line = CTTypesetterCreateLine(try Self.typesetter("ab cd"), CFRange(location: 0, length: 3))
    var (ascent, descent) = (CGFloat(0), CGFloat(0))
    #expect(abs(CTLineGetTypographicBounds(line, &ascent, &descent, nil) - 18) < 0.01)
    #expect(abs(CTLineGetTrailingWhitespaceWidth(line) - 6) < 0.01)
    #expect(ascent == 9 && descent == 2)
  }

  @Test
  func runsFromRightToLeftAreReversed() throws {
    let text = "ab \u{05E9}\u{05DC} \u{05D5}"
    #expect(try Self.columns(Self.typesetter(text), 0..<7) == [0, 1, 3, 4, 6])
    #expect(try Self.columns(Self.typesetter(text, .rightToLeft), 0..<7) == [0, 2, 3, 5, 6])
    // The space at the end of a line is on its left.
    #expect(try Self.columns(Self.typesetter(text, .rightToLeft), 3..<6) == [1, 2])
  }
}
