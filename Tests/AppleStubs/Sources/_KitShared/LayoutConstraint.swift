import CoreGraphics
import Foundation

/// A relation between two measures of views.
///
/// These stubs solve equalities between a view, its siblings and its superview. They keep
/// inequalities and priorities, but ignore them.
@MainActor
open class NSLayoutConstraint: NSObject {
  /// A measure of a view.
  public enum Attribute: Int, Sendable {
    /// The left edge.
    case left = 1
    /// The right edge.
    case right = 2
    /// The top edge.
    case top = 3
    /// The bottom edge.
    case bottom = 4
    /// The edge where text begins.
    case leading = 5
    /// The edge where text ends.
    case trailing = 6
    /// The width.
    case width = 7
    /// The height.
    case height = 8
    /// The middle, across.
    case centerX = 9
    /// The middle, down.
    case centerY = 10
    /// None.
    case notAnAttribute = 0
  }

  /// The kind of a relation.
  public enum Relation: Int, Sendable {
    /// At most.
    case lessThanOrEqual = -1
    /// Just as much.
    case equal = 0
    /// At least.
    case greaterThanOrEqual = 1
  }

  weak var first: (any _LayoutItem)?
  weak var second: (any _LayoutItem)?
  /// The measure on the left.
  public let firstAttribute: Attribute
  /// The relation.
  public let relation: Relation
  /// The measure on the right.
  public let secondAttribute: Attribute
  /// What the measure on the right is multiplied by.
  public let multiplier: CGFloat
  /// What is added to it.
  open var constant: CGFloat { didSet { if isActive { container?._layoutChanged() } } }

  init(
    _first first: (any _LayoutItem)?,
    _ firstAttribute: Attribute,
    _ relation: Relation,
    second: (any _LayoutItem)?,
    _ secondAttribute: Attribute,
    multiplier: CGFloat,
    constant: CGFloat,
  ) {
    self.first = first
    self.firstAttribute = firstAttribute
    self.relation = relation
    self.second = second
    self.secondAttribute = secondAttribute
    self.multiplier = multiplier
    self.constant = constant
    super.init()
  }

  /// Whether it takes part in the layout.
  open var isActive: Bool {
    get { holder?._heldConstraints.contains { $0 === self } ?? false }
    set {
      guard newValue != isActive else { return }
      if newValue {
        holder?._heldConstraints.append(self)
      } else {
        holder?._heldConstraints.removeAll { $0 === self }
      }
      container?._layoutChanged()
    }
  }

  /// Makes constraints take part in the layout.
  open class func activate(_ constraints: [NSLayoutConstraint]) {
    for constraint in constraints { constraint.isActive = true }
  }

  private var holder: (any _LayoutItem)? { first?._guideOwner ?? first }

  private var container: (any _LayoutItem)? { holder?._layoutParent ?? holder }
}
