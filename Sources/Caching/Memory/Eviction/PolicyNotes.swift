/// What an eviction policy of somebody's is still to be told, in order.
///
/// Noted with the cache's lock held, told with it open. What enters and leaves before the policy heard of it, it need not hear
/// of: so that there are never more than two notes for a place.
struct PolicyNotes {
  enum Note {
    case insert(EvictionCandidate, place: Int)
    case remove(Int)
  }

  private struct Insertion {
    var note: Int
    /// Whether the policy knows of an older entry in the place when it hears of this one.
    var replaces: Bool
  }

  private var notes: [Note?] = []
  /// How many of them are not void.
  private var count = 0
  /// The insertions that are among the notes and not void, by place.
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
    // So that entries that come and go leave nothing.
    if count == 0 { notes.removeAll() }
  }

  mutating func takeAll() -> [Note] {
    defer { self = PolicyNotes() }
    return notes.compactMap(\.self)
  }
}
