/// A token that holds an entry of a ``MemoryCache`` until it is released.
///
/// It has no effect once that entry was replaced or removed.
public final class MemoryCacheHold: Sendable {
  private let store: MemoryStore
  private let place: Int
  private let id: UInt64

  init(store: MemoryStore, place: Int, id: UInt64) {
    self.store = store
    self.place = place
    self.id = id
  }

  deinit {
    store.release(place, id: id)
  }
}
