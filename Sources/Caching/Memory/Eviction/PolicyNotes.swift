/// The changes that a custom eviction policy has yet to be told, in order.
///
/// Recorded with the cache's lock held, reported without it. An entry that enters and leaves before it is reported is
/// dropped, so there are never more than two notes for a place.
struct PolicyNotes {
  enum Note {
    case insert(EvictionCandidate, place: Int)
    case remove(Int)
  }

  private struct Insertion {
    var note: Int
    /// Set if the policy still knows an older entry in the place.
    var replaces: Bool
  }

  private var notes: [Note?] = []
  /// The number of notes that are not void.
  private var count = 0
  /// The insertions that are not void, by place.
  private var insertions: [Int: Insertion] = [:]

  var isEmpty: Bool { count == 0 }

  mutating func insert(_ entry: EvictionCandidate, into place: Int, replaces: Bool) {
    var replaces = replaces
    if let earlier = insertions[place] {
      makeVoid(earlier)
      replaces = earlier.replaces
    }
    insertions[place] = Insertion(note: notes.count, replaces: replaces)
    notes.append(.insert(entry, place: place))
    count += 1
  }

  mutating func remove(_ place: Int) {
    if let unknown = insertions.removeValue(forKey: place) {
      makeVoid(unknown)
      guard unknown.replaces else { return }
    }
    notes.append(.remove(place))
    count += 1
  }

  private mutating func makeVoid(_ insertion: Insertion) {
    notes[insertion.note] = nil
    count -= 1
    // Otherwise entries that come and go would leave voids behind.
    if count == 0 { notes.removeAll() }
  }

  mutating func takeAll() -> [Note] {
    defer { self = PolicyNotes() }
    return notes.compactMap(\.self)
  }
}
