@testable import VitrineCaching
import VitrineRuntime

extension MemoryCache {
  /// Evicts entries until at most `count` are left.
  func trim(toCount count: Int) {
    storage.trim(to: EvictionGoal(cost: .max, count: max(0, count)), .trim)
  }

  /// Evicts under memory pressure, as an observed source would have it do.
  func trim(under pressure: MemoryPressure) { storage.trim(under: pressure) }

  /// Evicts all entries that are not held.
  func removeAllUnheld() {
    storage.removeAll(includingHeld: false, .trim)
  }
}
