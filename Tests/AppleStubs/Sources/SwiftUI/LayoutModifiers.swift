extension View {
  /// Puts the view in a frame of a fixed size.
  nonisolated public func frame(
    width: CGFloat? = nil,
    height: CGFloat? = nil,
    alignment: Alignment = .center,
  ) -> some View {
    changing { $0.setFrame(width, height) }
  }

  /// Keeps a proportion.
  nonisolated public func aspectRatio(_ aspectRatio: CGFloat? = nil, contentMode: ContentMode) -> some View {
    changing { context in
      context.attributes.aspectRatio = aspectRatio
      context.attributes.contentMode = contentMode
    }
  }

  /// Fills the space with the view.
  nonisolated public func scaledToFill() -> some View {
    aspectRatio(contentMode: .fill)
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
