import CoreGraphics
import Foundation

/// Places the cells of a collection.
@MainActor
open class UICollectionViewLayout: NSObject {
  /// The collection.
  open internal(set) weak var collectionView: UICollectionView?

  /// Makes a layout.
  public override init() {
    super.init()
  }

  /// Notes that the places are out of date.
  open func invalidateLayout() {
    collectionView?._layoutIsInvalid()
  }

  /// The places of all cells, in order.
  open func _places(in collectionView: UICollectionView) -> [(path: IndexPath, frame: CGRect)] { [] }
}

/// Places cells in lines, from the left to the right.
///
/// Cells keep the least space between them: here they are not spread over the line.
@MainActor
open class UICollectionViewFlowLayout: UICollectionViewLayout {
  /// The size of a cell.
  open var itemSize = CGSize(width: 50, height: 50) { didSet { invalidateLayout() } }
  /// The least space between lines.
  open var minimumLineSpacing: CGFloat = 10 { didSet { invalidateLayout() } }
  /// The least space between the cells of a line.
  open var minimumInteritemSpacing: CGFloat = 10 { didSet { invalidateLayout() } }
  /// The space around a section.
  open var sectionInset = UIEdgeInsets.zero { didSet { invalidateLayout() } }

  open override func _places(in collectionView: UICollectionView) -> [(path: IndexPath, frame: CGRect)] {
    let width = collectionView.bounds.width
    let sizes = collectionView.delegate as? any UICollectionViewDelegateFlowLayout
    var places: [(path: IndexPath, frame: CGRect)] = []
    var top: CGFloat = 0
    for section in 0..<collectionView.numberOfSections {
      var origin = CGPoint(x: sectionInset.left, y: top + sectionInset.top)
      var lineHeight: CGFloat = 0
      for item in 0..<collectionView.numberOfItems(inSection: section) {
        let path = IndexPath(item: item, section: section)
        let size = sizes?.collectionView(collectionView, layout: self, sizeForItemAt: path) ?? itemSize
        if origin.x > sectionInset.left, origin.x + size.width > width - sectionInset.right {
          origin = CGPoint(x: sectionInset.left, y: origin.y + lineHeight + minimumLineSpacing)
          lineHeight = 0
        }
        places.append((path, CGRect(origin: origin, size: size)))
        origin.x += size.width + minimumInteritemSpacing
        lineHeight = max(lineHeight, size.height)
      }
      top = origin.y + lineHeight + sectionInset.bottom
    }
    return places
  }
}

/// Gives a collection its cells.
@MainActor
public protocol UICollectionViewDataSource: NSObjectProtocol {
  /// How many cells a section has.
  func collectionView(_ collectionView: UICollectionView, numberOfItemsInSection section: Int) -> Int
  /// The cell at a place.
  func collectionView(_ collectionView: UICollectionView, cellForItemAt indexPath: IndexPath) -> UICollectionViewCell
  /// How many sections there are.
  func numberOfSections(in collectionView: UICollectionView) -> Int
}

extension UICollectionViewDataSource {
  /// One section: the method is optional.
  public func numberOfSections(in collectionView: UICollectionView) -> Int { 1 }
}

/// Hears what becomes of a collection's cells.
@MainActor
public protocol UICollectionViewDelegate: UIScrollViewDelegate {
  /// A cell will show.
  func collectionView(
    _ collectionView: UICollectionView,
    willDisplay cell: UICollectionViewCell,
    forItemAt indexPath: IndexPath,
  )
  /// A cell shows no longer.
  func collectionView(
    _ collectionView: UICollectionView,
    didEndDisplaying cell: UICollectionViewCell,
    forItemAt indexPath: IndexPath,
  )
}

extension UICollectionViewDelegate {
  /// Does nothing: the method is optional.
  public func collectionView(
    _ collectionView: UICollectionView,
    willDisplay cell: UICollectionViewCell,
    forItemAt indexPath: IndexPath,
  ) {}
  /// Does nothing: the method is optional.
  public func collectionView(
    _ collectionView: UICollectionView,
    didEndDisplaying cell: UICollectionViewCell,
    forItemAt indexPath: IndexPath,
  ) {}
}

/// Gives a flow layout the size of each cell.
@MainActor
public protocol UICollectionViewDelegateFlowLayout: UICollectionViewDelegate {
  /// The size of a cell.
  func collectionView(
    _ collectionView: UICollectionView,
    layout collectionViewLayout: UICollectionViewLayout,
    sizeForItemAt indexPath: IndexPath,
  ) -> CGSize
}

extension UICollectionViewDelegateFlowLayout {
  /// The layout's own size: the method is optional.
  public func collectionView(
    _ collectionView: UICollectionView,
    layout collectionViewLayout: UICollectionViewLayout,
    sizeForItemAt indexPath: IndexPath,
  ) -> CGSize {
    (collectionViewLayout as? UICollectionViewFlowLayout)?.itemSize ?? .zero
  }
}

/// Hears which cells will be needed soon.
@MainActor
public protocol UICollectionViewDataSourcePrefetching: NSObjectProtocol {
  /// Cells will be needed soon.
  func collectionView(_ collectionView: UICollectionView, prefetchItemsAt indexPaths: [IndexPath])
  /// Cells will not be needed after all.
  func collectionView(_ collectionView: UICollectionView, cancelPrefetchingForItemsAt indexPaths: [IndexPath])
}

extension UICollectionViewDataSourcePrefetching {
  /// Does nothing: the method is optional.
  public func collectionView(
    _ collectionView: UICollectionView,
    cancelPrefetchingForItemsAt indexPaths: [IndexPath],
  ) {}
}
