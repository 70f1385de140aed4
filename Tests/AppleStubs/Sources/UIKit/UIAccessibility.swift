import Foundation

/// What people have set to use their device more easily.
public struct UIAccessibility {
  /// Whether people want less motion.
  @MainActor
  public private(set) static var isReduceMotionEnabled = false

  /// Whether moving pictures may start by themselves.
  @MainActor
  public private(set) static var isVideoAutoplayEnabled = true

  /// The wish for less motion has changed.
  public static let reduceMotionStatusDidChangeNotification =
    NSNotification.Name("UIAccessibilityReduceMotionStatusDidChangeNotification")

  /// The wish for moving pictures has changed.
  public static let videoAutoplayStatusDidChangeNotification =
    NSNotification.Name("UIAccessibilityVideoAutoplayStatusDidChangeNotification")

  /// Sets whether people want less motion, and tells everybody.
  @MainActor
  public static func _setReduceMotionEnabled(_ isEnabled: Bool) {
    guard isEnabled != isReduceMotionEnabled else { return }
    isReduceMotionEnabled = isEnabled
    NotificationCenter.default.post(name: reduceMotionStatusDidChangeNotification, object: nil)
  }

  /// Sets whether moving pictures may start by themselves, and tells everybody.
  @MainActor
  public static func _setVideoAutoplayEnabled(_ isEnabled: Bool) {
    guard isEnabled != isVideoAutoplayEnabled else { return }
    isVideoAutoplayEnabled = isEnabled
    NotificationCenter.default.post(name: videoAutoplayStatusDidChangeNotification, object: nil)
  }
}
