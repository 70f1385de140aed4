/// A part of a letter, upright and in parts of the font's size: from the baseline upwards, from the letter's start.
struct Bar {
  let left: Double
  let right: Double
  let bottom: Double
  let top: Double
}

/// A character in a font: bars in place of a letter.
struct Glyph {
  let character: Character
  /// The number of UTF-16's units.
  let length: Int
  /// The room, as a part of the font's size.
  let width: Double
  let bars: [Bar]

  var isSpace: Bool { character.isWhitespace }

  /// Whether the character is written from right to left; `nil` for one without a direction.
  var isRightToLeft: Bool? {
    guard let scalar = character.unicodeScalars.first, character.isLetter else { return nil }
    return (0x0590...0x08FF).contains(scalar.value)
  }

  init(_ character: Character, _ font: CTFont) {
    (self.character, length) = (character, character.utf16.count)
    let isBold = font.traits.contains(.traitBold)
    let width = Self.width(of: character, font) + (isBold && !font.family.isMonospaced ? 0.06 : 0)
    let bearing = isBold ? 0.03 : 0.07
    (self.width, bars) = (width, Self.bars(of: character, width, bearing, font.family))
  }

  private static func width(of character: Character, _ family: CTFont) -> Double {
    guard let scalar = character.unicodeScalars.first, !isInvisible(scalar) else { return 0 }
    if family.family.isMonospaced { return 0.6 }
    if character == "\t" { return 2 }
    if character.isWhitespace || "ijltfrI.,:;!|'".contains(character) { return 0.3 }
    // Chinese, Japanese, emoji.
    if scalar.value >= 0x2E80 { return 1 }
    return "mwMW".contains(character) ? 0.9 : 0.55
  }

  private static func bars(of character: Character, _ width: Double, _ bearing: Double, _ family: Family) -> [Bar] {
    guard width > 0, !character.isWhitespace else { return [] }
    if character == "█" { return [Bar(left: 0, right: width, bottom: -0.2, top: 0.9)] }
    let bottom = "gjpqy".contains(character) ? -0.2 : 0
    let top = "acegmnopqrsuvwxyz".contains(character) ? 0.5 : 0.7
    let foot = family.hasSerifs ? 0.1 : 0
    let stem = Bar(left: bearing, right: width - bearing, bottom: bottom + foot, top: top)
    let serif = Bar(left: bearing / 2, right: width - bearing / 2, bottom: bottom, top: bottom + foot)
    return family.hasSerifs ? [stem, serif] : [stem]
  }

  private static func isInvisible(_ scalar: Unicode.Scalar) -> Bool {
    switch scalar.properties.generalCategory {
    case .format, .nonspacingMark, .enclosingMark: true
    case .control: scalar != "\t"
    default: false
    }
  }
}
