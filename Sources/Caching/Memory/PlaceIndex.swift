/// Leads from the hash of a key to the numbered place of its entry.
///
/// The hashes are random already, under a secret, so hashing them again, as a dictionary does, would only cost time; and all
/// of a slot lies together, so a look-up among many entries waits for memory once and not three times.
///
/// - Complexity: O(1) for all, amortised where it grows.
struct PlaceIndex {
  private struct Slot {
    var hash: UInt64 = 0
    var place = -1
  }

  // A power of two of them, at most two thirds in use; an entry lies at its hash or, where others do, as soon as possible
  // behind it.
  private var slots = [Slot](repeating: Slot(), count: 8)
  private(set) var count = 0

  /// The place for a hash; `nil` for none.
  subscript(hash: KeyHash) -> Int? {
    get {
      let place = slots[slot(of: hash.low)].place
      return place < 0 ? nil : place
    }
    set {
      let slot = slot(of: hash.low)
      guard let newValue else { return removeSlot(slot) }
      precondition(newValue >= 0, "places are numbered from 0")
      if slots[slot].place < 0 { count += 1 }
      slots[slot] = Slot(hash: hash.low, place: newValue)
      if 3 * count > 2 * slots.count { grow() }
    }
  }

  /// Where the hash lies, or else the empty slot where it would.
  private func slot(of hash: UInt64) -> Int {
    var slot = Int(truncatingIfNeeded: hash) & (slots.count - 1)
    while slots[slot].place >= 0, slots[slot].hash != hash { slot = (slot + 1) & (slots.count - 1) }
    return slot
  }

  /// Empties a slot, and closes the gap for those that were put behind it for want of it.
  private mutating func removeSlot(_ slot: Int) {
    guard slots[slot].place >= 0 else { return }
    let mask = slots.count - 1
    var gap = slot
    var next = (slot + 1) & mask
    while slots[next].place >= 0 {
      let wanted = Int(truncatingIfNeeded: slots[next].hash) & mask
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

  private mutating func grow() {
    let before = slots
    slots = [Slot](repeating: Slot(), count: 2 * before.count)
    for old in before where old.place >= 0 { slots[slot(of: old.hash)] = old }
  }
}
