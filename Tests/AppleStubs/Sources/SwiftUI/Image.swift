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

  /// How much brighter than white a picture may be.
  public struct DynamicRange: Hashable, Sendable, CustomStringConvertible {
    /// What the range is, in words.
    public let description: String

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

  /// Makes a picture of an asset that has no meaning.
  public init(decorative name: String, bundle: Bundle? = nil) {
    self.init(_RenderedImage(name: name, isDecorative: true))
  }

  /// Makes a picture of a system symbol.
  public init(systemName: String) {
    self.init(_RenderedImage(systemName: systemName))
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
    with { $0.isResizable = true }
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
    image.dynamicRange = image.dynamicRange ?? context.environment.allowedDynamicRange
    pass.output.images.append(image)
  }
}

extension View {
  /// Says how bright the pictures in the view may be.
  nonisolated public func allowedDynamicRange(_ range: Image.DynamicRange?) -> some View {
    environment(\.allowedDynamicRange, range)
  }
}
