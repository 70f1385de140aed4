public import VitrineRuntime

/// Keeps values in memory, within a limit that is given in bytes, and evicts what is least worth keeping.
///
/// ```swift
/// let cache = MemoryCache<Bitmap>(costLimit: 100 << 20)
/// cache.set(bitmap, for: key, cost: bitmap.byteCount, group: image)
/// let hit = cache.value(for: key)
/// ```
///
/// Every call is synchronous, may come from any thread, and holds a lock for some instructions.
///
/// **Eviction.** Over a limit, the cache shrinks to 95 % of it at once. What was not used for long goes first, what was
/// used often goes late, and a large entry goes before a small one of the same age. Entries that are held (``hold(_:)``)
/// go only when everything else has gone.
///
/// - Complexity: O(1) for a get, without allocation. O(1) for a set, amortised: once in a while one looks at all entries.
public final class MemoryCache<Value: Sendable>: Sendable {
  @usableFromInline
  final class Box: Sendable {
    @usableFromInline
    let value: Value

    init(_ value: Value) {
      self.value = value
    }
  }

  @usableFromInline
  let store: MemoryStore
  private let expiration: Expiration

  /// Creates an empty cache.
  ///
  /// - Parameters:
  ///   - costLimit: The most that all entries may cost together, in bytes; 0 stores nothing.
  ///   - countLimit: The most entries; without limit by default, 0 stores nothing.
  ///   - entryCostLimit: The most that one entry may cost, in bytes; without a limit of its own by default.
  ///   - expiration: When an entry expires for which nothing else is said; never by default.
  ///   - clock: Tells the time, for expiry; the machine's by default.
  public convenience init(
    costLimit: Int,
    countLimit: Int = .max,
    entryCostLimit: Int = .max,
    expiration: Expiration = .never,
    clock: any TimeSource = .system,
  ) {
    self.init(
      costLimit: costLimit,
      countLimit: countLimit,
      entryCostLimit: entryCostLimit,
      expiration: expiration,
      clock: clock,
    ) { ScoredEviction() }
  }

  package init(
    costLimit: Int,
    countLimit: Int,
    entryCostLimit: Int,
    expiration: Expiration,
    clock: any TimeSource,
    makePolicy: () -> sending any EvictionPolicy,
  ) {
    self.expiration = expiration
    store = MemoryStore(
      limits: MemoryStore.Limits(
        cost: max(0, costLimit),
        count: max(0, countLimit),
        entryCost: max(0, entryCostLimit),
      ),
      clock: clock,
      makePolicy: makePolicy,
    )
  }

  /// The most that all entries may cost together, in bytes; lowering it evicts at once.
  public var costLimit: Int {
    get { store.limits.cost }
    set { store.setLimits { $0.cost = max(0, newValue) } }
  }

  /// The most entries; lowering it evicts at once.
  public var countLimit: Int {
    get { store.limits.count }
    set { store.setLimits { $0.count = max(0, newValue) } }
  }

  /// The most that one entry may cost, in bytes; concerns what is stored from now on.
  public var entryCostLimit: Int {
    get { store.limits.entryCost }
    set { store.setLimits { $0.entryCost = max(0, newValue) } }
  }

  /// How many entries there are, what they cost, and what happened to them so far.
  public var statistics: MemoryCacheStatistics { store.statistics }

  /// Returns the value for a key and counts it as used; `nil` if there is none or it has expired.
  ///
  /// Complexity: O(1), without allocation.
  @inlinable
  public func value(for key: CacheKey) -> Value? {
    guard let object = store.value(for: key) else { return nil }
    // The store of this cache holds nothing but boxes of this type.
    return unsafe unsafeDowncast(object, to: Box.self).value
  }

  /// Returns what `body` makes of the value for a key, without copying the value first, and counts it as used.
  @inlinable
  package func withValue<Answer>(for key: CacheKey, _ body: (borrowing Value) -> Answer) -> Answer? {
    guard let object = store.value(for: key) else { return nil }
    // The store of this cache holds nothing but boxes of this type.
    return body(unsafe unsafeDowncast(object, to: Box.self).value)
  }

  /// Returns whether there is a value for a key that has not expired; does not count as use.
  public func contains(_ key: CacheKey) -> Bool {
    store.contains(key)
  }

