/// Animates the changes that come together with a change of a value.
nonisolated struct AnimationModifier<Value: Equatable>: PrimitiveModifier, Named {
  let animation: Animation?
  let value: Value

  var kindName: String { "animation" }

  @MainActor
  func apply<Content: View>(to content: Content, _ pass: Pass, _ node: Node, _ context: Context) {
    var changed = context
    let memo = node.memo { Box(value) }
    if memo.value != value, !context.transaction.disablesAnimations { changed.transaction.animation = animation }
    memo.value = value
    pass.visit(content, .slot(0), in: node, changed)
  }
}

extension View {
  /// Animates the view when a value changes.
  nonisolated public func animation<V>(_ animation: Animation?, value: V) -> some View where V: Equatable {
    modifier(AnimationModifier(animation: animation, value: value))
  }

  /// Changes the transaction of each change within the view.
  nonisolated public func transaction(_ transform: @escaping (inout Transaction) -> Void) -> some View {
    changing("transaction") { transform(&$0.transaction) }
  }

  /// Says how the view comes and goes.
  nonisolated public func transition(_ t: AnyTransition) -> some View {
    changing("transition") { $0.attributes.transition = t._description }
  }
}
