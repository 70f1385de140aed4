/// Views one below another.
nonisolated public struct VStack<Content: View>: View {
  /// A basic view has no body.
  public typealias Body = Never
  let content: Content

  /// Makes a stack.
  public init(
    alignment: HorizontalAlignment = .center,
    spacing: CGFloat? = nil,
    @ViewBuilder content: () -> Content,
  ) {
    self.content = content()
  }
}

/// Views one beside another.
nonisolated public struct HStack<Content: View>: View {
  /// A basic view has no body.
  public typealias Body = Never
  let content: Content

  /// Makes a stack.
  public init(
    alignment: VerticalAlignment = .center,
    spacing: CGFloat? = nil,
    @ViewBuilder content: () -> Content,
  ) {
    self.content = content()
  }
}

/// Views one upon another.
nonisolated public struct ZStack<Content: View>: View {
  /// A basic view has no body.
  public typealias Body = Never
  let content: Content

  /// Makes a stack.
  public init(alignment: Alignment = .center, @ViewBuilder content: () -> Content) {
    self.content = content()
  }
}

/// Which views of a lazy container stay in sight.
public struct PinnedScrollableViews: OptionSet, Sendable {
  /// The bits.
  public let rawValue: UInt32

  /// Makes a set of bits.
  public init(rawValue: UInt32) {
    self.rawValue = rawValue
  }
}

/// Views one below another, made as they come into sight.
nonisolated public struct LazyVStack<Content: View>: View {
  /// A basic view has no body.
  public typealias Body = Never
  let content: Content

  /// Makes a stack.
  public init(
    alignment: HorizontalAlignment = .center,
    spacing: CGFloat? = nil,
    pinnedViews: PinnedScrollableViews = .init(),
    @ViewBuilder content: () -> Content,
  ) {
    self.content = content()
  }
}

/// Views one beside another, made as they come into sight.
nonisolated public struct LazyHStack<Content: View>: View {
  /// A basic view has no body.
  public typealias Body = Never
  let content: Content

  /// Makes a stack.
  public init(
    alignment: VerticalAlignment = .center,
    spacing: CGFloat? = nil,
    pinnedViews: PinnedScrollableViews = .init(),
    @ViewBuilder content: () -> Content,
  ) {
    self.content = content()
  }
}

/// A row or a column of a grid.
public struct GridItem: Sendable {
  /// The size of a row or a column.
  public enum Size: Sendable {
    /// One of a size.
    case fixed(CGFloat)
    /// One between two sizes.
    case flexible(minimum: CGFloat = 10, maximum: CGFloat = .infinity)
    /// As many as there is space for.
    case adaptive(minimum: CGFloat, maximum: CGFloat = .infinity)
  }

  /// The size.
  public var size: Size
  /// The space to the next one.
  public var spacing: CGFloat?
  /// The place of the views in it.
  public var alignment: Alignment?

  /// Makes a row or a column.
  public init(_ size: Size = .flexible(), spacing: CGFloat? = nil, alignment: Alignment? = nil) {
    self.size = size
    self.spacing = spacing
    self.alignment = alignment
  }
}

/// Views in columns, made as they come into sight.
nonisolated public struct LazyVGrid<Content: View>: View {
  /// A basic view has no body.
  public typealias Body = Never
  let content: Content

  /// Makes a grid.
  public init(
    columns: [GridItem],
    alignment: HorizontalAlignment = .center,
    spacing: CGFloat? = nil,
    pinnedViews: PinnedScrollableViews = .init(),
    @ViewBuilder content: () -> Content,
  ) {
    self.content = content()
  }
}

/// Views that can be scrolled.
nonisolated public struct ScrollView<Content: View>: View {
  /// A basic view has no body.
  public typealias Body = Never
  /// The views.
  public var content: Content
  /// The directions.
  public var axes: Axis.Set

  /// Makes a scroll view.
  public init(_ axes: Axis.Set = .vertical, @ViewBuilder content: () -> Content) {
    self.axes = axes
    self.content = content()
  }

  /// Makes a scroll view, with or without indicators.
  public init(_ axes: Axis.Set = .vertical, showsIndicators: Bool, @ViewBuilder content: () -> Content) {
    self.init(axes, content: content)
  }
}

/// Rows that can be scrolled, made as they come into sight.
nonisolated public struct List<SelectionValue: Hashable, Content: View>: View {
  /// A basic view has no body.
  public typealias Body = Never
  let content: Content
}

extension List where SelectionValue == Never {
  /// Makes a list of views.
  nonisolated public init(@ViewBuilder content: () -> Content) {
    self.content = content()
  }

  /// Makes a list of the rows of data that name themselves.
  nonisolated public init<Data, RowContent>(
    _ data: Data,
    @ViewBuilder rowContent: @escaping (Data.Element) -> RowContent,
  )
  where
    Content == ForEach<Data, Data.Element.ID, RowContent>,
    Data: RandomAccessCollection,
    RowContent: View,
    Data.Element: Identifiable
  {
    content = ForEach(data, content: rowContent)
  }

  /// Makes a list of the rows of data that a key path names.
  nonisolated public init<Data, ID, RowContent>(
    _ data: Data,
    id: KeyPath<Data.Element, ID>,
    @ViewBuilder rowContent: @escaping (Data.Element) -> RowContent,
  )
  where Content == ForEach<Data, ID, RowContent>, Data: RandomAccessCollection, ID: Hashable, RowContent: View {
    content = ForEach(data, id: id, content: rowContent)
  }
}

extension Pass {
  /// Visits the content of a lazy container, of which only some rows are in sight.
  func visitRows(_ content: some View, _ node: Node, _ context: Context) {
    var context = context
    context.rows = window.map { LazyRows(window: $0) }
    visit(content, .slot(0), in: node, context)
  }
}

extension VStack: Primitive {
  @MainActor
  func render(_ pass: Pass, _ node: Node, _ context: Context) {
    pass.visit(content, .slot(0), in: node, context)
  }
}

extension HStack: Primitive {
  @MainActor
  func render(_ pass: Pass, _ node: Node, _ context: Context) {
    pass.visit(content, .slot(0), in: node, context)
  }
}

extension ZStack: Primitive {
  @MainActor
  func render(_ pass: Pass, _ node: Node, _ context: Context) {
    pass.visit(content, .slot(0), in: node, context)
  }
}

extension ScrollView: Primitive {
  @MainActor
  func render(_ pass: Pass, _ node: Node, _ context: Context) {
    pass.visit(content, .slot(0), in: node, context)
  }
}

extension LazyVStack: Primitive {
  @MainActor
  func render(_ pass: Pass, _ node: Node, _ context: Context) {
    pass.visitRows(content, node, context)
  }
}

extension LazyHStack: Primitive {
  @MainActor
  func render(_ pass: Pass, _ node: Node, _ context: Context) {
    pass.visitRows(content, node, context)
  }
}

extension LazyVGrid: Primitive {
  @MainActor
  func render(_ pass: Pass, _ node: Node, _ context: Context) {
    pass.visitRows(content, node, context)
  }
}

extension List: Primitive {
  @MainActor
  func render(_ pass: Pass, _ node: Node, _ context: Context) {
    pass.visitRows(content, node, context)
  }
}
