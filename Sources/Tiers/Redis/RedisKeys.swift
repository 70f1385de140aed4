import VitrineCaching
import VitrineRuntime

/// The names of a cache key's values on a server.
///
/// The names begin with the namespace and the epoch, so that a new epoch leaves all older values behind at once. The
/// cache key follows unhashed, so no two keys share a name.
struct RedisKeys: Sendable {
  private let prefix: Data

  init(namespace: String, epoch: Data) { prefix = Data(namespace) + Data(":") + epoch + Data(":") }

  static func epoch(namespace: String) -> Data { Data("\(namespace):epoch") }

  /// Returns the name of the time of the last removal of everything.
  static func cleared(namespace: String) -> Data { Data("\(namespace):cleared") }

  /// Returns the name of the head: the expiry, the identity and the metadata.
  func head(_ key: CacheKey) -> Data { headPrefix + Data(key.bytes) }
  func body(_ key: CacheKey) -> Data { bodyPrefix + Data(key.bytes) }
  func lease(_ key: CacheKey) -> Data { leasePrefix + Data(key.bytes) }

  /// Returns the name of the set of all keys of one source, which a removal of its variants reads.
  ///
  /// An entry outside the set is a miss, so a removal cannot miss an entry.
  func index(_ key: CacheKey) -> Data {
    indexPrefix + Data(key.bytes.prefix(Self.sourceEnd(of: key) ?? key.bytes.count))
  }

  /// Returns the name of the set of a source's keys that may be leased.
  func leased(_ key: CacheKey) -> Data { prefix + Data("s:") + index(key).dropFirst(indexPrefix.count) }

  /// Returns the name of the time of the last removal of a source's variants.
  func removal(_ key: CacheKey) -> Data { removal(index: index(key)) }
  func removal(index: Data) -> Data { removalPrefix + index.dropFirst(indexPrefix.count) }

  var headPrefix: Data { prefix + Data("h:") }
  var bodyPrefix: Data { prefix + Data("b:") }
  var leasePrefix: Data { prefix + Data("l:") }
  var indexPrefix: Data { prefix + Data("i:") }
  private var removalPrefix: Data { prefix + Data("r:") }

  /// Returns the end of the part of a key that all variants of a source share, or `nil` for a shorter key.
  ///
  /// A pipeline's keys begin with the partition, the kind of the source and the URL.
  static func sourceEnd(of key: CacheKey) -> Int? { key.end(ofParts: 3) }

  /// Returns the pattern of `SCAN` for the names that begin with some bytes.
  static func pattern(_ start: Data) -> Data {
    var pattern = Data()
    for byte in start {
      if "*?[]\\^-".utf8.contains(byte) { pattern.append(UInt8(ascii: "\\")) }
      pattern.append(byte)
    }
    pattern.append(UInt8(ascii: "*"))
    return pattern
  }
}
