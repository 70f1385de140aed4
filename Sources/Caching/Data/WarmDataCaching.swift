/// The answer of a cache that was asked without waiting.
package enum WarmEntry: Sendable {
  /// The entry, which counts as used.
  case entry(CachedData)
  /// The cache has no entry, which counts as a miss.
  case missing
  /// The cache cannot tell without waiting.
  ///
  /// Nothing was counted. Call ``DataCaching/entry(for:)``.
  case unknown
}

/// A cache of bytes that can often answer on the caller's thread.
package protocol WarmDataCaching: DataCaching {
  /// Returns the entry for a key, fresh or expired, if that needs no waiting.
  ///
  /// Synchronous. Never waits for a device or another thread's work.
  func warmEntry(for key: CacheKey) -> WarmEntry

  /// Returns the same, and leaves counting a miss to the caller if `countsMiss` is `false`.
  ///
  /// A cache of several tiers counts a miss only if the caller will not ask again.
  func warmEntry(for key: CacheKey, countsMiss: Bool) -> WarmEntry

  /// Counts a miss that ``warmEntry(for:countsMiss:)`` did not count.
  func countMiss()
}

extension WarmDataCaching {
  /// Returns the entry and counts a miss at once.
  package func warmEntry(for key: CacheKey) -> WarmEntry { warmEntry(for: key, countsMiss: true) }
}
