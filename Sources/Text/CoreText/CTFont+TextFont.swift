import CoreGraphics
import CoreText
import VitrineRuntime

extension CTFont {
  /// Returns the font of a family and a style, or one of the system's if it has no such family.
  static func matching(_ font: TextFont, size: Double) -> CTFont {
    // CoreText takes a size of 0 for one of 12 points. Pango counts in 1,024ths of a pixel.
    let size = CGFloat(max(size, 1 / 1024))
    var result = family(font.family, size: size)
    // A family may lack either style.
    if font.isBold { result = result.with(.traitBold) ?? result }
    if font.isItalic { result = result.with(.traitItalic) ?? result.slanted() }
    return result
  }

  private static func family(_ name: String, size: CGFloat) -> CTFont {
    switch name {
    case TextFont.sansSerif.family: system(.system, size: size)
    case TextFont.monospaced.family: system(.userFixedPitch, size: size)
    case TextFont.serif.family: installed("Times New Roman", size: size) ?? system(.system, size: size)
    default: installed(name, size: size) ?? system(.system, size: size)
    }
  }

  private static func system(_ type: CTFontUIFontType, size: CGFloat) -> CTFont {
    CTFontCreateUIFontForLanguage(type, size, nil) ?? CTFontCreateWithName("Helvetica" as CFString, size, nil)
  }

  /// Returns a font of a family; `nil` if the system has none of this name.
  private static func installed(_ family: String, size: CGFloat) -> CTFont? {
    let wanted = CTFontDescriptorCreateWithAttributes([kCTFontFamilyNameAttribute: family as CFString] as CFDictionary)
    let mandatory: Set<CFString> = [kCTFontFamilyNameAttribute]
    // Without a mandatory attribute any font would do.
    return CTFontDescriptorCreateMatchingFontDescriptor(wanted, mandatory as CFSet).map {
      CTFontCreateWithFontDescriptor($0, size, nil)
    }
  }

  /// Returns a font of the same family with a style; `nil` if the family has none.
  private func with(_ style: CTFontSymbolicTraits) -> CTFont? {
    CTFontCreateCopyWithSymbolicTraits(self, CTFontGetSize(self), nil, style, style)
  }

  /// Returns the font with letters that lean to the right by a fifth of their height.
  private func slanted() -> CTFont {
    var matrix = CGAffineTransform(a: 1, b: 0, c: 0.2, d: 1, tx: 0, ty: 0)
    // CoreText copies the matrix.
    return unsafe CTFontCreateCopyWithAttributes(self, CTFontGetSize(self), &matrix, nil)
  }
}
