import CGTK
import CVitrineGTK
import Vitrine
import VitrineRuntime
import VitrineTesting
import XCTest

@testable import VitrineGTK

/// A real list whose cells load ahead of the scroll.
final class PrefetchTests: WidgetTestCase {
  /// The images that were asked for, in order, and a gate that holds them back.
  private final class Source: Sendable {
    private let state = Lock<(asked: [Int], isOpen: Bool, waiting: [CheckedContinuation<Void, Never>])>(([], true, []))
    private let png: Data

    init() throws { png = try Bitmap.solid(.init(0x336699), side: 32).encoded(as: .png) }

    var asked: [Int] { state.withLock { $0.asked } }

    func close() { state.withLock { $0.isOpen = false } }

    func open() {
      let waiting = state.withLock { state in
        state.isOpen = true
        defer { state.waiting = [] }
        return state.waiting
      }
      for each in waiting { each.resume() }
    }

    func request(_ index: Int) -> ImageRequest {
      ImageRequest(
        .closure(id: "\(index)") { [self] in
          await withCheckedContinuation { continuation in
            let isOpen = state.withLock { state in
              state.asked.append(index)
              if !state.isOpen { state.waiting.append(continuation) }
              return state.isOpen
            }
            if isOpen { continuation.resume() }
          }
          return png
        }
      )
    }
  }

  @MainActor
  @safe
  private final class List {
    let source: Source
    let pipeline = ImagePipeline.testing(PipelineParts())
    let scrolled: UnsafeMutablePointer<GtkWidget>
    let window: TestWindow
    let factory: RemotePictureFactory
    private(set) var cells: [RemotePictureCell] = []

    init(count: Int = 400, prefetch: Int) throws {
      let source = try Source()
      self.source = source
      let model = unsafe gtk_string_list_new(nil)
      for index in 0..<count { unsafe gtk_string_list_append(model, "\(index)") }
      let factory = unsafe RemotePictureFactory(pipeline, width: 32, height: 32, prefetch: prefetch) { item in
        source.request(unsafe Int(itemName(item)) ?? 0)
      }
      self.factory = factory
      unsafe scrolled = gtk_scrolled_window_new()
      // The selection takes ownership of the model, the list of both.
      let list: UnsafeMutablePointer<GtkWidget> = unsafe gtk_list_view_new(
        gtk_no_selection_new(model),
        factory.retained(),
      )
      unsafe gtk_scrolled_window_set_child(OpaquePointer(scrolled), list)
      var made: [RemotePictureCell] = []
      factory.onSetup = { made.append($0) }
      unsafe window = TestWindow(scrolled, height: 200)
      cells = made
      factory.onSetup = { [weak self] in self?.cells.append($0) }
    }

    /// The positions that can be seen.
    var visible: [Int] {
      cells.filter { unsafe $0.item != nil && $0.picture.view.slot.isVisible }.map(\.position).sorted()
    }

    /// The positions whose images are shown, on the screen or beyond.
    var showing: [Int] {
      cells.filter { unsafe $0.item != nil && $0.picture.view.image != nil }.map(\.position).sorted()
    }

    var last: Int { visible.last ?? 0 }

    func isInMemory(_ index: Int) -> Bool {
      guard let sized = cells.first?.picture.view.slot.sized(source.request(index)) else { return false }
      return pipeline.cachedImage(for: sized) != nil
    }

    /// Scrolls by pixels, and has GTK bind and lay out the cells.
    func scroll(by distance: Double) {
      let adjustment = unsafe gtk_scrolled_window_get_vadjustment(OpaquePointer(scrolled))
      unsafe gtk_adjustment_set_value(adjustment, gtk_adjustment_get_value(adjustment) + distance)
      window.nextFrame()
    }

    /// Scrolls by the same distance in each of some frames, sixty a second, however long they take here.
    func fling(by distance: Double, times: Int) {
      for frame in 1...times {
        unsafe factory.ahead.frameTime = { _ in .seconds(1_000_000 + Double(frame) / 60) }
        scroll(by: distance)
      }
      // From here on time passes again.
      unsafe factory.ahead.frameTime = { _ in .seconds(2_000_000) + systemUptime() }
    }

    /// Turns the main loop until a condition holds that other threads bring about.
    func turn(_ file: StaticString = #filePath, _ line: UInt = #line, until condition: () -> Bool) {
      let timer = unsafe g_timeout_add(5, { _ in 1 }, nil)
      defer { g_source_remove(timer) }
      MainLoop.turn(file, line, until: condition)
    }
  }

  func testSoManyItemsBelowTheEdgeAreLoadedAndNoMore() throws {
    try MainActor.assumeIsolated {
      let list = try List(prefetch: 20)
      let last = list.last
      list.turn { (0...last + 20).allSatisfy { list.isInMemory($0) } }
      XCTAssertEqual(Set(list.source.asked), Set(0...last + 20))
      XCTAssertEqual(list.source.asked.count, last + 21)
      list.window.close()
    }
  }

  func testNothingIsLoadedAheadUnlessItIsAskedFor() throws {
    try MainActor.assumeIsolated {
      let list = try List(prefetch: 0)
      list.turn { list.visible.allSatisfy { list.isInMemory($0) } }
      XCTAssertEqual(Set(list.source.asked), Set(list.visible))
      list.window.close()
    }
  }

