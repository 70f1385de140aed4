/// A length of a processor: pixels, points, or a fraction of the image.
///
/// ```swift
/// .blur(radius: 8)                           // pixels
/// .roundedCorners(radius: .points(16))       // 32 pixels at a scale of 2
/// .roundedCorners(radius: .fraction(0.5))    // half of the shorter side
/// ```
/// A length reaches the processor unchanged. The processor converts it once it knows the image and the
/// ``ProcessingContext/scale``, so one processor suits images of all sizes. A literal is a number of pixels.
public struct Length: Hashable, Sendable, CustomStringConvertible {
  /// The unit of a length.
  enum Unit: String {
    case pixels = "px"
    case points = "pt"
    case fraction = "fr"
  }

  let value: Double
  let unit: Unit

  /// Makes a length in pixels of the image.
  public static func pixels(_ count: Double) -> Length { Length(value: count, unit: .pixels) }

  /// Makes a length in whole pixels of the image.
  public static func pixels(_ count: Int) -> Length { .pixels(Double(count)) }

  /// Makes a length in points, of which each has ``ProcessingContext/scale`` pixels.
  public static func points(_ count: Double) -> Length { Length(value: count, unit: .points) }

  /// Makes a length that depends on the size of the image.
  ///
  /// It is a fraction of the shorter side, unless a parameter belongs to an axis: widths and horizontal offsets are
  /// fractions of the image's width, heights and vertical offsets of its height.
  public static func fraction(_ share: Double) -> Length { Length(value: share, unit: .fraction) }

  /// No pixels.
  public static let zero = Length.pixels(0)

  /// The number and the unit: `8px`, `16pt`, `0.5fr`.
  ///
  /// Equal lengths have equal descriptions, and different lengths different ones.
  public var description: String { StepName.number(value) + unit.rawValue }

  /// Returns the length in pixels, which may be negative or not a number.
  func pixels(scale: Double, of side: Int) -> Double {
    switch unit {
    case .pixels: value
    case .points: value * scale
    case .fraction: value * Double(side)
    }
  }
}

extension Length: ExpressibleByIntegerLiteral, ExpressibleByFloatLiteral {
  /// Makes a length in pixels.
  public init(integerLiteral count: Int) { self = .pixels(count) }

  /// Makes a length in pixels.
  public init(floatLiteral count: Double) { self = .pixels(count) }
}

/// The parts of a processor's identifier.
package enum StepName {
  /// Returns the only text for a number: without a fraction where it has none, otherwise the shortest decimal that is
  /// read back as the same number.
  ///
  /// Both zeros are `0`.
  package static func number(_ value: Double) -> String {
    guard let whole = Int(exactly: value), whole.magnitude < 1 << 53 else { return "\(value)" }
    return "\(whole)"
  }

  /// Returns the text for an anchor.
  package static func anchor(_ anchor: Anchor) -> String { "at \(number(anchor.x)) \(number(anchor.y))" }
}
