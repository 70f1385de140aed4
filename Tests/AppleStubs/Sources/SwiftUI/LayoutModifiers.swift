extension View {
  /// Puts the view in a frame of a fixed size.
  nonisolated public func frame(
    width: CGFloat? = nil,
    height: CGFloat? = nil,
    alignment: Alignment = .center,
  ) -> some View {
    changing("frame") { $0.setFrame(width, height) }
  }

  /// Puts the view in a frame that may change its size.
  ///
  /// The host takes the largest size that is finite, or else the ideal size.
  nonisolated public func frame(
    minWidth: CGFloat? = nil,
    idealWidth: CGFloat? = nil,
    maxWidth: CGFloat? = nil,
    minHeight: CGFloat? = nil,
    idealHeight: CGFloat? = nil,
    maxHeight: CGFloat? = nil,
    alignment: Alignment = .center,
  ) -> some View {
    changing("frame") { context in
      let width = [maxWidth, idealWidth, minWidth].compactMap { $0 }.first { $0.isFinite }
      let height = [maxHeight, idealHeight, minHeight].compactMap { $0 }.first { $0.isFinite }
      context.setFrame(maxWidth == .infinity ? nil : width, maxHeight == .infinity ? nil : height)
    }
  }

  /// Puts space around the view.
  nonisolated public func padding(_ insets: EdgeInsets) -> some View {
    changing("padding") { _ in }
  }

  /// Puts space at some edges of the view.
  nonisolated public func padding(_ edges: Edge.Set = .all, _ length: CGFloat? = nil) -> some View {
    changing("padding") { _ in }
  }

  /// Puts space of a length around the view.
  nonisolated public func padding(_ length: CGFloat) -> some View {
    changing("padding") { _ in }
  }

  /// Keeps a proportion.
  nonisolated public func aspectRatio(_ aspectRatio: CGFloat? = nil, contentMode: ContentMode) -> some View {
    changing("aspectRatio") { context in
      context.attributes.aspectRatio = aspectRatio
      context.attributes.contentMode = contentMode
    }
  }

  /// Keeps the proportion of a size.
  nonisolated public func aspectRatio(_ aspectRatio: CGSize, contentMode: ContentMode) -> some View {
    self.aspectRatio(aspectRatio.height == 0 ? nil : aspectRatio.width / aspectRatio.height, contentMode: contentMode)
  }

  /// Fits the view into the space.
  nonisolated public func scaledToFit() -> some View {
    aspectRatio(contentMode: .fit)
  }

  /// Fills the space with the view.
  nonisolated public func scaledToFill() -> some View {
    aspectRatio(contentMode: .fill)
  }

  /// Makes the view transparent.
  nonisolated public func opacity(_ opacity: Double) -> some View {
    changing("opacity") { $0.attributes.opacity *= opacity }
  }

  /// Sets the label for assistive software.
  nonisolated public func accessibilityLabel(_ label: Text) -> some View {
    let text = label._string
    return changing("accessibilityLabel") { $0.attributes.accessibilityLabel = text }
  }

  /// Sets the label for assistive software, which may be translated.
  nonisolated public func accessibilityLabel(_ labelKey: LocalizedStringKey) -> some View {
    accessibilityLabel(Text(labelKey))
  }

  /// Sets the label for assistive software.
  @_disfavoredOverload
  nonisolated public func accessibilityLabel<S>(_ label: S) -> some View where S: StringProtocol {
    accessibilityLabel(Text(label))
  }

  /// Hides the view from assistive software.
  nonisolated public func accessibilityHidden(_ hidden: Bool) -> some View {
    changing("accessibilityHidden") { $0.attributes.accessibilityHidden = hidden }
  }
}

extension Context {
  fileprivate mutating func setFrame(_ width: CGFloat?, _ height: CGFloat?) {
    if let width {
      attributes.width = width
      size.width = width
    }
    if let height {
      attributes.height = height
      size.height = height
    }
  }
}

/// A modifier that puts another view over or under the view.
nonisolated struct LayerModifier<Layer: View>: PrimitiveModifier, Named {
  let kindName: String
  let isOver: Bool
  let layer: Layer

  @MainActor
  func apply<Content: View>(to content: Content, _ pass: Pass, _ node: Node, _ context: Context) {
    if !isOver { pass.visit(layer, .slot(1), in: node, context) }
    pass.visit(content, .slot(0), in: node, context)
    if isOver { pass.visit(layer, .slot(1), in: node, context) }
  }
}

extension View {
  /// Puts views over the view.
  nonisolated public func overlay<V>(
    alignment: Alignment = .center,
    @ViewBuilder content: () -> V,
  ) -> some View where V: View {
    modifier(LayerModifier(kindName: "overlay", isOver: true, layer: content()))
  }

  /// Puts a view over the view.
  nonisolated public func overlay<Overlay>(
    _ overlay: Overlay,
    alignment: Alignment = .center,
  ) -> some View where Overlay: View {
    modifier(LayerModifier(kindName: "overlay", isOver: true, layer: overlay))
  }

  /// Puts views under the view.
  nonisolated public func background<V>(
    alignment: Alignment = .center,
    @ViewBuilder content: () -> V,
  ) -> some View where V: View {
    modifier(LayerModifier(kindName: "background", isOver: false, layer: content()))
  }

  /// Puts a view under the view.
  @_disfavoredOverload
  nonisolated public func background<Background>(
    _ background: Background,
    alignment: Alignment = .center,
  ) -> some View where Background: View {
    modifier(LayerModifier(kindName: "background", isOver: false, layer: background))
  }

  /// Puts a style under the view.
  nonisolated public func background<S>(_ style: S, ignoresSafeAreaEdges edges: Edge.Set = .all) -> some View
  where S: ShapeStyle {
    changing("background") { _ in }
  }
}
