/// A control that does something when it is tapped.
nonisolated public struct Button<Label: View>: View {
  /// A basic view has no body.
  public typealias Body = Never
  let action: @MainActor () -> Void
  let label: Label

  /// Makes a button with a label.
  public init(action: @escaping @MainActor () -> Void, @ViewBuilder label: () -> Label) {
    self.action = action
    self.label = label()
  }
}

extension Button where Label == Text {
  /// Makes a button with a title that may be translated.
  nonisolated public init(_ titleKey: LocalizedStringKey, action: @escaping @MainActor () -> Void) {
    self.init(action: action) { Text(titleKey) }
  }

  /// Makes a button with a title.
  @_disfavoredOverload
  nonisolated public init<S>(_ title: S, action: @escaping @MainActor () -> Void) where S: StringProtocol {
    self.init(action: action) { Text(title) }
  }
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

  /// Makes a view for an unknown length of time, with a label.
  nonisolated public init(@ViewBuilder label: () -> Label) {
    value = nil
    self.label = label()
  }

  /// Makes a view of a part of a total.
  nonisolated public init<V>(value: V?, total: V = 1.0) where Label == EmptyView, V: BinaryFloatingPoint {
    self.value = value.map { Double($0 / total) }
    label = nil
  }
}

/// A view that takes the space that is left.
nonisolated public struct Spacer: View, Sendable {
  /// A basic view has no body.
  public typealias Body = Never
  /// The least length.
  public var minLength: CGFloat?

  /// Makes a spacer.
  public init(minLength: CGFloat? = nil) {
    self.minLength = minLength
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

extension Spacer: Primitive {
  @MainActor
  func render(_ pass: Pass, _ node: Node, _ context: Context) {}
}

/// The size of the space a view is in.
public struct GeometryProxy {
  /// The size.
  public let size: CGSize
  /// The insets of the safe area: none.
  public var safeAreaInsets: EdgeInsets { EdgeInsets() }
}

/// A view that makes its content of the size of the space it is in.
///
/// The size is the host's, or that of the innermost frame around the view.
nonisolated public struct GeometryReader<Content: View>: View {
  /// A basic view has no body.
  public typealias Body = Never
  /// What makes the content.
  public var content: (GeometryProxy) -> Content

  /// Makes a view of a closure.
  public init(@ViewBuilder content: @escaping (GeometryProxy) -> Content) {
    self.content = content
  }
}

extension GeometryReader: Primitive {
  @MainActor
  func render(_ pass: Pass, _ node: Node, _ context: Context) {
    let view = pass.track(node) { content(GeometryProxy(size: context.size)) }
    pass.visit(view, .slot(0), in: node, context)
  }
}
