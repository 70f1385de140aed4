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
        app.window(title: "Hello", width: 200, height: 100)
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
      var (isDrawn, kept) = (false, nil as Widget?)
      let status = Application(arguments: []).run { app in
        let window = app.window(title: "Hello", width: 320, height: 240)
        XCTAssertFalse(window.isShown)
        let label = Widget.label("Hello")
        window.add(label)
        label.on("map") { [weak window] in
          isDrawn = true
          XCTAssertEqual(window?.get("title"), "Hello")
          // The last window ends the program; not while it is being shown.
          Task { window?.close() }
        }
        kept = window
      }
      XCTAssertEqual(status, 0)
      XCTAssertTrue(isDrawn)
      XCTAssertEqual(kept?.isMapped, false)
    }
  }

  func testAWindowThatIsClosedAtOnceNeverAppears() {
    MainActor.assumeIsolated {
      let status = Application(arguments: []).run { app in
        let window = app.window(title: "Hello")
        window.on("map") { XCTFail("it appeared") }
        unsafe gtk_window_destroy(cast(window.pointer))
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
