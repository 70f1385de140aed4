public import VitrineRuntime

/// Keeps values in memory, within a limit that is given in bytes, and evicts what is least worth keeping.
///
/// ```swift
/// let cache = MemoryCache<Bitmap>(costLimit: 100 << 20)
/// cache.set(bitmap, for: key, cost: bitmap.byteCount, group: image)
/// let hit = cache.value(for: key)
/// ```
///
/// Every call is synchronous, may come from any thread, and holds a lock for some instructions. Gets of several threads do
/// not wait for one another.
///
/// **Eviction.** Over a limit, the cache shrinks to 95 % of it at once. Unless told otherwise (``Eviction``), what was not
/// used for long goes first, what was used often goes late, and a large entry before a small one of the same age. Entries
/// that are held (``hold(_:)``) go only when everything else has gone.
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
  // A value that is one object already needs no box around it, which would be one more place in memory to wait for.
  @usableFromInline
  let isObject: Bool
  private let expiration: Expiration

  /// Creates an empty cache.
  ///
  /// - Parameters:
  ///   - costLimit: The most that all entries may cost together, in bytes; 0 stores nothing.
  ///   - countLimit: The most entries; without limit by default, 0 stores nothing.
  ///   - entryCostLimit: The most that one entry may cost, in bytes; without a limit of its own by default.
  ///   - expiration: When an entry expires for which nothing else is said; never by default.
  ///   - eviction: By what those are chosen that leave; by score unless told.
  ///   - clock: Tells the time, for expiry; the machine's by default.
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
    store = MemoryStore(
      limits: MemoryStore.Limits(
        cost: max(0, costLimit),
        count: max(0, countLimit),
        entryCost: max(0, entryCostLimit),
      ),
      clock: clock,
      eviction: eviction,
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
    return unbox(object)
  }

  func value(for key: CacheKey, countsMiss: Bool) -> Value? {
    store.value(for: key, countsMiss: countsMiss).map(unbox)
  }

  func countMiss() { store.countMiss() }

  /// Returns the value for a key that has not expired; does not count as use.
  func peek(_ key: CacheKey) -> Value? { store.peek(key).map(unbox) }

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
        value: box(value),
        cost: max(0, cost),
        group: group,
        expires: expires?.timeIntervalSinceReferenceDate ?? .infinity,
      )
    )
  }

  /// Removes the value for a key and returns it.
  @discardableResult
  public func remove(_ key: CacheKey) -> Value? {
    store.remove(key).map(unbox)
  }

  /// Removes everything.
  public func removeAll() {
    store.removeAll()
  }

  /// Removes what `predicate` says, which is asked once for each entry and may take its time.
  ///
  /// An entry that is replaced meanwhile stays. Complexity: O(n).
  public func removeAll(where predicate: (CacheKey, Value) throws -> Bool) rethrows {
    let chosen = try store.entries().filter { try predicate($0.entry.key, unbox($0.entry.value)) }
    store.remove(chosen.map { ($0.entry.key, $0.id) })
  }

  /// What there is, in no order, and how often each was used, storing it included.
  func entries() -> [(key: CacheKey, value: Value, uses: Int)] {
    store.entries().map { ($0.entry.key, unbox($0.entry.value), $0.uses) }
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

  /// Evicts half of what all entries cost where memory is low, what is held last, and all that is not held where it is
  /// critical; see ``trims(under:)``.
  public func trim(under pressure: MemoryPressure) {
    store.trim(under: pressure)
  }

  /// Has ``trim(under:)`` called whenever memory is scarce, for as long as the answer is kept.
  ///
  /// - Parameter source: What tells of it; the system unless told.
  /// - Returns: What ends it when it is released.
  public func trims(under source: any MemoryPressureSource = .system) -> MemoryPressureObservation {
    source.observe { [weak store] in store?.trim(under: $0) }
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
    store.variants(of: group).map { variant($0.entry) }
  }

  /// Changes the values of a group, or removes those for which `change` returns `nil`.
  ///
  /// It is asked once for each and may take its time; an entry that is replaced meanwhile stays. What they cost and when
  /// they expire stays, and nothing counts as used. Complexity: O(k) for k values in the group.
  public func updateVariants(of group: CacheKey, _ change: (Variant) throws -> Value?) rethrows {
    let changed = try store.variants(of: group).map { entry, id in
      (entry.key, id, try change(variant(entry)).map(box))
    }
    store.replace(changed)
  }

  private func variant(_ entry: MemoryStore.Entry) -> Variant {
    Variant(key: entry.key, value: unbox(entry.value), cost: entry.cost)
  }

  /// Marks the entry for a key as in use, so that others are evicted before it.
  ///
  /// Being in use frees nothing: it counts towards the limits as before, once, however often it is held.
  ///
  /// - Returns: What keeps it marked, until it is released; `nil` if there is no entry.
  public func hold(_ key: CacheKey) -> MemoryCacheHold? {
    store.hold(key)
  }

  private func box(_ value: Value) -> any AnyObject & Sendable {
    // A value that is an object is as large as a reference, and is one.
    isObject ? unsafe unsafeBitCast(value, to: (any AnyObject & Sendable).self) : Box(value)
  }

  @inlinable
  func unbox(_ object: any AnyObject & Sendable) -> Value {
    // The store of this cache holds nothing but values that are objects, or else boxes of this type.
    isObject ? unsafe unsafeBitCast(object, to: Value.self) : unsafe unsafeDowncast(object, to: Box.self).value
  }
}

/// A structure of one stored property, which is an object of Swift: a ``MemoryCache`` keeps that object itself.
package protocol ObjectValue {}
