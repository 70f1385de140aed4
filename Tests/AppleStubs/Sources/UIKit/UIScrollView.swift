import CoreGraphics
import Foundation

/// Hears of scrolling.
@MainActor
public protocol UIScrollViewDelegate: NSObjectProtocol {
  /// The content has moved.
  func scrollViewDidScroll(_ scrollView: UIScrollView)
  /// The content has come to rest after it was thrown.
  func scrollViewDidEndDecelerating(_ scrollView: UIScrollView)
}

extension UIScrollViewDelegate {
  /// Does nothing: the method is optional.
  public func scrollViewDidScroll(_ scrollView: UIScrollView) {}
  /// Does nothing: the method is optional.
  public func scrollViewDidEndDecelerating(_ scrollView: UIScrollView) {}
}

/// Gives scroll views their delegate, which tables declare again with a type of their own.
@MainActor
public protocol _ScrollDelegating: UIScrollView {}

/// A view on a larger content.
@MainActor
open class UIScrollView: UIView, _ScrollDelegating {
  /// Who hears of scrolling.
  public weak var _scrollDelegate: (any UIScrollViewDelegate)?
  /// The size of the content.
  open var contentSize = CGSize.zero
  /// Whether a finger moves it.
  open private(set) var isDragging = false

  /// The corner of the content that shows.
  open var contentOffset: CGPoint {
    get { bounds.origin }
    set {
      guard newValue != bounds.origin else { return }
      bounds.origin = newValue
      setNeedsLayout()
      _scrollDelegate?.scrollViewDidScroll(self)
    }
  }

  /// Scrolls as a finger does, and lays out.
  public func _scroll(to offset: CGFloat) {
    isDragging = true
    contentOffset = CGPoint(x: contentOffset.x, y: offset)
    layoutIfNeeded()
    isDragging = false
  }
}
