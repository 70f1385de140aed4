import CGTK
import CVitrineGTK
import Vitrine
import VitrineTestSupport
import VitrineTesting
import XCTest

@testable import VitrineGTK

/// Cells of a real `GtkGridView`, bound by GTK, with answers in every order.
final class GridCellTests: WidgetTestCase {
  /// A grid over a model of texts, each the name of an image.
  @MainActor
  @safe
  private final class Grid {
    let loading = FakeLoading()
    let mailbox = FrameMailbox.manual()
    let model: OpaquePointer
    let scrolled: UnsafeMutablePointer<GtkWidget>
    let window: TestWindow
    private(set) var cells: [RemotePictureCell] = []

    init(_ names: [String], columns: Int = 1, height: Int = 200) {
      unsafe model = gtk_string_list_new(nil)
      for name in names { unsafe gtk_string_list_append(model, name) }
      let factory = unsafe RemotePictureFactory(
        32,
        32,
        .fill,
        .color(.init(0x404040)),
        .symbol("image-missing"),
        { unsafe .named(itemName($0)) },
      ) { [loading, mailbox] in
        ImageSlot(loader: loading, mailbox: mailbox)
      }
      unsafe scrolled = gtk_scrolled_window_new()
      // The selection takes a reference to the model, the grid those to both; the test keeps one of the model.
      unsafe g_object_ref(UnsafeMutableRawPointer(model))
      let selection = unsafe gtk_no_selection_new(model)
      let grid: UnsafeMutablePointer<GtkWidget> = unsafe gtk_grid_view_new(selection, factory.retained())
      unsafe gtk_grid_view_set_min_columns(OpaquePointer(grid), guint(columns))
      unsafe gtk_grid_view_set_max_columns(OpaquePointer(grid), guint(columns))
      unsafe gtk_scrolled_window_set_child(OpaquePointer(scrolled), grid)
      var made: [RemotePictureCell] = []
      factory.onSetup = { made.append($0) }
      unsafe window = TestWindow(scrolled, height: height)
      cells = made
      factory.onSetup = { [weak self] in self?.cells.append($0) }
    }

    isolated deinit { unsafe g_object_unref(UnsafeMutableRawPointer(model)) }

    /// Scrolls to the middle of a family of 200 items; GTK binds the cells anew, within the call.
    func jump(to family: String) {
      let place = ["C": 100, "A": 300, "B": 500][family] ?? 0
      position = Double(place) * rowHeight
      layOut()
    }

    /// Lays the grid out as the next frame would, without waiting for it.
    private func layOut() {
      for orientation in [GTK_ORIENTATION_HORIZONTAL, GTK_ORIENTATION_VERTICAL] {
        unsafe gtk_widget_measure(scrolled, orientation, -1, nil, nil, nil, nil)
      }
      unsafe gtk_widget_allocate(scrolled, gtk_widget_get_width(scrolled), gtk_widget_get_height(scrolled), -1, nil)
    }

    private var rowHeight: Double {
      let adjustment = unsafe gtk_scrolled_window_get_vadjustment(OpaquePointer(scrolled))
      return unsafe gtk_adjustment_get_upper(adjustment) / 600
    }

    var position: Double {
      get { unsafe gtk_adjustment_get_value(gtk_scrolled_window_get_vadjustment(OpaquePointer(scrolled))) }
      set { unsafe gtk_adjustment_set_value(gtk_scrolled_window_get_vadjustment(OpaquePointer(scrolled)), newValue) }
    }
  }

  private enum Event: CustomStringConvertible {
    case bind(String)
    case end(String, Int?)
    case hop

    var description: String {
      switch self {
      case .bind(let name): "bind \(name)"
      case .end(let name, let version): version.map { "\(name)\($0) comes" } ?? "\(name) fails"
      case .hop: "hop"
      }
    }
  }

  /// All orders of the events of several lanes, each lane in its own order.
  private static func orders(_ lanes: [[Event]]) -> [[Event]] {
    if lanes.allSatisfy(\.isEmpty) { return [[]] }
    return lanes.indices.filter { !lanes[$0].isEmpty }.flatMap { index in
      var rest = lanes
      let first = rest[index].removeFirst()
      return orders(rest).map { [first] + $0 }
    }
  }

  /// What is in memory for the second request when an order begins.
  private enum Memory: CaseIterable { case miss, fresh, stale }

  func testCellsShowOnlyTheirOwnImagesInEveryOrderOfTwoRequests() {
    MainActor.assumeIsolated {
      // GTK recycles cells when it scrolls far: a cell of one family of items is bound to one of the next.
      let names = ["C", "A", "B"].flatMap { family in (0..<200).map { "\(family)\($0)" } }
      let grid = Grid(names)
      // The first far jumps of a fresh grid may bring nothing.
      for family in ["A", "B", "C", "A"] { grid.jump(to: family) }
      var played = 0
      var complaints: [String] = []
      for memory in Memory.allCases {
        for first in [1, nil] {
          for second in [2, nil] {
            let lanes: [[Event]] = [[.bind("A"), .end("A", first)], [.bind("B"), .end("B", second)], [.hop, .hop]]
            for order in Self.orders(lanes) {
              played += 1
              if let complaint = Self.play(order, memory, on: grid) {
                complaints.append("B \(memory): \(order): \(complaint)")
              }
            }
          }
        }
      }
      XCTAssertEqual(played, 90 * 4 * 3)
      XCTAssertTrue(complaints.isEmpty, "\(complaints.count) of \(played) orders: \(complaints.prefix(3))")
      grid.window.close()
    }
  }

