/// The pictures of a grid that are selected, by their ids, so that sorting and searching do not lose them.
package struct SelectedItems: Sendable, Equatable {
  /// The ids.
  package private(set) var ids: Set<ItemID> = []

  package init(_ ids: Set<ItemID> = []) { self.ids = ids }

  /// Notes which of the visible pictures are selected; invisible pictures are deselected.
  package mutating func set(positions: some Sequence<Int>, in list: ItemList) {
    ids = Set(positions.compactMap { list.visible.indices.contains($0) ? list.visible[$0].id : nil })
  }

  /// The positions of the selected pictures that are visible, in order.
  package func positions(in list: ItemList) -> [Int] { ids.compactMap { list.position(of: $0) }.sorted() }

  /// The selected pictures that are visible, in order.
  package func items(in list: ItemList) -> [GalleryItem] { positions(in: list).map { list.visible[$0] } }

  /// Selects, in place of pictures that leave, the one to go on with.
  package mutating func leave(_ leaving: Set<ItemID>, from list: ItemList) {
    guard !ids.isDisjoint(with: leaving) else { return }
    let last = positions(in: list).last { leaving.contains(list.visible[$0].id) }
    let next = last.flatMap { list.neighbour(of: list.visible[$0].id, without: leaving) }
    ids.subtract(leaving)
    if ids.isEmpty, let next { ids = [next] }
  }
}
