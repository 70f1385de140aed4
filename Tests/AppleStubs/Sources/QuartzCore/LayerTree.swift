import Foundation

extension CALayer {
  /// Adds a layer in front of the others.
  public func addSublayer(_ layer: CALayer) {
    insert(layer) { $0.count }
  }

  /// Adds a layer behind another one.
  public func insertSublayer(_ layer: CALayer, below sibling: CALayer?) {
    insert(layer) { others in others.firstIndex { $0 === sibling } ?? 0 }
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
