/// The entries of a ``DiskCache`` by the hashes of their keys, in many small tables.
///
/// A single table of a million entries would grow within one call, or be copied because an iteration still holds its
/// earlier state. That takes about 100 ms under the lock, for which readers wait. Here only one of the tables grows or
/// is copied at a time, which takes a thousandth of that.
///
/// To iterate, copy the index, or one part after the other (``part(_:)``), and iterate without the lock.
///
/// - Complexity: O(1) for a look-up and, amortised, for a change. A copy is O(1), and the first change after it
///   O(1024).
struct DiskIndex: Sendable {
  typealias Part = [KeyHash: DiskEntry]

  static let partCount = 1024

  private var parts = [Part](repeating: [:], count: partCount)
  /// The entries used since their uses were last written, by part.
  private var used = [Set<KeyHash>](repeating: [], count: partCount)
  /// The number of entries.
  private(set) var count = 0

  /// A copy of all tables.
  var allParts: some Collection<Part> { parts }

  /// Returns the number of a hash's table, by other bits than the order within a table.
  private static func number(of hash: KeyHash) -> Int { Int(truncatingIfNeeded: hash.high) & (partCount - 1) }

  func part(_ number: Int) -> Part { parts[number] }

  subscript(hash: KeyHash) -> DiskEntry? {
    get { parts[Self.number(of: hash)][hash] }
    set {
      guard let newValue else {
        _ = remove(hash)
        return
      }
      _ = insert(newValue, for: hash)
    }
  }

  /// Inserts an entry, and returns `false` if it replaced another.
  mutating func insert(_ entry: DiskEntry, for hash: KeyHash) -> Bool {
    guard parts[Self.number(of: hash)].updateValue(entry, forKey: hash) == nil else { return false }
    count += 1
    return true
  }

  /// Reserves space for `total` entries, so that no table grows on the way there.
  mutating func reserveCapacity(_ total: Int) {
    let mean = total / Self.partCount
    guard mean > 0 else { return }
    for number in parts.indices { parts[number].reserveCapacity(mean + mean / 4 + 8) }
  }

  mutating func remove(_ hash: KeyHash) -> DiskEntry? {
    let number = Self.number(of: hash)
    guard let entry = parts[number].removeValue(forKey: hash) else { return nil }
    used[number].remove(hash)
    count -= 1
    return entry
  }

  /// Counts an entry as used.
  mutating func touch(_ hash: KeyHash, at tick: UInt32) {
    let number = Self.number(of: hash)
    guard let place = parts[number].index(forKey: hash) else { return }
    parts[number].values[place].lastUse = tick
    parts[number].values[place].hits &+= 1
    used[number].insert(hash)
  }

  /// Returns and resets the uses of a part since the last call.
  mutating func takeUsed(_ number: Int) -> [(hash: KeyHash, lastUse: UInt32, hits: UInt32)] {
    guard !used[number].isEmpty else { return [] }
    defer { used[number] = [] }
    return used[number].compactMap { hash in parts[number][hash].map { (hash, $0.lastUse, $0.hits) } }
  }
}
