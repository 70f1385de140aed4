/// The result of a look-up that does not wait.
package enum WarmEntry: Sendable {
  /// The entry, which counts as used.
  case entry(CachedData)
  /// The cache has no entry.
  ///
  /// The look-up was not counted, since the caller mostly asks again with ``DataCaching/entry(for:)``.
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
  /// Synchronous: it never waits for a device or another thread's work.
  func warmEntry(for key: CacheKey) -> WarmEntry
}
