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
  /// Whether the picture has no meaning.
  public var isDecorative = false
  /// Whether the picture can change its size.
  public var isResizable = false
  /// How bright the picture may be.
  public var dynamicRange: Image.DynamicRange?
  /// What modifiers say about it.
  public var attributes = _Attributes()
  /// The animation of the last change.
  public var animation: Animation?

  /// Whether both show the same picture object in the same way.
  public static func == (lhs: Self, rhs: Self) -> Bool {
    lhs.cgImage === rhs.cgImage && lhs.systemName == rhs.systemName && lhs.name == rhs.name
      && lhs.scale == rhs.scale && lhs.orientation == rhs.orientation
      && lhs.isDecorative == rhs.isDecorative && lhs.isResizable == rhs.isResizable
      && lhs.dynamicRange == rhs.dynamicRange && lhs.attributes == rhs.attributes
      && lhs.animation == rhs.animation
  }
}

/// What one walk has found.
@MainActor
struct _Output {
  var texts: [_RenderedText] = []
  var images: [_RenderedImage] = []
}
