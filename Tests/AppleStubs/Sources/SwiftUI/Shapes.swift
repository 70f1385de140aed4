/// A shape that can be drawn or used to clip.
///
/// Own shapes cannot be made: there is no `Path` here.
@MainActor
@preconcurrency
public protocol Shape: Sendable, View {
  /// What the shape is, in words.
  nonisolated var _shapeName: String { get }
}

/// A rectangle.
nonisolated public struct Rectangle: Shape {
  /// A basic view has no body.
  public typealias Body = Never

  /// What the shape is, in words.
  public var _shapeName: String { "Rectangle" }

  /// Makes a rectangle.
  public init() {}
}

/// The style of rounded corners.
public enum RoundedCornerStyle: Hashable, Sendable {
  /// The styles.
  case circular, continuous
}

/// A rectangle with rounded corners.
nonisolated public struct RoundedRectangle: Shape {
  /// A basic view has no body.
  public typealias Body = Never

  /// The size of the corners.
  public var cornerSize: CGSize
  /// The style of the corners.
  public var style: RoundedCornerStyle

  /// What the shape is, in words.
  public var _shapeName: String { "RoundedRectangle(\(cornerSize.width))" }

  /// Makes a rectangle with corners of a size.
  public init(cornerSize: CGSize, style: RoundedCornerStyle = .continuous) {
    self.cornerSize = cornerSize
    self.style = style
  }

  /// Makes a rectangle with corners of a radius.
  public init(cornerRadius: CGFloat, style: RoundedCornerStyle = .continuous) {
    self.init(cornerSize: CGSize(width: cornerRadius, height: cornerRadius), style: style)
  }
}

/// A circle.
nonisolated public struct Circle: Shape {
  /// A basic view has no body.
  public typealias Body = Never

  /// What the shape is, in words.
  public var _shapeName: String { "Circle" }

  /// Makes a circle.
  public init() {}
}

extension Rectangle: Primitive {
  @MainActor
  func render(_ pass: Pass, _ node: Node, _ context: Context) {}
}

extension RoundedRectangle: Primitive {
  @MainActor
  func render(_ pass: Pass, _ node: Node, _ context: Context) {}
}

extension Circle: Primitive {
  @MainActor
  func render(_ pass: Pass, _ node: Node, _ context: Context) {}
}

extension Shape {
  /// Fills the shape.
  nonisolated public func fill<S>(_ content: S = .foreground, style: FillStyle = FillStyle()) -> some View
  where S: ShapeStyle {
    changing("fill") { $0.attributes.foregroundStyle = styleName(content) }
  }
}

nonisolated func styleName(_ style: some ShapeStyle) -> String {
  (style as? Color)?.description ?? String(describing: style)
}

extension View {
  /// Clips the view to a shape.
  nonisolated public func clipShape<S>(_ shape: S, style: FillStyle = FillStyle()) -> some View where S: Shape {
    let name = shape._shapeName
    return changing("clipShape") { $0.attributes.clipShape = name }
  }

  /// Clips the view to its frame.
  nonisolated public func clipped(antialiased: Bool = false) -> some View {
    changing("clipped") { $0.attributes.isClipped = true }
  }

  /// Sets the style of the foreground.
  nonisolated public func foregroundStyle<S>(_ style: S) -> some View where S: ShapeStyle {
    changing("foregroundStyle") { $0.attributes.foregroundStyle = styleName(style) }
  }
}
