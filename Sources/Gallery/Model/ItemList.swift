/// A step that turns one list of pictures into the next.
package struct ListSplice: Sendable, Equatable {
  /// The position at which pictures leave and others come.
  package let position: Int
  /// The number of pictures that leave.
  package let removed: Int
  /// The pictures that come in their place.
  package let added: [String]

  package init(position: Int, removed: Int, added: [String]) {
    (self.position, self.removed, self.added) = (position, removed, added)
  }
}

/// The pictures of a gallery: sorted, searched, and changed with few steps, so that a view keeps its place.
///
/// Every change returns the steps that the view has to take, in order.
package struct ItemList: Sendable {
  private var items: [ItemID: GalleryItem] = [:]
  private var sorted: [GalleryItem] = []
  /// The pictures that the search finds, in order.
  package private(set) var visible: [GalleryItem] = []
  private var positions: [ItemID: Int] = [:]
  /// The order; ``setOrder(_:isReversed:)`` changes it.
  package private(set) var order = ItemOrder.name
  /// True if the order is reversed; ``setOrder(_:isReversed:)`` changes it.
  package private(set) var isReversed = false
  /// The kind of pictures that is shown; ``setKind(_:)`` changes it.
  package private(set) var kind = ItemKind.all
  /// The text that is searched; ``setSearch(_:)`` changes it.
  package private(set) var search = ""

  package init() {}

  /// Makes a list; of pictures with one id, the last counts.
  ///
  /// - Complexity: O(*n* log *n*), so that many pictures are better sorted off the main thread.
  package init(_ items: [GalleryItem], order: ItemOrder, isReversed: Bool = false) {
    (self.order, self.isReversed) = (order, isReversed)
    self.items = Dictionary(items.map { ($0.id, $0) }) { $1 }
    sorted = self.items.values.sorted(by: precedes)
    visible = sorted
    positions = Self.positions(of: visible)
  }

  /// The visible pictures without the folders, which come first.
  package var pictures: ArraySlice<GalleryItem> { visible.drop { $0.isFolder } }

  /// The number of all pictures, found or not.
  package var count: Int { items.count }

  /// The picture with an id, found or not.
  package subscript(id: ItemID) -> GalleryItem? { items[id] }

  /// The position of a picture among the visible ones.
  package func position(of id: ItemID) -> Int? { positions[id] }

  /// Replaces all pictures; of those with one id, the last counts.
  package mutating func replace(with new: [GalleryItem]) -> [ListSplice] {
    replace(with: ItemList(new, order: order, isReversed: isReversed))
  }

  /// Replaces all pictures by another list's; order and search stay.
  ///
  /// - Complexity: O(*n*) if the other list has the same order.
  package mutating func replace(with new: ItemList) -> [ListSplice] {
    items = new.items
    let isSorted = new.order == order && new.isReversed == isReversed
    sorted = isSorted ? new.sorted : new.sorted.sorted(by: precedes)
    guard visible.isEmpty, search.isEmpty, kind == .all, isSorted, new.search.isEmpty else { return show() }
    (visible, positions) = (new.visible, new.positions)
    return visible.isEmpty ? [] : [ListSplice(position: 0, removed: 0, added: visible.map(\.id.text))]
  }

  /// Removes pictures, and adds some or replaces them by newer versions of themselves.
  package mutating func update(removing ids: some Sequence<ItemID>, adding new: [GalleryItem]) -> [ListSplice] {
    var touched = Set(ids)
    for id in touched { items[id] = nil }
    for item in new {
      var item = item
      // What was read of the same version stays known.
      if let old = items[item.id], item.taken == nil, old.version == item.version { item.taken = old.taken }
      guard items[item.id] != item else { continue }
      items[item.id] = item
      touched.insert(item.id)
    }
    guard !touched.isEmpty else { return [] }
    let coming = touched.compactMap { items[$0] }.sorted(by: precedes)
    var merged: [GalleryItem] = []
    merged.reserveCapacity(items.count)
    var next = coming[...]
    for item in sorted where !touched.contains(item.id) {
      while let first = next.first, precedes(first, item) { merged.append(next.removeFirst()) }
      merged.append(item)
    }
    sorted = merged + next
    return show(moving: touched)
  }

  /// Sorts the pictures.
  package mutating func setOrder(_ new: ItemOrder, isReversed: Bool) -> [ListSplice] {
    guard new != order || isReversed != self.isReversed else { return [] }
    (order, self.isReversed) = (new, isReversed)
    sorted.sort(by: precedes)
    return show()
  }

  private func precedes(_ one: GalleryItem, _ other: GalleryItem) -> Bool {
    if one.isFolder != other.isFolder { return one.isFolder }
    return isReversed ? order.precedes(other, one) : order.precedes(one, other)
  }

  /// Shows only pictures of a kind.
  package mutating func setKind(_ new: ItemKind) -> [ListSplice] {
    guard new != kind else { return [] }
    kind = new
    return show()
  }

  /// Shows only pictures whose name has all words of a text.
  package mutating func setSearch(_ text: String) -> [ListSplice] {
    guard text != search else { return [] }
    search = text
    return show()
  }

  /// The picture to go on with when others go: the next remaining one, or else the one before.
  package func neighbour(of id: ItemID, without leaving: Set<ItemID>) -> ItemID? {
    guard let position = positions[id] else { return nil }
    let after = visible[position...].first { !leaving.contains($0.id) }
    return (after ?? visible[..<position].last { !leaving.contains($0.id) })?.id
  }

  /// Sorts and searches anew; the pictures of `moving` may get another place among the others.
  private mutating func show(moving: Set<ItemID> = []) -> [ListSplice] {
    let words = NameSearch(search)
    let old = visible
    let kind = kind
    visible =
      words.isEmpty && kind == .all ? sorted : sorted.filter { words.finds($0.name) && kind.includes($0) }
    let oldPositions = positions
    positions = Self.positions(of: visible)
    // What keeps its place is not touched. If only what was expected to move has moved, it leaves and comes again.
    let steps =
      steps(from: old, oldPositions, moving: []) ?? steps(from: old, oldPositions, moving: moving)
      ?? [ListSplice(position: 0, removed: old.count, added: visible.map(\.id.text))]
    return steps.count > Self.stepLimit ? [joined(steps)] : steps
  }

  /// The number of steps above which one large step costs a view less.
  private static let stepLimit = 100

  /// Returns one step from the beginning of the first to the end of the last.
  private func joined(_ steps: [ListSplice]) -> ListSplice {
    guard let first = steps.first, let last = steps.last else { return ListSplice(position: 0, removed: 0, added: []) }
    let end = last.position + last.added.count
    let growth = steps.reduce(0) { $0 + $1.added.count - $1.removed }
    return ListSplice(
      position: first.position,
      removed: end - first.position - growth,
      added: visible[first.position..<end].map(\.id.text),
    )
  }

  private static func positions(of items: [GalleryItem]) -> [ItemID: Int] {
    var positions: [ItemID: Int] = Dictionary(minimumCapacity: items.count)
    for (position, item) in items.enumerated() { positions[item.id] = position }
    return positions
  }

  /// Returns the steps from the pictures that were visible to the visible ones; `nil` if others than `moving` have
  /// another order.
  private func steps(
    from old: [GalleryItem],
    _ oldPositions: [ItemID: Int],
    moving: Set<ItemID>,
  ) -> [ListSplice]? {
    func stays(_ id: ItemID) -> Bool { oldPositions[id] != nil && positions[id] != nil && !moving.contains(id) }
    var last = -1
    for item in visible where stays(item.id) {
      guard let position = oldPositions[item.id], position > last else { return nil }
      last = position
    }
    var steps: [ListSplice] = []
    var (before, now) = (0, 0)
    while before < old.count || now < visible.count {
      let (firstRemoved, firstAdded) = (before, now)
      while before < old.count, !stays(old[before].id) { before += 1 }
      while now < visible.count, !stays(visible[now].id) { now += 1 }
      if before > firstRemoved || now > firstAdded {
        let added = visible[firstAdded..<now].map(\.id.text)
        steps.append(ListSplice(position: firstAdded, removed: before - firstRemoved, added: added))
      }
      // The same picture in both.
      if before < old.count { (before, now) = (before + 1, now + 1) }
    }
    return steps
  }
}
