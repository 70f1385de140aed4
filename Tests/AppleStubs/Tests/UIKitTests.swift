import Testing
import UIKit

private final class RecordingView: UIView {
  var log: [String] = []

  override func didMoveToWindow() { log.append("window \(window != nil)") }
  override func layoutSubviews() { log.append("layout") }
}

private final class Cell: UITableViewCell {
  var resets = 0

  override init(style: UITableViewCell.CellStyle, reuseIdentifier: String?) {
    super.init(style: style, reuseIdentifier: reuseIdentifier)
  }

  required init?(coder: NSCoder) { super.init(coder: coder) }

  override func prepareForReuse() {
    super.prepareForReuse()
    resets += 1
  }
}

@MainActor
private final class Source: NSObject, UITableViewDataSource, UITableViewDataSourcePrefetching {
  var cells: [ObjectIdentifier: Cell] = [:]
  var prefetched: [[Int]] = []
  var cancelled: [[Int]] = []

  func tableView(_ tableView: UITableView, numberOfRowsInSection section: Int) -> Int { 100 }

  func tableView(_ tableView: UITableView, cellForRowAt indexPath: IndexPath) -> UITableViewCell {
    let cell = tableView.dequeueReusableCell(withIdentifier: "cell", for: indexPath)
    cells[ObjectIdentifier(cell)] = cell as? Cell
    return cell
  }

  func tableView(_ tableView: UITableView, prefetchRowsAt indexPaths: [IndexPath]) {
    prefetched.append(indexPaths.map(\.row))
  }

  func tableView(_ tableView: UITableView, cancelPrefetchingForRowsAt indexPaths: [IndexPath]) {
    cancelled.append(indexPaths.map(\.row))
  }
}

/// Each on a clock of its own.
@MainActor
struct UIKitTests {
  private let window = UIWindow(frame: CGRect(x: 0, y: 0, width: 100, height: 100))

  private func onOwnClock(_ body: () throws -> Void) rethrows {
    try _Clock.$_current.withValue(_Clock()) { try body() }
  }

  @Test
  func aViewHearsOfItsWindowAndOfItsLayout() {
    let (outer, view) = (UIView(frame: window.bounds), RecordingView(frame: window.bounds))
    view.autoresizingMask = [.flexibleWidth]
    outer.addSubview(view)
    #expect(view.log.isEmpty)
    window.addSubview(outer)
    window.layoutIfNeeded()
    #expect(view.log == ["window true", "layout"])
    outer.frame.size.width = 150
    window.layoutIfNeeded()
    #expect(view.frame.width == 150)
    outer.removeFromSuperview()
    #expect(view.log == ["window true", "layout", "layout", "window false"])
  }

  @Test
  func rowsOutOfSightLendTheirCellsToOthers() {
    let source = Source()
    let table = UITableView(frame: window.bounds, style: .plain)
    table.rowHeight = 50
    table.register(Cell.self, forCellReuseIdentifier: "cell")
    table.dataSource = source
    table.prefetchDataSource = source
    window.addSubview(table)
    table.layoutIfNeeded()
    for row in 1..<20 { table._scroll(to: CGFloat(row) * 50) }
    #expect(source.cells.count <= 4)
    #expect(source.cells.values.map(\.resets).reduce(0, +) + source.cells.count == 21)
  }

  @Test
  func aTablePrefetchesAheadAndCancelsWhenItTurnsRound() {
    let source = Source()
    let table = UITableView(frame: window.bounds, style: .plain)
    table.rowHeight = 50
    table.register(Cell.self, forCellReuseIdentifier: "cell")
    table.dataSource = source
    table.prefetchDataSource = source
    table.layoutIfNeeded()
    #expect(source.prefetched == [[2, 3, 4, 5]])
    table._scroll(to: 100)
    #expect(source.prefetched.last == [6, 7])
    #expect(source.cancelled.isEmpty)
    table._scroll(to: 50)
    #expect(source.cancelled == [[4, 5, 6, 7]])
    #expect(source.prefetched.last == [0])
  }

  @Test(arguments: [true, false])
  func anAnimationEndsWithItsTimeOrWhenItIsRemoved(isRemoved: Bool) {
    onOwnClock {
      let view = UIView(frame: window.bounds)
      window.addSubview(view)
      var ends: [Bool] = []
      UIView.animate(withDuration: 1, delay: 0) {
        view.alpha = 0
      } completion: {
        ends.append($0)
      }
      _RunLoop._advance(by: 0.5)
      #expect(ends.isEmpty)
      if isRemoved { view.layer.removeAllAnimations() }
      _RunLoop._advance(by: 0.6)
      #expect(ends == [!isRemoved])
    }
  }

  @Test
  func aTransitionEndsWithItsTime() {
    onOwnClock {
      let view = UIImageView(frame: window.bounds)
      window.addSubview(view)
      UIView.transition(with: view, duration: 1, options: .transitionCrossDissolve, animations: {})
      _RunLoop._advance(by: 0.5)
      #expect(view._transitions.map(\.finished) == [nil])
      _RunLoop._advance(by: 0.6)
      #expect(view._transitions.map(\.finished) == [true])
      #expect(view._transitions.first?.options._isCrossDissolve == true)
    }
  }

  @Test
  func aLinkTicksWithTheFramesWhileItsViewIsInAWindow() {
    onOwnClock {
      let view = UIView(frame: window.bounds)
      let link = UIUpdateLink(view: view)
      var ticks = 0
      link.addAction { _, _ in ticks += 1 }
      (link.requiresContinuousUpdates, link.isEnabled) = (true, true)
      _RunLoop._advance(by: 0.1, frames: 3)
      #expect(ticks == 0)
      window.addSubview(view)
      _RunLoop._advance(by: 0.1, frames: 3)
      #expect(ticks == 3)
      link.isEnabled = false
      _RunLoop._advance(by: 0.1, frames: 3)
      #expect(ticks == 3)
    }
  }
}
