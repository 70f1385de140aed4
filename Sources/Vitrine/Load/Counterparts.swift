import VitrineRuntime

/// The loads of images that wait for the load of the same image with the opposite ``ImageRequest/requiresExactPixels``.
///
/// Of two such loads, at most one waits for the other.
final class Counterparts: Sendable {
  /// The loads that are waited for, by the loads that wait.
  private let waits = Lock<[LoadKey: LoadKey]>([:])

  /// Records that a load waits for another; returns `false` if that one waits for it.
  func begin(_ key: LoadKey, for other: LoadKey) -> Bool {
    waits.withLock { waits in
      guard waits[other] != key else { return false }
      waits[key] = other
      return true
    }
  }

  func end(_ key: LoadKey) { _ = waits.withLock { $0.removeValue(forKey: key) } }
}
