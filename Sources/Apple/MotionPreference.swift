#if !os(watchOS)
import Vitrine
import VitrineRuntime
#if os(macOS)
import AppKit
#else
import UIKit
#endif

/// Watches whether the user wants less motion, for as long as it lives.
@MainActor
final class MotionPreference {
  private let center: NotificationCenter
  private let token: any NSObjectProtocol

  static var isReduced: Bool {
    #if os(macOS)
    NSWorkspace.shared.accessibilityDisplayShouldReduceMotion
    #else
    UIAccessibility.isReduceMotionEnabled
    #endif
  }

  init(_ onChange: @escaping @MainActor @Sendable () -> Void) {
    #if os(macOS)
    center = NSWorkspace.shared.notificationCenter
    let name = NSWorkspace.accessibilityDisplayOptionsDidChangeNotification
    #else
    center = .default
    let name = UIAccessibility.reduceMotionStatusDidChangeNotification
    #endif
    token = center.addObserver(forName: name, object: nil, queue: nil) { _ in
      // The systems post it on the main thread; nobody promises that.
      if Thread.isMainThread {
        MainActor.assumeIsolated { onChange() }
      } else {
        Task { @MainActor in onChange() }
      }
    }
  }

  isolated deinit { center.removeObserver(token) }
}
#endif
