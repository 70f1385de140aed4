/// Views that are made of the elements of a collection.
///
/// The state of each view belongs to the name of its element.
nonisolated public struct ForEach<Data, ID, Content> where Data: RandomAccessCollection, ID: Hashable {
  /// The elements.
  public var data: Data
  /// What makes the view of an element.
  public var content: (Data.Element) -> Content
  let name: (Data.Element) -> ID
}

extension ForEach: View where Content: View {
  /// A basic view has no body.
  public typealias Body = Never
}

extension ForEach where ID == Data.Element.ID, Content: View, Data.Element: Identifiable {
  /// Makes views of elements that name themselves.
  nonisolated public init(_ data: Data, @ViewBuilder content: @escaping (Data.Element) -> Content) {
    self.init(data: data, content: content, name: { $0.id })
  }
}

extension ForEach where Content: View {
  /// Makes views of elements that a key path names.
  nonisolated public init(
    _ data: Data,
    id: KeyPath<Data.Element, ID>,
    @ViewBuilder content: @escaping (Data.Element) -> Content,
  ) {
    self.init(data: data, content: content, name: { $0[keyPath: id] })
  }
}

extension ForEach where Data == Range<Int>, ID == Int, Content: View {
  /// Makes a view for each number of a range that does not change.
  nonisolated public init(_ data: Range<Int>, @ViewBuilder content: @escaping (Int) -> Content) {
    self.init(data: data, content: content, name: { $0 })
  }
}

extension ForEach: Primitive, Transparent where Content: View {
  @MainActor
  func render(_ pass: Pass, _ node: Node, _ context: Context) {
    var seen: [ID: Int] = [:]
    let views = pass.track(node) { data.map { (name($0), content($0)) } }
    for (id, view) in views {
      let copy = seen[id, default: 0]
      seen[id] = copy + 1
      if copy > 0 { pass.invalidation.record("ForEach: the ID \(id) occurs multiple times within the collection.") }
      pass.visit(view, .id(AnyHashable(id), copy: copy), in: node, context)
    }
  }
}
