/// The entries of a ``DiskCache`` by the hashes of their keys, in many tables of few.
///
/// One table of a million entries would be made larger, or copied since somebody still goes through an earlier state of it,
/// within one call, under the lock that readers wait for: some 100 ms. Of these tables it is always one, so that a step takes
/// as long as a thousandth of that.
///
/// Whoever goes through all entries takes a copy of the whole, or of one part after the other (``part(_:)``), and does so with
/// the lock open.
///
/// - Complexity: O(1) for a look-up and, amortised, for a change; a copy is O(1), and the first change after it O(1024).
struct DiskIndex: Sendable {
  typealias Part = [KeyHash: DiskEntry]

  static let partCount = 1024

  private var parts = [Part](repeating: [:], count: partCount)
  /// Those that were used since that was last written.
  private var used = [Set<KeyHash>](repeating: [], count: partCount)
  /// The number of entries.
  private(set) var count = 0

  /// The tables, each as it was when this was asked for.
  var allParts: some Collection<Part> { parts }

  /// Other bits than those by which a table orders its entries.
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

  /// Puts an entry in; returns whether there was none before.
  mutating func insert(_ entry: DiskEntry, for hash: KeyHash) -> Bool {
    guard parts[Self.number(of: hash)].updateValue(entry, forKey: hash) == nil else { return false }
    count += 1
    return true
  }

  /// Makes room for so many, so that none of the tables is made larger on the way there.
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

  /// Takes out which entries of a part were used since this was last asked.
  mutating func takeUsed(_ number: Int) -> [(hash: KeyHash, lastUse: UInt32, hits: UInt32)] {
    guard !used[number].isEmpty else { return [] }
    defer { used[number] = [] }
    return used[number].compactMap { hash in parts[number][hash].map { (hash, $0.lastUse, $0.hits) } }
  }

  /// Whether the number of entries is right; for tests.
  var hasRightCount: Bool { parts.reduce(0) { $0 + $1.count } == count }
}
