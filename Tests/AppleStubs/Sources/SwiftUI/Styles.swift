import Foundation

/// A color or another way to fill a shape.
public protocol ShapeStyle: Sendable {}

/// The style of the foreground.
nonisolated public struct ForegroundStyle: ShapeStyle {
  /// Makes the style.
  public init() {}
}

/// A level of the foreground style.
nonisolated public struct HierarchicalShapeStyle: ShapeStyle {
  let level: Int

  /// The first level.
  public static let primary = HierarchicalShapeStyle(level: 1)
  /// The second level.
  public static let secondary = HierarchicalShapeStyle(level: 2)
  /// The third level.
  public static let tertiary = HierarchicalShapeStyle(level: 3)
  /// The fourth level.
  public static let quaternary = HierarchicalShapeStyle(level: 4)
}

extension ShapeStyle where Self == ForegroundStyle {
  /// The style of the foreground.
  public static var foreground: ForegroundStyle { ForegroundStyle() }
}

extension ShapeStyle where Self == HierarchicalShapeStyle {
  /// The first level of the foreground.
  public static var primary: HierarchicalShapeStyle { .primary }
  /// The second level of the foreground.
  public static var secondary: HierarchicalShapeStyle { .secondary }
  /// The third level of the foreground.
  public static var tertiary: HierarchicalShapeStyle { .tertiary }
  /// The fourth level of the foreground.
  public static var quaternary: HierarchicalShapeStyle { .quaternary }
}

/// How a shape is filled.
public struct FillStyle: Equatable, Sendable {
  /// Whether the even-odd rule is used.
  public var isEOFilled: Bool
  /// Whether edges are smooth.
  public var isAntialiased: Bool

  /// Makes a style.
  public init(eoFill: Bool = false, antialiased: Bool = true) {
    isEOFilled = eoFill
    isAntialiased = antialiased
  }
}

/// A color.
nonisolated public struct Color: View, ShapeStyle, Hashable, Sendable, CustomStringConvertible {
  /// A basic view has no body.
  public typealias Body = Never

  /// A color space.
  public enum RGBColorSpace: Hashable, Sendable {
    /// The color spaces.
    case sRGB, sRGBLinear, displayP3
  }

  /// What the color is, in words.
  public let description: String

  private init(name: String) {
    description = name
  }

  /// Makes a color of components.
  public init(
    _ colorSpace: RGBColorSpace = .sRGB,
    red: Double,
    green: Double,
    blue: Double,
    opacity: Double = 1,
  ) {
    self.init(name: "\(colorSpace)(\(red), \(green), \(blue), \(opacity))")
  }

  /// Makes a shade of gray.
  public init(_ colorSpace: RGBColorSpace = .sRGB, white: Double, opacity: Double = 1) {
    self.init(colorSpace, red: white, green: white, blue: white, opacity: opacity)
  }

  /// Makes a color of an asset.
  public init(_ name: String, bundle: Bundle? = nil) {
    self.init(name: "named(\(name))")
  }

  /// The same color that lets some light through.
  public func opacity(_ opacity: Double) -> Color {
    Color(name: "\(description).opacity(\(opacity))")
  }

  /// No color.
  public static let clear = Color(name: "clear")
  /// Black.
  public static let black = Color(name: "black")
  /// White.
  public static let white = Color(name: "white")
  /// Gray.
  public static let gray = Color(name: "gray")
  /// Red.
  public static let red = Color(name: "red")
  /// Green.
  public static let green = Color(name: "green")
  /// Blue.
  public static let blue = Color(name: "blue")
  /// Orange.
  public static let orange = Color(name: "orange")
  /// Yellow.
  public static let yellow = Color(name: "yellow")
  /// Pink.
  public static let pink = Color(name: "pink")
  /// Purple.
  public static let purple = Color(name: "purple")
  /// The color of the text.
  public static let primary = Color(name: "primary")
  /// The color of text of less weight.
  public static let secondary = Color(name: "secondary")
  /// The color of controls.
  public static let accentColor = Color(name: "accentColor")
}

extension ShapeStyle where Self == Color {
  /// No color.
  public static var clear: Color { .clear }
  /// Black.
  public static var black: Color { .black }
  /// White.
  public static var white: Color { .white }
  /// Gray.
  public static var gray: Color { .gray }
  /// Red.
  public static var red: Color { .red }
  /// Green.
  public static var green: Color { .green }
  /// Blue.
  public static var blue: Color { .blue }
}

extension Color: Primitive {
  @MainActor
  func render(_ pass: Pass, _ node: Node, _ context: Context) {
    pass.output.colors.append(description)
  }
}

/// A font.
public struct Font: Hashable, Sendable {
  private let name: String

  /// A font of a size.
  public static func system(size: CGFloat) -> Font {
    Font(name: "system(\(size))")
  }

  /// The font of large titles.
  public static let largeTitle = Font(name: "largeTitle")
  /// The font of titles.
  public static let title = Font(name: "title")
  /// The font of headings.
  public static let headline = Font(name: "headline")
  /// The font of running text.
  public static let body = Font(name: "body")
  /// The font of notes.
  public static let footnote = Font(name: "footnote")
  /// The font of captions.
  public static let caption = Font(name: "caption")
}
