import CoreGraphics
import Foundation

/// What constraints place: a view, or a guide inside one.
@MainActor
public protocol _LayoutItem: AnyObject {
  /// The rectangle in the coordinates of the parent.
  var _layoutFrame: CGRect { get set }
  /// The view around it.
  var _layoutParent: (any _LayoutItem)? { get }
  /// The rectangle in its own coordinates.
  var _layoutBounds: CGRect { get }
  /// The size it has by itself, with a negative number where it has none.
  var _intrinsicSize: CGSize { get }
  /// Whether constraints place it.
  var _usesConstraints: Bool { get }
  /// The active constraints it keeps.
  var _heldConstraints: [NSLayoutConstraint] { get set }
  /// The view whose bounds stand for it, if it is a guide.
  var _guideOwner: (any _LayoutItem)? { get }
  /// Notes that the layout inside is out of date.
  func _layoutChanged()
}

extension _LayoutItem {
  /// The edge where text begins.
  public var leadingAnchor: NSLayoutXAxisAnchor { NSLayoutXAxisAnchor(_of: self, .leading) }
  /// The edge where text ends.
  public var trailingAnchor: NSLayoutXAxisAnchor { NSLayoutXAxisAnchor(_of: self, .trailing) }
  /// The middle, down.
  public var centerYAnchor: NSLayoutYAxisAnchor { NSLayoutYAxisAnchor(_of: self, .centerY) }
  /// The width.
  public var widthAnchor: NSLayoutDimension { NSLayoutDimension(_of: self, .width) }
  /// The height.
  public var heightAnchor: NSLayoutDimension { NSLayoutDimension(_of: self, .height) }
}

/// How strongly a constraint holds.
public struct _LayoutPriority: Hashable, RawRepresentable, Sendable {
  /// The strength, from 0 to 1000.
  public let rawValue: Float

  /// Makes a priority.
  public init(rawValue: Float) {
    self.rawValue = rawValue
  }
}
