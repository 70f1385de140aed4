import Testing
import UIKit
import Vitrine
import VitrineApple
import VitrineRuntime
import VitrineTesting

/// The table of an app: one picture a row.
@MainActor
private final class PhotoTable: NSObject, UITableViewDataSource {
  let urls: [String]
  let pipeline: ImagePipeline
  let history = History()

  init(_ urls: [String], _ pipeline: ImagePipeline) { (self.urls, self.pipeline) = (urls, pipeline) }

  func tableView(_ tableView: UITableView, numberOfRowsInSection section: Int) -> Int { urls.count }

  func tableView(_ tableView: UITableView, cellForRowAt indexPath: IndexPath) -> UITableViewCell {
    let cell = tableView.dequeueReusableCell(withIdentifier: "photo", for: indexPath)
    guard let loader = cell.imageView?.vitrine else { return cell }
    loader.pipeline = pipeline
    loader.onChange = { [history] in history.note($0) }
    let request = ImageRequest(url: urls[indexPath.row], size: .pixels(20, 20))
    loader.load(request, placeholder: .symbol("photo"), failure: .symbol("photo.badge.exclamationmark"))
    return cell
  }
}

@MainActor
@Suite(.timeLimit(.minutes(5)))
struct PhotoTableTests {
  private let setting: Setting

  init() throws { setting = try Setting() }

  private func makeTable(_ source: PhotoTable) -> UITableView {
    let table = UITableView(frame: CGRect(x: 0, y: 0, width: 100, height: 100), style: .plain)
    table.rowHeight = 30
    table.register(UITableViewCell.self, forCellReuseIdentifier: "photo")
    table.dataSource = source
    table.layoutIfNeeded()
    return table
  }

  @Test
  func aTableShowsEveryRowButThe404() async {
    let source = PhotoTable([Setting.cat, Setting.missing, Setting.dog], setting.pipeline)
    let table = makeTable(source)
    for _ in 0..<3 { await source.history.settled() }

    let rows = (0..<3).map { table.cellForRow(at: IndexPath(row: $0, section: 0))?.imageView?.image }
    #expect(rows.map { $0?.cgImage?.width } == [20, nil, 20])
    #expect(rows[1]?._facts.symbolName == "photo.badge.exclamationmark")
  }

  @Test
  func aRowThatIsUsedAgainCancelsTheLoadOfTheRowItWas() async throws {
    let urls = (0..<20).map { "https://images.invalid/\($0).png" }
    let source = PhotoTable(urls, setting.pipeline)
    let table = makeTable(source)
    let first = try await setting.loader.nextLoad(of: urls[0])
    table._scroll(to: 300)
    await first.wait { $0.isCancelled }
  }
}
