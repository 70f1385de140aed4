import Network
import Testing
import UIKit
import Vitrine
import VitrineApple
import VitrineRuntime
import VitrineTestSupport
import VitrineTesting

extension SystemTests {
  /// `ImagePrefetchSource` of tables and collections; power is the whole program's.
  @MainActor
  @Suite(.patient)
  struct PrefetchTests {
    private let setting: Setting
    private let table = UITableView(frame: .zero, style: .plain)
    private let paths = [0, 1].map { IndexPath(row: $0, section: 0) }

    init() throws {
      setting = try Setting()
      ProcessInfo._setLowPowerModeEnabled(false)
    }

    @Test
    func aTablePrefetchesItsNextRowsAndStopsThoseThatItDoesNotReach() async throws {
      let urls = [Setting.slow, Setting.slower]
      let source = ImagePrefetchSource(setting.pipeline) { ImageRequest(url: urls[$0.row]) }
      source.tableView(table, prefetchRowsAt: paths)
      let kept = try await setting.loader.nextLoad(of: Setting.slow)
      let stopped = try await setting.loader.nextLoad(of: Setting.slower)

      source.tableView(table, cancelPrefetchingForRowsAt: [paths[1]])
      await stopped.wait { $0.isCancelled }

      #expect(!kept.status.isCancelled)
      kept.respond(with: setting.response)
      _ = try await setting.pipeline.image(for: ImageRequest(url: Setting.slow))
      #expect(setting.loader.counts.loads == 2)
    }

    @Test
    func aCollectionPrefetchesItsNextItemsAndStopsThemWhenItTurnsBack() async throws {
      let layout = UICollectionViewFlowLayout()
      layout.itemSize = CGSize(width: 100, height: 50)
      layout.minimumLineSpacing = 0
      let collection = UICollectionView(
        frame: CGRect(x: 0, y: 0, width: 100, height: 100),
        collectionViewLayout: layout,
      )
      collection.register(UICollectionViewCell.self, forCellWithReuseIdentifier: "photo")
      let items = Items()
      let source = ImagePrefetchSource(setting.pipeline) { ImageRequest(url: Items.url($0.item)) }
      (collection.dataSource, collection.prefetchDataSource) = (items, source)
      collection.layoutIfNeeded()
      let shown = try await setting.loader.nextLoad(of: Items.url(2))
      let stopped = try await setting.loader.nextLoad(of: Items.url(3))

      collection._scroll(to: 50)
      collection._scroll(to: 0)
      await stopped.wait { $0.isCancelled }

      #expect(!shown.status.isCancelled)
      #expect(source.prefetcher.statistics.waiting == 0)
    }

    @Test
    func aRowWithAnotherImageStopsItsFormerOneAndStillItsNewOne() async throws {
      var url = Setting.slow
      let source = ImagePrefetchSource(setting.pipeline) { _ in ImageRequest(url: url) }
      source.tableView(table, prefetchRowsAt: [paths[0]])
      let former = try await setting.loader.nextLoad(of: Setting.slow)

      url = Setting.slower
      source.tableView(table, prefetchRowsAt: [paths[0]])
      await former.wait { $0.isCancelled }
      let new = try await setting.loader.nextLoad(of: Setting.slower)
      #expect(!new.status.isCancelled)

      // By now the row would have a third one.
      url = Setting.cat
      source.tableView(table, cancelPrefetchingForRowsAt: [paths[0]])
      await new.wait { $0.isCancelled }
    }

    @Test
    func anImageOfTwoRowsIsStoppedByTheLastOfThem() async throws {
      let source = ImagePrefetchSource(setting.pipeline) { _ in ImageRequest(url: Setting.slow) }
      source.tableView(table, prefetchRowsAt: paths)
      let load = try await setting.loader.nextLoad(of: Setting.slow)

      source.tableView(table, cancelPrefetchingForRowsAt: [paths[0]])
      #expect(source.prefetcher.statistics.running == 1)
      #expect(!load.status.isCancelled)

      source.tableView(table, cancelPrefetchingForRowsAt: [paths[1]])
      await load.wait { $0.isCancelled }
    }
  }

  /// The items of a collection.
  private final class Items: NSObject, UICollectionViewDataSource {
    static func url(_ item: Int) -> String { "https://images.invalid/\(item).png" }

    func collectionView(_ collectionView: UICollectionView, numberOfItemsInSection section: Int) -> Int { 20 }

    func collectionView(_ view: UICollectionView, cellForItemAt indexPath: IndexPath) -> UICollectionViewCell {
      view.dequeueReusableCell(withReuseIdentifier: "photo", for: indexPath)
    }
  }
}
