import VitrineImaging
import VitrineRuntime

/// A length of CSS (CSS Values 4, 6) that is written in the start tag of a drawing.
struct SVGLength {
  private let number: Double
  private let unit: String

  /// Reads a property of the tag, which its style has before its attributes have it; `nil` without a length.
  init?(_ property: String, of root: XMLRoot) {
    guard let text = Self.styled(property, root.attribute("style")) ?? root.attribute(property).map(Self.dense) else {
      return nil
    }
    // The longest number, since `e` may begin an exponent or a unit.
    let digits = text.prefix { $0.isNumber || "+-.eE".contains($0) }
    for end in digits.indices.reversed() {
      // A point needs a digit behind it.
      guard digits[end] != ".", let number = Double(digits[...end]) else { continue }
      (self.number, unit) = (number, text[digits.index(after: end)...].lowercased())
      return
    }
    return nil
  }

  private static func styled(_ property: String, _ style: String?) -> String? {
    var value: String?
    for declaration in (style ?? "").split(separator: ";") {
      let parts = declaration.split(separator: ":", maxSplits: 1)
      if parts.count == 2, dense(parts[0]) == property { value = dense(parts[1]) }
    }
    return value
  }

  private static func dense(_ text: some StringProtocol) -> String { String(text.filter { !$0.isWhitespace }) }

  /// Returns the length in pixels of 1/96 inch, where fonts have these sizes; `nil` if it is one of something else.
  func pixels(fontSize: Double, rootSize: Double) -> Double? {
    switch unit {
    case "", "px": number
    case "in": number * 96
    case "cm": number * 96 / 2.54
    case "mm": number * 96 / 25.4
    case "q": number * 96 / 101.6
    case "pt": number * 96 / 72
    case "pc": number * 96 / 6
    case "em": number * fontSize
    // The height of an x in DejaVu, to the pixel, as browsers have it on a system with these fonts.
    case "ex": number * (fontSize * 0.547).rounded()
    case "rem": number * rootSize
    default: nil
    }
  }
}
