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

/// An error that occurs if a ``DiskCache`` cannot open or create its folder.
public struct DiskCacheError: Error, Hashable, CustomStringConvertible {
  /// The path of the folder.
  public let path: String
  /// A description of the cause.
  public let reason: String

  /// The path and the cause.
  public var description: String { "\(path): \(reason)" }
}
