/// An entry as an ``EvictionPolicy`` sees it.
public struct EvictionCandidate: Sendable, Hashable {
  /// The same for entries of one key, now and after it left and came back.
  public var id: UInt64
  /// What it costs, in bytes.
  public var cost: Int
  /// How long ago it was used last, counted in uses of the whole cache.
  public var age: UInt32
  /// How often it was used, storing it included, since its key entered the cache.
  public var uses: UInt32
  /// Whether it may leave now: nobody holds it.
  public var isEvictable: Bool
}

/// The entries among which an ``EvictionPolicy`` chooses; to be used within that call only.
public struct EvictionCandidates {
  private enum Source {
    /// With the cache's lock held.
    case places(MemoryPlaces, newcomer: Int?, includesHeld: Bool)
    case copies([EvictionCandidate?])
  }

  private let source: Source
  /// The present, counted in uses of the whole cache; wraps around.
  ///
  /// An entry whose age is less than its difference to an earlier present has been used since.
  public let now: UInt32

  init(_ places: MemoryPlaces, now: UInt32, except newcomer: Int? = nil, includesHeld: Bool) {
    self.now = now
    source = .places(places, newcomer: newcomer, includesHeld: includesHeld)
  }

  private init(copies: [EvictionCandidate?], now: UInt32) {
    (source, self.now) = (.copies(copies), now)
  }

  /// The entries as they are now, for a policy that is asked with the lock open.
  func copied() -> EvictionCandidates {
    EvictionCandidates(copies: numbers.map { self[$0] }, now: now)
  }

  /// The numbers of all places, empty ones among them.
  public var numbers: Range<Int> {
    switch source {
    case .places(let places, _, _): 0..<places.count
    case .copies(let copies): copies.indices
    }
  }

  /// The entry in a place; `nil` where it is empty.
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
