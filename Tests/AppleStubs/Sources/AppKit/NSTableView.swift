import CoreGraphics
import Foundation

/// Tells a table how many rows it has.
@MainActor
public protocol NSTableViewDataSource: NSObjectProtocol {
  /// How many rows there are.
  func numberOfRows(in tableView: NSTableView) -> Int
}

/// Gives a table its views.
@MainActor
public protocol NSTableViewDelegate: NSObjectProtocol {
  /// The view of a cell.
  func tableView(_ tableView: NSTableView, viewFor tableColumn: NSTableColumn?, row: Int) -> NSView?
  /// The height of a row.
  func tableView(_ tableView: NSTableView, heightOfRow row: Int) -> CGFloat
}

extension NSTableViewDelegate {
  /// No view: the method is optional.
  public func tableView(_ tableView: NSTableView, viewFor tableColumn: NSTableColumn?, row: Int) -> NSView? { nil }
  /// The table's own height: the method is optional.
  public func tableView(_ tableView: NSTableView, heightOfRow row: Int) -> CGFloat { tableView.rowHeight }
}

/// A column of a table.
@MainActor
open class NSTableColumn: NSObject {
  /// The name.
  open var identifier: NSUserInterfaceItemIdentifier
  /// The width.
  open var width: CGFloat = 100
  /// The title.
  open var title = ""

  /// Makes a column.
  public init(identifier: NSUserInterfaceItemIdentifier) {
    self.identifier = identifier
    super.init()
  }
}

/// A view that shows text, as far as cells need one.
@MainActor
open class NSTextField: NSControl {
  /// The text.
  open var stringValue = "" { didSet { if stringValue != oldValue { invalidateIntrinsicContentSize() } } }

  /// Makes a view of a text that stays.
  public convenience init(labelWithString stringValue: String) {
    self.init(frame: .zero)
    self.stringValue = stringValue
  }
}

/// A view with a picture and a text.
@MainActor
open class NSTableCellView: NSView {
  /// What it stands for.
  open var objectValue: Any?
  /// The text.
  open weak var textField: NSTextField?
  /// The picture.
  open weak var imageView: NSImageView?
}

/// A list that uses its views again.
///
/// It shows as many rows as its own height has room for, from `_offset` on.
@MainActor
open class NSTableView: NSControl {
  private var shown: [Int: [NSView]] = [:]
  private var pool: [NSUserInterfaceItemIdentifier: [NSView]] = [:]
  private var offset: CGFloat = 0
  private var dataIsDue = true
  /// Who tells it how many rows it has.
  open weak var dataSource: (any NSTableViewDataSource)? { didSet { reloadData() } }
  /// Who gives it its views.
  open weak var delegate: (any NSTableViewDelegate)? { didSet { reloadData() } }
  /// The height of a row.
  open var rowHeight: CGFloat = 24 { didSet { reloadData() } }
  /// The columns.
  open private(set) var tableColumns: [NSTableColumn] = []

  open override var isFlipped: Bool { true }

  /// How many rows it has.
  open var numberOfRows: Int { dataSource?.numberOfRows(in: self) ?? 0 }

  /// Adds a column.
  open func addTableColumn(_ tableColumn: NSTableColumn) {
    tableColumns.append(tableColumn)
    reloadData()
  }

  /// Asks for all views again, at the next layout.
  open func reloadData() {
    dataIsDue = true
    needsLayout = true
  }

  /// Asks for the views of some rows again.
  open func reloadData(forRowIndexes rowIndexes: IndexSet, columnIndexes: IndexSet) {
    for row in rowIndexes { hide(row) }
    needsLayout = true
  }

  /// A view of a name to use again, if there is one.
  open func makeView(withIdentifier identifier: NSUserInterfaceItemIdentifier, owner: Any?) -> NSView? {
    guard let view = pool[identifier]?.popLast() else { return nil }
    view.prepareForReuse()
    return view
  }

  /// The view of a cell, made if need be and wanted.
  open func view(atColumn column: Int, row: Int, makeIfNecessary: Bool) -> NSView? {
    if let views = shown[row], views.indices.contains(column) { return views[column] }
    guard makeIfNecessary, tableColumns.indices.contains(column), row >= 0, row < numberOfRows else { return nil }
    return delegate?.tableView(self, viewFor: tableColumns[column], row: row)
  }

  /// The row of a view, or -1.
  open func row(for view: NSView) -> Int {
    shown.first { $0.value.contains { view.isDescendant(of: $0) } }?.key ?? -1
  }

  /// The rows that touch a rectangle.
  open func rows(in rect: NSRect) -> NSRange {
    let rows = places.indices.filter { places[$0]._overlaps(rect) }
    guard let first = rows.first, let last = rows.last else { return NSRange(location: 0, length: 0) }
    return NSRange(location: first, length: last - first + 1)
  }

  /// The rectangle of a row.
  open func rect(ofRow row: Int) -> NSRect {
    let all = places
    return all.indices.contains(row) ? all[row] : .zero
  }

  /// The distance it has scrolled.
  public var _offset: CGFloat { offset }

  /// Scrolls, and lays out.
  public func _scroll(to offset: CGFloat) {
    self.offset = offset
    needsLayout = true
    layoutSubtreeIfNeeded()
  }

  open override func layout() {
    super.layout()
    if dataIsDue {
      dataIsDue = false
      for row in shown.keys.sorted() { hide(row) }
    }
    let all = places
    let area = NSRect(x: 0, y: offset, width: bounds.width, height: bounds.height)
    let rows = all.indices.filter { all[$0]._overlaps(area) }
    for row in shown.keys.sorted() where !rows.contains(row) { hide(row) }
    for row in rows {
      if shown[row] == nil {
        shown[row] = tableColumns.compactMap { delegate?.tableView(self, viewFor: $0, row: row) }
        for view in shown[row] ?? [] { addSubview(view) }
      }
      for view in shown[row] ?? [] { view.frame = all[row].offsetBy(dx: 0, dy: -offset) }
    }
    needsLayout = false
  }

  private func hide(_ row: Int) {
    for view in shown.removeValue(forKey: row) ?? [] {
      view.removeFromSuperview()
      if let identifier = view.identifier { pool[identifier, default: []].append(view) }
    }
  }

  private var places: [NSRect] {
    var top: CGFloat = 0
    return (0..<numberOfRows).map { row in
      let height = delegate?.tableView(self, heightOfRow: row) ?? rowHeight
      defer { top += height }
      return NSRect(x: 0, y: top, width: max(1, bounds.width), height: height)
    }
  }
}
