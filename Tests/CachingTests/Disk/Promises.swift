import VitrineCaching
import VitrineRuntime
import VitrineTestSupport

/// What a cache was asked for, and what of it has been flushed: which versions of a key may be found after a crash.
///
/// Every operation on a key is its next version, those that remove it included.
struct Promises: Sendable {
  private struct Key: Sendable {
    /// Whether each version, beginning with 1, is a value.
    var isValue: [Bool] = []
    var flushed = 0
    /// The version up to which nothing says that a value must still be there.
    var mayBeGone = 0
    var renewals = 0
    var flushedRenewals = 0
    /// The version and the renewal with which the present process began.
    var base = (version: 0, renewals: 0)
  }

  private var keys: [Int: Key] = [:]

  var numbers: [Int] { keys.keys.sorted() }

  /// The number of the key's latest version.
  func newest(_ number: Int) -> Int { keys[number]?.isValue.count ?? 0 }

  /// Returns the version that is about to be stored.
  mutating func put(_ number: Int) -> Int {
    keys[number, default: Key()].isValue.append(true)
    keys[number]?.renewals = 0
    return newest(number)
  }

  mutating func remove(_ number: Int) {
    keys[number, default: Key()].isValue.append(false)
    keys[number]?.renewals = 0
  }

  mutating func removeAll() {
    for number in numbers { remove(number) }
  }

  /// Returns the number of the renewal of the newest version.
  mutating func renew(_ number: Int) -> Int {
    keys[number]?.renewals += 1
    return keys[number]?.renewals ?? 0
  }

  /// Anything may be evicted from now on, as long as no older version comes in its place.
  mutating func evict() {
    for (number, key) in keys { keys[number]?.mayBeGone = key.isValue.count }
  }

  /// The process was killed: what was not flushed may be lost, and no later flush is about it.
  mutating func restart() {
    for (number, key) in keys { keys[number]?.base = (key.isValue.count, key.renewals) }
  }

  /// Everything that was asked for since the last restart was flushed.
  mutating func flush(_ numbers: [Int]? = nil) {
    for number in numbers ?? self.numbers {
      guard let key = keys[number] else { continue }
      let isNewVersion = key.isValue.count > key.base.version
      if isNewVersion { keys[number]?.flushed = key.isValue.count }
      if isNewVersion || key.renewals > key.base.renewals { keys[number]?.flushedRenewals = key.renewals }
    }
  }

  /// What is wrong with what was found; `nil` if nothing is.
  func problem(_ number: Int, _ found: CachedData?) -> String? {
    let key = keys[number] ?? Key()
    guard let found else {
      guard key.flushed > key.mayBeGone, key.isValue[(key.flushed - 1)...].allSatisfy({ $0 }) else { return nil }
      return "key \(number): version \(key.flushed) was flushed and is gone"
    }
    let words = String(decoding: found.metadata, as: UTF8.self).split(separator: " ").compactMap { Int($0) }
    guard words.count == 4, words[0] == number else { return "key \(number): metadata of another" }
    let (version, size, renewal) = (words[1], words[2], words[3])
    guard version >= 1, version <= key.isValue.count, key.isValue[version - 1] else {
      return "key \(number): version \(version), which never was"
    }
    guard version >= key.flushed else { return "key \(number): version \(version), but \(key.flushed) was flushed" }
    if version == key.flushed, version == key.isValue.count, renewal < key.flushedRenewals {
      return "key \(number): renewal \(renewal), but \(key.flushedRenewals) was flushed"
    }
    guard found.data == content(number, size, version: version) else { return "key \(number): wrong bytes" }
    return nil
  }

  /// An entry that says which version it is.
  static func entry(_ number: Int, _ size: Int, version: Int, kind: CachedData.Kind = .original) -> CachedData {
    VitrineTestSupport.entry(number, size, version: version, kind: kind, metadata: metadata(number, version, size))
  }

  static func metadata(_ number: Int, _ version: Int, _ size: Int, renewal: Int = 0) -> String {
    "\(number) \(version) \(size) \(renewal)"
  }

  /// The version that an entry says it is.
  static func version(of found: CachedData) -> Int? {
    String(decoding: found.metadata, as: UTF8.self).split(separator: " ").dropFirst().first.flatMap { Int($0) }
  }

  /// Whether an entry has the bytes of the version that it says it is.
  static func isWhole(_ number: Int, _ found: CachedData) -> Bool {
    let words = String(decoding: found.metadata, as: UTF8.self).split(separator: " ").compactMap { Int($0) }
    return words.count == 4 && words[0] == number && found.data == content(number, words[2], version: words[1])
  }
}
