import CoreGraphics
import Foundation

/// A measure of a view, from which constraints are made.
@MainActor
open class NSLayoutAnchor<AnchorType: AnyObject>: NSObject {
  weak var owner: (any _LayoutItem)?
  let attribute: NSLayoutConstraint.Attribute

  /// Makes the anchor of a measure.
  public init(_of owner: any _LayoutItem, _ attribute: NSLayoutConstraint.Attribute) {
    self.owner = owner
    self.attribute = attribute
    super.init()
  }

  /// Equal to another measure.
  public func constraint(equalTo anchor: NSLayoutAnchor<AnchorType>) -> NSLayoutConstraint {
    relate(.equal, anchor, 1, 0)
  }

  /// Equal to another measure and a constant.
  public func constraint(equalTo anchor: NSLayoutAnchor<AnchorType>, constant c: CGFloat) -> NSLayoutConstraint {
    relate(.equal, anchor, 1, c)
  }

  func relate(
    _ relation: NSLayoutConstraint.Relation,
    _ other: NSLayoutAnchor<AnchorType>?,
    _ multiplier: CGFloat,
    _ constant: CGFloat,
  ) -> NSLayoutConstraint {
    NSLayoutConstraint(
      _first: owner,
      attribute,
      relation,
      second: other?.owner,
      other?.attribute ?? .notAnAttribute,
      multiplier: multiplier,
      constant: constant,
    )
  }
}

/// A measure across.
@MainActor
open class NSLayoutXAxisAnchor: NSLayoutAnchor<NSLayoutXAxisAnchor> {}

/// A measure down.
@MainActor
open class NSLayoutYAxisAnchor: NSLayoutAnchor<NSLayoutYAxisAnchor> {}

/// A width or a height.
@MainActor
open class NSLayoutDimension: NSLayoutAnchor<NSLayoutDimension> {
  /// Equal to a constant.
  public func constraint(equalToConstant c: CGFloat) -> NSLayoutConstraint {
    relate(.equal, nil, 1, c)
  }
}
