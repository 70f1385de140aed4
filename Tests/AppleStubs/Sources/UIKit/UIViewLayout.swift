import CoreGraphics
import Foundation

extension UIView: _LayoutItem {
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
    setNeedsLayout()
  }

  func resizeChildren(from old: CGSize, to new: CGSize) {
    for child in children where child.translatesAutoresizingMaskIntoConstraints && !child.autoresizingMask.isEmpty {
      let mask = child.autoresizingMask
      var frame = child.frame
      let across = [
        mask.contains(.flexibleLeftMargin), mask.contains(.flexibleWidth), mask.contains(.flexibleRightMargin),
      ]
      let down = [
        mask.contains(.flexibleTopMargin), mask.contains(.flexibleHeight), mask.contains(.flexibleBottomMargin),
      ]
      (frame.origin.x, frame.size.width) = stretch(frame.minX, frame.width, new.width - old.width, across)
      (frame.origin.y, frame.size.height) = stretch(frame.minY, frame.height, new.height - old.height, down)
      child.frame = frame
    }
  }

  private func stretch(_ start: CGFloat, _ length: CGFloat, _ change: CGFloat, _ gives: [Bool]) -> (CGFloat, CGFloat) {
    let count = gives.count { $0 }
    guard count > 0 else { return (start, length) }
    let share = change / CGFloat(count)
    return (start + (gives[0] ? share : 0), max(0, length + (gives[1] ? share : 0)))
  }
}
