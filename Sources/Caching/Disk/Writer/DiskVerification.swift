/// The result of ``DiskCache/verify()``.
package struct DiskVerification: Sendable, Hashable {
  /// The number of entries read.
  package internal(set) var checked = 0
  /// The keys of damaged entries, which were dropped.
  ///
  /// `nil` stands for a key that is damaged itself.
  package internal(set) var damaged: [CacheKey?] = []

  /// Creates an empty result.
  package init() {}
}
