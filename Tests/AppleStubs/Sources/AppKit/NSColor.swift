import CoreGraphics
import Foundation

/// A colour.
open class NSColor: NSObject, @unchecked Sendable {
  // Sendable by hand, as in the SDK: all fields are constants.

  /// The part of red, from 0 to 1.
  public let redComponent: CGFloat
  /// The part of green, from 0 to 1.
  public let greenComponent: CGFloat
  /// The part of blue, from 0 to 1.
  public let blueComponent: CGFloat
  /// How much it covers, from 0 to 1.
  public let alphaComponent: CGFloat

  /// Makes a colour from its parts.
  public init(red: CGFloat, green: CGFloat, blue: CGFloat, alpha: CGFloat) {
    redComponent = red
    greenComponent = green
    blueComponent = blue
    alphaComponent = alpha
    super.init()
  }

  /// Makes a colour of the usual colour space from its parts.
  public convenience init(srgbRed red: CGFloat, green: CGFloat, blue: CGFloat, alpha: CGFloat) {
    self.init(red: red, green: green, blue: blue, alpha: alpha)
  }

  /// Makes a grey.
  public convenience init(white: CGFloat, alpha: CGFloat) {
    self.init(red: white, green: white, blue: white, alpha: alpha)
  }

  /// The same colour for Core Graphics.
  open var cgColor: CGColor {
    CGColor(red: redComponent, green: greenComponent, blue: blueComponent, alpha: alphaComponent)
  }

  /// The same colour with another alpha.
  open func withAlphaComponent(_ alpha: CGFloat) -> NSColor {
    NSColor(red: redComponent, green: greenComponent, blue: blueComponent, alpha: alpha)
  }

  open override func isEqual(_ object: Any?) -> Bool {
    guard let other = object as? NSColor else { return false }
    return redComponent == other.redComponent && greenComponent == other.greenComponent
      && blueComponent == other.blueComponent && alphaComponent == other.alphaComponent
  }

  open override var hash: Int {
    [redComponent, greenComponent, blueComponent, alphaComponent].hashValue
  }

  /// Black.
  open class var black: NSColor { NSColor(white: 0, alpha: 1) }
  /// White.
  open class var white: NSColor { NSColor(white: 1, alpha: 1) }
  /// Grey.
  open class var gray: NSColor { NSColor(white: 0.5, alpha: 1) }
  /// Nothing at all.
  open class var clear: NSColor { NSColor(white: 0, alpha: 0) }
  /// Red.
  open class var red: NSColor { NSColor(red: 1, green: 0, blue: 0, alpha: 1) }
  /// Green.
  open class var green: NSColor { NSColor(red: 0, green: 1, blue: 0, alpha: 1) }
  /// Blue.
  open class var blue: NSColor { NSColor(red: 0, green: 0, blue: 1, alpha: 1) }
  /// The system's red.
  open class var systemRed: NSColor { NSColor(red: 1, green: 0.23, blue: 0.19, alpha: 1) }
  /// The system's green.
  open class var systemGreen: NSColor { NSColor(red: 0.16, green: 0.8, blue: 0.25, alpha: 1) }
  /// The system's blue.
  open class var systemBlue: NSColor { NSColor(red: 0, green: 0.48, blue: 1, alpha: 1) }
  /// The system's grey.
  open class var systemGray: NSColor { NSColor(red: 0.56, green: 0.56, blue: 0.58, alpha: 1) }
  /// The colour of text.
  open class var labelColor: NSColor { NSColor(white: 0, alpha: 0.85) }
  /// The colour of lesser text.
  open class var secondaryLabelColor: NSColor { NSColor(white: 0, alpha: 0.5) }
  /// The colour behind a window's content.
  open class var windowBackgroundColor: NSColor { NSColor(white: 0.93, alpha: 1) }
  /// The colour for accents.
  open class var controlAccentColor: NSColor { systemBlue }
}
