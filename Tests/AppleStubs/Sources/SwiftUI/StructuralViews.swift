/// A view that shows nothing.
nonisolated public struct EmptyView: View, Sendable {
  /// A basic view has no body.
  public typealias Body = Never

  /// Makes an empty view.
  public init() {}
}

/// Several views, one after another.
nonisolated public struct TupleView<T>: View {
  /// A basic view has no body.
  public typealias Body = Never

  /// The views as a tuple.
  public var value: T
  let views: [any View]

  init(value: T, views: [any View]) {
    self.value = value
    self.views = views
  }
}

/// One of two views.
nonisolated public struct _ConditionalContent<TrueContent, FalseContent> {
  enum Storage {
    case first(TrueContent)
    case second(FalseContent)
  }

  let storage: Storage
}

extension _ConditionalContent: View where TrueContent: View, FalseContent: View {
  /// A basic view has no body.
  public typealias Body = Never
}

extension Optional: View where Wrapped: View {
  /// A basic view has no body.
  public typealias Body = Never
}

/// A view whose type is hidden.
///
/// Its state is dropped when a view of another type takes its place.
nonisolated public struct AnyView: View {
  /// A basic view has no body.
  public typealias Body = Never

  let view: any View

  /// Hides the type of a view.
  public init<V>(_ view: V) where V: View {
    self.view = (view as? AnyView)?.view ?? view
  }
}

/// Several views that are treated as one.
nonisolated public struct Group<Content> {
  let content: Content
}

extension Group: View where Content: View {
  /// A basic view has no body.
  public typealias Body = Never
}

// Structural views take no row of their own in a lazy container.

extension EmptyView: Primitive, Transparent {
  @MainActor
  func render(_ pass: Pass, _ node: Node, _ context: Context) {}
}

extension TupleView: Primitive, Transparent {
  @MainActor
  func render(_ pass: Pass, _ node: Node, _ context: Context) {
    for (index, view) in views.enumerated() {
      pass.visit(view, .slot(index), in: node, context)
    }
  }
}

extension _ConditionalContent: Primitive, Transparent where TrueContent: View, FalseContent: View {
  @MainActor
  func render(_ pass: Pass, _ node: Node, _ context: Context) {
    switch storage {
    case .first(let view): pass.visit(view, .slot(0), in: node, context)
    case .second(let view): pass.visit(view, .slot(1), in: node, context)
    }
  }
}

extension Optional: Primitive, Transparent where Wrapped: View {
  @MainActor
  func render(_ pass: Pass, _ node: Node, _ context: Context) {
    if let self { pass.visit(self, .slot(0), in: node, context) }
  }
}

extension AnyView: Primitive, Transparent {
  @MainActor
  func render(_ pass: Pass, _ node: Node, _ context: Context) {
    pass.visit(view, .slot(0), in: node, context)
  }
}

extension Group: Primitive, Transparent where Content: View {
  @MainActor
  func render(_ pass: Pass, _ node: Node, _ context: Context) {
    pass.visit(content, .slot(0), in: node, context)
  }
}
