import CoreGraphics
import Foundation

/// A picture for the screen.
open class UIImage: NSObject, @unchecked Sendable {
  // Sendable by hand, as in the SDK: all fields are constants.

  /// How the pixels are turned.
  public enum Orientation: Int, Sendable {
    /// As they are.
    case up = 0
    /// Upside down.
    case down = 1
    /// A quarter to the left.
    case left = 2
    /// A quarter to the right.
    case right = 3
    /// Mirrored.
    case upMirrored = 4
    /// Mirrored, upside down.
    case downMirrored = 5
    /// Mirrored, a quarter to the left.
    case leftMirrored = 6
    /// Mirrored, a quarter to the right.
    case rightMirrored = 7
  }

  /// Where the colours come from.
  public enum RenderingMode: Int, Sendable {
    /// From where it is shown.
    case automatic = 0
    /// From the picture.
    case alwaysOriginal = 1
    /// From the tint.
    case alwaysTemplate = 2
  }

  /// How bright a picture may show.
  public enum DynamicRange: Int, Sendable {
    /// Not set.
    case unspecified = -1
    /// Up to white.
    case standard = 0
    /// A little above white.
    case constrainedHigh = 1
    /// As bright as the screen can be.
    case high = 2
  }

  /// What a picture is made of.
  public let _facts: _Facts

  /// Makes a picture of pixels, at one pixel a point.
  public init(cgImage: CGImage) {
    _facts = _Facts(cgImage: cgImage)
    super.init()
  }

  /// Makes a picture of pixels.
  public init(cgImage: CGImage, scale: CGFloat, orientation: UIImage.Orientation) {
    var facts = _Facts(cgImage: cgImage)
    facts.scale = scale == 0 ? 1 : scale
    facts.orientation = orientation
    _facts = facts
    super.init()
  }

  /// Makes an empty picture.
  public override init() {
    _facts = _Facts()
    super.init()
  }

  /// Makes a picture from what it is made of.
  public init(_facts: _Facts) {
    self._facts = _facts
    super.init()
  }

  /// Makes a picture from the app's catalogue, which is `_assets` here.
  public convenience init?(named name: String) {
    self.init(named: name, in: nil, compatibleWith: nil)
  }

  /// Makes a picture from a catalogue, which is `_assets` here.
  public convenience init?(named name: String, in bundle: Bundle?, compatibleWith traitCollection: UITraitCollection?) {
    guard let asset = UIImage._assets[name] else { return nil }
    var facts = asset._facts
    facts.assetName = name
    self.init(_facts: facts)
  }

  /// The pixels.
  open var cgImage: CGImage? { _facts.cgImage }

  /// How many pixels make a point.
  open var scale: CGFloat { _facts.scale }

  /// How the pixels are turned.
  open var imageOrientation: UIImage.Orientation { _facts.orientation }

  /// Where the colours come from.
  open var renderingMode: UIImage.RenderingMode { _facts.renderingMode }

  /// Returns the same picture with colours from elsewhere.
  open func withRenderingMode(_ renderingMode: UIImage.RenderingMode) -> UIImage {
    var facts = _facts
    facts.renderingMode = renderingMode
    return UIImage(_facts: facts)
  }

  /// The size in points, as it stands on the screen.
  open var size: CGSize { _facts.size }
}
