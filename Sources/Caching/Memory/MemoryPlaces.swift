import Synchronization

/// The numbered places in which a ``MemoryStore`` keeps its entries.
///
/// What a look-up reads and writes of an entry is half a line of the processor's cache: among many entries each line that is
/// touched is a wait for memory, and the fewer there are, the more of them stay at hand. What it does not need lies apart.
@safe
final class MemoryPlaces {
  /// 32 bytes, of which a line of 64 holds two.
  private struct Place: ~Copyable {
    /// Those of the key.
    var bytes: [UInt8] = []
    /// `nil` in a place that is empty.
    var value: (any AnyObject & Sendable)?
    var cost: Cost = Cost()
    /// When it was used last, counted in uses of the whole cache, and how often, storing it included.
    let lastUse = Atomic<UInt32>(0)
    let uses = Atomic<UInt32>(0)
  }

  /// What an entry costs, and in the two bits that no cost has whether it can expire and whether it is held.
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

  /// What is of no concern to a look-up.
  struct Rest {
    var key: CacheKey
    var group: CacheKey?
    /// Seconds since the reference date; infinite for never.
    var expires = Double.infinity
    /// Tells the entry from others that were or will be in this place.
    var generation: UInt64 = 0
    /// The chain of a group.
    var next = -1
    var previous = -1
    /// How often it is held.
    var holds = 0
  }

  private static let noKey = CacheKey(bytes: [])

  private var memory: UnsafeMutablePointer<Place>
  private var capacity: Int
  private var rests: [Rest] = []
  /// How many there are, empty ones among them.
  private(set) var count = 0

  init() {
    capacity = 8
    unsafe memory = Self.allocate(capacity)
  }

  deinit {
    // The first `count` are initialised.
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
      // The first `count` are initialised, and there is room for them.
      unsafe larger.moveInitialize(from: memory, count: count)
      unsafe memory.deallocate()
      unsafe memory = larger
      capacity *= 2
    }
    // Behind the last, within the capacity.
    unsafe (memory + count).initialize(to: Place())
    rests.append(Rest(key: Self.noKey))
    count += 1
    return count - 1
  }

  @inline(__always)
  private subscript(place: Int) -> Place {
    _read {
      precondition(UInt(bitPattern: place) < UInt(bitPattern: count))
      // In bounds, and so initialised.
      yield unsafe memory[place]
    }
    _modify {
      precondition(UInt(bitPattern: place) < UInt(bitPattern: count))
      // In bounds, and so initialised.
      yield unsafe &memory[place]
    }
  }

  // MARK: - What a look-up reads

  @inline(__always)
  func hasKey(_ place: Int, _ key: CacheKey) -> Bool { key.hasBytes(copiedFrom: self[place].bytes) }

  /// `nil` in a place that is empty.
  @inline(__always)
  func value(_ place: Int) -> (any AnyObject & Sendable)? { self[place].value }

  @inline(__always)
  func canExpire(_ place: Int) -> Bool { self[place].cost.canExpire }

  /// Notes that the entry in a place was used.
  @inline(__always)
  func use(_ place: Int, at now: UInt32) {
    self[place].lastUse.store(now, ordering: .relaxed)
    // No addition that is atomic as a whole: it would cost as much as the lock, and a use less now and then harms nobody.
    let uses = self[place].uses.load(ordering: .relaxed)
    self[place].uses.store(uses &+ 1, ordering: .relaxed)
  }

  // MARK: - What else there is

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

  /// Puts another value in the place of an entry's; returns the older one.
  func replaceValue(_ place: Int, with value: any AnyObject & Sendable) -> (any AnyObject & Sendable)? {
    let older = self[place].value
    self[place].value = value
    return older
  }

  /// Takes the entry out; how it was used stays, for one of the same key that follows.
  func vacate(_ place: Int) {
    self[place].bytes = []
    self[place].value = nil
    self[place].cost = Cost()
    changeRest(place) { ($0.key, $0.group, $0.expires) = (Self.noKey, nil, .infinity) }
  }

  // Here and not where it is called: from there the compiler does not get it through the thread sanitizer.
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
