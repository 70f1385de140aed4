import Foundation

extension CALayer {
  /// The layers inside, from back to front.
  public var sublayers: [CALayer]? {
    get { children.isEmpty ? nil : children }
    set {
      for child in children { child.removeFromSuperlayer() }
      for child in newValue ?? [] { addSublayer(child) }
    }
  }

  /// Adds a layer in front of the others.
  public func addSublayer(_ layer: CALayer) {
    insert(layer) { $0.count }
  }

  /// Adds a layer at a place, counted from the back.
  public func insertSublayer(_ layer: CALayer, at idx: UInt32) {
    insert(layer) { min(Int(idx), $0.count) }
  }

  /// Adds a layer behind another one.
  public func insertSublayer(_ layer: CALayer, below sibling: CALayer?) {
    insert(layer) { others in others.firstIndex { $0 === sibling } ?? 0 }
  }

  /// Adds a layer in front of another one.
  public func insertSublayer(_ layer: CALayer, above sibling: CALayer?) {
    insert(layer) { others in others.firstIndex { $0 === sibling }.map { $0 + 1 } ?? others.count }
  }

  /// Puts a layer in the place of another one.
  public func replaceSublayer(_ oldLayer: CALayer, with newLayer: CALayer) {
    guard oldLayer !== newLayer, children.contains(where: { $0 === oldLayer }) else { return }
    insertSublayer(newLayer, above: oldLayer)
    oldLayer.removeFromSuperlayer()
  }

  /// Takes the layer out of its superlayer.
  public func removeFromSuperlayer() {
    superlayer?.children.removeAll { $0 === self }
    superlayer = nil
  }

  private func insert(_ layer: CALayer, at place: ([CALayer]) -> Int) {
    layer.removeFromSuperlayer()
    children.insert(layer, at: place(children))
    layer.superlayer = self
    _Clock._current._requestUpdate()
  }
}
