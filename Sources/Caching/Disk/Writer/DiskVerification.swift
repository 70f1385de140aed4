/// The result of ``DiskCache/verify()``.
public struct DiskVerification: Sendable, Hashable {
  /// The number of entries read.
  public internal(set) var checked = 0
  /// The keys of damaged entries, which were dropped.
  ///
  /// `nil` stands for a key that is damaged itself.
  public internal(set) var damaged: [CacheKey?] = []

  /// Creates an empty result.
  public init() {}
}
