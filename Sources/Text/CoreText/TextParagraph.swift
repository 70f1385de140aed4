/// A part of a text between two line breaks, and the direction in which it is written.
struct TextParagraph {
  /// The characters, without the line break.
  let text: Substring
  /// A Boolean value that indicates whether the paragraph begins on the right.
  let isRightToLeft: Bool

  /// Returns the paragraphs of a text, of which there is at least one.
  ///
  /// As in Pango, the first letter of a paragraph decides its direction. A paragraph without letters has the direction of
  /// the paragraph before it, and the first one the direction of the text's first letter.
  static func all(of text: String) -> [TextParagraph] {
    var isRightToLeft = isRightToLeft(text[...]) ?? false
    return text.split(omittingEmptySubsequences: false, whereSeparator: \.isNewline).map { part in
      isRightToLeft = self.isRightToLeft(part) ?? isRightToLeft
      return TextParagraph(text: part, isRightToLeft: isRightToLeft)
    }
  }

  /// Returns whether the first letter, or mark of direction, is written from right to left; `nil` if there is none.
  private static func isRightToLeft(_ text: Substring) -> Bool? {
    for scalar in text.unicodeScalars {
      switch scalar.value {
      case 0x200E: return false
      case 0x200F, 0x061C: return true
      default: if scalar.isLetter { return scalar.isRightToLeft }
      }
    }
    return nil
  }
}

extension Unicode.Scalar {
  fileprivate var isLetter: Bool {
    switch properties.generalCategory {
    case .uppercaseLetter, .lowercaseLetter, .titlecaseLetter, .modifierLetter, .otherLetter: true
    default: false
    }
  }

  /// A Boolean value that indicates whether a letter is written from right to left, as in Hebrew and Arabic.
  ///
  /// Unicode reserves these blocks for such scripts.
  fileprivate var isRightToLeft: Bool {
    switch value {
    case 0x0590...0x08FF, 0xFB1D...0xFDFF, 0xFE70...0xFEFF, 0x1_0800...0x1_0FFF, 0x1_E800...0x1_EFFF: true
    default: false
    }
  }
}
