import VitrineRuntime

extension ProfileTransform {
  private final class Entry: Sendable {
    let profile: ColorProfile
    let model: ColorModel
    let target: ColorSpace
    /// The transform; `nil` for an unusable profile.
    let transform: ProfileTransform?

    init(_ profile: ColorProfile, _ model: ColorModel, _ target: ColorSpace) {
      (self.profile, self.model, self.target) = (profile, model, target)
      transform = ProfileTransform(profile, model, to: target)
    }
  }

  /// The most recently used transforms, newest first.
  ///
  /// Making one takes 4 ms for three components, and 1.5 for inks.
  ///
  /// Profiles are compared and released outside the lock: comparing takes time proportional to their size, and a
  /// user's closure may free their bytes.
  private static let recent = Lock<[Entry]>([])
  private static let recentCount = 8
  private static let recentByteCount = 8 << 20

  /// Returns the transform of a profile, from the cache or newly made; `nil` for an unusable profile.
  ///
  /// May be called on any thread.
  static func cached(_ profile: ColorProfile, _ model: ColorModel, to target: ColorSpace) -> ProfileTransform? {
    guard profile.data.count <= profileLimit else { return nil }
    let entries = recent.withLock { $0 }
    let found = entries.first { $0.model == model && $0.target == target && $0.profile == profile }
    let entry = found ?? Entry(profile, model, target)
    let evicted = recent.withLock { entries in
      entries.removeAll { $0 === entry }
      entries.insert(entry, at: 0)
      var evicted: [Entry] = []
      while entries.count > recentCount || entries.reduce(0, { $0 + $1.profile.data.count }) > recentByteCount {
        evicted.append(entries.removeLast())
      }
      return evicted
    }
    withExtendedLifetime((entries, evicted)) {}
    return entry.transform
  }
}
