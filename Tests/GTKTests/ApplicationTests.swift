import CGTK
import Vitrine
import VitrineRuntime
import XCTest

@testable import VitrineGTK

/// Programs: their start, their arguments and their end.
final class ApplicationTests: WidgetTestCase {
  func testAProgramStartsOnTheMainActorAndEndsWithAStatus() {
    MainActor.assumeIsolated {
      var log: [String] = []
      let status = Application(arguments: []).run { app in
        log.append("started")
        // Keeps the program running, as windows do.
        unsafe app.window(title: "Hello", width: 200, height: 100)
        Task {
          log.append("awaited")
          app.quit(status: 3)
        }
      }
      XCTAssertEqual(status, 3)
      XCTAssertEqual(log, ["started", "awaited"])
    }
  }

  func testAWindowAppearsWithWhatWasPutIntoIt() {
    MainActor.assumeIsolated {
      var isDrawn = false
      let status = Application(arguments: []).run { app in
        let window = unsafe app.window(title: "Hello", width: 320, height: 240)
        XCTAssertEqual(unsafe gtk_widget_get_visible(window), 0)
        let label: UnsafeMutablePointer<GtkWidget> = unsafe gtk_label_new("Hello")
        unsafe label.append(to: window)
        unsafe connect(label, "map") {
          isDrawn = true
          XCTAssertEqual(unsafe String(cString: gtk_window_get_title(cast(window))), "Hello")
          // The last window ends the program; not while it is being shown.
          Task { unsafe gtk_window_close(cast(window)) }
        }
      }
      XCTAssertEqual(status, 0)
      XCTAssertTrue(isDrawn)
    }
  }

  func testAWindowThatIsClosedAtOnceNeverAppears() {
    MainActor.assumeIsolated {
      let status = Application(arguments: []).run { app in
        let window = unsafe app.window(title: "Hello")
        unsafe connect(window, "map") { XCTFail("it appeared") }
        unsafe gtk_window_destroy(cast(window))
      }
      XCTAssertEqual(status, 0)
    }
  }

  func testFilesAndURLsOfTheCommandLineAreOpened() {
    MainActor.assumeIsolated {
      let app = Application(arguments: ["/tmp/a b.jpg", "https://example.org/ü.jpg"])
      var opened: [String] = []
      app.onOpen = { _, files in opened = files.map(\.absoluteString) }
      let status = app.run { _ in XCTFail("activated instead") }
      XCTAssertEqual(status, 0)
      XCTAssertEqual(opened, ["file:///tmp/a%20b.jpg", "https://example.org/%C3%BC.jpg"])
    }
  }

  func testAProgramThatOpensNothingRefusesFiles() {
    MainActor.assumeIsolated {
      let status = Application(arguments: ["/tmp/a.jpg"]).run { _ in XCTFail("activated instead") }
      XCTAssertEqual(status, 1)
    }
  }
}
