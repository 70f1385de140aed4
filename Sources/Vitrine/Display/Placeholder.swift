public import VitrineImaging

/// The content of a view whose image is loading or has failed.
public enum Placeholder: Sendable {
  /// Nothing: clears the view.
  case none
  /// The current content of the view; for slide shows, and for images whose URL changes.
  case keepCurrent
  /// A solid colour.
  case color(Color)
  /// A bitmap.
  case image(Bitmap)
  /// The closest image in memory (``ImagePipeline/cachedVariant(for:)``), mostly the image in another size.
  ///
  /// It is shown as a preview, which the image replaces without a fade; if there is none, the alternative is shown. It
  /// may lack the request's processors, so do not use it where these make an image unrecognisable.
  indirect case cachedVariant(else: Placeholder)
  /// An icon by its name, which each toolkit resolves its own way: in the icon theme, or among the system's symbols.
  case symbol(String)

  /// A colour in sRGB, 8 bits a component, with straight alpha.
  public struct Color: Sendable, Hashable {
    /// The red component.
    public var red: UInt8
    /// The green component.
    public var green: UInt8
    /// The blue component.
    public var blue: UInt8
    /// The alpha component: 0 is transparent, 255 opaque.
    public var alpha: UInt8

    /// Creates a colour from its components; opaque by default.
    public init(red: UInt8, green: UInt8, blue: UInt8, alpha: UInt8 = 255) {
      (self.red, self.green, self.blue, self.alpha) = (red, green, blue, alpha)
    }

    /// Creates a colour from a hexadecimal number such as `0xE0E0E0`; bits above the lowest 24 are ignored.
    public init(_ rgb: UInt32, alpha: UInt8 = 255) {
      self.init(
        red: UInt8(truncatingIfNeeded: rgb >> 16),
        green: UInt8(truncatingIfNeeded: rgb >> 8),
        blue: UInt8(truncatingIfNeeded: rgb),
        alpha: alpha,
      )
    }
  }

  /// The closest image in memory, or nothing; see ``cachedVariant(else:)``.
  public static let cached = Placeholder.cachedVariant(else: .none)

  /// The default failure content: never a picture of something else or in another size.
  var forFailure: Placeholder {
    switch self {
    case .keepCurrent: .none
    case .cachedVariant(let other): other.forFailure
    case .none, .color, .image, .symbol: self
    }
  }
}
