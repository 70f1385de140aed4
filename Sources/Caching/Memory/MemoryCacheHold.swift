/// A token that holds an entry of a ``MemoryCache`` until it is released.
///
/// It has no effect once that entry was replaced or removed.
package final class MemoryCacheHold: Sendable {
  private let store: MemoryStore
  private let shard: Int
  private let place: Int
  private let id: UInt64

  init(store: MemoryStore, shard: Int, place: Int, id: UInt64) {
    self.store = store
    (self.shard, self.place, self.id) = (shard, place, id)
  }

  deinit {
    store.release(shard: shard, place, id: id)
  }
}
