import VitrineCaching
import VitrineRuntime

/// What is still being written to the caches after its callers were answered.
final class PendingWrites: Sendable {
  private typealias Write = Task<Void, Never>

  private struct State {
    var count = 0
    var running: [Int: Write] = [:]
    /// The last write about each key.
    var last: [CacheKey: (number: Int, write: Write)] = [:]
  }

  private let state = Lock(State())
  private let stepper: (any TaskExecutor)?

  /// `stepper` is where the writes run; `nil` for where Swift runs them.
  init(_ stepper: (any TaskExecutor)? = nil) {
    self.stepper = stepper
  }

  /// Does something later, which ``finished()`` waits for; of what is about the same key one after the other, so that what
  /// came last is what stays.
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

  /// Whether something is still being done about a key.
  func isBusy(for key: CacheKey) -> Bool { state.withLock { $0.last[key] != nil } }

  /// Waits for what was added for a key before.
  func finished(for key: CacheKey) async { await state.withLock { $0.last[key]?.write }?.value }

  /// Waits for everything that was added before.
  func finished() async {
    for write in state.withLock({ Array($0.running.values) }) { await write.value }
  }
}
