import VitrineRuntime

/// A colour of sRGB with straight alpha, for borders, tints and backgrounds.
///
/// ```swift
/// PixelColor(red: 255, green: 128, blue: 0)
/// PixelColor(0xFF8000)
/// PixelColor.black.opacity(0.5)
/// ```
/// In bitmaps of another colour space it is converted to that.
public struct PixelColor: Hashable, Sendable, CustomStringConvertible {
  /// The red component, from 0 to 255.
  public let red: UInt8
  /// The green component, from 0 to 255.
  public let green: UInt8
  /// The blue component, from 0 to 255.
  public let blue: UInt8
  /// The coverage, from 0 (transparent) to 255 (opaque).
  public let alpha: UInt8

  /// Makes a colour of components from 0 to 255; opaque by default.
  public init(red: UInt8, green: UInt8, blue: UInt8, alpha: UInt8 = 255) {
    (self.red, self.green, self.blue, self.alpha) = (red, green, blue, alpha)
  }

  /// Makes an opaque colour of a number of 24 bits, red first: `0xFF8000` is orange.
  ///
  /// Higher bits are ignored.
  public init(_ rgb: UInt32) {
    self.init(
      red: UInt8(truncatingIfNeeded: rgb >> 16),
      green: UInt8(truncatingIfNeeded: rgb >> 8),
      blue: UInt8(truncatingIfNeeded: rgb),
    )
  }

  /// Opaque black.
  public static let black = PixelColor(0)
  /// Opaque white.
  public static let white = PixelColor(0xFFFFFF)
  /// No colour at all.
  public static let clear = PixelColor(red: 0, green: 0, blue: 0, alpha: 0)

  /// Returns the colour with another coverage, from 0 to 1; others are clamped, and an undefined one becomes 1.
  public func opacity(_ opacity: Double) -> PixelColor {
    let level = opacity.isNaN ? 255 : (min(max(opacity, 0), 1) * 255).rounded()
    return PixelColor(red: red, green: green, blue: blue, alpha: UInt8(level))
  }

  /// The components in hexadecimal digits: `#FF8000`, or `#FF800080` if it is not opaque.
  public var description: String {
    let components = alpha == 255 ? [red, green, blue] : [red, green, blue, alpha]
    return components.reduce("#") { $0 + $1.hexDigits(uppercase: true) }
  }

  /// Returns the components in a colour space, with straight alpha.
  func pixel(in space: ColorSpace) -> SIMD4<UInt8> {
    let pixel = SIMD4(red, green, blue, alpha)
    guard space != .sRGB else { return pixel }
    return Bitmap(pixel, colorSpace: .sRGB).converted(to: space)[0, 0]
  }
}

extension Bitmap {
  /// Makes a bitmap of one pixel.
  fileprivate init(_ pixel: SIMD4<UInt8>, colorSpace: ColorSpace) {
    self = Bitmap.writing(width: 1, height: 1, alpha: .straight, colorSpace: colorSpace) { $0.store(pixel, at: 0) }
  }
}
