import Foundation

/// What people have set to use their device more easily.
public struct UIAccessibility {
  /// Whether people want less motion.
  @MainActor
  public private(set) static var isReduceMotionEnabled = false

  /// The wish for less motion has changed.
  public static let reduceMotionStatusDidChangeNotification =
    NSNotification.Name("UIAccessibilityReduceMotionStatusDidChangeNotification")

  /// Sets whether people want less motion, and tells everybody.
  @MainActor
  public static func _setReduceMotionEnabled(_ isEnabled: Bool) {
    guard isEnabled != isReduceMotionEnabled else { return }
    isReduceMotionEnabled = isEnabled
    NotificationCenter.default.post(name: reduceMotionStatusDidChangeNotification, object: nil)
  }
}
