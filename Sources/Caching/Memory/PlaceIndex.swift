/// Leads from the hash of a key to the numbered place of its entry.
///
/// The hashes are random already, under a secret, so hashing them again, as a dictionary does, would only cost time. A slot has
/// half of a hash's lower word and the place, in 8 bytes, and a look-up mostly reads one line of memory; whether the place has the
/// key itself is for the caller to say, who reads that in any case.
///
/// - Complexity: O(1) for all, amortised where it grows.
struct PlaceIndex {
  private struct Slot {
    var tag: UInt32 = 0
    /// One more than the place; 0 in a slot that is empty.
    var number: UInt32 = 0
  }

  // A power of two of them, at most two thirds in use; an entry lies at its hash or, where others do, as soon as possible
  // behind it.
  private var slots = [Slot](repeating: Slot(), count: 8)
  private(set) var count = 0

  @inline(__always)
  private static func tag(_ hash: KeyHash) -> UInt32 { UInt32(truncatingIfNeeded: hash.low) }

  /// The place for a hash of which `isKey` says that it has the key; `nil` if there is none.
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

  /// Leads to a place from now on, which it did not before.
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

  /// No longer leads to a place, and closes the gap for those that were put behind it for want of it.
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
      // Farther from where it should lie than from the gap: the gap is on its way.
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
