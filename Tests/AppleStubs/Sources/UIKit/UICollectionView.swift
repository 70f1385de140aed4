import CoreGraphics
import Foundation

/// A grid that uses its cells again.
///
/// While prefetching is on it makes cells ahead of the scroll, so that a data source is asked for
/// a cell some time before the cell shows, or without its ever showing.
@MainActor
open class UICollectionView: UIScrollView {
  private let cells = _CellRecycler<UICollectionViewCell>()
  private var places: [(path: IndexPath, frame: CGRect)] = []
  private var dataIsDue = true
  private var placesAreDue = true
  private var cellsAhead = 2
  private var measuredWidth: CGFloat = 0
  /// Who gives it its cells.
  open weak var dataSource: (any UICollectionViewDataSource)? { didSet { reloadData() } }
  /// Who hears which cells will be needed soon.
  open weak var prefetchDataSource: (any UICollectionViewDataSourcePrefetching)?
  /// Who hears what becomes of the cells.
  open weak var delegate: (any UICollectionViewDelegate)? { didSet { _scrollDelegate = delegate } }
  /// Whether cells and data are asked for ahead of the scroll.
  open var isPrefetchingEnabled = true { didSet { setNeedsLayout() } }
  /// What places the cells.
  open var collectionViewLayout: UICollectionViewLayout {
    didSet {
      oldValue.collectionView = nil
      collectionViewLayout.collectionView = self
      _layoutIsInvalid()
    }
  }

  /// Makes a collection.
  public init(frame: CGRect, collectionViewLayout layout: UICollectionViewLayout) {
    collectionViewLayout = layout
    super.init(frame: frame)
    layout.collectionView = self
  }

  /// Makes an empty collection: these stubs read no archives.
  public required init?(coder: NSCoder) {
    collectionViewLayout = UICollectionViewFlowLayout()
    super.init(coder: coder)
    collectionViewLayout.collectionView = self
  }

  /// Makes a class known under a name.
  open func register(_ cellClass: AnyClass?, forCellWithReuseIdentifier identifier: String) {
    guard let type = cellClass as? UICollectionViewCell.Type else { return cells.register(identifier, nil) }
    cells.register(identifier) { type.init(_registeredFor: identifier) }
  }

  /// A cell to use again, or a new one.
  open func dequeueReusableCell(
    withReuseIdentifier identifier: String,
    for indexPath: IndexPath,
  )
    -> UICollectionViewCell
  {
    guard let cell = cells.dequeue(identifier) else {
      preconditionFailure("could not dequeue a view of kind: cell with identifier \(identifier)")
    }
    return cell
  }

  /// Asks for all cells again, at the next layout.
  open func reloadData() {
    dataIsDue = true
    setNeedsLayout()
  }

  /// How many sections there are.
  open var numberOfSections: Int { dataSource?.numberOfSections(in: self) ?? 0 }

  /// How many cells a section has.
  open func numberOfItems(inSection section: Int) -> Int {
    dataSource?.collectionView(self, numberOfItemsInSection: section) ?? 0
  }

  open override func layoutSubviews() {
    super.layoutSubviews()
    if dataIsDue { cells.clear(hooks) }
    if dataIsDue || placesAreDue || bounds.width != measuredWidth {
      measuredWidth = bounds.width
      dataIsDue = false
      placesAreDue = false
      places = collectionViewLayout._places(in: self)
      contentSize = CGSize(width: bounds.width, height: places.map(\.frame.maxY).max() ?? 0)
    }
    cells.readyDistance = isPrefetchingEnabled ? cellsAhead : 0
    cells.tile(places, in: self, start: contentOffset.y, hooks)
  }

  func _layoutIsInvalid() {
    placesAreDue = true
    setNeedsLayout()
  }

  private var hooks: _RecyclerHooks<UICollectionViewCell> {
    _RecyclerHooks(
      make: { [unowned self] path in
        dataSource?.collectionView(self, cellForItemAt: path) ?? UICollectionViewCell(frame: .zero)
      },
      willDisplay: { [unowned self] in delegate?.collectionView(self, willDisplay: $0, forItemAt: $1) },
      didEndDisplaying: { [unowned self] in delegate?.collectionView(self, didEndDisplaying: $0, forItemAt: $1) },
      prefetch: { [unowned self] in
        if isPrefetchingEnabled { prefetchDataSource?.collectionView(self, prefetchItemsAt: $0) }
      },
      cancel: { [unowned self] in prefetchDataSource?.collectionView(self, cancelPrefetchingForItemsAt: $0) },
    )
  }
}
