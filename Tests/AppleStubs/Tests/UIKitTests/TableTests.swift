import Testing
import UIKit

final class PictureCell: UITableViewCell {
  var wasReset = false

  override init(style: UITableViewCell.CellStyle, reuseIdentifier: String?) {
    super.init(style: style, reuseIdentifier: reuseIdentifier)
  }

  required init?(coder: NSCoder) {
    super.init(coder: coder)
  }

  override func prepareForReuse() {
    super.prepareForReuse()
    wasReset = true
  }
}

@MainActor
final class Source: NSObject, UITableViewDataSource, UITableViewDelegate, UITableViewDataSourcePrefetching {
  var asked: [Int] = []
  var shown: [Int] = []
  var hidden: [Int] = []
  var prefetched: [[Int]] = []
  var cancelled: [[Int]] = []
  var cells: Set<ObjectIdentifier> = []

  func tableView(_ tableView: UITableView, numberOfRowsInSection section: Int) -> Int { 100 }

  func tableView(_ tableView: UITableView, cellForRowAt indexPath: IndexPath) -> UITableViewCell {
    asked.append(indexPath.row)
    let cell = tableView.dequeueReusableCell(withIdentifier: "picture", for: indexPath)
    cells.insert(ObjectIdentifier(cell))
    return cell
  }

  func tableView(_ tableView: UITableView, willDisplay cell: UITableViewCell, forRowAt indexPath: IndexPath) {
    shown.append(indexPath.row)
  }

  func tableView(_ tableView: UITableView, didEndDisplaying cell: UITableViewCell, forRowAt indexPath: IndexPath) {
    hidden.append(indexPath.row)
  }

  func tableView(_ tableView: UITableView, prefetchRowsAt indexPaths: [IndexPath]) {
    prefetched.append(indexPaths.map(\.row))
  }

  func tableView(_ tableView: UITableView, cancelPrefetchingForRowsAt indexPaths: [IndexPath]) {
    cancelled.append(indexPaths.map(\.row))
  }
}

@MainActor
@Suite("Tables")
struct TableTests {
  private func makeTable(_ source: Source) -> UITableView {
    let table = UITableView(frame: CGRect(x: 0, y: 0, width: 100, height: 100), style: .plain)
    table.rowHeight = 50
    table.register(PictureCell.self, forCellReuseIdentifier: "picture")
    table.dataSource = source
    table.delegate = source
    table.prefetchDataSource = source
    table.layoutIfNeeded()
    return table
  }

  @Test("It asks for the rows in view, and uses them again")
  func recycling() throws {
    let source = Source()
    let table = makeTable(source)
    #expect(source.asked == [0, 1])
    #expect(source.shown == [0, 1])
    #expect(table.contentSize.height == 5_000)
    let first = try #require(table.cellForRow(at: IndexPath(row: 0, section: 0)) as? PictureCell)
    #expect(!first.wasReset)
    table._scroll(to: 50)
    #expect(source.asked == [0, 1, 2])
    #expect(source.hidden == [0])
    #expect(first.wasReset)
    #expect(table.cellForRow(at: IndexPath(row: 2, section: 0)) === first)
    #expect(table.indexPath(for: first) == IndexPath(row: 2, section: 0))
    table._scroll(to: 2_000)
    #expect(table.indexPathsForVisibleRows?.map(\.row) == [40, 41])
    #expect(source.cells.count == 2)
  }

  @Test("It prefetches ahead of the scroll, and cancels when the scroll turns round")
  func prefetching() {
    let source = Source()
    let table = makeTable(source)
    #expect(source.prefetched == [[2, 3, 4, 5]])
    table._scroll(to: 100)
    #expect(source.prefetched.last == [6, 7])
    #expect(source.cancelled.isEmpty)
    table._scroll(to: 50)
    #expect(source.cancelled == [[4, 5, 6, 7]])
    #expect(source.prefetched.last == [0])
  }

  @Test("A reload happens at the next layout")
  func reload() {
    let source = Source()
    let table = makeTable(source)
    table.reloadData()
    #expect(source.asked.count == 2)
    table.layoutIfNeeded()
    #expect(source.asked == [0, 1, 0, 1])
    #expect(source.hidden == [0, 1])
    #expect(source.cells.count == 2)
    table.reloadRows(at: [IndexPath(row: 1, section: 0)], with: .none)
    #expect(source.asked == [0, 1, 0, 1, 1])
  }

  @Test("A row has a picture and a text, unless it has a description")
  func content() {
    let cell = UITableViewCell(style: .default, reuseIdentifier: nil)
    #expect(cell.detailTextLabel == nil)
    cell.imageView?.image = UIImage(cgImage: picture(1, 1))
    cell.layoutIfNeeded()
    #expect(cell.imageView?.frame.width == 44)
    var content = cell.defaultContentConfiguration()
    content.image = UIImage(cgImage: picture(30, 30))
    content.imageProperties.maximumSize = CGSize(width: 15, height: 0)
    content.text = "a"
    cell.contentConfiguration = content
    cell.layoutIfNeeded()
    let view = cell.contentView as? UIListContentView
    #expect(view?._imageView.frame.size == CGSize(width: 15, height: 15))
    content.text = "b"
    cell.contentConfiguration = content
    #expect(cell.contentView === view)
    #expect(view?._textLabel.text == "b")
    cell.contentConfiguration = nil
    #expect(!(cell.contentView is UIListContentView))
  }

  @Test("A handler suits the row to its state")
  func state() {
    let cell = UITableViewCell()
    var states: [Bool] = []
    cell.configurationUpdateHandler = { _, state in states.append(state.isSelected) }
    cell.layoutIfNeeded()
    cell.isSelected = true
    cell.layoutIfNeeded()
    #expect(states == [false, true])
  }
}
