@testable import VitrineCaching

extension MemoryCache {
  /// Evicts entries until at most `count` are left.
  func trim(toCount count: Int) {
    storage.trim(to: EvictionGoal(cost: .max, count: max(0, count)), .trim)
  }

  /// Evicts all entries that are not held.
  func removeAllUnheld() {
    storage.removeAll(includingHeld: false, .trim)
  }
}
