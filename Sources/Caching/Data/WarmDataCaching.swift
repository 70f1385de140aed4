/// The result of a look-up that does not wait.
package enum WarmEntry: Sendable {
  /// The entry, which counts as used.
  case entry(CachedData)
  /// The cache has no entry, which counts as a miss.
  case missing
  /// The cache would have to wait for the result.
  ///
  /// The look-up was not counted. Call ``DataCaching/entry(for:)``.
  case unknown
}

/// A cache of bytes with a synchronous look-up that often succeeds.
package protocol WarmDataCaching: DataCaching {
  /// Returns the entry for a key, fresh or expired, if that needs no waiting.
  ///
  /// Synchronous: it never waits for a device or another thread's work. If `countsMiss` is `false`, it leaves counting a
  /// miss to the caller. A cache of several tiers counts a miss only if the caller will not ask again.
  func warmEntry(for key: CacheKey, countsMiss: Bool) -> WarmEntry

  /// Counts a miss that ``warmEntry(for:countsMiss:)`` did not count.
  func countMiss()
}

extension WarmDataCaching {
  /// Returns the entry and counts a miss at once.
  package func warmEntry(for key: CacheKey) -> WarmEntry { warmEntry(for: key, countsMiss: true) }
}
