public import VitrineRuntime

/// An error that occurs if a ``DiskCache`` cannot open or create its folder.
public struct DiskCacheError: Error, Hashable, CustomStringConvertible {
  /// The path of the folder.
  public let path: String
  /// A description of the cause.
  public let reason: String

  /// Creates an error; for fakes.
  package init(path: String, reason: String) {
    (self.path, self.reason) = (path, reason)
  }

  /// The path and the cause.
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
