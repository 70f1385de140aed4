public import VitrineImaging

/// What a view shows while its image is not there, or when it failed.
public enum Placeholder: Sendable {
  /// Nothing: the view is cleared.
  case none
  /// What the view shows already, whatever it is; for a slide show, or for an image whose address changes.
  case keepCurrent
  /// An even colour.
  case color(Color)
  /// A picture at hand.
  case image(Bitmap)
  /// What is in memory that is most like the image (``ImagePipeline/cachedVariant(for:)``): the image in another size, mostly.
  ///
  /// It is shown as a preview of the image, which then takes its place without a fade. Where there is none, the other one is
  /// shown. It may lack the request's processors, so it is not for images that these are to make unrecognisable.
  indirect case cachedVariant(else: Placeholder)
  /// An icon by its name, which each toolkit looks up its own way: in the icon theme, among the system's symbols.
  case symbol(String)

  /// A colour in sRGB, 8 bits a component, not multiplied by its coverage.
  public struct Color: Sendable, Hashable {
    /// The red component.
    public var red: UInt8
    /// The green component.
    public var green: UInt8
    /// The blue component.
    public var blue: UInt8
    /// Coverage: 0 is transparent, 255 opaque.
    public var alpha: UInt8

    /// Makes a colour of its components, opaque unless told.
    public init(red: UInt8, green: UInt8, blue: UInt8, alpha: UInt8 = 255) {
      (self.red, self.green, self.blue, self.alpha) = (red, green, blue, alpha)
    }

    /// Makes a colour as it is written in hexadecimal, `0xE0E0E0`; bits above the lowest 24 are ignored.
    public init(_ rgb: UInt32, alpha: UInt8 = 255) {
      self.init(
        red: UInt8(truncatingIfNeeded: rgb >> 16),
        green: UInt8(truncatingIfNeeded: rgb >> 8),
        blue: UInt8(truncatingIfNeeded: rgb),
        alpha: alpha,
      )
    }
  }

  /// What is in memory that is most like the image, or nothing; see ``cachedVariant(else:)``.
  public static let cached = Placeholder.cachedVariant(else: .none)

  /// What stands for an image that failed where nothing else was said: no picture of something else, or of another size.
  var forFailure: Placeholder {
    switch self {
    case .keepCurrent: .none
    case .cachedVariant(let other): other.forFailure
    case .none, .color, .image, .symbol: self
    }
  }
}