  /// Stores a value, in place of an older one of the same key, and counts it as used.
  ///
  /// A value that costs more than one entry may, or that has expired already, is refused; the older one is removed all
  /// the same. Complexity: O(1), amortised.
  ///
  /// - Parameters:
  ///   - value: The value.
  ///   - key: What it is found by.
  ///   - cost: What it costs, in bytes; anything below 0 is 0.
  ///   - group: What it is a variant of, for ``variants(of:)``; nothing by default.
  ///   - expiration: When it expires; the cache's default if `nil`.
  /// - Returns: Whether it was stored.
  @discardableResult
  public func set(
    _ value: Value,
    for key: CacheKey,
    cost: Int,
    group: CacheKey? = nil,
    expiration: Expiration? = nil,
  ) -> Bool {
    let expiration = expiration ?? self.expiration
    let expires = expiration == .never ? nil : expiration.date(from: store.clock.now)
    return store.set(
      MemoryStore.Entry(
        key: key,
        value: Box(value),
        cost: max(0, cost),
        group: group,
        expires: expires?.timeIntervalSinceReferenceDate ?? .infinity,
      )
    )
  }

  /// Removes the value for a key and returns it.
  @discardableResult
  public func remove(_ key: CacheKey) -> Value? {
    store.remove(key).map(Self.unbox)
  }

  /// Removes everything.
  public func removeAll() {
    store.removeAll()
  }

  /// Removes what `predicate` says, which is asked once for each entry and may take its time.
  ///
  /// An entry that is replaced meanwhile stays. Complexity: O(n).
  public func removeAll(where predicate: (CacheKey, Value) throws -> Bool) rethrows {
    let chosen = try store.entries().filter { try predicate($0.entry.key, Self.unbox($0.entry.value)) }
    store.remove(chosen.map { ($0.entry.key, $0.id) })
  }

  /// Evicts until all entries together cost no more than this, in bytes.
  public func trim(toCost cost: Int) {
    store.trim(toCost: cost, toCount: .max)
  }

  /// Evicts until there are no more entries than this.
  public func trim(toCount count: Int) {
    store.trim(toCost: .max, toCount: count)
  }

  /// Evicts everything that is not held.
  public func removeAllUnheld() {
    store.trimUnheld()
  }

  /// A value that belongs to a group, with the key and the cost that it was stored with.
  public struct Variant: Sendable {
    /// What the value is found by.
    public let key: CacheKey
    /// The value.
    public let value: Value
    /// What it costs, in bytes.
    public let cost: Int
  }

  /// Returns the values that were stored with this group and have not expired, the newest first.
  ///
  /// Does not count as use. Complexity: O(k) for k values in the group.
  public func variants(of group: CacheKey) -> [Variant] {
    store.variants(of: group).map { Self.variant($0.entry) }
  }

  /// Changes the values of a group, or removes those for which `change` returns `nil`.
  ///
  /// It is asked once for each and may take its time; an entry that is replaced meanwhile stays. What they cost and when
  /// they expire stays, and nothing counts as used. Complexity: O(k) for k values in the group.
  public func updateVariants(of group: CacheKey, _ change: (Variant) throws -> Value?) rethrows {
    let changed = try store.variants(of: group).map { entry, id in
      (entry.key, id, try change(Self.variant(entry)).map(Box.init))
    }
    store.replace(changed)
  }

  private static func variant(_ entry: MemoryStore.Entry) -> Variant {
    Variant(key: entry.key, value: unbox(entry.value), cost: entry.cost)
  }

  /// Marks the entry for a key as in use, so that others are evicted before it.
  ///
  /// Being in use frees nothing: it counts towards the limits as before, once, however often it is held.
  ///
  /// - Returns: What keeps it marked, until it is released; `nil` if there is no entry.
  public func hold(_ key: CacheKey) -> MemoryCacheHold? {
    store.hold(key).map { MemoryCacheHold(store: store, place: $0.place, id: $0.id) }
  }

  private static func unbox(_ object: any AnyObject & Sendable) -> Value {
    // The store of this cache holds nothing but boxes of this type.
    unsafe unsafeDowncast(object, to: Box.self).value
  }
}

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

/// What a ``MemoryCache`` holds and what happened in it.
public struct MemoryCacheStatistics: Hashable, Sendable {
  /// The entries that there are.
  public internal(set) var count = 0
  /// What they cost together, in bytes.
  public internal(set) var cost = 0
  /// The gets that found a value.
  public internal(set) var hits = 0
  /// The gets that found none, or an expired one.
  public internal(set) var misses = 0
  /// The values that were stored.
  public internal(set) var insertions = 0
  /// The values that were not stored, being too large or expired.
  public internal(set) var refusals = 0
  /// The values that left to keep to a limit.
  public internal(set) var evictionsByLimit = 0
  /// The values that left because they had expired when they were asked for.
  public internal(set) var evictionsByExpiry = 0
  /// The values that left when the cache was told to shrink.
  public internal(set) var evictionsByTrimming = 0
  /// The values that were removed, not counting those that were replaced.
  public internal(set) var removals = 0
}
