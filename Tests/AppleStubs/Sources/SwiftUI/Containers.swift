/// Rows that can be scrolled, made as they come into sight.
nonisolated public struct List<SelectionValue: Hashable, Content: View>: View {
  /// A basic view has no body.
  public typealias Body = Never
  let content: Content
}

extension Pass {
  /// Visits the content of a lazy container, of which only some rows are in sight.
  func visitRows(_ content: some View, _ node: Node, _ context: Context) {
    var context = context
    context.rows = window.map { LazyRows(window: $0) }
    visit(content, .slot(0), in: node, context)
  }
}

extension List: Primitive {
  @MainActor
  func render(_ pass: Pass, _ node: Node, _ context: Context) {
    pass.visitRows(content, node, context)
  }
}
