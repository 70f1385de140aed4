public import VitrineRuntime

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

  /// Creates an error; for fakes.
  public init(path: String, reason: String) {
    (self.path, self.reason) = (path, reason)
  }

  /// The path, and why not.
  public var description: String { "\(path): \(reason)" }
}

extension DiskCacheError: LocalizedError {
  /// The message for a person: the folder, and why it cannot be used.
  public var errorDescription: String? { "The cache folder \(path) cannot be used: \(reason)" }

  /// The ``reason``.
  public var failureReason: String? { reason }

  /// The next step for a person.
  public var recoverySuggestion: String? { "Choose another folder, or allow writing to this one." }
}
