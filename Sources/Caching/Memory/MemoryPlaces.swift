import Synchronization

/// The numbered places in which a ``MemoryStore`` keeps its entries.
///
/// The fields that a look-up touches fill half a cache line. With many entries, every touched line is a wait for
/// memory, and fewer lines stay in the processor's cache more easily. All other fields are kept apart.
@safe
final class MemoryPlaces {
  /// 32 bytes, two to a cache line of 64.
  private struct Place: ~Copyable {
    /// The bytes of the key.
    var bytes: [UInt8] = []
    /// The value, or `nil` if the place is empty.
    var value: (any AnyObject & Sendable)?
    var cost: Cost = Cost()
    /// The time of the last use, in uses of the whole cache, and the number of uses, including the store.
    let lastUse = Atomic<UInt32>(0)
    let uses = Atomic<UInt32>(0)
  }

  /// The cost of an entry.
  ///
  /// The two top bits, which no cost needs, are its flags.
  private struct Cost {
    private static let expiryBit: UInt = 1 << 63
    private static let holdBit: UInt = 1 << 62
    private var bits: UInt = 0

    var value: Int {
      get { Int(bits & ~(Self.expiryBit | Self.holdBit)) }
      set { bits = UInt(max(0, newValue)) & ~(Self.expiryBit | Self.holdBit) | bits & (Self.expiryBit | Self.holdBit) }
    }

    var canExpire: Bool {
      get { bits & Self.expiryBit != 0 }
      set { if newValue { bits |= Self.expiryBit } else { bits &= ~Self.expiryBit } }
    }

    var isHeld: Bool {
      get { bits & Self.holdBit != 0 }
      set { if newValue { bits |= Self.holdBit } else { bits &= ~Self.holdBit } }
    }
  }

  /// The fields that a look-up does not need.
  struct Rest {
    var key: CacheKey
    var group: CacheKey?
    /// Seconds since the reference date, infinite for never.
    var expires = Double.infinity
    /// Distinguishes the entry from earlier and later ones in this place.
    var generation: UInt64 = 0
    /// The links of the group's list.
    var next = -1
    var previous = -1
    /// The number of holds.
    var holds = 0
  }

  private static let noKey = CacheKey(bytes: [])

  private var memory: UnsafeMutablePointer<Place>
  private var capacity: Int
  private var rests: [Rest] = []
  /// The number of places, including empty ones.
  private(set) var count = 0

  init() {
    capacity = 8
    unsafe memory = Self.allocate(capacity)
  }

  deinit {
    // The first `count` places are initialised.
    unsafe memory.deinitialize(count: count)
    unsafe memory.deallocate()
  }

  private static func allocate(_ capacity: Int) -> UnsafeMutablePointer<Place> {
    let bytes = UnsafeMutableRawPointer.allocate(byteCount: capacity * MemoryLayout<Place>.stride, alignment: 64)
    return unsafe bytes.bindMemory(to: Place.self, capacity: capacity)
  }

  func append() -> Int {
    if count == capacity {
      let larger = unsafe Self.allocate(2 * capacity)
      // The first `count` places are initialised, and there is room for them.
      unsafe larger.moveInitialize(from: memory, count: count)
      unsafe memory.deallocate()
      unsafe memory = larger
      capacity *= 2
    }
    // The place behind the last lies within the capacity.
    unsafe (memory + count).initialize(to: Place())
    rests.append(Rest(key: Self.noKey))
    count += 1
    return count - 1
  }

  @inline(__always)
  private subscript(place: Int) -> Place {
    _read {
      precondition(UInt(bitPattern: place) < UInt(bitPattern: count))
      // In bounds, and therefore initialised.
      yield unsafe memory[place]
    }
    _modify {
      precondition(UInt(bitPattern: place) < UInt(bitPattern: count))
      // In bounds, and therefore initialised.
      yield unsafe &memory[place]
    }
  }

  // MARK: - Fields of a look-up

  @inline(__always)
  func hasKey(_ place: Int, _ key: CacheKey) -> Bool { key.hasBytes(copiedFrom: self[place].bytes) }

  /// The value, or `nil` if the place is empty.
  @inline(__always)
  func value(_ place: Int) -> (any AnyObject & Sendable)? { self[place].value }

  @inline(__always)
  func canExpire(_ place: Int) -> Bool { self[place].cost.canExpire }

  /// Counts the entry in a place as used.
  @inline(__always)
  func use(_ place: Int, at now: UInt32) {
    self[place].lastUse.store(now, ordering: .relaxed)
    // Not an atomic addition: it would cost as much as the lock, and a lost use now and then does no harm.
    let uses = self[place].uses.load(ordering: .relaxed)
    self[place].uses.store(uses &+ 1, ordering: .relaxed)
  }

  // MARK: - Other fields

  func isEmpty(_ place: Int) -> Bool { self[place].value == nil }
  func cost(_ place: Int) -> Int { self[place].cost.value }
  func isHeld(_ place: Int) -> Bool { self[place].cost.isHeld }
  func lastUse(_ place: Int) -> UInt32 { self[place].lastUse.load(ordering: .relaxed) }
  func uses(_ place: Int) -> UInt32 { self[place].uses.load(ordering: .relaxed) }

  func rest(_ place: Int) -> Rest { rests[place] }
  func id(_ place: Int) -> UInt64 { rests[place].key.hash.low }
  func expires(_ place: Int) -> Double { rests[place].expires }
  func generation(_ place: Int) -> UInt64 { rests[place].generation }
  func changeRest(_ place: Int, _ change: (inout Rest) -> Void) { change(&rests[place]) }

  func entry(_ place: Int) -> MemoryStore.Entry? {
    guard let value = self[place].value else { return nil }
    let rest = rests[place]
    return MemoryStore.Entry(key: rest.key, value: value, cost: cost(place), group: rest.group, expires: rest.expires)
  }

  // MARK: - Changes

  func fill(_ place: Int, with entry: MemoryStore.Entry, generation: UInt64) {
    self[place].bytes = entry.key.bytes
    self[place].value = entry.value
    self[place].cost = Cost()
    self[place].cost.value = entry.cost
    self[place].cost.canExpire = entry.expires != .infinity
    changeRest(place) { rest in
      (rest.key, rest.group, rest.expires) = (entry.key, entry.group, entry.expires)
      (rest.generation, rest.holds) = (generation, 0)
    }
  }

  /// Replaces the value of an entry and returns the older one.
  func replaceValue(_ place: Int, with value: any AnyObject & Sendable) -> (any AnyObject & Sendable)? {
    let older = self[place].value
    self[place].value = value
    return older
  }

  /// Removes the entry but keeps its uses, for a successor of the same key.
  func vacate(_ place: Int) {
    self[place].bytes = []
    self[place].value = nil
    self[place].cost = Cost()
    changeRest(place) { ($0.key, $0.group, $0.expires) = (Self.noKey, nil, .infinity) }
  }

  // Defined here because the compiler fails under the thread sanitizer if the caller has this code.
  func hold(_ place: Int, _ change: Int) {
    rests[place].holds += change
    self[place].cost.isHeld = rests[place].holds > 0
  }

  func forget(_ place: Int) {
    self[place].uses.store(0, ordering: .relaxed)
    self[place].cost.isHeld = false
    changeRest(place) { ($0.holds, $0.generation) = (0, 0) }
  }
}
