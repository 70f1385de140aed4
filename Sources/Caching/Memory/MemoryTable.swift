/// The entries of one shard of a ``MemoryStore``, in numbered places.
///
/// ``PlaceIndex`` maps the hash of a key to its place. The fields that a look-up touches fill half a cache line. With
/// many entries, every touched line is a wait for memory, and fewer lines stay in the processor's cache more easily.
/// All other fields are kept apart.
struct MemoryTable {
  /// A place of 32 bytes.
  private struct Place {
    /// The bytes of the key.
    var bytes: [UInt8] = []
    /// The value, or `nil` if the place is empty.
    var value: (any AnyObject & Sendable)?
    var cost = Cost()
    var lastUse: UInt32 = 0
    /// The number of uses, including the store.
    var uses: UInt32 = 0
  }

  /// The cost of an entry, which needs no more than 62 bits, and its flags.
  private struct Cost {
    private var bits: UInt64 = 0

    var value: Int {
      get { Int(bits >> 2) }
      set { bits = UInt64(newValue) << 2 | bits & 3 }
    }

    var canExpire: Bool {
      get { bits & 1 != 0 }
      set { bits = bits & ~1 | (newValue ? 1 : 0) }
    }

    var isHeld: Bool {
      get { bits & 2 != 0 }
      set { bits = bits & ~2 | (newValue ? 2 : 0) }
    }
  }

  /// The fields that a look-up does not need.
  private struct ColdFields {
    var fields: MemoryStore.ColdFields
    var id: UInt64 = 0
    var holds = 0
  }

  /// The part of an entry that decides on its eviction.
  struct Candidate {
    var place: Int
    var id: UInt64
    var cost: Int
    var lastUse: UInt32
    var uses: UInt32
  }

  private static let unused = ColdFields(fields: MemoryStore.ColdFields(key: CacheKey(bytes: [])))

  private var index = PlaceIndex()
  private var places: [Place] = []
  private var cold: [ColdFields] = []
  private var free: [Int] = []
  /// The id of the latest entry.
  private var lastID: UInt64 = 0

  // MARK: - Look-up

  @inline(__always)
  func place(of key: CacheKey) -> Int? {
    index.place(key.hash) { key.hasBytes(copiedFrom: places[$0].bytes) }
  }

  /// Returns the place of the entry of this key and id, if it has not been replaced or removed.
  func place(of key: CacheKey, id: UInt64) -> Int? {
    place(of: key).flatMap { cold[$0].id == id ? $0 : nil }
  }

  /// Returns the place of an entry that has not expired.
  func place(of key: CacheKey, freshAt now: Double) -> Int? {
    place(of: key).flatMap { cold[$0].fields.expires > now ? $0 : nil }
  }

  @inline(__always)
  func value(_ place: Int) -> (any AnyObject & Sendable)? { places[place].value }

  @inline(__always)
  func canExpire(_ place: Int) -> Bool { places[place].cost.canExpire }

  /// Counts the entry in a place as used.
  @inline(__always)
  mutating func use(_ place: Int, at time: UInt64) {
    places[place].lastUse = UInt32(truncatingIfNeeded: time)
    places[place].uses &+= 1
  }

  // MARK: - Other fields

  func cost(_ place: Int) -> Int { places[place].cost.value }
  func expires(_ place: Int) -> Double { cold[place].fields.expires }
  func id(_ place: Int) -> UInt64 { cold[place].id }
  func isHeld(_ place: Int) -> Bool { places[place].cost.isHeld }

  func entry(_ place: Int) -> MemoryStore.Entry? {
    places[place].value.map { MemoryStore.Entry(cold: cold[place].fields, value: $0, cost: cost(place)) }
  }

  /// The entries with their ids and numbers of uses.
  var entries: [(entry: MemoryStore.Entry, id: UInt64, uses: Int)] {
    places.indices.compactMap { place in entry(place).map { ($0, cold[place].id, Int(places[place].uses)) } }
  }

  /// The entries that may leave.
  func candidates(includingHeld: Bool) -> [Candidate] {
    var candidates: [Candidate] = []
    candidates.reserveCapacity(places.count)
    // No copy of a place, which would count references.
    for place in places.indices where places[place].value != nil && (includingHeld || !isHeld(place)) {
      let (lastUse, uses) = (places[place].lastUse, places[place].uses)
      candidates.append(Candidate(place: place, id: id(place), cost: cost(place), lastUse: lastUse, uses: uses))
    }
    return candidates
  }

  // MARK: - Changes

  /// Stores an entry and returns the older one of its key, whose uses it inherits.
  mutating func store(_ entry: MemoryStore.Entry, at time: UInt64) -> MemoryStore.Entry? {
    let used = place(of: entry.key)
    let place = used ?? free.popLast() ?? places.count
    let older = used.flatMap { self.entry($0) }
    if place == places.count {
      places.append(Place())
      cold.append(Self.unused)
    }
    if used == nil { index.insert(entry.key.hash, place) }
    lastID += 1
    cold[place] = ColdFields(fields: entry.cold, id: lastID)
    places[place].bytes = entry.key.bytes
    places[place].value = entry.value
    places[place].cost = Cost()
    places[place].cost.value = entry.cost
    places[place].cost.canExpire = entry.expires != .infinity
    use(place, at: time)
    return older
  }

  /// Replaces the value of an entry and returns the older one.
  mutating func replaceValue(_ place: Int, with value: any AnyObject & Sendable) -> (any AnyObject & Sendable)? {
    let older = places[place].value
    places[place].value = value
    return older
  }

  mutating func remove(_ place: Int) -> MemoryStore.Entry? {
    guard let entry = entry(place) else { return nil }
    index.remove(entry.key.hash, place)
    places[place] = Place()
    cold[place] = Self.unused
    free.append(place)
    return entry
  }

  /// Removes all entries, or all unheld ones.
  mutating func removeAll(includingHeld: Bool) -> [MemoryStore.Entry] {
    places.indices.compactMap { place in includingHeld || !isHeld(place) ? remove(place) : nil }
  }

  /// Adds to the number of holds of an entry, if it is still the same one.
  mutating func hold(_ place: Int, id: UInt64, _ change: Int) {
    guard cold[place].id == id else { return }
    cold[place].holds += change
    places[place].cost.isHeld = cold[place].holds > 0
  }
}
