import Foundation

/// What modifiers say about a text or a picture that is shown.
public struct _Attributes: Equatable, Sendable {
  /// The width of the innermost frame that has one.
  public var width: CGFloat?
  /// The height of the innermost frame that has one.
  public var height: CGFloat?
  /// The proportion that is kept, or nil for the picture's own.
  public var aspectRatio: CGFloat?
  /// How the content fits, if said.
  public var contentMode: ContentMode?
}

/// A text that is shown.
public struct _RenderedText: Equatable, Sendable {
  /// The text.
  public let string: String
  /// What modifiers say about it.
  public let attributes: _Attributes
  /// The animation of the last change.
  public let animation: Animation?

  nonisolated init(string: String, _ context: Context) {
    self.string = string
    attributes = context.attributes
    animation = context.transaction.animation
  }
}

/// A picture that is shown.
public struct _RenderedImage: Equatable, Sendable {
  /// The picture.
  public var cgImage: CGImage?
  /// The name of the asset.
  public var name: String?
  /// The name of the system symbol.
  public var systemName: String?
  /// How many pixels there are to a point.
  public var scale: CGFloat = 1
  /// How the picture is turned.
  public var orientation = Image.Orientation.up
  /// The label.
  public var label: String?
  /// Whether the picture has no meaning.
  public var isDecorative = false
  /// Whether the picture can change its size.
  public var isResizable = false
  /// The insets that do not change their size.
  public var capInsets = EdgeInsets()
  /// How the picture fills a larger space.
  public var resizingMode = Image.ResizingMode.stretch
  /// Whether the colors are used.
  public var renderingMode: Image.TemplateRenderingMode?
  /// How good a change of size is.
  public var interpolation: Image.Interpolation?
  /// Whether edges are smooth.
  public var isAntialiased: Bool?
  /// How bright the picture may be.
  public var dynamicRange: Image.DynamicRange?
  /// What modifiers say about it.
  public var attributes = _Attributes()
  /// The animation of the last change.
  public var animation: Animation?

  /// Whether both show the same picture object in the same way.
  public static func == (lhs: Self, rhs: Self) -> Bool {
    lhs.cgImage === rhs.cgImage && lhs.name == rhs.name && lhs.systemName == rhs.systemName
      && lhs.scale == rhs.scale && lhs.orientation == rhs.orientation && lhs.label == rhs.label
      && lhs.isDecorative == rhs.isDecorative && lhs.isResizable == rhs.isResizable
      && lhs.capInsets == rhs.capInsets && lhs.resizingMode == rhs.resizingMode
      && lhs.renderingMode == rhs.renderingMode
      && lhs.interpolation == rhs.interpolation && lhs.isAntialiased == rhs.isAntialiased
      && lhs.dynamicRange == rhs.dynamicRange && lhs.attributes == rhs.attributes
      && lhs.animation == rhs.animation
  }
}

/// A button that is shown.
@MainActor
public struct _RenderedButton {
  /// The texts and labels in the button.
  public let label: String
  let action: @MainActor () -> Void
}

/// What one walk has found.
@MainActor
struct _Output {
  var texts: [_RenderedText] = []
  var images: [_RenderedImage] = []
  var buttons: [_RenderedButton] = []
  var colors: [String] = []
  var progress: [Double?] = []
  var kinds: [String] = []
  var bodies: [String: Int] = [:]
}
