import CoreGraphics
import Foundation

extension UIView {
  /// Adds a view at a place, counted from the back.
  public func insertSubview(_ view: UIView, at index: Int) {
    insert(view) { max(0, min(index, $0.count)) }
  }

  func insert(_ view: UIView, at place: ([UIView]) -> Int) {
    precondition(view !== self, "Can't add self as subview")
    let oldWindow = view.ownWindow
    let oldTraits = view.traitCollection
    if view.parent != nil { view.unlink() }
    if oldWindow !== ownWindow { view.forEachInTree { $0.willMove(toWindow: ownWindow) } }
    view.willMove(toSuperview: self)
    let index = place(children)
    children.insert(view, at: index)
    view.parent = self
    if index + 1 < children.count {
      layer.insertSublayer(view.layer, below: children[index + 1].layer)
    } else {
      layer.addSublayer(view.layer)
    }
    view.enter(ownWindow, from: oldWindow, oldTraits)
    view.didMoveToSuperview()
    didAddSubview(view)
    setNeedsLayout()
  }

  func detach(to newParent: UIView?) {
    guard parent != nil else { return }
    let oldWindow = ownWindow
    let oldTraits = traitCollection
    if oldWindow != nil { forEachInTree { $0.willMove(toWindow: nil) } }
    willMove(toSuperview: nil)
    unlink()
    enter(nil, from: oldWindow, oldTraits)
    didMoveToSuperview()
  }

  func forEachInTree(_ body: (UIView) -> Void) {
    body(self)
    for child in children { child.forEachInTree(body) }
  }

  func traitsChanged(from old: UITraitCollection) {
    guard traitCollection != old else { return }
    traitCollectionDidChange(old)
    for registration in registrations {
      let isTouched = registration.traits.contains { $0._value(in: old) != $0._value(in: traitCollection) }
      if isTouched { registration.run(old) }
    }
    controller?.traitsChanged(from: old)
    for child in children { child.traitsChanged(from: old) }
  }

  func displayTree() {
    if layer.needsDisplay() {
      layer.displayIfNeeded()
      display(layer)
    }
    for child in children { child.displayTree() }
  }

  private func unlink() {
    parent?.willRemoveSubview(self)
    parent?.children.removeAll { $0 === self }
    parent?.setNeedsLayout()
    parent = nil
    layer.removeFromSuperlayer()
  }

  private func enter(_ window: UIWindow?, from oldWindow: UIWindow?, _ oldTraits: UITraitCollection) {
    guard window !== oldWindow else { return }
    if window == nil { layer._removeAnimationsInTree() }
    forEachInTree { $0.ownWindow = window }
    forEachInTree { $0.didMoveToWindow() }
    if window != nil { traitsChanged(from: oldTraits) }
  }
}

extension UIView {
  /// Registers a handler of trait changes.
  public func _register(
    _ traits: [UITrait],
    _ run: @escaping @MainActor (UITraitCollection) -> Void,
  ) -> any UITraitChangeRegistration {
    let registration = _TraitRegistration(traits: traits, run: run)
    registrations.append(registration)
    return registration
  }
}
