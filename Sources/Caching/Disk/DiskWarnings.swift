import VitrineRuntime

/// Who is told when the disk refuses: whoever made the cache, and those who use it.
final class DiskWarnings: Sendable {
  private let first: @Sendable (String) -> Void
  private let others = Lock<[@Sendable (String) -> Bool]>([])

  init(_ first: @escaping @Sendable (String) -> Void) {
    self.first = first
  }

  /// `warn` returns whether it goes on listening.
  func add(_ warn: @escaping @Sendable (String) -> Bool) { others.withLock { $0.append(warn) } }

  func tell(_ trouble: String) {
    first(trouble)
    let listening = others.withLock { others in
      defer { others = [] }
      return others
    }
    // Told with the lock open; those who came meanwhile are behind them.
    let staying = listening.filter { $0(trouble) }
    others.withLock { $0 = staying + $0 }
  }
}
