import Network
import Testing
import UIKit
import Vitrine
import VitrineApple
import VitrineRuntime
import VitrineTestSupport
import VitrineTesting

@testable import PhotosTable

/// The app of Examples/PhotosTable.
@MainActor
@Suite(.patient)
struct PhotoTableTests {
  private let setting: Setting
  private let history = History()
  private let window = UIWindow(frame: CGRect(x: 0, y: 0, width: 200, height: 380))

  init() throws { setting = try Setting() }

  static func url(_ name: String) -> String { "http://localhost:8000/\(name)" }

  static func image(_ table: PhotosTable, _ row: Int) -> UIImage? {
    (table.tableView.cellForRow(at: IndexPath(row: row, section: 0)) as? PhotoCell)?.photo.image
  }

  private func showTable() -> PhotosTable {
    let table = PhotosTable(setting.pipeline)
    window.rootViewController = table
    window.makeKeyAndVisible()
    window.layoutIfNeeded()
    return table
  }

  @Test
  func aTableShowsEveryRowButThe404() async throws {
    for name in PhotosTable.names { setting.loader.answer(Self.url(name), setting.response) }
    setting.loader.answer(Self.url("not-there.jpg"), FakeResponse(status: 404))
    let table = showTable()
    let cells = table.tableView.visibleCells.compactMap { $0 as? PhotoCell }
    for cell in cells { cell.photo.vitrine.onChange = { [history] in history.note($0) } }
    #expect(cells.map { $0.photo.image?._facts.symbolName } == Array(repeating: "photo", count: 5))
    for _ in cells { await history.settled() }

    #expect(cells.map(\.title.text) == PhotosTable.names.prefix(5).map { $0 })
    #expect(cells.map { $0.photo.image?.cgImage != nil } == [true, true, true, true, false])
    #expect(Self.image(table, 4)?._facts.symbolName == "photo.badge.exclamationmark")
    #expect(cells.map(\.photo.frame.size) == Array(repeating: CGSize(width: 60, height: 60), count: 5))
  }

  @Test
  func aRowThatIsUsedAgainCancelsTheLoadOfTheRowItWas() async throws {
    let table = showTable()
    let first = try await setting.loader.nextLoad(of: Self.url(PhotosTable.names[0]))
    table.tableView._scroll(to: 380)
    await first.wait { $0.isCancelled }
  }

  // In a process of its own, which has the shared pipeline for itself.
  @Test
  func theAppShowsItsTable() async {
    await #expect(processExitsWith: .success) {
      try await MainActor.run {
        ImagePipeline.shared = try Setting().pipeline
        let app = AppDelegate()
        precondition(app.application(.shared, didFinishLaunchingWithOptions: nil))
        app.window?.layoutIfNeeded()
        let table = app.window?.rootViewController as? PhotosTable
        precondition(table.flatMap { PhotoTableTests.image($0, 0) } != nil)
      }
    }
  }
}

extension SystemTests {
  /// What the app loads before it is seen.
  @MainActor
  @Suite(.patient)
  struct PhotoPrefetchTests {
    @Test
    func aRowThatWasPrefetchedHasItsImageAtOnce() async throws {
      ProcessInfo._setLowPowerModeEnabled(false)
      let setting = try Setting()
      let next = PhotoTableTests.url(PhotosTable.names[5])
      let window = UIWindow(frame: CGRect(x: 0, y: 0, width: 200, height: 380))
      let table = PhotosTable(setting.pipeline)
      window.rootViewController = table
      window.makeKeyAndVisible()
      window.layoutIfNeeded()
      let load = try await setting.loader.nextLoad(of: next)
      #expect(load.request.priority == .low)
      let scale = Double(table.traitCollection.displayScale)
      let task = setting.pipeline.imageTask(for: ImageRequest(url: next, size: .points(60, 60, .fill, scale: scale)))
      load.respond(with: setting.response)
      _ = try await task.image

      table.tableView._scroll(to: 76)

      #expect(PhotoTableTests.image(table, 5)?.cgImage != nil)
      #expect(setting.loader.requests.count { $0.url.description == next } == 1)
    }
  }
}
