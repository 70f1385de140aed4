public import VitrineImaging
import VitrineRuntime

extension Bitmap {
  /// Makes a bitmap of a text, which is as large as its lines.
  ///
  /// ```swift
  /// let title = try Bitmap(text: "Sunset", font: .serif, size: 48, color: .white, width: 600)
  /// ```
  /// The text is plain text of any language: no character of it is markup. A line ends at a line break, and at the last
  /// space before `width`, or within a word that is longer. A NUL is shown as U+FFFD. Outside the letters the bitmap is
  /// transparent; it has straight alpha, in sRGB. Pixels depend on the fonts of the machine.
  ///
  /// Blocks until done. On Linux the longest text takes some tens of milliseconds, and half a second if all of it is line
  /// breaks or accents. CoreText refuses a text that would take it unreasonably long.
  ///
  /// - Parameters:
  ///   - text: The text, of 1 to 16,384 bytes in UTF-8.
  ///   - font: The font. Defaults to ``TextFont/sansSerif``.
  ///   - size: The size of the font, in pixels: about the distance of two lines. It is at most `DecodeLimits.side`, and at
  ///     most 524,288 pixels divided by the bytes of the text.
  ///   - color: The colour of letters. Emoji have colours of their own. Defaults to black.
  ///   - width: The width at which lines end, in pixels, at least 1. Defaults to `nil`: any.
  ///   - alignment: The place of lines that are shorter than others. Defaults to `leading`.
  ///   - limits: The limits of the bitmap: `side`, of which no more than 32,767 is used, and `outputByteCount`. Defaults to
  ///     the defaults of `DecodeLimits`.
  /// - Throws: `ImageError` of code `.invalidSize` for an empty text, a size that is not positive and finite, and a width
  ///   below 1; `.overLimit` for a text, a size or a bitmap over the limits; `.processingFailed` if the machine has no fonts,
  ///   memory is short or CoreText refuses the text.
  public init(
    text: String,
    font: TextFont = .sansSerif,
    size: Double,
    color: PixelColor = .black,
    width: Int? = nil,
    alignment: TextAlignment = .leading,
    limits: DecodeLimits = DecodeLimits(),
  ) throws(ImageError) {
    guard !text.isEmpty else { throw ImageError(.invalidSize, "the text is empty") }
    guard size.isFinite, size > 0 else {
      throw ImageError(.invalidSize, "the size of the font, \(size), is not positive and finite")
    }
    if let width, width < 1 { throw ImageError(.invalidSize, "the width of the text, \(width), is below 1") }
    let byteCount = text.utf8.count
    guard byteCount <= TextLimits.byteCount else {
      throw ImageError(.overLimit, "a text of \(byteCount) bytes, over the limit of \(TextLimits.byteCount)")
    }
    guard size <= Double(limits.side), size * Double(byteCount) <= TextLimits.length else {
      let text = "a text of \(byteCount) bytes"
      throw ImageError(.overLimit, limit: .side, "\(text) with a font of \(size) pixels, over the limit")
    }
    let layout = try TextLayout(
      text.contains("\0") ? String(text.map { $0 == "\0" ? "\u{FFFD}" : $0 }) : text,
      font,
      size: size,
      color: color,
      width: width.map { min($0, TextLimits.width) },
      alignment,
    )
    var limits = limits
    limits.side = min(limits.side, TextLimits.side)
    try limits.check(processedWidth: Double(layout.width), height: Double(layout.height))
    self = try Bitmap.writing(width: layout.width, height: layout.height, alpha: .straight, colorSpace: .sRGB) {
      (pixels) throws(ImageError) in
      pixels.clear()
      try layout.draw(into: pixels)
      pixels.unpremultiply()
    }
  }
}

/// Limits within which libraries lay out text in numbers of 32 bits.
private enum TextLimits {
  /// The maximum length of a text, in bytes: a few thousand words.
  static let byteCount = 16_384
  /// The maximum length of a text times the size of its font, in pixels.
  ///
  /// Pango counts in 1,024ths of a pixel, so a line may have 2,097,151 pixels. No font has characters as wide or high as
  /// four times its size for each of their bytes.
  static let length = 524_288.0
  /// The maximum width at which lines end, in pixels; no line is as long.
  static let width = 2_000_000
  /// The maximum length of a side of cairo's bitmaps, in pixels, and the same with CoreText.
  static let side = 32_767
}
