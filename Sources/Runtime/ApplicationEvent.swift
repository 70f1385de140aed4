// macOS warns of memory through its kernel only, and does not suspend apps. On watchOS UIKit has no application.
#if VITRINE_APPLE && !os(macOS) && !os(watchOS)
import UIKit
#endif

/// An event in the life of an app, as UIKit reports it; other platforms report none.
package enum ApplicationEvent: Sendable, CaseIterable {
  /// The app uses too much memory and is ended if it does not free some.
  case memoryWarning
  /// The app is no longer on the screen, and may be ended at any time without notice.
  case background

  /// Calls `body` at each event, on the thread that reports it, for the life of the returned observation.
  ///
  /// `body` must be fast. Returns `nil` on systems that do not report the event.
  package func observe(_ body: @escaping @Sendable () -> Void) -> ApplicationObservation? {
    #if VITRINE_APPLE && !os(macOS) && !os(watchOS)
    let name =
      switch self {
      case .memoryWarning: UIApplication.didReceiveMemoryWarningNotification
      case .background: UIApplication.didEnterBackgroundNotification
      }
    return ApplicationObservation(name, body)
    #else
    return nil
    #endif
  }
}

/// An observation of an event; ends when it is released.
package final class ApplicationObservation: @unchecked Sendable {
  #if VITRINE_APPLE && !os(macOS) && !os(watchOS)
  // Sendable, because the token is set once, before the observation is shared, and given back once, to a center that
  // any thread may call.
  private var token: (any NSObjectProtocol)?
  private let body: @Sendable () -> Void

  fileprivate init(_ name: NSNotification.Name, _ body: @escaping @Sendable () -> Void) {
    self.body = body
    // The center may release the closure under its lock, and values that `body` retains may own observations.
    token = NotificationCenter.default.addObserver(forName: name, object: nil, queue: nil) { [weak self] _ in
      self?.body()
    }
  }

  deinit {
    if let token { NotificationCenter.default.removeObserver(token) }
  }
  #else
  // Sendable, because no instance is ever created.
  private init() {}
  #endif
}
