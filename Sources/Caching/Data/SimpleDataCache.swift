public import VitrineRuntime

/// A store of bytes under names, of which an ``AdaptedDataCache`` makes a cache for a pipeline.
///
/// ```swift
/// struct DictionaryCache: SimpleDataCache {
///   var entries: [String: Data] = [:]
///
///   func read(_ name: String) -> Data? { entries[name] }
///   mutating func write(_ data: Data, _ name: String) { entries[name] = data }
///   mutating func remove(_ prefix: String) { entries = entries.filter { !$0.key.hasPrefix(prefix) } }
///   mutating func removeAll() { entries = [:] }
/// }
/// let pipeline = ImagePipeline { $0.diskCache = AdaptedDataCache(DictionaryCache()) }
/// ```
/// Calls come one at a time, on a thread of the adapter's own, so they may block and need no lock. A name has at most 240
/// characters, each of `0` to `9`, `a` to `f`, `-` and `.`, so that it can be the name of a file. The store decides how
/// much it keeps: it may drop any bytes at any time.
public protocol SimpleDataCache {
  /// Returns the bytes under a name, or `nil` if there are none.
  mutating func read(_ name: String) throws -> Data?

  /// Stores bytes under a name, in place of older ones.
  mutating func write(_ data: Data, _ name: String) throws

  /// Removes all bytes whose names begin with a prefix, which may be a whole name.
  mutating func remove(_ prefix: String) throws

  /// Removes everything.
  mutating func removeAll() throws
}
