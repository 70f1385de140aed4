public import VitrineRuntime

/// The way in which an image takes the place of what was shown before.
///
/// It is used only for an image that was not in memory: one that was is shown at once, whatever the transition.
public enum ImageTransition: Sendable, Hashable {
  /// The image is shown at once.
  case none
  /// The image fades in, which takes this many seconds.
  case fade(TimeInterval)

  /// The image fades in within a fifth of a second.
  public static let crossDissolve = ImageTransition.fade(0.2)

  /// The time it takes for an image; 0 for one that must not fade.
  func duration(fades: Bool) -> TimeInterval {
    guard fades, case .fade(let seconds) = self, seconds > 0 else { return 0 }
    return seconds
  }
}
