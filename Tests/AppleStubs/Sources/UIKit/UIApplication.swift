import Foundation
import Synchronization

/// The running app.
///
/// The methods with an underscore play the system's part.
@MainActor
open class UIApplication: UIResponder {
  /// What the app does at the moment.
  public enum State: Int, Sendable {
    /// It has the screen.
    case active = 0
    /// It is about to have or to lose the screen.
    case inactive = 1
    /// It runs without the screen.
    case background = 2
  }

  private static let instance = UIApplication()

  /// The running app.
  open class var shared: UIApplication { instance }

  /// What the app does at the moment.
  open private(set) var applicationState = State.active

  /// The windows, the oldest first.
  open var windows: [UIWindow] { _RunLoop._roots.compactMap { $0 as? UIWindow } }

  /// The memory is short.
  public nonisolated static let didReceiveMemoryWarningNotification =
    NSNotification.Name("UIApplicationDidReceiveMemoryWarningNotification")
  /// The app has lost the screen.
  public nonisolated static let didEnterBackgroundNotification =
    NSNotification.Name("UIApplicationDidEnterBackgroundNotification")
  /// The app will no longer be active.
  public nonisolated static let willResignActiveNotification =
    NSNotification.Name("UIApplicationWillResignActiveNotification")

  /// Takes the screen from the app, which thereby loses its animations.
  public func _enterBackground() {
    guard applicationState != .background else { return }
    _resignActive()
    applicationState = .background
    post(Self.didEnterBackgroundNotification)
    for window in windows { window.layer._removeAnimationsInTree() }
  }

  /// Makes the app inactive.
  public func _resignActive() {
    guard applicationState == .active else { return }
    post(Self.willResignActiveNotification)
    applicationState = .inactive
  }

  /// Tells the app that memory is short.
  public func _receiveMemoryWarning() {
    for window in windows { window.rootViewController?.didReceiveMemoryWarning() }
    post(Self.didReceiveMemoryWarningNotification)
  }

  private func post(_ name: NSNotification.Name) {
    NotificationCenter.default.post(name: name, object: self)
  }
}
