public import VitrineRuntime

/// A cache of values in memory with a limit in bytes, which evicts the entries least worth keeping.
///
/// ```swift
/// let cache = MemoryCache<Bitmap>(costLimit: 100 << 20)
/// cache.store(bitmap, for: key, cost: bitmap.byteCount)
/// let hit = cache.value(for: key)
/// ```
///
/// Every call is synchronous and may come from any thread. The entries lie in 64 tables, each behind a lock that is held
/// for a few instructions, so threads rarely wait for one another.
///
/// **Limits.** They hold over all entries together, at any time. A store that would exceed one first shrinks the cache
/// to 95 % of it. With the default ``Eviction``, entries unused for long leave first, entries used often leave late, and
/// a large entry leaves before a small one of the same age. Entries that views hold leave only after everything
/// else.
///
/// **Order.** For one thread the order of uses is exact. Simultaneous uses on different threads may count a few dozen
/// uses earlier or later.
///
/// - Complexity: O(1) for a look-up, without allocation. O(1) for a store, amortised: now and then one visits all
///   entries. An empty cache takes up 20 KB.
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
  let storage: MemoryStore
  // A value that is a single object needs no box, which would cost another memory access.
  @usableFromInline
  let isObject: Bool
  private let expiration: Expiration

  /// Creates an empty cache.
  ///
  /// - Parameters:
  ///   - costLimit: The maximum total cost of all entries, in bytes. 0 stores nothing.
  ///   - countLimit: The maximum number of entries. Defaults to no limit. 0 stores nothing.
  ///   - entryCostLimit: The maximum cost of one entry, in bytes. Defaults to no limit.
  ///   - expiration: The default expiration of an entry. Defaults to ``Expiration/never``.
  ///   - eviction: The eviction policy. Defaults to ``Eviction/score``.
  ///   - clock: The clock for expiry. Defaults to the system clock.
  public init(
    costLimit: Int,
    countLimit: Int = .max,
    entryCostLimit: Int = .max,
    expiration: Expiration = .never,
    eviction: Eviction = .score,
    clock: any TimeSource = .system,
  ) {
    self.expiration = expiration
    isObject =
      MemoryLayout<Value>.size == MemoryLayout<AnyObject>.size
      && (Value.self is AnyObject.Type || Value.self is any ObjectValue.Type)
    let (cost, count, entryCost) = (max(0, costLimit), max(0, countLimit), max(0, entryCostLimit))
    let limits = MemoryStore.Limits(cost: cost, count: count, entryCost: entryCost)
    storage = MemoryStore(limits: limits, clock: clock, eviction: eviction)
  }

  /// The maximum total cost of all entries, in bytes.
  ///
  /// Lowering it evicts at once.
  public var costLimit: Int {
    get { storage.limits.cost }
    set { storage.setLimits { $0.cost = max(0, newValue) } }
  }

  /// The maximum number of entries.
  ///
  /// Lowering it evicts at once.
  public var countLimit: Int {
    get { storage.limits.count }
    set { storage.setLimits { $0.count = max(0, newValue) } }
  }

  /// The maximum cost of one entry, in bytes.
  ///
  /// A change applies to later stores only.
  package var entryCostLimit: Int {
    get { storage.limits.entryCost }
    set { storage.setLimits { $0.entryCost = max(0, newValue) } }
  }

  /// The contents and the history of the cache in numbers.
  public var statistics: MemoryCacheStatistics { storage.statistics }

  /// Returns the value for a key and counts it as used, or returns `nil` if there is none or it has expired.
  ///
  /// Complexity: O(1), without allocation.
  @inlinable
  public func value(for key: CacheKey) -> Value? {
    guard let object = storage.value(for: key) else { return nil }
    return unbox(object)
  }

  /// Returns the value for a key that has not expired, without counting it as used.
  func peek(_ key: CacheKey) -> Value? { storage.peek(key).map(unbox) }

  /// Returns a Boolean value that indicates whether a key has a fresh value, without counting it as used.
  public func contains(_ key: CacheKey) -> Bool {
    storage.contains(key)
  }

  /// Stores a value, replaces an older one of the same key, and counts it as used.
  ///
  /// A value is refused if it costs more than the limit of one entry, if it has already expired, or if it would need
  /// the room of held entries. The older value is removed all the same. Complexity: O(1), amortised.
  ///
  /// - Parameters:
  ///   - value: The value.
  ///   - key: The key.
  ///   - cost: The cost in bytes. Negative costs count as 0.
  ///   - expiration: The expiration. Defaults to `nil`, the cache's default.
  /// - Returns: A Boolean value that indicates whether the value was stored.
  @discardableResult
  public func store(_ value: Value, for key: CacheKey, cost: Int, expiration: Expiration? = nil) -> Bool {
    store(value, for: key, cost: cost, group: nil, expiration: expiration)
  }

  /// Stores a value as one of a group of variants, which ``variants(of:)`` finds together.
  @discardableResult
  package func store(
    _ value: Value,
    for key: CacheKey,
    cost: Int,
    group: CacheKey?,
    expiration: Expiration? = nil,
  ) -> Bool {
    let expiration = expiration ?? self.expiration
    let expires = expiration == .never ? nil : expiration.date(from: storage.clock.now)
    let fields = MemoryStore.ColdFields(key: key, group: group, expires: expires.expirySeconds)
    return storage.store(MemoryStore.Entry(cold: fields, value: box(value), cost: max(0, cost)))
  }

  /// Removes the value for a key and returns it.
  @discardableResult
  public func remove(_ key: CacheKey) -> Value? {
    storage.remove(key).map(unbox)
  }

  /// Removes everything.
  public func removeAll() {
    storage.removeAll()
  }

  /// Removes the entries for which `predicate` returns `true`.
  ///
  /// The predicate is called once for each entry, without a lock, and may take its time. An entry that is replaced
  /// meanwhile stays. Complexity: O(n).
  public func removeAll(where predicate: (CacheKey, Value) throws -> Bool) rethrows {
    let chosen = try storage.entries().filter { try predicate($0.entry.key, unbox($0.entry.value)) }
    storage.remove(chosen.map { ($0.entry.key, $0.id) })
  }

  /// Returns all entries in no particular order, with their numbers of uses, including the store.
  func entries() -> [(key: CacheKey, value: Value, uses: Int)] {
    storage.entries().map { ($0.entry.key, unbox($0.entry.value), $0.uses) }
  }

  /// Evicts entries until their total cost is at most `cost` bytes.
  public func trim(toCost cost: Int) {
    storage.trim(to: EvictionGoal(cost: max(0, cost), count: .max), .trim)
  }

  /// Evicts under memory pressure for as long as the returned observation is alive.
  ///
  /// Under low pressure half of the total cost leaves, held entries last. Under critical pressure all entries that are
  /// not held leave.
  ///
  /// - Parameter source: The source of memory pressure. Defaults to the system.
  /// - Returns: The observation. Releasing it ends the evictions.
  public func trims(under source: any MemoryPressureSource = .system) -> MemoryPressureObservation {
    source.observe { [weak storage] in storage?.trim(under: $0) }
  }

  /// A value in a group, with its key, and its cost in bytes.
  package typealias Variant = (key: CacheKey, value: Value, cost: Int)

  /// Returns the fresh values that were stored with this group, the newest first.
  ///
  /// Does not count as use. Complexity: O(k) for k values in the group.
  package func variants(of group: CacheKey) -> [Variant] {
    storage.variants(of: group).map { variant($0.entry) }
  }

  /// Changes the values of a group, or removes those for which `change` returns `nil`.
  ///
  /// The closure is called once for each value, without a lock, and may take its time. An entry that is replaced
  /// meanwhile stays as it is. Costs and expiry stay the same, and nothing counts as used. Complexity: O(k) for k
  /// values in the group.
  package func updateVariants(of group: CacheKey, _ change: (Variant) throws -> Value?) rethrows {
    let changed = try storage.variants(of: group).map { entry, id in
      (entry.key, id, try change(variant(entry)).map(box))
    }
    storage.replace(changed)
  }

  private func variant(_ entry: MemoryStore.Entry) -> Variant {
    (entry.key, unbox(entry.value), entry.cost)
  }

  /// Marks an entry as held, so that others are evicted before it.
  ///
  /// A held entry still counts towards the limits, once, however often it is held.
  ///
  /// - Returns: A token that holds the entry until it is released, or `nil` if there is no entry.
  package func hold(_ key: CacheKey) -> MemoryCacheHold? {
    storage.hold(key)
  }

  private func box(_ value: Value) -> any AnyObject & Sendable {
    // `isObject` means that a value is as large as a reference, and is one.
    isObject ? unsafe unsafeBitCast(value, to: (any AnyObject & Sendable).self) : Box(value)
  }

  @inlinable
  func unbox(_ object: any AnyObject & Sendable) -> Value {
    // The store of this cache contains only values that are objects, or only boxes of this type.
    isObject ? unsafe unsafeBitCast(object, to: Value.self) : unsafe unsafeDowncast(object, to: Box.self).value
  }
}

/// A structure whose only stored property is a Swift object, which a ``MemoryCache`` stores without a box.
package protocol ObjectValue {}
