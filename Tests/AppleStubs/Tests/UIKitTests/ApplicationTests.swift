import Testing
import UIKit

@MainActor
@Suite("The app", .serialized)
struct ApplicationTests {
  private final class Log: @unchecked Sendable {
    // Sendable by hand: only the main thread uses it.
    var names: [String] = []
  }

  private func record(_ names: [NSNotification.Name], during body: () -> Void) -> [String] {
    let log = Log()
    let tokens = names.map { name in
      NotificationCenter.default.addObserver(forName: name, object: nil, queue: nil) {
        log.names.append($0.name.rawValue)
      }
    }
    body()
    for token in tokens { NotificationCenter.default.removeObserver(token) }
    return log.names
  }

  @Test("It tells of the background and back under Apple's names")
  func states() {
    let app = UIApplication.shared
    let names = [
      UIApplication.willResignActiveNotification, UIApplication.didEnterBackgroundNotification,
      UIApplication.willEnterForegroundNotification, UIApplication.didBecomeActiveNotification,
      UIApplication.didReceiveMemoryWarningNotification,
    ]
    let posted = record(names) {
      app._enterBackground()
      #expect(app.applicationState == .background)
      app._receiveMemoryWarning()
      app._enterForeground()
    }
    #expect(app.applicationState == .active)
    #expect(
      posted == [
        "UIApplicationWillResignActiveNotification", "UIApplicationDidEnterBackgroundNotification",
        "UIApplicationDidReceiveMemoryWarningNotification", "UIApplicationWillEnterForegroundNotification",
        "UIApplicationDidBecomeActiveNotification",
      ]
    )
  }

  @Test("Animations do not outlive the screen")
  func animations() {
    withOwnClock {
      let window = UIWindow()
      let view = UIView()
      window.addSubview(view)
      var finished: Bool?
      UIView.animate(withDuration: 1, animations: { view.alpha = 0 }, completion: { finished = $0 })
      _RunLoop.turn()
      UIApplication.shared._enterBackground()
      #expect(finished == false)
      UIApplication.shared._enterForeground()
    }
  }

  @Test("Tasks in the background expire until they end")
  func backgroundTasks() async {
    let app = UIApplication.shared
    var expired = 0
    let first = app.beginBackgroundTask(withName: "first") { MainActor.assumeIsolated { expired += 1 } }
    let second = await Task.detached { app.beginBackgroundTask(withName: "second") }.value
    #expect(first != .invalid)
    #expect(first != second)
    #expect(app._backgroundTasks == ["first", "second"])
    app.endBackgroundTask(second)
    app._expireBackgroundTasks()
    #expect(expired == 1)
    app.endBackgroundTask(first)
    #expect(app._backgroundTasks.isEmpty)
  }

  @Test("The wish for less motion is told")
  func reduceMotion() {
    let posted = record([UIAccessibility.reduceMotionStatusDidChangeNotification]) {
      UIAccessibility._setReduceMotionEnabled(true)
      #expect(UIAccessibility.isReduceMotionEnabled)
      UIAccessibility._setReduceMotionEnabled(false)
    }
    #expect(posted.count == 2)
  }
}
