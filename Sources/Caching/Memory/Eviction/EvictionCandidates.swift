/// A cache entry as an ``EvictionPolicy`` sees it.
public struct EvictionCandidate: Sendable, Hashable {
  /// The identity of the entry's key.
  ///
  /// It is the same after the entry left and came back.
  public var id: UInt64
  /// The cost in bytes.
  public var cost: Int
  /// The number of uses of the whole cache since the entry was last used.
  public var age: UInt32
  /// The number of uses since the key entered the cache, including the store.
  public var uses: UInt32
  /// A Boolean value that indicates whether the entry may leave now, that is, nothing holds it.
  public var isEvictable: Bool
}

/// The entries among which an ``EvictionPolicy`` chooses, valid only within that call.
public struct EvictionCandidates {
  private enum Source {
    /// Read with the cache's lock held.
    case places(MemoryPlaces, newcomer: Int?, includesHeld: Bool)
    case copies([EvictionCandidate?])
  }

  private let source: Source
  /// The current time, counted in uses of the whole cache.
  ///
  /// It wraps around. An entry has been used since an earlier time if its age is less than the difference between the
  /// two times.
  public let now: UInt32

  init(_ places: MemoryPlaces, now: UInt32, except newcomer: Int? = nil, includesHeld: Bool) {
    self.now = now
    source = .places(places, newcomer: newcomer, includesHeld: includesHeld)
  }

  private init(copies: [EvictionCandidate?], now: UInt32) {
    (source, self.now) = (.copies(copies), now)
  }

  /// A copy of the entries, for a policy that is called without the lock.
  func copied() -> EvictionCandidates {
    EvictionCandidates(copies: numbers.map { self[$0] }, now: now)
  }

  /// The numbers of all places, including empty ones.
  public var numbers: Range<Int> {
    switch source {
    case .places(let places, _, _): 0..<places.count
    case .copies(let copies): copies.indices
    }
  }

  /// The entry in a place, or `nil` if the place is empty.
  ///
  /// Complexity: O(1).
  public subscript(place: Int) -> EvictionCandidate? {
    switch source {
    case .copies(let copies):
      return copies[place]
    case .places(let places, let newcomer, let includesHeld):
      guard !places.isEmpty(place) else { return nil }
      return EvictionCandidate(
        id: places.id(place),
        cost: places.cost(place),
        age: now &- places.lastUse(place),
        uses: places.uses(place),
        isEvictable: place != newcomer && (includesHeld || !places.isHeld(place)),
      )
    }
  }
}
