import Foundation

/// A picture.
nonisolated public struct Image: View, Equatable, Sendable {
  /// A basic view has no body.
  public typealias Body = Never

  /// How a picture is turned.
  public enum Orientation: UInt8, CaseIterable, Hashable, Sendable {
    /// The eight ways, with the values of the image file formats less one.
    case up, upMirrored, down, downMirrored, leftMirrored, right, rightMirrored, left
  }

  /// How a picture fills a larger space.
  public enum ResizingMode: Hashable, Sendable {
    /// Repeated or enlarged.
    case tile, stretch
  }

  /// Whether the colors of a picture are used.
  public enum TemplateRenderingMode: Hashable, Sendable {
    /// As a mask, or as it is.
    case template, original
  }

  /// How good a change of size is.
  public enum Interpolation: Hashable, Sendable {
    /// The levels.
    case none, low, medium, high
  }

  /// The size of a symbol in relation to the text.
  public enum Scale: Hashable, Sendable {
    /// The sizes.
    case small, medium, large
  }

  /// How much brighter than white a picture may be.
  public struct DynamicRange: Hashable, Sendable, CustomStringConvertible {
    /// What the range is, in words.
    public let description: String

    /// Not brighter.
    public static let standard = DynamicRange(description: "standard")
    /// Somewhat brighter.
    public static let constrainedHigh = DynamicRange(description: "constrainedHigh")
    /// As bright as it goes.
    public static let high = DynamicRange(description: "high")
  }

  var content: _RenderedImage

  init(_ content: _RenderedImage) {
    self.content = content
  }

  private func with(_ change: (inout _RenderedImage) -> Void) -> Image {
    var copy = self
    change(&copy.content)
    return copy
  }

  /// Makes a picture of an asset, whose name is its label.
  public init(_ name: String, bundle: Bundle? = nil) {
    self.init(_RenderedImage(name: name, label: name))
  }

  /// Makes a picture of an asset, with a label.
  public init(_ name: String, bundle: Bundle? = nil, label: Text) {
    self.init(_RenderedImage(name: name, label: label._string))
  }

  /// Makes a picture of an asset that has no meaning.
  public init(decorative name: String, bundle: Bundle? = nil) {
    self.init(_RenderedImage(name: name, isDecorative: true))
  }

  /// Makes a picture of a system symbol.
  public init(systemName: String) {
    self.init(_RenderedImage(systemName: systemName))
  }

  /// Makes a picture with a label.
  public init(_ cgImage: CGImage, scale: CGFloat, orientation: Image.Orientation = .up, label: Text) {
    self.init(_RenderedImage(cgImage: cgImage, scale: scale, orientation: orientation, label: label._string))
  }

  /// Makes a picture that has no meaning.
  public init(decorative cgImage: CGImage, scale: CGFloat, orientation: Image.Orientation = .up) {
    self.init(_RenderedImage(cgImage: cgImage, scale: scale, orientation: orientation, isDecorative: true))
  }

  /// Lets the picture change its size.
  public func resizable(
    capInsets: EdgeInsets = EdgeInsets(),
    resizingMode: Image.ResizingMode = .stretch,
  ) -> Image {
    with {
      $0.isResizable = true
      $0.capInsets = capInsets
      $0.resizingMode = resizingMode
    }
  }

  /// Says whether the colors are used.
  public func renderingMode(_ renderingMode: Image.TemplateRenderingMode?) -> Image {
    with { $0.renderingMode = renderingMode }
  }

  /// Says how the symbol is drawn.
  public func symbolRenderingMode(_ mode: SymbolRenderingMode?) -> Image {
    with { $0.symbolRenderingMode = mode }
  }

  /// Says how good a change of size is.
  public func interpolation(_ interpolation: Image.Interpolation) -> Image {
    with { $0.interpolation = interpolation }
  }

  /// Says whether edges are smooth.
  public func antialiased(_ isAntialiased: Bool) -> Image {
    with { $0.isAntialiased = isAntialiased }
  }

  /// Says how bright the picture may be.
  public func allowedDynamicRange(_ range: Image.DynamicRange?) -> Image {
    with { $0.dynamicRange = range }
  }

  /// Whether both show the same picture in the same way.
  public static func == (lhs: Image, rhs: Image) -> Bool {
    lhs.content == rhs.content
  }
}

extension Image: Primitive {
  @MainActor
  func render(_ pass: Pass, _ node: Node, _ context: Context) {
    var image = content
    image.attributes = context.attributes
    image.animation = context.transaction.animation
    image.symbolRenderingMode = image.symbolRenderingMode ?? context.environment.symbolRenderingMode
    image.dynamicRange = image.dynamicRange ?? context.environment.allowedDynamicRange
    pass.output.images.append(image)
  }
}

/// How a symbol is drawn.
public struct SymbolRenderingMode: Hashable, Sendable {
  private let name: String

  /// One color.
  public static let monochrome = SymbolRenderingMode(name: "monochrome")
  /// The colors of the symbol.
  public static let multicolor = SymbolRenderingMode(name: "multicolor")
  /// One color of several strengths.
  public static let hierarchical = SymbolRenderingMode(name: "hierarchical")
  /// Two or three colors.
  public static let palette = SymbolRenderingMode(name: "palette")
}

/// An animation of a symbol.
public protocol SymbolEffect: Hashable, Sendable {}

/// An animation of a symbol that goes on until it is taken away.
public protocol IndefiniteSymbolEffect {}

/// An animation that fades a symbol in and out.
public struct PulseSymbolEffect: SymbolEffect, IndefiniteSymbolEffect {}

extension SymbolEffect where Self == PulseSymbolEffect {
  /// An animation that fades a symbol in and out.
  public static var pulse: PulseSymbolEffect { PulseSymbolEffect() }
}

/// How often and how fast a symbol is animated.
public struct SymbolEffectOptions: Equatable, Sendable {
  private let name: String

  /// The default.
  public static let `default` = SymbolEffectOptions(name: "default")
  /// Over and over.
  public static let repeating = SymbolEffectOptions(name: "repeating")
}

extension View {
  /// Animates the symbols in the view.
  nonisolated public func symbolEffect<T>(
    _ effect: T,
    options: SymbolEffectOptions = .default,
    isActive: Bool = true,
  ) -> some View where T: IndefiniteSymbolEffect, T: SymbolEffect {
    changing("symbolEffect") { context in
      context.attributes.symbolEffect = isActive ? String(describing: T.self) : nil
    }
  }

  /// Says how the symbols in the view are drawn.
  nonisolated public func symbolRenderingMode(_ mode: SymbolRenderingMode?) -> some View {
    environment(\.symbolRenderingMode, mode)
  }

  /// Says how bright the pictures in the view may be.
  nonisolated public func allowedDynamicRange(_ range: Image.DynamicRange?) -> some View {
    environment(\.allowedDynamicRange, range)
  }

  /// Sets the size of the symbols in the view.
  nonisolated public func imageScale(_ scale: Image.Scale) -> some View {
    environment(\.imageScale, scale)
  }

  /// Sets the font of the view.
  nonisolated public func font(_ font: Font?) -> some View {
    environment(\.font, font)
  }
}
