import VitrineRuntime

/// A cache that reports its failures as texts.
package protocol WarningDataCaching: DataCaching {
  /// Adds a receiver, which stays until `warn` returns `false`.
  func addWarning(_ warn: @escaping @Sendable (String) -> Bool)
}

/// The receivers of a cache's warnings: its creator, and its users.
final class CacheWarnings: Sendable {
  private let first: @Sendable (String) -> Void
  private let others = Lock<[@Sendable (String) -> Bool]>([])

  init(_ first: @escaping @Sendable (String) -> Void) {
    self.first = first
  }

  /// Adds a receiver, which stays until `warn` returns `false`.
  func add(_ warn: @escaping @Sendable (String) -> Bool) { others.withLock { $0.append(warn) } }

  func tell(_ trouble: String) {
    first(trouble)
    let listening = others.withLock { others in
      defer { others = [] }
      return others
    }
    // Called without the lock. Receivers added meanwhile go behind these.
    let staying = listening.filter { $0(trouble) }
    others.withLock { $0 = staying + $0 }
  }
}
