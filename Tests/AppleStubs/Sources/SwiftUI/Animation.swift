import Foundation

/// How a change is animated.
///
/// The host does not animate; it tells which animation a change had.
public struct Animation: Equatable, Sendable, CustomStringConvertible {
  /// What the animation is, in words.
  public let description: String

  /// The default animation.
  public static let `default` = Animation(description: "default")
}
