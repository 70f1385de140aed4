/// A hash table from the hash of a key to the numbered place of its entry.
///
/// The hashes are random already, under a secret, so a dictionary's second hashing would only cost time. A slot of 8
/// bytes has half of the hash's lower word and the place, so a look-up mostly reads one cache line. The caller compares
/// the key, since it reads the place in any case.
///
/// - Complexity: O(1) for every operation, amortised when the table grows.
struct PlaceIndex {
  private struct Slot {
    var tag: UInt32 = 0
    /// The place plus one, or 0 in an empty slot.
    var number: UInt32 = 0
  }

  /// The slots of all tables without entries, which therefore allocate nothing.
  private static let noSlots = [Slot](repeating: Slot(), count: 8)

  // The size is a power of two, and at most two thirds of the slots are in use. An entry lies at its hash, or in the
  // next free slot.
  private var slots = Self.noSlots
  private(set) var count = 0

  @inline(__always)
  private static func tag(_ hash: KeyHash) -> UInt32 { UInt32(truncatingIfNeeded: hash.low) }

  /// Returns the place with this hash for which `isKey` returns `true`, or `nil` if there is none.
  @inline(__always)
  func place(_ hash: KeyHash, _ isKey: (Int) -> Bool) -> Int? {
    let tag = Self.tag(hash)
    let mask = slots.count - 1
    var slot = Int(tag) & mask
    while slots[slot].number != 0 {
      let place = Int(slots[slot].number) - 1
      if slots[slot].tag == tag, isKey(place) { return place }
      slot = (slot + 1) & mask
    }
    return nil
  }

  /// Adds a place that the table does not have yet.
  mutating func insert(_ hash: KeyHash, _ place: Int) {
    put(Slot(tag: Self.tag(hash), number: UInt32(place + 1)))
    count += 1
    guard 3 * count > 2 * slots.count else { return }
    let before = slots
    slots = [Slot](repeating: Slot(), count: 2 * before.count)
    for old in before where old.number != 0 { put(old) }
  }

  private mutating func put(_ new: Slot) {
    let mask = slots.count - 1
    var slot = Int(new.tag) & mask
    while slots[slot].number != 0 { slot = (slot + 1) & mask }
    slots[slot] = new
  }

  /// Removes a place and moves up the entries that it had displaced.
  mutating func remove(_ hash: KeyHash, _ place: Int) {
    let mask = slots.count - 1
    let number = UInt32(place + 1)
    var gap = Int(Self.tag(hash)) & mask
    while slots[gap].number != number {
      guard slots[gap].number != 0 else { return }
      gap = (gap + 1) & mask
    }
    var next = (gap + 1) & mask
    while slots[next].number != 0 {
      let wanted = Int(slots[next].tag) & mask
      // The entry is farther from its own slot than from the gap, so the gap lies on its probe path.
      if (next - wanted) & mask >= (next - gap) & mask {
        slots[gap] = slots[next]
        gap = next
      }
      next = (next + 1) & mask
    }
    slots[gap] = Slot()
    count -= 1
  }
}
