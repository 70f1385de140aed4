/// A font of the system's user interface.
public enum CTFontUIFontType: UInt32, Sendable {
  /// The font of documents whose characters have one width.
  case userFixedPitch = 1
  /// The font of the system.
  case system
}

/// The style of a font.
public struct CTFontSymbolicTraits: OptionSet, Sendable {
  /// The bits.
  public let rawValue: UInt32

  /// Makes a style of its bits.
  public init(rawValue: UInt32) { self.rawValue = rawValue }

  /// Letters that lean to the right.
  public static let traitItalic = CTFontSymbolicTraits(rawValue: 1)
  /// Bold letters.
  public static let traitBold = CTFontSymbolicTraits(rawValue: 2)
}

/// The name of a family: an attribute of fonts.
public var kCTFontFamilyNameAttribute: CFString { "NSFontFamilyAttribute" as NSString }

/// A family of fonts that the stub has.
struct Family {
  let name: String
  var styles: CTFontSymbolicTraits = [.traitBold, .traitItalic]
  var isMonospaced = false
  var hasSerifs = false
  var leading = 0.0

  static let system = Family(name: ".AppleSystemUIFont")
  static let fixedPitch = Family(name: "Menlo", isMonospaced: true)
  /// All families, of which the last has but one style, as on a Mac.
  static let all = [
    system, fixedPitch, Family(name: "Times New Roman", hasSerifs: true, leading: 0.04),
    Family(name: "Papyrus", styles: [], hasSerifs: true),
  ]
}

/// A font at a size.
public final class CTFont {
  let family: Family
  let size: Double
  let traits: CTFontSymbolicTraits
  /// How far letters lean to the right, as a part of their height.
  let slant: Double

  init(_ family: Family, _ size: Double, _ traits: CTFontSymbolicTraits = [], matrix: CGAffineTransform? = nil) {
    // As documented: 0 is a size of 12 points.
    (self.family, self.size, self.traits) = (family, size == 0 ? 12 : size, traits)
    slant = (traits.contains(.traitItalic) ? 0.2 : 0) + Double(matrix?.c ?? 0)
  }
}

/// Attributes by which fonts are found.
public final class CTFontDescriptor {
  let family: String?

  init(family: String?) { self.family = family }
}

/// Makes a description of attributes.
public func CTFontDescriptorCreateWithAttributes(_ attributes: CFDictionary) -> CTFontDescriptor {
  CTFontDescriptor(family: attributes[kCTFontFamilyNameAttribute] as? String)
}

/// Returns the description of a font that the system has; `nil` if no font has the mandatory attributes.
public func CTFontDescriptorCreateMatchingFontDescriptor(
  _ descriptor: CTFontDescriptor,
  _ mandatoryAttributes: CFSet?,
) -> CTFontDescriptor? {
  if Family.all.contains(where: { $0.name == descriptor.family }) { return descriptor }
  let isMandatory = mandatoryAttributes?.contains(kCTFontFamilyNameAttribute) ?? false
  return isMandatory ? nil : CTFontDescriptor(family: Family.system.name)
}

/// Makes a font of a description, or the system's.
public func CTFontCreateWithFontDescriptor(
  _ descriptor: CTFontDescriptor,
  _ size: CGFloat,
  _ matrix: UnsafePointer<CGAffineTransform>?,
) -> CTFont {
  CTFont(Family.all.first { $0.name == descriptor.family } ?? .system, size, matrix: matrix?.pointee)
}

/// Makes a font with a name, or the system's.
public func CTFontCreateWithName(
  _ name: CFString,
  _ size: CGFloat,
  _ matrix: UnsafePointer<CGAffineTransform>?,
) -> CTFont {
  CTFontCreateWithFontDescriptor(CTFontDescriptor(family: name as String), size, matrix)
}

/// Returns a font of the system's user interface.
public func CTFontCreateUIFontForLanguage(
  _ uiType: CTFontUIFontType,
  _ size: CGFloat,
  _ language: CFString?,
) -> CTFont? {
  CTFont(uiType == .system ? .system : .fixedPitch, size)
}

/// Returns a font of the same family with other styles, those of a mask; `nil` if the family lacks one.
public func CTFontCreateCopyWithSymbolicTraits(
  _ font: CTFont,
  _ size: CGFloat,
  _ matrix: UnsafePointer<CGAffineTransform>?,
  _ symTraitValue: CTFontSymbolicTraits,
  _ symTraitMask: CTFontSymbolicTraits,
) -> CTFont? {
  let traits = font.traits.subtracting(symTraitMask).union(symTraitValue.intersection(symTraitMask))
  guard font.family.styles.isSuperset(of: traits) else { return nil }
  return CTFont(font.family, size == 0 ? font.size : size, traits, matrix: matrix?.pointee)
}

/// Returns the same font with another size or matrix; the stub ignores attributes.
public func CTFontCreateCopyWithAttributes(
  _ font: CTFont,
  _ size: CGFloat,
  _ matrix: UnsafePointer<CGAffineTransform>?,
  _ attributes: CTFontDescriptor?,
) -> CTFont { CTFont(font.family, size == 0 ? font.size : size, font.traits, matrix: matrix?.pointee) }

/// Returns the size.
public func CTFontGetSize(_ font: CTFont) -> CGFloat { CGFloat(font.size) }

/// Returns the height above the baseline.
public func CTFontGetAscent(_ font: CTFont) -> CGFloat { CGFloat(0.9 * font.size) }

/// Returns the depth below the baseline.
public func CTFontGetDescent(_ font: CTFont) -> CGFloat { CGFloat(0.2 * font.size) }

/// Returns the distance of two lines.
public func CTFontGetLeading(_ font: CTFont) -> CGFloat { CGFloat(font.family.leading * font.size) }
