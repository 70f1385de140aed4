import CoreGraphics
import Foundation

extension NSView {
  func insert(_ view: NSView, at index: Int?) {
    view.move(to: self, window: ownWindow) {
      view.unlink()
      children.insert(view, at: min(index ?? children.count, children.count))
      view.parent = self
      view.nextResponder = self
      guard let layer else { return }
      view.wantsLayer = true
      guard let inner = view.layer else { return }
      if let index, index + 1 < children.count {
        layer.insertSublayer(inner, below: children[index + 1].layer)
      } else {
        layer.addSublayer(inner)
      }
    }
    didAddSubview(view)
    needsLayout = true
  }

  func move(to newParent: NSView?, window newWindow: NSWindow?, _ change: () -> Void) {
    let isOther = ownWindow !== newWindow
    let oldScale = ownWindow?.backingScaleFactor
    if isOther { forEachInTree { $0.viewWillMove(toWindow: newWindow) } }
    viewWillMove(toSuperview: newParent)
    change()
    viewDidMoveToSuperview()
    guard isOther else { return }
    if newWindow == nil { layer?._removeAnimationsInTree() }
    forEachInTree { $0.ownWindow = newWindow }
    forEachInTree { $0.viewDidMoveToWindow() }
    if let scale = newWindow?.backingScaleFactor, scale != oldScale { backingChanged(scale) }
  }

  func backingChanged(_ scale: CGFloat) {
    forEachInTree { view in
      view.layer?.contentsScale = scale
      view.viewDidChangeBackingProperties()
    }
  }

  func unlink() {
    parent?.willRemoveSubview(self)
    parent?.children.removeAll { $0 === self }
    parent?.needsLayout = true
    parent = nil
    layer?.removeFromSuperlayer()
  }

  func displayTree() {
    if needsDisplay {
      needsDisplay = false
      if wantsUpdateLayer, wantsLayer { updateLayer() } else { draw(bounds) }
    }
    for child in children { child.displayTree() }
  }

  func follow(from old: NSSize, to new: NSSize) {
    guard !autoresizingMask.isEmpty else { return }
    let mask = autoresizingMask
    var rect = frame
    let across = [mask.contains(.minXMargin), mask.contains(.width), mask.contains(.maxXMargin)]
    let down = [mask.contains(.minYMargin), mask.contains(.height), mask.contains(.maxYMargin)]
    (rect.origin.x, rect.size.width) = stretch(rect.minX, rect.width, new.width - old.width, across)
    (rect.origin.y, rect.size.height) = stretch(rect.minY, rect.height, new.height - old.height, down)
    frame = rect
  }

  private func forEachInTree(_ body: (NSView) -> Void) {
    body(self)
    for child in children { child.forEachInTree(body) }
  }

  private func stretch(_ start: CGFloat, _ length: CGFloat, _ change: CGFloat, _ gives: [Bool]) -> (CGFloat, CGFloat) {
    let count = gives.count { $0 }
    guard count > 0 else { return (start, length) }
    let share = change / CGFloat(count)
    return (start + (gives[0] ? share : 0), max(0, length + (gives[1] ? share : 0)))
  }
}
