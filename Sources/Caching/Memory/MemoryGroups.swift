/// The lists of keys stored with the same group, the newest first.
///
/// A look-up knows only the key of an entry, so the entry lies in the shard of its key, and the list of a group in the
/// shard of the group's key. A store lists the entry before it inserts it, and removes it from the list after it has
/// left. The list therefore has all entries of the group, and may briefly have others.
///
/// - Complexity: O(1) for each change, O(k) to list k keys.
struct MemoryGroups {
  private struct Member {
    var key: CacheKey
    var group: KeyHash
    var next: Int
    var previous = -1
  }

  private static let noKey = CacheKey(bytes: [])

  private var members: [Member] = []
  private var free: [Int] = []
  private var firsts: [KeyHash: Int] = [:]

  /// Adds a key and returns its number, which no other member of a group of this shard has.
  mutating func add(_ key: CacheKey, to group: CacheKey) -> Int {
    let number = free.popLast() ?? members.count
    let next = firsts.updateValue(number, forKey: group.hash) ?? -1
    let member = Member(key: key, group: group.hash, next: next)
    if number == members.count { members.append(member) } else { members[number] = member }
    if next >= 0 { members[next].previous = number }
    return number
  }

  /// Removes a member by its number.
  mutating func remove(_ number: Int) {
    let member = members[number]
    if member.next >= 0 { members[member.next].previous = member.previous }
    if member.previous >= 0 {
      members[member.previous].next = member.next
    } else {
      firsts[member.group] = member.next >= 0 ? member.next : nil
    }
    members[number].key = Self.noKey
    free.append(number)
  }

  func members(of group: CacheKey) -> [(key: CacheKey, number: Int)] {
    var found: [(key: CacheKey, number: Int)] = []
    var next = firsts[group.hash] ?? -1
    while next >= 0 {
      found.append((members[next].key, next))
      next = members[next].next
    }
    return found
  }
}
