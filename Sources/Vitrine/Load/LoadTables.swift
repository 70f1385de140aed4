import VitrineCaching
import VitrineRuntime

/// The loads of images that wait for the load of the same image with the opposite ``ImageRequest/isExact``.
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

/// Returns the memory of a burst of loads to the system once its callers have gone, too: the allocator keeps it
/// otherwise.
struct AllocatorTrim: Sendable {
  private let clock: any TimeSource

  init(_ clock: any TimeSource) { self.clock = clock }

  func schedule() {
    clock.schedule(after: .seconds(2)) {
      // It takes a while for gigabytes, so not on the clock's thread.
      _ = startThread(named: "vitrine-free") { FreeMemory.returnToSystem() }
    }
  }
}
