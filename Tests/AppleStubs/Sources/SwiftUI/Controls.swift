/// A view that shows how far something has come.
nonisolated public struct ProgressView<Label: View, CurrentValueLabel: View>: View {
  /// A basic view has no body.
  public typealias Body = Never
  let value: Double?
  let label: Label?
}

extension ProgressView where CurrentValueLabel == EmptyView {
  /// Makes a view for an unknown length of time.
  nonisolated public init() where Label == EmptyView {
    value = nil
    label = nil
  }
}

extension ProgressView: Primitive {
  @MainActor
  func render(_ pass: Pass, _ node: Node, _ context: Context) {
    if let label { pass.visit(label, .slot(0), in: node, context) }
  }
}
