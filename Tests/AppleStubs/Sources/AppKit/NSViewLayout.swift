import CoreGraphics
import Foundation

extension NSView: _LayoutItem {
  /// The rectangle in the coordinates of the superview.
  public var _layoutFrame: CGRect {
    get { frame }
    set { frame = newValue }
  }

  /// The superview.
  public var _layoutParent: (any _LayoutItem)? { superview }

  /// The rectangle in its own coordinates.
  public var _layoutBounds: CGRect { bounds }

  /// The size it has by itself.
  public var _intrinsicSize: CGSize { intrinsicContentSize }

  /// Whether constraints place it.
  public var _usesConstraints: Bool { !translatesAutoresizingMaskIntoConstraints }

  /// Nothing: it is no guide.
  public var _guideOwner: (any _LayoutItem)? { nil }

  /// Notes that the layout inside is out of date.
  public func _layoutChanged() {
    needsLayout = true
  }
}
