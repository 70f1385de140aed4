import Testing
import UIKit

final class TileCell: UICollectionViewCell {
  let picture = UIImageView()

  override init(frame: CGRect) {
    super.init(frame: frame)
    contentView.addSubview(picture)
  }

  required init?(coder: NSCoder) {
    super.init(coder: coder)
  }
}

@MainActor
final class TileSource: NSObject, UICollectionViewDataSource, UICollectionViewDelegate,
  UICollectionViewDataSourcePrefetching
{
  var asked: [Int] = []
  var shown: [Int] = []
  var hidden: [Int] = []
  var prefetched: [Int] = []

  func collectionView(_ collectionView: UICollectionView, numberOfItemsInSection section: Int) -> Int { 50 }

  func collectionView(_ collectionView: UICollectionView, cellForItemAt indexPath: IndexPath) -> UICollectionViewCell {
    asked.append(indexPath.item)
    return collectionView.dequeueReusableCell(withReuseIdentifier: "tile", for: indexPath)
  }

  func collectionView(
    _ collectionView: UICollectionView,
    willDisplay cell: UICollectionViewCell,
    forItemAt indexPath: IndexPath,
  ) {
    shown.append(indexPath.item)
  }

  func collectionView(
    _ collectionView: UICollectionView,
    didEndDisplaying cell: UICollectionViewCell,
    forItemAt indexPath: IndexPath,
  ) {
    hidden.append(indexPath.item)
  }

  func collectionView(_ collectionView: UICollectionView, prefetchItemsAt indexPaths: [IndexPath]) {
    prefetched += indexPaths.map(\.item)
  }
}

@MainActor
@Suite("Collections")
struct CollectionTests {
  private func makeCollection(_ source: TileSource) -> UICollectionView {
    let layout = UICollectionViewFlowLayout()
    layout.itemSize = CGSize(width: 40, height: 40)
    let view = UICollectionView(frame: CGRect(x: 0, y: 0, width: 100, height: 90), collectionViewLayout: layout)
    view.register(TileCell.self, forCellWithReuseIdentifier: "tile")
    view.dataSource = source
    view.delegate = source
    view.prefetchDataSource = source
    return view
  }

  @Test("Cells stand in lines, and are made ahead of the scroll")
  func ahead() {
    let source = TileSource()
    let view = makeCollection(source)
    view.layoutIfNeeded()
    #expect(view.indexPathsForVisibleItems.map(\.item) == [0, 1, 2, 3])
    #expect(view.cellForItem(at: IndexPath(item: 3, section: 0))?.frame.origin == CGPoint(x: 50, y: 50))
    #expect(source.asked == [0, 1, 2, 3, 4, 5])
    #expect(source.shown == [0, 1, 2, 3])
    #expect(source.prefetched == [4, 5, 6, 7])
    view._scroll(to: 50)
    #expect(source.shown == [0, 1, 2, 3, 4, 5])
    #expect(source.asked == [0, 1, 2, 3, 4, 5, 6, 7])
    #expect(source.hidden == [0, 1])
  }

  @Test("Without prefetching only the cells in view are made")
  func notAhead() {
    let source = TileSource()
    let view = makeCollection(source)
    view.isPrefetchingEnabled = false
    view.layoutIfNeeded()
    #expect(source.asked == [0, 1, 2, 3])
    #expect(source.prefetched.isEmpty)
    view._scroll(to: 50)
    let reused = view.visibleCells.compactMap { $0 as? TileCell }.filter { $0._reuseCount == 1 }
    #expect(reused.count == 2)
    #expect(view.visibleCells.allSatisfy { $0.reuseIdentifier == "tile" })
  }
}
