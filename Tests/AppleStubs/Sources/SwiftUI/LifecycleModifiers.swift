/// Runs closures when a view appears and disappears.
nonisolated struct AppearanceModifier: PrimitiveModifier, Named {
  let kindName: String
  let onAppear: (() -> Void)?
  let onDisappear: (() -> Void)?

  @MainActor
  func apply<Content: View>(to content: Content, _ pass: Pass, _ node: Node, _ context: Context) {
    pass.visit(content, .slot(0), in: node, context)
    node.onLeave = onDisappear
    if let onAppear, !node.isPresent { pass.entering.append(onAppear) }
  }
}

/// Runs a task while a view is shown and an identity is the same.
nonisolated struct TaskModifier<ID: Equatable>: PrimitiveModifier, Named {
  let id: ID
  let priority: TaskPriority
  let action: @isolated(any) @Sendable () async -> Void

  var kindName: String { "task" }

  @MainActor
  func apply<Content: View>(to content: Content, _ pass: Pass, _ node: Node, _ context: Context) {
    pass.visit(content, .slot(0), in: node, context)
    let memo = node.memo { TaskMemo(id) }
    if node.isPresent, memo.id == id { return }
    memo.id = id
    node.onLeave = { memo.stop() }
    pass.entering.append { [priority, action] in memo.start(priority, action) }
  }
}

/// The task of a view.
@MainActor
private final class TaskMemo<ID> {
  var id: ID
  private var task: Task<Void, Never>?

  init(_ id: ID) {
    self.id = id
  }

  deinit {
    task?.cancel()
  }

  func start(_ priority: TaskPriority, _ action: @escaping @isolated(any) @Sendable () async -> Void) {
    task?.cancel()
    task = Task(priority: priority, operation: action)
  }

  func stop() {
    task?.cancel()
    task = nil
  }
}

/// Runs a closure when a value is not what it was.
nonisolated struct ChangeModifier<Value: Equatable>: PrimitiveModifier, Named {
  let value: Value
  let initial: Bool
  let action: (Value, Value) -> Void

  var kindName: String { "onChange" }

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

/// Gives a view an identity.
nonisolated struct IDModifier<ID: Hashable>: PrimitiveModifier, Named {
  let id: ID

  var kindName: String { "id" }

  @MainActor
  func apply<Content: View>(to content: Content, _ pass: Pass, _ node: Node, _ context: Context) {
    pass.visit(content, .id(id), in: node, context)
  }
}

extension View {
  /// Runs a closure before the view is first shown.
  nonisolated public func onAppear(perform action: (() -> Void)? = nil) -> some View {
    modifier(AppearanceModifier(kindName: "onAppear", onAppear: action, onDisappear: nil))
  }

  /// Runs a closure after the view is no longer shown.
  nonisolated public func onDisappear(perform action: (() -> Void)? = nil) -> some View {
    modifier(AppearanceModifier(kindName: "onDisappear", onAppear: nil, onDisappear: action))
  }

  /// Runs a task that is cancelled when the view disappears.
  nonisolated public func task(
    priority: TaskPriority = .userInitiated,
    @_inheritActorContext _ action: @escaping @isolated(any) @Sendable () async -> Void,
  ) -> some View {
    modifier(TaskModifier(id: 0, priority: priority, action: action))
  }

  /// Runs a task that is cancelled when the view disappears, and started anew when a value changes.
  nonisolated public func task<T>(
    id value: T,
    priority: TaskPriority = .userInitiated,
    @_inheritActorContext _ action: @escaping @isolated(any) @Sendable () async -> Void,
  ) -> some View where T: Equatable {
    modifier(TaskModifier(id: value, priority: priority, action: action))
  }

  /// Runs a closure with the old and the new value when a value changes.
  nonisolated public func onChange<V>(
    of value: V,
    initial: Bool = false,
    _ action: @escaping (_ oldValue: V, _ newValue: V) -> Void,
  ) -> some View where V: Equatable {
    modifier(ChangeModifier(value: value, initial: initial, action: action))
  }

  /// Runs a closure when a value changes.
  nonisolated public func onChange<V>(
    of value: V,
    initial: Bool = false,
    _ action: @escaping () -> Void,
  ) -> some View where V: Equatable {
    modifier(ChangeModifier(value: value, initial: initial) { _, _ in action() })
  }

  /// Binds the view's identity to a value.
  nonisolated public func id<ID>(_ id: ID) -> some View where ID: Hashable {
    modifier(IDModifier(id: id))
  }
}
