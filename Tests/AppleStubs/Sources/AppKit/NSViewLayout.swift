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

  /// The left edge.
  public var leftAnchor: NSLayoutXAxisAnchor { NSLayoutXAxisAnchor(_of: self, .left) }
  /// The right edge.
  public var rightAnchor: NSLayoutXAxisAnchor { NSLayoutXAxisAnchor(_of: self, .right) }
  /// The edge where text begins.
  public var leadingAnchor: NSLayoutXAxisAnchor { NSLayoutXAxisAnchor(_of: self, .leading) }
  /// The edge where text ends.
  public var trailingAnchor: NSLayoutXAxisAnchor { NSLayoutXAxisAnchor(_of: self, .trailing) }
  /// The middle, across.
  public var centerXAnchor: NSLayoutXAxisAnchor { NSLayoutXAxisAnchor(_of: self, .centerX) }
  /// The top edge.
  public var topAnchor: NSLayoutYAxisAnchor { NSLayoutYAxisAnchor(_of: self, .top) }
  /// The bottom edge.
  public var bottomAnchor: NSLayoutYAxisAnchor { NSLayoutYAxisAnchor(_of: self, .bottom) }
  /// The middle, down.
  public var centerYAnchor: NSLayoutYAxisAnchor { NSLayoutYAxisAnchor(_of: self, .centerY) }
  /// The width.
  public var widthAnchor: NSLayoutDimension { NSLayoutDimension(_of: self, .width) }
  /// The height.
  public var heightAnchor: NSLayoutDimension { NSLayoutDimension(_of: self, .height) }
}
