import Synchronization

/// The numbered places in which a ``MemoryStore`` keeps its entries.
///
/// What a look-up reads and writes of an entry is one line of the processor's cache: among many entries each line that is
/// touched is a wait for memory. What it does not need lies apart.
@safe
final class MemoryPlaces {
  /// One line: 64 bytes.
  struct Place: ~Copyable {
    var key: CacheKey
    /// `nil` in a place that is empty.
    var value: (any AnyObject & Sendable)?
    /// Seconds since the reference date; infinite for never.
    var expires: Double
    var cost: Int
    /// When it was used last, counted in uses of the whole cache, and how often, storing it included.
    let lastUse = Atomic<UInt32>(0)
    let uses = Atomic<UInt32>(0)
    var holds: Int32 = 0
  }

  /// What is of no concern to a look-up.
  struct Rest {
    var group: CacheKey?
    /// Tells the entry from others that were or will be in this place.
    var generation: UInt64 = 0
    /// The chain of a group.
    var next = -1
    var previous = -1
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
    let empty = Place(key: Self.noKey, value: nil, expires: .infinity, cost: 0)
    // Behind the last, within the capacity.
    unsafe (memory + count).initialize(to: empty)
    rests.append(Rest())
    count += 1
    return count - 1
  }

  /// A place by its number.
  ///
  @inline(__always)
  subscript(place: Int) -> Place {
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

  func rest(_ place: Int) -> Rest { rests[place] }

  func changeRest(_ place: Int, _ change: (inout Rest) -> Void) { change(&rests[place]) }

  func isEmpty(_ place: Int) -> Bool { self[place].value == nil }

  func entry(_ place: Int) -> MemoryStore.Entry? {
    guard let value = self[place].value else { return nil }
    return MemoryStore.Entry(
      key: self[place].key,
      value: value,
      cost: self[place].cost,
      group: rests[place].group,
      expires: self[place].expires,
    )
  }

  func fill(_ place: Int, with entry: MemoryStore.Entry, generation: UInt64) {
    self[place].key = entry.key
    self[place].value = entry.value
    self[place].expires = entry.expires
    self[place].cost = entry.cost
    self[place].holds = 0
    rests[place].group = entry.group
    rests[place].generation = generation
  }

  /// Takes the entry out; how it was used stays, for one of the same key that follows.
  func vacate(_ place: Int) {
    self[place].key = Self.noKey
    self[place].value = nil
    self[place].cost = 0
    rests[place].group = nil
  }

  /// Notes that the entry in a place was used.
  @inline(__always)
  func use(_ place: Int, at now: UInt32) {
    self[place].lastUse.store(now, ordering: .relaxed)
    // No addition that is atomic as a whole: it would cost as much as the lock, and a use less now and then harms nobody.
    let uses = self[place].uses.load(ordering: .relaxed)
    self[place].uses.store(uses &+ 1, ordering: .relaxed)
  }

  func lastUse(_ place: Int) -> UInt32 { self[place].lastUse.load(ordering: .relaxed) }

  func uses(_ place: Int) -> UInt32 { self[place].uses.load(ordering: .relaxed) }

  // Here and not where it is called: from there the compiler does not get it through the thread sanitizer.
  func hold(_ place: Int, _ change: Int32) { self[place].holds += change }

  func forget(_ place: Int) {
    self[place].uses.store(0, ordering: .relaxed)
    self[place].holds = 0
    rests[place].generation = 0
  }
}