  /// Plays an order on all cells at once, and says what went wrong, if anything did.
  @MainActor
  private static func play(_ order: [Event], _ memory: Memory, on grid: Grid) -> String? {
    grid.jump(to: "C")
    grid.mailbox.deliver()
    grid.loading.reset()
    if memory != .miss { grid.loading.remember("B", version: 1, isStale: memory == .stale) }
    let made = grid.cells.count
    var played: [Event] = []

    func apply(_ event: Event) -> String? {
      played.append(event)
      switch event {
      case .bind(let name): grid.jump(to: name)
      case .end(let name, let version):
        let open = grid.loading.loads.filter { $0.request.label.hasPrefix(name) && !$0.isEnded }
        if let version, !open.isEmpty { grid.loading.remember(Character(name), version: version) }
        for load in open { load.finish(version.map { .of(load.request.label, version: $0) }) }
      case .hop: grid.mailbox.deliver()
      }
      return complaint(grid, after: event)
    }

    // In the end everything has come, also what had been cancelled.
    for event in order + [.end("A", 3), .end("B", 3), .hop] {
      if let complaint = apply(event) { return "\(complaint) after \(played)" }
    }
    if grid.cells.count != made { return "GTK made new cells instead of binding those that there are" }
    let visible = grid.cells.filter { $0.picture.slot.isVisible }
    if visible.isEmpty { return "no cell is visible" }
    let isEverythingShown = visible.allSatisfy { $0.picture.view.image != nil || $0.picture.view.iconName != nil }
    return isEverythingShown ? nil : "nothing is shown in the end"
  }

  @MainActor
  private static func complaint(_ grid: Grid, after event: Event) -> String? {
    for cell in grid.cells {
      guard let item = unsafe cell.item else { continue }
      let (view, name) = unsafe (cell.picture.view, itemName(item))
      if view.image != nil, !view.shows(name) { return "\(name) shows another's image" }
      // Cells beyond the edges look for their images when they enter the screen.
      guard case .bind = event, cell.picture.slot.isVisible,
        grid.loading.cachedImage(for: .named(name)) != nil
      else { continue }
      if view.image == nil { return "\(name) was in memory and is not shown" }
      if view.isFading { return "\(name) was in memory and fades" }
    }
    return nil
  }

  func testCellsOfAScrolledGridShowOnlyTheirOwnImagesWhateverComesWhen() {
    MainActor.assumeIsolated {
      let names = (0..<600).map { "\($0)" }
      let grid = Grid(names, columns: 3)
      var random = SplitMix64(seed: 42)
      var wrong: [String] = []
      var right = 0
      var mapped = 0
      for _ in 0..<60 {
        grid.position = Double(random.next() % 6000)
        // Half of what is under way comes in any order, cancelled or not, some of it after the cell was bound anew.
        let open = grid.loading.loads.filter { !$0.isEnded }.shuffled(using: &random)
        for load in open.prefix(open.count / 2) { load.finish(.of(load.request.label)) }
        grid.window.nextFrame()
        if random.next() % 2 == 0 { grid.mailbox.deliver() }
        for cell in grid.cells {
          guard let item = unsafe cell.item else { continue }
          let name = unsafe itemName(item)
          if cell.picture.view.isMapped { mapped += 1 }
          guard cell.picture.view.image != nil else { continue }
          if cell.picture.view.shows(name) { right += 1 } else { wrong.append(name) }
        }
      }
      XCTAssertEqual(wrong, [])
      XCTAssertGreaterThan(right, 100)
      XCTAssertGreaterThan(mapped, 1000)
      // Recycled: far fewer cells than items that were bound.
      XCTAssertLessThan(grid.cells.count, 200)
      XCTAssertGreaterThan(Set(grid.loading.loads.map(\.request.label)).count, 200)
      grid.window.close()
    }
  }

  func testOnlyCellsThatCanBeSeenLoad() {
    MainActor.assumeIsolated {
      let grid = Grid((0..<600).map { "\($0)" }, columns: 3)
      let bound = grid.cells.count { unsafe $0.item != nil }
      let mapped = grid.cells.count { $0.picture.view.isMapped }
      XCTAssertGreaterThan(bound, 2 * mapped)
      XCTAssertEqual(grid.loading.loads.count, mapped)
      grid.window.close()
    }
  }

  func testCellsAreFreedWithTheirGrid() {
    MainActor.assumeIsolated {
      weak var view: PictureView?
      weak var cell: RemotePictureCell?
      var loading: FakeLoading?
      do {
        let grid = Grid(["A"])
        (cell, view, loading) = (grid.cells.first, grid.cells.first?.picture.view, grid.loading)
        grid.window.close()
      }
      MainLoop.drain()
      XCTAssertNil(cell)
      XCTAssertNil(view)
      XCTAssertEqual(loading?.loads.map(\.isCancelled), [true])
    }
  }
}

/// The name that an item of the test's model is.
@MainActor
func itemName(_ item: UnsafeMutablePointer<GObject>) -> String {
  unsafe gtk_string_object_get_string(OpaquePointer(item)).map { unsafe String(cString: $0) } ?? ""
}
