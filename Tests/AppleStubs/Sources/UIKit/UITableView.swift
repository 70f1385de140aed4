import CoreGraphics
import Foundation

/// A list that uses its rows again.
@MainActor
open class UITableView: UIScrollView {
  /// The look of a table.
  public enum Style: Int, Sendable {
    /// One list.
    case plain = 0
    /// Groups.
    case grouped = 1
    /// Groups with a margin.
    case insetGrouped = 2
  }

  /// The height of rows that find their own.
  public nonisolated static let automaticDimension: CGFloat = -1

  private let cells = _CellRecycler<UITableViewCell>()
  private var places: [(path: IndexPath, frame: CGRect)] = []
  private var dataIsDue = true
  private var measuredWidth: CGFloat = 0
  /// The look.
  public let style: UITableView.Style
  /// Who gives it its rows.
  open weak var dataSource: (any UITableViewDataSource)? { didSet { reloadData() } }
  /// Who hears which rows will be needed soon.
  open weak var prefetchDataSource: (any UITableViewDataSourcePrefetching)?
  /// Who hears what becomes of the rows.
  open weak var delegate: (any UITableViewDelegate)? { didSet { _scrollDelegate = delegate } }
  /// The height of a row.
  open var rowHeight = UITableView.automaticDimension { didSet { reloadData() } }

  /// Makes a table.
  public init(frame: CGRect, style: UITableView.Style) {
    self.style = style
    super.init(frame: frame)
  }

  /// Makes a plain table.
  public override convenience init(frame: CGRect) {
    self.init(frame: frame, style: .plain)
  }

  /// Makes an empty table: these stubs read no archives.
  public required init?(coder: NSCoder) {
    style = .plain
    super.init(coder: coder)
  }

  /// Makes a class known under a name.
  open func register(_ cellClass: AnyClass?, forCellReuseIdentifier identifier: String) {
    guard let type = cellClass as? UITableViewCell.Type else { return cells.register(identifier, nil) }
    cells.register(identifier) { type.init(_registeredFor: identifier) }
  }

  /// A row to use again, or a new one.
  open func dequeueReusableCell(withIdentifier identifier: String, for indexPath: IndexPath) -> UITableViewCell {
    guard let cell = cells.dequeue(identifier) else {
      preconditionFailure("unable to dequeue a cell with identifier \(identifier)")
    }
    return cell
  }

  /// Asks for all rows again, at the next layout.
  open func reloadData() {
    dataIsDue = true
    setNeedsLayout()
  }

  /// How many sections there are.
  open var numberOfSections: Int { dataSource?.numberOfSections(in: self) ?? 0 }

  /// How many rows a section has.
  open func numberOfRows(inSection section: Int) -> Int {
    dataSource?.tableView(self, numberOfRowsInSection: section) ?? 0
  }

  /// The row at a place, if it shows.
  open func cellForRow(at indexPath: IndexPath) -> UITableViewCell? { cells.visible[indexPath] }

  /// The rows that show.
  open var visibleCells: [UITableViewCell] {
    cells.visible.sorted { $0.key < $1.key }.map(\.value)
  }

  open override func layoutSubviews() {
    super.layoutSubviews()
    if dataIsDue {
      dataIsDue = false
      cells.clear(hooks)
      measure()
    }
    if bounds.width != measuredWidth { measure() }
    cells.tile(places, in: self, start: contentOffset.y, hooks)
  }

  private func measure() {
    var top: CGFloat = 0
    places = []
    measuredWidth = bounds.width
    for section in 0..<numberOfSections {
      for row in 0..<numberOfRows(inSection: section) {
        let path = IndexPath(row: row, section: section)
        let wish = delegate?.tableView(self, heightForRowAt: path) ?? rowHeight
        let height = wish < 0 ? 44 : wish
        places.append((path, CGRect(x: 0, y: top, width: bounds.width, height: height)))
        top += height
      }
    }
    contentSize = CGSize(width: bounds.width, height: top)
  }

  private var hooks: _RecyclerHooks<UITableViewCell> {
    _RecyclerHooks(
      make: { [unowned self] path in
        guard let source = dataSource else { return UITableViewCell(style: .default, reuseIdentifier: nil) }
        return source.tableView(self, cellForRowAt: path)
      },
      willDisplay: { [unowned self] in delegate?.tableView(self, willDisplay: $0, forRowAt: $1) },
      didEndDisplaying: { [unowned self] in delegate?.tableView(self, didEndDisplaying: $0, forRowAt: $1) },
      prefetch: { [unowned self] in prefetchDataSource?.tableView(self, prefetchRowsAt: $0) },
      cancel: { [unowned self] in prefetchDataSource?.tableView(self, cancelPrefetchingForRowsAt: $0) },
    )
  }
}
