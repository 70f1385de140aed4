/// A font: a family and a style.
///
/// ```swift
/// TextFont("DejaVu Serif", isBold: true)
/// ```
/// Characters that the font lacks, and all characters if the machine has no such family, are drawn with other fonts, which
/// the system chooses. A literal is a family.
public struct TextFont: Hashable, Sendable, ExpressibleByStringLiteral {
  /// The name of the family.
  public var family: String
  /// A Boolean value that indicates whether the letters are bold.
  ///
  /// Defaults to `false`.
  public var isBold: Bool
  /// A Boolean value that indicates whether the letters are italic, or slanted where the family has no italics.
  ///
  /// Defaults to `false`.
  public var isItalic: Bool

  /// Makes a font.
  public init(_ family: String, isBold: Bool = false, isItalic: Bool = false) {
    (self.family, self.isBold, self.isItalic) = (family, isBold, isItalic)
  }

  /// Makes a regular font of a family.
  public init(stringLiteral family: String) { self.init(family) }

  /// The system's font without serifs.
  public static let sansSerif = TextFont("sans-serif")
  /// The system's font with serifs.
  public static let serif = TextFont("serif")
  /// The system's font whose characters have one width.
  public static let monospaced = TextFont("monospace")
}

/// The place of lines that are shorter than others of the same text.
public enum TextAlignment: Int, Hashable, Sendable, CaseIterable {
  /// Where the text begins: on the left, or on the right if it is written from right to left.
  case leading
  /// In the middle.
  case center
  /// Where the text ends.
  case trailing
}
