/// A change that can be made to any view.
@MainActor
@preconcurrency
public protocol ViewModifier {
  /// The kind of view that the result is.
  associatedtype Body: View
  /// The view that is changed.
  typealias Content = _ViewModifier_Content<Self>

  /// Makes the changed view.
  @ViewBuilder
  @MainActor
  @preconcurrency
  func body(content: Content) -> Body
}

extension ViewModifier where Body == Never {
  /// Not for use: a basic modifier has no body.
  public func body(content: Content) -> Never {
    preconditionFailure("body(content:) should not be called on \(Self.self).")
  }
}

/// The view that a modifier changes.
nonisolated public struct _ViewModifier_Content<Modifier: ViewModifier>: View {
  /// A basic view has no body.
  public typealias Body = Never
  let view: any View
}

/// A view with a modifier.
nonisolated public struct ModifiedContent<Content, Modifier> {
  /// The view.
  public var content: Content
  /// The modifier.
  public var modifier: Modifier

  /// Makes a modified view.
  public init(content: Content, modifier: Modifier) {
    self.content = content
    self.modifier = modifier
  }
}

extension ModifiedContent: View where Content: View, Modifier: ViewModifier {
  /// A basic view has no body.
  public typealias Body = Never
}

extension View {
  /// Applies a modifier.
  nonisolated public func modifier<T>(_ modifier: T) -> ModifiedContent<Self, T> {
    ModifiedContent(content: self, modifier: modifier)
  }
}

extension _ViewModifier_Content: Primitive {
  @MainActor
  func render(_ pass: Pass, _ node: Node, _ context: Context) {
    pass.visit(view, .slot(0), in: node, context)
  }
}

extension ModifiedContent: Primitive where Content: View, Modifier: ViewModifier {
  @MainActor
  func render(_ pass: Pass, _ node: Node, _ context: Context) {
    if let type = Modifier.self as? any PrimitiveModifier.Type {
      apply(type, pass, node, context)
    } else {
      var copy = modifier
      pass.install(into: &copy, node, context)
      let body = pass.track(node) { copy.body(content: _ViewModifier_Content(view: content)) }
      pass.visit(body, .slot(0), in: node, context)
    }
  }

  @MainActor
  private func apply<P: PrimitiveModifier>(_ type: P.Type, _ pass: Pass, _ node: Node, _ context: Context) {
    if let modifier = modifier as? P { modifier.apply(to: content, pass, node, context) }
  }
}

/// A modifier that changes what the view inherits.
nonisolated struct ContextModifier: PrimitiveModifier {
  let change: (inout Context) -> Void

  @MainActor
  func apply<Content: View>(to content: Content, _ pass: Pass, _ node: Node, _ context: Context) {
    var changed = context
    change(&changed)
    pass.visit(content, .slot(0), in: node, changed)
  }
}

extension View {
  /// Changes what the view inherits.
  nonisolated func changing(
    _ change: @escaping (inout Context) -> Void
  ) -> ModifiedContent<Self, ContextModifier> {
    modifier(ContextModifier(change: change))
  }
}
