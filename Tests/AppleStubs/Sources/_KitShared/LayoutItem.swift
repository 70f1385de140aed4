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

/// How strongly a constraint holds.
public struct _LayoutPriority: Hashable, RawRepresentable, Sendable {
  /// The strength, from 0 to 1000.
  public let rawValue: Float

  /// Makes a priority.
  public init(rawValue: Float) {
    self.rawValue = rawValue
  }

  /// Makes a priority.
  public init(_ rawValue: Float) {
    self.rawValue = rawValue
  }

  /// It always holds.
  public static let required = _LayoutPriority(1_000)
  /// It holds if it can.
  public static let defaultHigh = _LayoutPriority(750)
  /// It holds if nothing minds.
  public static let defaultLow = _LayoutPriority(250)
}
