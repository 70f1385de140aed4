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

  /// The system's red.
  public class var systemRed: UIColor { stock() }
  /// The system's blue.
  public class var systemBlue: UIColor { stock() }
}
