import VitrineCaching
import VitrineRuntime

/// The cache writes that continue after their callers have been answered.
final class PendingWrites: Sendable {
  private typealias Write = Task<Void, Never>

  private struct State {
    var count = 0
    var running: [Int: Write] = [:]
    /// The last write for each key.
    var last: [CacheKey: (number: Int, write: Write)] = [:]
  }

  private let state = Lock(State())
  private let stepper: (any TaskExecutor)?

  /// Creates an empty set of writes, which `stepper` runs; `nil` selects Swift's own executor.
  init(_ stepper: (any TaskExecutor)? = nil) {
    self.stepper = stepper
  }

  /// Adds a write, which ``finished()`` waits for; writes for the same key run in order, so that the last one stays.
  func add(for key: CacheKey? = nil, _ body: @escaping @Sendable () async -> Void) {
    state.withLock { state in
      state.count += 1
      let (number, earlier) = (state.count, key.flatMap { state.last[$0]?.write })
      let write = Write(executorPreference: stepper) { [self] in
        await earlier?.value
        await body()
        end(number, of: key)
      }
      state.running[number] = write
      if let key { state.last[key] = (number, write) }
    }
  }

  private func end(_ number: Int, of key: CacheKey?) {
    state.withLock { state in
      state.running[number] = nil
      if let key, state.last[key]?.number == number { state.last[key] = nil }
    }
  }

  /// Returns `true` if a write for a key is pending.
  func isBusy(for key: CacheKey) -> Bool { state.withLock { $0.last[key] != nil } }

  /// Waits for the earlier writes for a key.
  func finished(for key: CacheKey) async { await state.withLock { $0.last[key]?.write }?.value }

  /// Waits for all earlier writes, and for the writes that they add.
  func finished() async {
    for _ in 0..<2 {
      for write in state.withLock({ Array($0.running.values) }) { await write.value }
    }
  }
}
