/// A parameter of an operation: what it takes, its unit and its default.
package struct OperationParameter: Sendable {
  /// The texts that a parameter takes.
  package enum Kind: Sendable {
    /// A number with at most six decimal places.
    case number(ClosedRange<Double>)
    case whole(ClosedRange<Int>, multipleOf: Int = 1)
    case flag
    case choice([String])
    /// Three, six or eight hexadecimal digits; with components, also three numbers.
    case color(hasComponents: Bool)
    /// A place, or the pattern in which a picture is repeated.
    case placeOrPattern
    /// A place with distances, or a focus point; where an image is cropped, also the part that shows the most.
    case gravity(crops: Bool)
    /// A text, which the description describes.
    case text(String)
    /// As many texts as there are, up to a number.
    case texts(String, Int)
  }

  /// The unit of a number.
  package enum Unit: String, Sendable {
    case pixels = " px"
    case degrees = "°"
    case seconds = " s"
    case none = ""
  }

  /// The places where operations are named.
  package enum Site: Sendable {
    case url, shell
  }

  /// The name, as errors and tables have it.
  package let name: String
  package let kind: Kind
  package let unit: Unit
  /// The default, for a value that is left out.
  package let initial: OperationValue?
  /// The only place where the parameter is taken; `nil` for both.
  package let site: Site?

  package init(
    _ name: String,
    _ kind: Kind,
    _ unit: Unit = .none,
    initially initial: OperationValue? = nil,
    only site: Site? = nil,
  ) {
    (self.name, self.kind, self.unit, self.initial, self.site) = (name, kind, unit, initial, site)
  }

  /// The maximum number of pieces between colons that the parameter takes.
  var pieces: Int {
    switch kind {
    case .number, .whole, .flag, .choice, .placeOrPattern, .text: 1
    case .color(let hasComponents): hasComponents ? 3 : 1
    case .gravity: 3
    case .texts(_, let count): count
    }
  }

  /// The texts that the parameter takes, for errors and tables.
  package var expected: String {
    switch kind {
    case .number(let range): "a number from \(DecimalText.of(range.lowerBound)) to \(DecimalText.of(range.upperBound))"
    case .whole(let range, let step):
      "a \(step == 1 ? "number" : "multiple of \(step)") from \(range.lowerBound) to \(range.upperBound)"
    case .flag: "1 or 0"
    case .choice(let names): "one of \(names.joined(separator: ", "))"
    case .color: "a color of 6 hexadecimal digits"
    case .placeOrPattern: "one of \(Self.places), \(WatermarkLayout.Pattern.names.joined(separator: ", "))"
    case .gravity(let crops): "one of \(Self.places)\(crops ? ", sm" : ""), fp:x:y"
    case .text(let description), .texts(let description, _): description
    }
  }

  private static let places = Gravity.Place.allCases.map(\.rawValue).joined(separator: ", ")
  /// The range of distances, in pixels.
  static let distances = -65_535.0...65_535.0

  /// A piece of text that a parameter does not take.
  package struct Mismatch: Error {
    package let expected: String
    package let given: String
  }

  /// Reads the value at the front of the pieces, and removes them; `nil` for an empty piece, or none.
  ///
  /// All that is left of the pieces belongs to a gravity, to components and to texts, which are the last of a row.
  func read(_ pieces: inout ArraySlice<String>) throws(Mismatch) -> OperationValue? {
    switch kind {
    case .gravity(let crops): return try gravity(&pieces, crops: crops)
    case .texts:
      defer { pieces = [] }
      return .texts(Array(pieces))
    case .color(true) where pieces.count >= 3 && pieces.first != "": return try components(&pieces)
    default: break
    }
    guard let text = pieces.popFirst(), !text.isEmpty else { return nil }
    guard let value = value(text) else {
      let hint = if case .number = kind { " with at most six decimal places" } else { "" }
      throw Mismatch(expected: expected + hint, given: text)
    }
    return value
  }

  /// Returns the value of a piece.
  private func value(_ text: String) -> OperationValue? {
    switch kind {
    case .number(let range): DecimalText.number(text).flatMap { range.contains($0) ? .number($0) : nil }
    case .whole(let range, let step):
      DecimalText.whole(text).flatMap { range.contains($0) && $0.isMultiple(of: step) ? .number(Double($0)) : nil }
    case .flag:
      switch text {
      case "1", "t", "true": .flag(true)
      case "0", "f", "false": .flag(false)
      default: nil
      }
    case .choice(let names): names.contains(text) ? .text(text) : nil
    case .color: PixelColor(digits: text).map(OperationValue.color)
    case .placeOrPattern:
      WatermarkLayout.Pattern.names.contains(text) ? .text(text) : Gravity.Place(name: text).map(OperationValue.place)
    case .text: .text(text)
    case .gravity, .texts: nil
    }
  }

  private func components(_ pieces: inout ArraySlice<String>) throws(Mismatch) -> OperationValue {
    var components: [UInt8] = []
    for text in pieces.prefix(3) {
      guard let component = DecimalText.whole(text).flatMap(UInt8.init(exactly:)) else {
        throw Mismatch(expected: "a number from 0 to 255", given: text)
      }
      components.append(component)
    }
    pieces = pieces.dropFirst(3)
    return .color(PixelColor(red: components[0], green: components[1], blue: components[2]))
  }

  private func gravity(_ pieces: inout ArraySlice<String>, crops: Bool) throws(Mismatch) -> OperationValue? {
    let rest = Array(pieces)
    pieces = []
    func number(_ index: Int, in range: ClosedRange<Double>) throws(Mismatch) -> Double? {
      guard rest.indices.contains(index), !rest[index].isEmpty else { return nil }
      guard let number = DecimalText.number(rest[index]), range.contains(number) else {
        throw Mismatch(expected: OperationParameter("", .number(range)).expected, given: rest[index])
      }
      return number
    }
    guard let name = rest.first, !name.isEmpty else {
      guard rest.allSatisfy(\.isEmpty) else { throw Mismatch(expected: expected, given: "") }
      return nil
    }
    switch name {
    case "sm", "smart":
      guard crops, rest.count == 1 else {
        throw Mismatch(expected: crops ? "\(name) alone" : expected, given: rest.joined(separator: ":"))
      }
      return .gravity(.smart)
    case "fp":
      guard let x = try number(1, in: 0...1), let y = try number(2, in: 0...1) else {
        throw Mismatch(expected: "a focus point as fp:x:y", given: rest.joined(separator: ":"))
      }
      return .gravity(.focus(x: x, y: y))
    default:
      guard let place = Gravity.Place(name: name) else { throw Mismatch(expected: expected, given: name) }
      let (x, y) = (try number(1, in: Self.distances) ?? 0, try number(2, in: Self.distances) ?? 0)
      return .gravity(.place(place, x: x, y: y))
    }
  }
}

extension PixelColor {
  /// Reads three, six or eight hexadecimal digits; `nil` for everything else.
  fileprivate init?(digits text: String) {
    let digits = text.utf8.count == 3 ? text.map { "\($0)\($0)" }.joined() : text
    guard digits.utf8.count == 6 || digits.utf8.count == 8, digits.allSatisfy({ $0.isASCII && $0.isHexDigit }),
      let number = UInt32(digits, radix: 16)
    else { return nil }
    guard digits.utf8.count == 8 else {
      self.init(number)
      return
    }
    let color = PixelColor(number >> 8)
    self.init(red: color.red, green: color.green, blue: color.blue, alpha: UInt8(number & 255))
  }
}
