/// Keeps an entry of a ``MemoryCache`` marked as in use for as long as it lives.
///
/// Once that entry was replaced or removed it concerns nothing any more.
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
