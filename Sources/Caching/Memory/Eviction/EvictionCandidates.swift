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
  private let places: MemoryPlaces
  private let newcomer: Int?
  private let includesHeld: Bool
  /// The present, counted in uses of the whole cache; wraps around.
  ///
  /// An entry whose age is less than its difference to an earlier present has been used since.
  public let now: UInt32

  init(_ places: MemoryPlaces, now: UInt32, except newcomer: Int? = nil, includesHeld: Bool) {
    (self.places, self.now, self.newcomer, self.includesHeld) = (places, now, newcomer, includesHeld)
  }

  /// The numbers of all places, empty ones among them.
  public var numbers: Range<Int> { 0..<places.count }

  /// The entry in a place; `nil` where it is empty.
  ///
  /// Complexity: O(1).
  public subscript(place: Int) -> EvictionCandidate? {
    guard !places.isEmpty(place) else { return nil }
    return EvictionCandidate(
      id: places[place].key.hash.low,
      cost: places[place].cost,
      age: now &- places.lastUse(place),
      uses: places.uses(place),
      isEvictable: place != newcomer && (includesHeld || places[place].holds == 0),
    )
  }
}
