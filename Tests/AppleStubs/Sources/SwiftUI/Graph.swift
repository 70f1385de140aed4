/// A view that the host knows how to show.
@MainActor
protocol Primitive: View where Body == Never {
  func render(_ pass: Pass, _ node: Node, _ context: Context)
}

/// A modifier that the host knows how to apply.
@MainActor
protocol PrimitiveModifier: ViewModifier where Body == Never {
  func apply<Content: View>(to content: Content, _ pass: Pass, _ node: Node, _ context: Context)
}

/// What a view inherits from above.
nonisolated struct Context {
  var environment: EnvironmentValues
  var transaction: Transaction
  var attributes = _Attributes()
  var size: CGSize
}

/// The identity of a view within its parent.
nonisolated enum Key: Hashable {
  case slot(Int)
}

/// What lives as long as the identity of a view.
@MainActor
final class Node {
  let type: Any.Type
  var children: [Key: Node] = [:]
  /// The pass that saw the view last.
  var pass = 0
  /// Whether the view is shown: it has appeared and not disappeared.
  var isPresent = false
  /// What the dynamic properties keep, in the order of the properties.
  var slots: [AnyObject] = []
  /// What a modifier or basic view keeps.
  var memo: AnyObject?
  /// What happens when the view disappears.
  var onLeave: (() -> Void)?
  let token = TokenHolder()

  init(type: Any.Type) {
    self.type = type
  }

  func memo<T: AnyObject>(_ make: () -> T) -> T {
    if let known = memo as? T { return known }
    let made = make()
    memo = made
    return made
  }

  /// Ends the appearance of the view and of all below it, innermost first.
  func leave(_ pass: Pass?) {
    for child in children.values { child.leave(pass) }
    guard isPresent else { return }
    isPresent = false
    if let onLeave {
      if let pass { pass.leaving.append(onLeave) } else { onLeave() }
    }
  }

  /// Cuts what the view keeps off from the host.
  func disconnect() {
    token.renew(nil)
    for case let slot as any Disconnectable in slots { slot.disconnect() }
    for child in children.values { child.disconnect() }
  }
}

/// Something kept for a view that must not call the host after the view is gone.
protocol Disconnectable: AnyObject {
  func disconnect()
}

/// A value that is kept for a view.
@MainActor
final class Box<Value> {
  var value: Value

  init(_ value: Value) {
    self.value = value
  }
}

/// One walk through the views.
@MainActor
final class Pass {
  let number: Int
  let invalidation: Invalidation
  let now: Date
  var output = _Output()
  /// What is done after the walk, in this order.
  var entering: [() -> Void] = []
  var leaving: [() -> Void] = []
  var isTimed = false

  init(number: Int, invalidation: Invalidation, now: Date) {
    self.number = number
    self.invalidation = invalidation
    self.now = now
  }

  /// Visits a view whose identity is a key within its parent.
  func visit<V: View>(_ view: V, _ key: Key, in parent: Node, _ context: Context) {
    let node = node(for: V.self, key, in: parent)
    parent.children[key] = node
    node.pass = number
    if let type = V.self as? any Primitive.Type {
      render(view, as: type, node, context)
    } else {
      var copy = view
      install(into: &copy, node, context)
      let body = track(node) { copy.body }
      visit(body, .slot(0), in: node, context)
    }
    node.isPresent = true
  }

  private func render<V: View, P: Primitive>(_ view: V, as type: P.Type, _ node: Node, _ context: Context) {
    if let view = view as? P { view.render(self, node, context) }
  }

  private func node(for type: Any.Type, _ key: Key, in parent: Node) -> Node {
    if let known = parent.children[key] {
      if known.type == type { return known }
      remove(known)
      parent.children[key] = nil
    }
    return Node(type: type)
  }

  private func remove(_ node: Node) {
    node.leave(self)
    node.disconnect()
  }

  /// Removes what the walk has not seen.
  func sweep(_ node: Node) {
    for (key, child) in node.children {
      if child.pass != number {
        remove(child)
        node.children[key] = nil
      } else {
        sweep(child)
      }
    }
  }

  /// Runs user code that makes views, and watches what it reads.
  func track<T>(_ node: Node, _ make: () -> T) -> T {
    let token = node.token.renew(invalidation)
    invalidation.isEvaluating = true
    defer { invalidation.isEvaluating = false }
    return withObservationTracking(make) {
      token.fire()
    }
  }
}
