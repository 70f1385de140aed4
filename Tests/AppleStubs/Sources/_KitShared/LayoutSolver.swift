import CoreGraphics
import Foundation

/// Places views by their constraints.
@MainActor
public enum _LayoutSolver {
  /// Places those children of a view that constraints place.
  ///
  /// Between siblings the left side of a constraint follows the right side, never the other way.
  public static func solve(_ parent: any _LayoutItem, children: [any _LayoutItem]) {
    let placed = children.filter(\._usesConstraints)
    guard !placed.isEmpty else { return }
    let active = ([parent] + children).flatMap(\._heldConstraints).filter { $0.relation == .equal }
    for _ in 0..<2 {
      for child in placed { place(child, in: parent, by: active) }
    }
  }

  private static func place(
    _ child: any _LayoutItem,
    in parent: any _LayoutItem,
    by constraints: [NSLayoutConstraint],
  ) {
    var known: [NSLayoutConstraint.Attribute: CGFloat] = [:]
    var ratios: [NSLayoutConstraint] = []
    for constraint in constraints where constraint.first != nil {
      let isFirst = constraint.first === child
      let isSecond = constraint.second === child
      if isFirst && isSecond {
        ratios.append(constraint)
      } else if isFirst, constraint.secondAttribute == .notAnAttribute {
        known[plain(constraint.firstAttribute)] = constraint.constant
      } else if isFirst, let other = value(constraint.secondAttribute, of: constraint.second, in: parent) {
        known[plain(constraint.firstAttribute)] = other * constraint.multiplier + constraint.constant
      } else if isSecond, isInside(constraint.first, parent),
        let other = value(constraint.firstAttribute, of: constraint.first, in: parent)
      {
        known[plain(constraint.secondAttribute)] = (other - constraint.constant) / constraint.multiplier
      }
    }
    var frame = child._layoutFrame
    let size = child._intrinsicSize
    for _ in 0..<2 {
      (frame.origin.x, frame.size.width) = span(
        known[.left],
        known[.right],
        known[.centerX],
        known[.width],
        own: size.width,
        old: (frame.minX, frame.width),
      )
      (frame.origin.y, frame.size.height) = span(
        known[.top],
        known[.bottom],
        known[.centerY],
        known[.height],
        own: size.height,
        old: (frame.minY, frame.height),
      )
      for ratio in ratios { apply(ratio, frame, &known) }
    }
    if frame != child._layoutFrame { child._layoutFrame = frame }
  }

  private static func apply(
    _ ratio: NSLayoutConstraint,
    _ frame: CGRect,
    _ known: inout [NSLayoutConstraint.Attribute: CGFloat],
  ) {
    let firstIsFixed = known[ratio.firstAttribute] != nil
    if firstIsFixed, known[ratio.secondAttribute] == nil {
      let length = ratio.firstAttribute == .width ? frame.width : frame.height
      known[ratio.secondAttribute] = (length - ratio.constant) / ratio.multiplier
    } else if !firstIsFixed {
      let length = ratio.secondAttribute == .width ? frame.width : frame.height
      known[ratio.firstAttribute] = length * ratio.multiplier + ratio.constant
    }
  }

  private static func span(
    _ low: CGFloat?,
    _ high: CGFloat?,
    _ middle: CGFloat?,
    _ length: CGFloat?,
    own: CGFloat,
    old: (CGFloat, CGFloat),
  ) -> (CGFloat, CGFloat) {
    if let low, let high { return (low, max(0, high - low)) }
    if let low, let middle, length == nil { return (low, max(0, 2 * (middle - low))) }
    if let high, let middle, length == nil { return (2 * middle - high, max(0, 2 * (high - middle))) }
    let length = length ?? (own >= 0 ? own : old.1)
    if let low { return (low, length) }
    if let high { return (high - length, length) }
    if let middle { return (middle - length / 2, length) }
    return (old.0, length)
  }

  private static func isInside(_ item: (any _LayoutItem)?, _ parent: any _LayoutItem) -> Bool {
    item === parent || item?._guideOwner === parent
  }

  private static func plain(_ attribute: NSLayoutConstraint.Attribute) -> NSLayoutConstraint.Attribute {
    switch attribute {
    case .leading: .left
    case .trailing: .right
    default: attribute
    }
  }

  private static func value(
    _ attribute: NSLayoutConstraint.Attribute,
    of item: (any _LayoutItem)?,
    in parent: any _LayoutItem,
  ) -> CGFloat? {
    guard let item else { return nil }
    let frame: CGRect
    if isInside(item, parent) {
      frame = parent._layoutBounds
    } else if let sibling = item._guideOwner ?? item as (any _LayoutItem)?, sibling._layoutParent === parent {
      frame = sibling._layoutFrame
    } else {
      return nil
    }
    switch plain(attribute) {
    case .left: return frame.minX
    case .right: return frame.maxX
    case .top: return frame.minY
    case .bottom: return frame.maxY
    case .width: return frame.width
    case .height: return frame.height
    case .centerX: return frame.midX
    case .centerY: return frame.midY
    default: return nil
    }
  }
}
