/// Decides which entries leave a full ``MemoryCache``.
///
/// The cache numbers the places that it keeps entries in, from 0 on, and reuses numbers. It tells the policy what enters
/// and what leaves, and asks it when something must leave. A hit calls no policy: the cache notes itself when and how
/// often an entry was used, and the policy reads that in time.
///
/// All three are called with the cache's lock held: a policy needs none of its own, and must not call out.
public protocol EvictionPolicy: AnyObject {
  /// An entry was put into a place, which was empty or has just been used by an older entry of the same key.
  func insert(_ entry: EvictionCandidate, into place: Int)

  /// A place was emptied, for whatever reason, of those in ``victims(freeing:count:among:)`` too.
  func remove(_ place: Int)

  /// Returns places whose entries leave, in the order in which they leave.
  ///
  /// They are emptied one after the other until at least `cost` bytes and `count` entries are gone. To return fewer than
  /// that takes is no error; the cache then falls back on those that were used least recently.
  func victims(freeing cost: Int, count: Int, among candidates: EvictionCandidates) -> [Int]
}

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

/// By what a ``MemoryCache`` chooses the entries that leave when it is full.
public struct Eviction: Sendable {
  let makePolicy: @Sendable () -> any EvictionPolicy

  /// Creates one of a policy of your own, which `makePolicy` makes for each cache.
  public init(_ makePolicy: @escaping @Sendable () -> any EvictionPolicy) {
    self.makePolicy = makePolicy
  }

  /// By age, size and uses, ``ScoreEviction``: the default.
  public static var score: Eviction { Eviction { ScoreEviction() } }

  /// By age alone, ``LeastRecentlyUsedEviction``.
  public static var leastRecentlyUsed: Eviction { Eviction { LeastRecentlyUsedEviction() } }

  /// ``SIEVEEviction``.
  public static var sieve: Eviction { Eviction { SIEVEEviction() } }

  /// ``S3FIFOEviction``.
  public static var s3FIFO: Eviction { Eviction { S3FIFOEviction() } }

  /// ``GreedyDualSizeFrequencyEviction``.
  public static var greedyDualSizeFrequency: Eviction { Eviction { GreedyDualSizeFrequencyEviction() } }
}
