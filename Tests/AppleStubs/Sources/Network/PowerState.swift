import Foundation
import Synchronization

extension ProcessInfo {
  private static let lowPower = Mutex(false)

  /// Whether the user wants to save power.
  public var isLowPowerModeEnabled: Bool { Self.lowPower.withLock { $0 } }

  /// Sets whether the user wants to save power, and tells everybody.
  public static func _setLowPowerModeEnabled(_ isEnabled: Bool) {
    let isNew = lowPower.withLock { state in
      defer { state = isEnabled }
      return state != isEnabled
    }
    guard isNew else { return }
    NotificationCenter.default.post(name: .NSProcessInfoPowerStateDidChange, object: nil)
  }
}

extension NSNotification.Name {
  /// The wish to save power has changed.
  public static let NSProcessInfoPowerStateDidChange = NSNotification.Name(
    "NSProcessInfoPowerStateDidChangeNotification"
  )
}
