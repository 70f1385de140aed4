/// A control that does something when it is tapped.
nonisolated public struct Button<Label: View>: View {
  /// A basic view has no body.
  public typealias Body = Never
  let action: @MainActor () -> Void
  let label: Label
}

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

extension Button: Primitive {
  @MainActor
  func render(_ pass: Pass, _ node: Node, _ context: Context) {
    let (texts, images) = (pass.output.texts.count, pass.output.images.count)
    pass.visit(label, .slot(0), in: node, context)
    let words =
      pass.output.texts[texts...].map(\.string)
      + pass.output.images[images...].compactMap { $0.label ?? $0.systemName }
    pass.output.buttons.append(_RenderedButton(label: words.joined(separator: " "), action: action))
  }
}

extension ProgressView: Primitive {
  @MainActor
  func render(_ pass: Pass, _ node: Node, _ context: Context) {
    pass.output.progress.append(value)
    if let label { pass.visit(label, .slot(0), in: node, context) }
  }
}
