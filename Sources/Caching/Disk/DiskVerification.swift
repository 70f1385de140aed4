/// What ``DiskCache/verify()`` found.
public struct DiskVerification: Sendable, Hashable {
  /// How many entries were read.
  public internal(set) var checked = 0
  /// The keys of those that were damaged and are dropped; `nil` where the key is among what was damaged.
  public internal(set) var damaged: [CacheKey?] = []

  /// Creates one that found nothing.
  public init() {}
}

/// Why a ``DiskCache`` has no folder.
public struct DiskCacheError: Error, Hashable, CustomStringConvertible {
  /// The path of the folder.
  public let path: String
  /// Why not, in words.
  public let reason: String

  /// The path, and why not.
  public var description: String { "\(path): \(reason)" }
}
