public import VitrineImaging
import VitrineRuntime

extension ImageProcessor {
  /// Writes a text on the image, for example a caption or a credit.
  ///
  /// ```swift
  /// request.processors = [.text("© Ada", size: .fraction(0.04), color: .white, at: .bottomRight, margin: 16)]
  /// ```
  /// ``VitrineImaging/Bitmap/init(text:font:size:color:width:alignment:limits:)`` lays it out. The part of it outside the
  /// image is cut off. An empty text changes nothing. The identifier has the text and all parameters, but not
  /// the fonts of the machine: caches that machines share should do so only among machines with the same fonts.
  ///
  /// - Parameters:
  ///   - text: The text, of at most 16,384 bytes in UTF-8.
  ///   - font: The font. Defaults to ``TextFont/sansSerif``.
  ///   - size: The size of the font. A fraction is one of the shorter side.
  ///   - color: The colour of letters. Defaults to white.
  ///   - anchor: The place: the part of the free space to the left of the text, and above. Defaults to the bottom right.
  ///   - margin: The distance to the edges of the image. A fraction is one of the shorter side. Defaults to none.
  ///   - width: The width at which lines end. A fraction is one of the image's width. Defaults to `nil`: the image's width
  ///     without the margins.
  ///   - alignment: The place of lines that are shorter than others. Defaults to `leading`.
  /// - Returns: The processor.
  public static func text(
    _ text: String,
    font: TextFont = .sansSerif,
    size: Length,
    color: PixelColor = .white,
    at anchor: Anchor = .bottomRight,
    margin: Length = .zero,
    width: Length? = nil,
    alignment: TextAlignment = .leading,
  ) -> ImageProcessor {
    let style = (font.isBold ? ["bold"] : []) + (font.isItalic ? ["italic"] : [])
    return ImageProcessor(
      "text",
      [name(of: text), name(of: font.family)] + style + ["\(size)", "\(color)", StepName.anchor(anchor)]
        + (margin == .zero ? [] : ["margin \(margin)"]) + (width.map { ["width \($0)"] } ?? [])
        + (alignment == .leading ? [] : ["\(alignment)"]),
      lengths: [size, margin] + (width.map { [$0] } ?? []),
    ) { bitmap, context throws(ImageError) in
      guard !text.isEmpty, color.alpha > 0 else { return bitmap }
      let shorter = min(bitmap.width, bitmap.height)
      let margin = try context.pixels(margin, of: shorter, "margin")
      let (freeWidth, freeHeight) = (Double(bitmap.width) - 2 * margin, Double(bitmap.height) - 2 * margin)
      let most = try width.map { (width) throws(ImageError) in try context.pixels(width, of: bitmap.width, "width") }
      let letters = try Bitmap(
        text: text,
        font: font,
        size: try context.pixels(size, of: shorter, "size"),
        color: color,
        width: max(1, Int(most ?? freeWidth)),
        alignment: alignment,
        limits: context.limits,
      )
      try context.checkCancellation()
      let left = margin + (freeWidth - Double(letters.width)) * anchor.x
      let upper = margin + (freeHeight - Double(letters.height)) * anchor.y
      return try bitmap.covered(
        by: letters.converted(to: bitmap.colorSpace),
        x: Int(left.rounded()),
        y: Int(upper.rounded()),
        context,
      )
    }
  }

  /// Returns a text in quotation marks, or the hash of a long one, which has none.
  private static func name(of text: String) -> String {
    guard text.utf8.count > 64 else { return text.debugDescription }
    return SHA256.hash(text.utf8).hexDigits
  }
}
