import Foundation
import Synchronization

/// The name of a task that goes on in the background.
public struct UIBackgroundTaskIdentifier: Hashable, Equatable, RawRepresentable, Sendable {
  /// The number.
  public let rawValue: Int

  /// Makes an identifier from its number.
  public init(rawValue: Int) {
    self.rawValue = rawValue
  }

  /// The one of no task.
  public static let invalid = UIBackgroundTaskIdentifier(rawValue: 0)
}

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

  private struct Tasks: Sendable {
    var count = 0
    var running: [Int: (name: String?, expire: (@MainActor @Sendable () -> Void)?)] = [:]
  }

  private static let instance = UIApplication()
  private nonisolated let tasks = Mutex(Tasks())

  /// The running app.
  open class var shared: UIApplication { instance }

  /// What the app does at the moment.
  open private(set) var applicationState = State.active

  /// How long the app may still run in the background.
  open var backgroundTimeRemaining: TimeInterval {
    applicationState == .background ? 30 : .greatestFiniteMagnitude
  }

  /// The windows, the oldest first.
  open var windows: [UIWindow] { _RunLoop._roots.compactMap { $0 as? UIWindow } }

  /// The memory is short.
  public nonisolated static let didReceiveMemoryWarningNotification =
    NSNotification.Name("UIApplicationDidReceiveMemoryWarningNotification")
  /// The app has lost the screen.
  public nonisolated static let didEnterBackgroundNotification =
    NSNotification.Name("UIApplicationDidEnterBackgroundNotification")
  /// The app will have the screen again.
  public nonisolated static let willEnterForegroundNotification =
    NSNotification.Name("UIApplicationWillEnterForegroundNotification")
  /// The app has become active.
  public nonisolated static let didBecomeActiveNotification =
    NSNotification.Name("UIApplicationDidBecomeActiveNotification")
  /// The app will no longer be active.
  public nonisolated static let willResignActiveNotification =
    NSNotification.Name("UIApplicationWillResignActiveNotification")
  /// The app will end.
  public nonisolated static let willTerminateNotification =
    NSNotification.Name("UIApplicationWillTerminateNotification")

  /// Asks for time in the background.
  public nonisolated func beginBackgroundTask(
    withName taskName: String?,
    expirationHandler handler: (@MainActor @Sendable () -> Void)? = nil,
  ) -> UIBackgroundTaskIdentifier {
    tasks.withLock { tasks in
      tasks.count += 1
      tasks.running[tasks.count] = (taskName, handler)
      return UIBackgroundTaskIdentifier(rawValue: tasks.count)
    }
  }

  /// Asks for time in the background.
  public nonisolated func beginBackgroundTask(
    expirationHandler handler: (@MainActor @Sendable () -> Void)? = nil
  ) -> UIBackgroundTaskIdentifier {
    beginBackgroundTask(withName: nil, expirationHandler: handler)
  }

  /// Gives back the time asked for.
  public nonisolated func endBackgroundTask(_ identifier: UIBackgroundTaskIdentifier) {
    tasks.withLock { _ = $0.running.removeValue(forKey: identifier.rawValue) }
  }

  /// The names of the tasks that have not ended, in the order of their beginning.
  public nonisolated var _backgroundTasks: [String?] {
    tasks.withLock { tasks in tasks.running.sorted { $0.key < $1.key }.map(\.value.name) }
  }

  /// Tells all tasks that their time is up.
  public func _expireBackgroundTasks() {
    let handlers = tasks.withLock { tasks in tasks.running.sorted { $0.key < $1.key }.map(\.value.expire) }
    for handler in handlers { handler?() }
  }

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

  /// Gives the screen to the app.
  public func _enterForeground() {
    guard applicationState != .active else { return }
    if applicationState == .background {
      post(Self.willEnterForegroundNotification)
      applicationState = .inactive
    }
    applicationState = .active
    post(Self.didBecomeActiveNotification)
  }

  /// Tells the app that memory is short.
  public func _receiveMemoryWarning() {
    for window in windows { window.rootViewController?.didReceiveMemoryWarning() }
    post(Self.didReceiveMemoryWarningNotification)
  }

  /// Tells the app that it will end.
  public func _terminate() {
    post(Self.willTerminateNotification)
  }

  private func post(_ name: NSNotification.Name) {
    NotificationCenter.default.post(name: name, object: self)
  }
}
