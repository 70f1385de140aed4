import VitrineImaging
import VitrineRuntime

/// The values of an option, read strictly: what is not understood is an error that names the option.
struct OptionValues {
  let name: String
  let texts: [String]

  init(_ option: URLOption) { (name, texts) = (option.name, option.values) }

  private init(_ name: String, _ texts: [String]) { (self.name, self.texts) = (name, texts) }

  /// The values from a position on.
  func dropFirst(_ count: Int) -> OptionValues { OptionValues(name, Array(texts.dropFirst(count))) }

  /// The values before a position.
  func first(_ count: Int) -> OptionValues { OptionValues(name, Array(texts.prefix(count))) }

  /// The value at a position; `nil` if it is missing or empty, which leaves what is there.
  func text(_ index: Int) -> String? { texts.indices.contains(index) && texts[index] != "" ? texts[index] : nil }

  func error(_ index: Int, _ expected: String) -> RequestError {
    RequestError(400, "the option '\(name)' takes \(expected), not '\((text(index) ?? "").prefix(40))'")
  }

  func integer(_ index: Int, in range: ClosedRange<Int>) throws(RequestError) -> Int? {
    guard let text = text(index) else { return nil }
    let digits = text.utf8.first == UInt8(ascii: "-") ? text.utf8.dropFirst() : text.utf8[...]
    guard digits.allSatisfy({ (48...57).contains($0) }), let number = Int(text), range.contains(number) else {
      throw error(index, "a number from \(range.lowerBound) to \(range.upperBound)")
    }
    return number
  }

  /// Reads a decimal number with at most six places.
  func number(_ index: Int, in range: ClosedRange<Double>) throws(RequestError) -> Double? {
    guard let text = text(index) else { return nil }
    let digits = text.utf8.first == UInt8(ascii: "-") ? text.utf8.dropFirst() : text.utf8[...]
    let parts = digits.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
    guard (1...2).contains(parts.count), parts.allSatisfy({ $0.allSatisfy { (48...57).contains($0) } }),
      digits.count <= 16, !parts[0].isEmpty, parts.count == 1 || (1...6).contains(parts[1].count),
      let number = Double(text), range.contains(number)
    else {
      let bounds = "\(Decimal.text(range.lowerBound)) to \(Decimal.text(range.upperBound))"
      throw error(index, "a number from \(bounds) with at most six decimal places")
    }
    // There is one zero.
    return number == 0 ? 0 : number
  }

  func boolean(_ index: Int) throws(RequestError) -> Bool? {
    guard let text = text(index) else { return nil }
    switch text {
    case "1", "t", "true": return true
    case "0", "f", "false": return false
    default: throw error(index, "1 or 0")
    }
  }

  func choice<Choice: RawRepresentable<String> & CaseIterable>(
    _ index: Int,
    _ type: Choice.Type = Choice.self,
  ) throws(RequestError) -> Choice? {
    guard let text = text(index) else { return nil }
    guard let choice = Choice(rawValue: text) else {
      throw error(index, "one of \(Choice.allCases.map(\.rawValue).joined(separator: ", "))")
    }
    return choice
  }

  /// Reads three components, or three, six or eight hexadecimal digits.
  func color(_ index: Int) throws(RequestError) -> PixelColor? {
    guard let text = text(index) else { return nil }
    if texts.count - index >= 3 {
      var components: [UInt8] = []
      for place in index..<index + 3 {
        guard let component = try integer(place, in: 0...255) else { throw error(place, "a number from 0 to 255") }
        components.append(UInt8(component))
      }
      return PixelColor(red: components[0], green: components[1], blue: components[2])
    }
    let digits = text.utf8.count == 3 ? text.map { "\($0)\($0)" }.joined() : text
    guard digits.utf8.count == 6 || digits.utf8.count == 8, digits.utf8.allSatisfy(\.isHexDigit),
      let number = UInt32(digits, radix: 16)
    else { throw error(index, "a color of 6 hexadecimal digits") }
    guard digits.utf8.count == 8 else { return PixelColor(number) }
    let color = PixelColor(number >> 8)
    return PixelColor(red: color.red, green: color.green, blue: color.blue, alpha: UInt8(number & 255))
  }

  /// Reads a gravity from a position to the end.
  func gravity(_ index: Int, allowsSmart: Bool) throws(RequestError) -> ThumbnailOptions.Gravity? {
    guard let text = text(index) else {
      guard dropFirst(index).texts.allSatisfy(\.isEmpty) else { throw error(index, "a gravity") }
      return nil
    }
    if text == "sm" {
      guard allowsSmart, texts.count == index + 1 else { throw error(index, allowsSmart ? "sm alone" : "a place") }
      return .smart
    }
    if text == "fp" {
      guard allowsSmart, let x = try number(index + 1, in: 0...1), let y = try number(index + 2, in: 0...1) else {
        throw error(index, "a focus point as fp:x:y where an image is cropped")
      }
      return .focus(x: x, y: y)
    }
    guard let place = ThumbnailOptions.Place(rawValue: text) else {
      let places = ThumbnailOptions.Place.allCases.map(\.rawValue).joined(separator: ", ")
      throw error(index, "one of \(places)\(allowsSmart ? ", sm, fp:x:y" : "")")
    }
    let range = -65_535.0...65_535.0
    let (x, y) = (try number(index + 1, in: range) ?? 0, try number(index + 2, in: range) ?? 0)
    return .place(place, x: x, y: y)
  }
}

extension UInt8 {
  fileprivate var isHexDigit: Bool {
    switch self {
    case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "a")...UInt8(ascii: "f"),
      UInt8(ascii: "A")...UInt8(ascii: "F"):
      true
    default: false
    }
  }
}

/// Decimal numbers as text.
enum Decimal {
  /// Returns a number without an exponent and with at most six places, or all digits of one that needs more.
  static func text(_ number: Double) -> String {
    if let whole = Int(exactly: number) { return "\(whole)" }
    let millionths = (number * 1e6).rounded()
    guard abs(millionths) < 1e15, millionths / 1e6 == number, let whole = Int(exactly: millionths) else {
      return "\(number)"
    }
    let (integer, rest) = abs(whole).quotientAndRemainder(dividingBy: 1_000_000)
    let places = String(String(1_000_000 + rest).dropFirst().reversed().drop { $0 == "0" }.reversed())
    return "\(whole < 0 ? "-" : "")\(integer).\(places)"
  }
}
