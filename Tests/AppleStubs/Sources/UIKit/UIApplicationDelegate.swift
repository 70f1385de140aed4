import Foundation

extension UIApplication {
  /// What the system says of the reason for a launch.
  public struct LaunchOptionsKey: Hashable, RawRepresentable, Sendable {
    /// The name.
    public let rawValue: String

    /// Makes a key from its name.
    public init(rawValue: String) {
      self.rawValue = rawValue
    }
  }
}

/// Hears what becomes of the app.
@MainActor
public protocol UIApplicationDelegate: NSObjectProtocol {
  /// The window, for storyboards.
  var window: UIWindow? { get set }

  /// The app has been launched.
  func application(
    _ application: UIApplication,
    didFinishLaunchingWithOptions launchOptions: [UIApplication.LaunchOptionsKey: Any]?,
  ) -> Bool
}

extension UIApplicationDelegate {
  /// Runs no app: a test makes the delegate and tells it of the launch.
  public static func main() {}
}