  func testWhatIsScrolledToIsThereWithTheFirstFrame() throws {
    try MainActor.assumeIsolated {
      let list = try List(prefetch: 20)
      let last = list.last
      list.turn { (0...last + 20).allSatisfy { list.isInMemory($0) } }
      let before = FrameMailbox.gtk.statistics
      list.source.close()
      list.scroll(by: 300)
      XCTAssertGreaterThan(list.visible.first ?? 0, last)
      for cell in list.cells where list.visible.contains(cell.position) {
        guard case .image(_, fades: false) = cell.picture.content else {
          return XCTFail("\(cell.position): \(cell.picture.content)")
        }
      }
      XCTAssertEqual(FrameMailbox.gtk.statistics.loadsStarted, before.loadsStarted)
      list.source.open()
      list.window.close()
    }
  }

  func testACellThatIsScrolledOffGivesItsImageBackAndHasItWhenItReturns() throws {
    try MainActor.assumeIsolated {
      let list = try List(prefetch: 0)
      let first = list.visible
      list.turn { list.showing == first }
      // So far that GTK keeps the first cells bound.
      list.scroll(by: 300)
      let left = list.cells.filter { unsafe $0.item != nil && first.contains($0.position) }
      XCTAssertFalse(left.isEmpty)
      XCTAssertTrue(left.allSatisfy { $0.picture.view.image == nil })
      list.turn { list.showing == list.visible }
      let asked = list.source.asked.count
      list.scroll(by: -300)
      XCTAssertEqual(list.visible, first)
      XCTAssertEqual(list.showing, first)
      XCTAssertEqual(list.source.asked.count, asked)
      list.window.close()
    }
  }

  func testAListThatIsHiddenKeepsItsImages() throws {
    try MainActor.assumeIsolated {
      let list = try List(prefetch: 0)
      let first = list.visible
      list.turn { list.showing == first }
      unsafe gtk_widget_set_visible(list.scrolled, 0)
      XCTAssertEqual(list.visible, [])
      XCTAssertEqual(list.showing, first)
      list.window.close()
    }
  }

  func testWhatTheScrollLeavesBehindIsNotLoaded() throws {
    try MainActor.assumeIsolated {
      let list = try List(prefetch: 40)
      list.turn { list.isInMemory(list.last + 40) }
      list.source.close()
      // Each of these begins to load ahead, and is left before that comes to much.
      for _ in 0..<4 { list.scroll(by: 3000) }
      let visible = list.visible
      list.source.open()
      list.turn { list.isInMemory(list.last + 40) }
      XCTAssertEqual(list.visible, visible)
      let asked = Set(list.source.asked)
      // Of the thousands of pixels between, at most what was under way.
      let between = asked.filter { $0 > 60 && $0 < (visible.first ?? 0) }
      XCTAssertLessThan(between.count, 100)
      XCTAssertTrue(Set(visible).isSubset(of: asked))
      list.window.close()
    }
  }

  func testScrollingUpLoadsWhatIsAbove() throws {
    try MainActor.assumeIsolated {
      let list = try List(prefetch: 10)
      list.scroll(by: 6000)
      list.scroll(by: 3000)
      list.turn { list.isInMemory(list.last + 10) }
      list.scroll(by: -1500)
      let first = list.visible.first ?? 0
      list.turn { (first - 10...first).allSatisfy { list.isInMemory($0) } }
      XCTAssertFalse(list.source.asked.contains(first - 11))
      list.window.close()
    }
  }

  func testInAFlingNothingLoadsThatRushesByAndEverythingAtRest() throws {
    try MainActor.assumeIsolated {
      let list = try List(prefetch: 0)
      list.turn { list.isInMemory(list.last) }
      let asked = Set(list.source.asked)
      list.fling(by: 150, times: 20)
      let passed = Set(list.source.asked).subtracting(asked)
      // Before the second frame nobody knows how fast it is.
      XCTAssertLessThan(passed.count, 40, "of about 90 that were seen: \(passed.sorted())")
      list.turn { list.visible.allSatisfy { list.isInMemory($0) } }
      list.window.close()
    }
  }

  func testInAFlingThePlaceWhereItWillRestIsLoadedAhead() throws {
    try MainActor.assumeIsolated {
      let list = try List(prefetch: 20)
      list.turn { list.isInMemory(list.last + 20) }
      list.fling(by: 150, times: 8)
      // 9,375 points a second, slowed down by four a second, go on for 2,300 points: some seventy items.
      let far = list.last + 40
      list.turn { list.source.asked.contains { $0 > far } }
      list.turn { list.visible.allSatisfy { list.isInMemory($0) } }
      list.window.close()
    }
  }

  func testAListThatIsHiddenLoadsNothingAhead() throws {
    try MainActor.assumeIsolated {
      let list = try List(prefetch: 100)
      list.source.close()
      list.scroll(by: 2000)
      let last = list.last
      XCTAssertGreaterThan(last, 20)
      unsafe gtk_widget_set_visible(list.scrolled, 0)
      MainLoop.drain()
      // Each delivers one update at least, whatever the budget.
      for _ in 0..<100 { FrameMailbox.gtk.deliver() }
      list.source.open()
      let request = list.source.request(399)
      var isDone = false
      Task {
        _ = try? await list.pipeline.image(for: request)
        isDone = true
      }
      list.turn { isDone }
      // Beside this one and those that were seen, at most six that had begun.
      let ahead = list.source.asked.filter { $0 > last && $0 != 399 }
      XCTAssertLessThanOrEqual(ahead.count, 6, "\(ahead)")
      list.window.close()
    }
  }

  func testTheEndsOfAListAreNoError() throws {
    try MainActor.assumeIsolated {
      let list = try List(count: 12, prefetch: 50)
      list.turn { (0..<12).allSatisfy { list.isInMemory($0) } }
      list.scroll(by: 1e6)
      list.scroll(by: -1e6)
      XCTAssertEqual(Set(list.source.asked), Set(0..<12))
      list.window.close()
    }
  }
}
