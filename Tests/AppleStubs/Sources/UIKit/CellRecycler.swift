import CoreGraphics
import Foundation

/// A cell, as its recycler sees it.
@MainActor
protocol _RecycledCell: UIView {
  var reuseIdentifier: String? { get }
  func prepareForReuse()
}

/// What a recycler asks of its table.
@MainActor
struct _RecyclerHooks<Cell: _RecycledCell> {
  let make: (IndexPath) -> Cell
  let willDisplay: (Cell, IndexPath) -> Void
  let didEndDisplaying: (Cell, IndexPath) -> Void
  let prefetch: ([IndexPath]) -> Void
  let cancel: ([IndexPath]) -> Void
}

/// Keeps the cells that show, and those that wait to be used again.
@MainActor
final class _CellRecycler<Cell: _RecycledCell> {
  private var makers: [String: () -> Cell] = [:]
  private var pool: [String: [Cell]] = [:]
  private var prefetched: Set<IndexPath> = []
  private var ready: [IndexPath: Cell] = [:]
  private var lastStart: CGFloat = 0
  private var isForward = true
  private(set) var visible: [IndexPath: Cell] = [:]
  /// How many paths ahead are asked for.
  var prefetchDistance = 4
  /// How many cells ahead are made.
  var readyDistance = 0

  func register(_ identifier: String, _ make: (() -> Cell)?) {
    makers[identifier] = make
  }

  func dequeue(_ identifier: String) -> Cell? {
    if let cell = pool[identifier]?.popLast() {
      cell.prepareForReuse()
      return cell
    }
    return makers[identifier]?()
  }

  /// Takes all cells out.
  func clear(_ hooks: _RecyclerHooks<Cell>) {
    for path in visible.keys.sorted() { remove(path, hooks) }
    for path in ready.keys.sorted() { dropReady(path) }
    if !prefetched.isEmpty { hooks.cancel(prefetched.sorted()) }
    prefetched = []
  }

  func remove(_ path: IndexPath, _ hooks: _RecyclerHooks<Cell>) {
    guard let cell = visible.removeValue(forKey: path) else { return }
    cell.removeFromSuperview()
    hooks.didEndDisplaying(cell, path)
    store(cell)
  }

  /// Shows the cells of all places that touch a rectangle.
  func tile(
    _ places: [(path: IndexPath, frame: CGRect)],
    in table: UIView,
    start: CGFloat,
    _ hooks: _RecyclerHooks<Cell>,
  ) {
    if start != lastStart { isForward = start > lastStart }
    lastStart = start
    let area = table.bounds
    let shown = places.indices.filter { places[$0].frame._overlaps(area) }
    let paths = Set(shown.map { places[$0].path })
    for path in visible.keys.sorted() where !paths.contains(path) { remove(path, hooks) }
    for index in shown {
      let (path, frame) = places[index]
      prefetched.remove(path)
      if let cell = visible[path] {
        if cell.frame != frame { cell.frame = frame }
        continue
      }
      let cell = ready.removeValue(forKey: path) ?? hooks.make(path)
      cell.frame = frame
      visible[path] = cell
      hooks.willDisplay(cell, path)
      table.addSubview(cell)
    }
    lookAhead(places.map(\.path), shown, paths, hooks)
  }

  private func lookAhead(_ all: [IndexPath], _ shown: [Int], _ paths: Set<IndexPath>, _ hooks: _RecyclerHooks<Cell>) {
    guard let first = shown.first, let last = shown.last else { return }
    let next = isForward ? Array(all[(last + 1)...]) : Array(all[..<first].reversed())
    let wanted = next.prefix(prefetchDistance)
    let gone = prefetched.filter { !wanted.contains($0) && !paths.contains($0) }
    if !gone.isEmpty {
      prefetched.subtract(gone)
      hooks.cancel(gone.sorted())
    }
    let new = wanted.filter { !prefetched.contains($0) }
    if !new.isEmpty {
      prefetched.formUnion(new)
      hooks.prefetch(new)
    }
    let soon = next.prefix(readyDistance)
    for path in ready.keys.sorted() where !soon.contains(path) { dropReady(path) }
    for path in soon where ready[path] == nil { ready[path] = hooks.make(path) }
  }

  private func dropReady(_ path: IndexPath) {
    if let cell = ready.removeValue(forKey: path) { store(cell) }
  }

  private func store(_ cell: Cell) {
    if let identifier = cell.reuseIdentifier { pool[identifier, default: []].append(cell) }
  }
}
