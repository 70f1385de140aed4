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

extension EmptyView: Primitive {
  @MainActor
  func render(_ pass: Pass, _ node: Node, _ context: Context) {}
}

extension TupleView: Primitive {
  @MainActor
  func render(_ pass: Pass, _ node: Node, _ context: Context) {
    for (index, view) in views.enumerated() {
      pass.visit(view, .slot(index), in: node, context)
    }
  }
}

extension _ConditionalContent: Primitive where TrueContent: View, FalseContent: View {
  @MainActor
  func render(_ pass: Pass, _ node: Node, _ context: Context) {
    switch storage {
    case .first(let view): pass.visit(view, .slot(0), in: node, context)
    case .second(let view): pass.visit(view, .slot(1), in: node, context)
    }
  }
}

extension Optional: Primitive where Wrapped: View {
  @MainActor
  func render(_ pass: Pass, _ node: Node, _ context: Context) {
    if let self { pass.visit(self, .slot(0), in: node, context) }
  }
}
