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
