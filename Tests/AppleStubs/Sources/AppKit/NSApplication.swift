import Foundation
import Synchronization

/// The running app.
///
/// The methods with an underscore play the system's part.
@MainActor
open class NSApplication: NSResponder {
  private static let instance = NSApplication()

  /// The running app.
  open class var shared: NSApplication { instance }

  /// Whether it is the one in front.
  open private(set) var isActive = true
  /// Whether its windows are hidden.
  open private(set) var isHidden = false

  /// The windows, the oldest first.
  open var windows: [NSWindow] { _RunLoop._roots.compactMap { $0 as? NSWindow } }

  /// The app has become active.
  public nonisolated static let didBecomeActiveNotification =
    NSNotification.Name("NSApplicationDidBecomeActiveNotification")
  /// The app has started.
  public nonisolated static let didFinishLaunchingNotification =
    NSNotification.Name("NSApplicationDidFinishLaunchingNotification")
  /// The app is hidden.
  public nonisolated static let didHideNotification = NSNotification.Name("NSApplicationDidHideNotification")
  /// The app is no longer active.
  public nonisolated static let didResignActiveNotification =
    NSNotification.Name("NSApplicationDidResignActiveNotification")
  /// The app is no longer hidden.
  public nonisolated static let didUnhideNotification = NSNotification.Name("NSApplicationDidUnhideNotification")
  /// The app will become active.
  public nonisolated static let willBecomeActiveNotification =
    NSNotification.Name("NSApplicationWillBecomeActiveNotification")
  /// The app will no longer be active.
  public nonisolated static let willResignActiveNotification =
    NSNotification.Name("NSApplicationWillResignActiveNotification")
  /// The app will end.
  public nonisolated static let willTerminateNotification =
    NSNotification.Name("NSApplicationWillTerminateNotification")
  /// What can be seen of the app has changed.
  public nonisolated static let didChangeOcclusionStateNotification =
    NSNotification.Name("NSApplicationDidChangeOcclusionStateNotification")

  /// Hides the app.
  open func hide(_ sender: Any?) {
    guard !isHidden else { return }
    isHidden = true
    post(Self.didHideNotification)
    _resignActive()
  }

  /// Shows the app again.
  open func unhide(_ sender: Any?) {
    guard isHidden else { return }
    isHidden = false
    post(Self.didUnhideNotification)
    _becomeActive()
  }

  /// Makes the app the one in front.
  public func _becomeActive() {
    guard !isActive else { return }
    post(Self.willBecomeActiveNotification)
    isActive = true
    post(Self.didBecomeActiveNotification)
  }

  /// Puts another app in front.
  public func _resignActive() {
    guard isActive else { return }
    post(Self.willResignActiveNotification)
    isActive = false
    post(Self.didResignActiveNotification)
  }

  /// Tells the app that it will end.
  public func _terminate() {
    post(Self.willTerminateNotification)
  }

  private func post(_ name: NSNotification.Name) {
    NotificationCenter.default.post(name: name, object: self)
  }
}

/// What all apps share.
open class NSWorkspace: NSObject {
  // Shared by hand: a lock guards the only field that changes.
  private nonisolated(unsafe) static let instance = NSWorkspace()
  private let reducesMotion = Mutex(false)

  /// The only one.
  open class var shared: NSWorkspace { instance }

  /// Where its notifications are posted.
  public let notificationCenter = NotificationCenter()

  /// The settings for ease of use have changed.
  public static let accessibilityDisplayOptionsDidChangeNotification =
    NSNotification.Name("NSWorkspaceAccessibilityDisplayOptionsDidChangeNotification")

  /// Whether people want less motion.
  open var accessibilityDisplayShouldReduceMotion: Bool { reducesMotion.withLock { $0 } }

  /// Sets whether people want less motion, and tells everybody.
  public func _setReduceMotion(_ isEnabled: Bool) {
    reducesMotion.withLock { $0 = isEnabled }
    notificationCenter.post(name: Self.accessibilityDisplayOptionsDidChangeNotification, object: self)
  }
}
