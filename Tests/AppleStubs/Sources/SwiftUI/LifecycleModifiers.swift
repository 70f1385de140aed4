/// Runs closures when a view appears and disappears.
nonisolated struct AppearanceModifier: PrimitiveModifier {
  let onAppear: (() -> Void)?
  let onDisappear: (() -> Void)?

  @MainActor
  func apply<Content: View>(to content: Content, _ pass: Pass, _ node: Node, _ context: Context) {
    pass.visit(content, .slot(0), in: node, context)
    node.onLeave = onDisappear
    if let onAppear, !node.isPresent { pass.entering.append(onAppear) }
  }
}

/// Runs a closure when a value is not what it was.
nonisolated struct ChangeModifier<Value: Equatable>: PrimitiveModifier {
  let value: Value
  let initial: Bool
  let action: (Value, Value) -> Void

  @MainActor
  func apply<Content: View>(to content: Content, _ pass: Pass, _ node: Node, _ context: Context) {
    pass.visit(content, .slot(0), in: node, context)
    let isNew = node.memo == nil
    let memo = node.memo { Box(value) }
    let old = memo.value
    memo.value = value
    if isNew ? initial : old != value {
      pass.entering.append { [value, action] in action(old, value) }
    }
  }
}

extension View {
  /// Runs a closure before the view is first shown.
  nonisolated public func onAppear(perform action: (() -> Void)? = nil) -> some View {
    modifier(AppearanceModifier(onAppear: action, onDisappear: nil))
  }

  /// Runs a closure after the view is no longer shown.
  nonisolated public func onDisappear(perform action: (() -> Void)? = nil) -> some View {
    modifier(AppearanceModifier(onAppear: nil, onDisappear: action))
  }

  /// Runs a closure when a value changes.
  nonisolated public func onChange<V>(
    of value: V,
    initial: Bool = false,
    _ action: @escaping () -> Void,
  ) -> some View where V: Equatable {
    modifier(ChangeModifier(value: value, initial: initial) { _, _ in action() })
  }
}
