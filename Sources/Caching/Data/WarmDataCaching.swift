/// The answer of a cache that was asked without waiting.
package enum WarmEntry: Sendable {
  /// The cache has this entry, which counts as used.
  case entry(CachedData)
  /// The cache has nothing for the key, which counts as a miss.
  case missing
  /// The cache cannot say without waiting. Nothing was counted; ``DataCaching/entry(for:)`` knows.
  case unknown
}

/// A cache of bytes that can often answer on the caller's thread.
package protocol WarmDataCaching: DataCaching {
  /// Returns what is kept for a key, fresh or not, if that needs no waiting.
  ///
  /// Synchronous; never waits for a device or another thread's work.
  func warmEntry(for key: CacheKey) -> WarmEntry

  /// Returns the same, and leaves it to the caller to count a miss.
  ///
  /// A list of caches counts one only when it knows that the caller is not going to ask all of them again.
  func warmEntry(for key: CacheKey, countsMiss: Bool) -> WarmEntry

  /// Counts a miss that ``warmEntry(for:countsMiss:)`` has not.
  func countMiss()
}

extension WarmDataCaching {
  /// Counts a miss at once.
  package func warmEntry(for key: CacheKey) -> WarmEntry { warmEntry(for: key, countsMiss: true) }
}
