/// A value of an operation, as it has been read.
package enum OperationValue: Sendable, Hashable {
  case number(Double)
  case flag(Bool)
  case text(String)
  case texts([String])
  case color(PixelColor)
  case place(Gravity.Place)
  case gravity(Gravity)

  /// The value in the syntax of URLs.
  var text: String {
    switch self {
    case .number(let number): DecimalText.of(number)
    case .flag(let flag): flag ? "1" : "0"
    case .text(let text): text
    case .texts(let texts): texts.joined(separator: ":")
    case .color(let color): String(color.description.dropFirst())
    case .place(let place): place.rawValue
    case .gravity(let gravity): gravity.text
    }
  }
}

/// The values of an operation by the names of its parameters.
package struct OperationValues: Sendable, Hashable {
  private var byName: [String: OperationValue] = [:]

  package subscript(_ name: String) -> OperationValue? {
    get { byName[name] }
    set { byName[name] = newValue }
  }

  /// The number of the name, if there is one.
  package func number(_ name: String) -> Double? { if case .number(let number) = byName[name] { number } else { nil } }

  /// The number of a parameter that has a default; 0 if there is none.
  func amount(_ name: String) -> Double { number(name) ?? 0 }

  package func flag(_ name: String) -> Bool { byName[name] == .flag(true) }

  package func text(_ name: String) -> String? { if case .text(let text) = byName[name] { text } else { nil } }

  package func texts(_ name: String) -> [String] { if case .texts(let texts) = byName[name] { texts } else { [] } }

  func color(_ name: String) -> PixelColor? { if case .color(let color) = byName[name] { color } else { nil } }

  func place(_ name: String) -> Gravity.Place? { if case .place(let place) = byName[name] { place } else { nil } }

  func gravity(_ name: String) -> Gravity? { if case .gravity(let gravity) = byName[name] { gravity } else { nil } }
}
