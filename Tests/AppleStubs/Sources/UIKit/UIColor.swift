import CoreGraphics
import Foundation

/// A colour.
open class UIColor: NSObject, @unchecked Sendable {
  // Sendable by hand, as in the SDK: all fields are constants.

  /// The parts: red, green, blue and alpha.
  public let _parts: [CGFloat]

  /// Makes a colour from its parts.
  public init(red: CGFloat, green: CGFloat, blue: CGFloat, alpha: CGFloat) {
    _parts = [red, green, blue, alpha]
    super.init()
  }

  /// Makes a grey.
  public init(white: CGFloat, alpha: CGFloat) {
    _parts = [white, white, white, alpha]
    super.init()
  }

  /// The same colour for Core Graphics.
  open var cgColor: CGColor {
    CGColor(red: _parts[0], green: _parts[1], blue: _parts[2], alpha: _parts[3])
  }

  /// The same colour with another alpha.
  open func withAlphaComponent(_ alpha: CGFloat) -> UIColor {
    UIColor(red: _parts[0], green: _parts[1], blue: _parts[2], alpha: alpha)
  }

  /// Writes the parts to where the pointers lead.
  @discardableResult
  open func getRed(
    _ red: UnsafeMutablePointer<CGFloat>?,
    green: UnsafeMutablePointer<CGFloat>?,
    blue: UnsafeMutablePointer<CGFloat>?,
    alpha: UnsafeMutablePointer<CGFloat>?,
  ) -> Bool {
    red?.pointee = _parts[0]
    green?.pointee = _parts[1]
    blue?.pointee = _parts[2]
    alpha?.pointee = _parts[3]
    return true
  }

  open override func isEqual(_ object: Any?) -> Bool {
    (object as? UIColor)?._parts == _parts
  }

  open override var hash: Int { _parts.hashValue }
}

extension UIColor {
  private static let stock: [String: UIColor] = [
    "black": UIColor(white: 0, alpha: 1),
    "white": UIColor(white: 1, alpha: 1),
    "gray": UIColor(white: 0.5, alpha: 1),
    "lightGray": UIColor(white: 2 / 3, alpha: 1),
    "darkGray": UIColor(white: 1 / 3, alpha: 1),
    "clear": UIColor(white: 0, alpha: 0),
    "red": UIColor(red: 1, green: 0, blue: 0, alpha: 1),
    "green": UIColor(red: 0, green: 1, blue: 0, alpha: 1),
    "blue": UIColor(red: 0, green: 0, blue: 1, alpha: 1),
    "systemRed": UIColor(red: 1, green: 0.23, blue: 0.19, alpha: 1),
    "systemGreen": UIColor(red: 0.2, green: 0.78, blue: 0.35, alpha: 1),
    "systemBlue": UIColor(red: 0, green: 0.48, blue: 1, alpha: 1),
    "systemOrange": UIColor(red: 1, green: 0.58, blue: 0, alpha: 1),
    "systemYellow": UIColor(red: 1, green: 0.8, blue: 0, alpha: 1),
    "systemGray": UIColor(red: 0.56, green: 0.56, blue: 0.58, alpha: 1),
    "label": UIColor(white: 0, alpha: 1),
    "secondaryLabel": UIColor(red: 0.24, green: 0.24, blue: 0.26, alpha: 0.6),
    "systemBackground": UIColor(white: 1, alpha: 1),
    "secondarySystemBackground": UIColor(red: 0.95, green: 0.95, blue: 0.97, alpha: 1),
    "systemFill": UIColor(red: 0.47, green: 0.47, blue: 0.5, alpha: 0.2),
  ]

  private static func stock(_ name: String = #function) -> UIColor {
    stock[name] ?? UIColor(white: 0, alpha: 1)
  }

  /// Black.
  public class var black: UIColor { stock() }
  /// White.
  public class var white: UIColor { stock() }
  /// Grey.
  public class var gray: UIColor { stock() }
  /// Light grey.
  public class var lightGray: UIColor { stock() }
  /// Dark grey.
  public class var darkGray: UIColor { stock() }
  /// Nothing at all.
  public class var clear: UIColor { stock() }
  /// Red.
  public class var red: UIColor { stock() }
  /// Green.
  public class var green: UIColor { stock() }
  /// Blue.
  public class var blue: UIColor { stock() }
  /// The system's red.
  public class var systemRed: UIColor { stock() }
  /// The system's green.
  public class var systemGreen: UIColor { stock() }
  /// The system's blue.
  public class var systemBlue: UIColor { stock() }
  /// The system's orange.
  public class var systemOrange: UIColor { stock() }
  /// The system's yellow.
  public class var systemYellow: UIColor { stock() }
  /// The system's grey.
  public class var systemGray: UIColor { stock() }
  /// The colour of text.
  public class var label: UIColor { stock() }
  /// The colour of lesser text.
  public class var secondaryLabel: UIColor { stock() }
  /// The colour behind everything.
  public class var systemBackground: UIColor { stock() }
  /// The colour behind groups.
  public class var secondarySystemBackground: UIColor { stock() }
  /// The colour of shapes.
  public class var systemFill: UIColor { stock() }
}
