/// The lists of keys stored with the same group.
///
/// A look-up knows only the key of an entry, so the entry lies in the shard of its key, and the list of a group in the
/// shard of the group's key. A store lists the entry before it inserts it, and removes it from the list after it has
/// left. The list therefore has all entries of the group, and may briefly have others.
///
/// - Complexity: O(1) to add a key, O(k) to list or to remove one of k keys.
struct MemoryGroups {
  typealias Member = (key: CacheKey, number: Int)

  /// Most groups have one member, for which no list is allocated.
  private struct Group {
    var first: Member
    var others: [Member] = []
  }

  private var groups: [KeyHash: Group] = [:]
  private var lastNumber = 0

  /// Adds a key and returns its number, which no other member of a group of this shard has.
  mutating func add(_ key: CacheKey, to group: CacheKey) -> Int {
    lastNumber += 1
    let member = (key, lastNumber)
    if groups[group.hash]?.others.append(member) == nil { groups[group.hash] = Group(first: member) }
    return lastNumber
  }

  /// Removes a member of a group by its number.
  mutating func remove(_ number: Int, of group: CacheKey) {
    guard let known = groups[group.hash] else { return }
    if known.first.number != number {
      groups[group.hash]?.others.removeAll { $0.number == number }
    } else if let next = known.others.first {
      groups[group.hash] = Group(first: next, others: Array(known.others.dropFirst()))
    } else {
      groups[group.hash] = nil
    }
  }

  /// Returns the members of a group, the newest first.
  func members(of group: CacheKey) -> [Member] {
    groups[group.hash].map { $0.others.reversed() + [$0.first] } ?? []
  }
}
