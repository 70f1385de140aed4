import VitrineRuntime

/// What is still being written to the caches after its callers were answered.
final class PendingWrites: Sendable {
  private struct State {
    var last = 0
    var running: Set<Int> = []
    var waiting: [(last: Int, continuation: CheckedContinuation<Void, Never>)] = []

    func isFinished(through last: Int) -> Bool { running.allSatisfy { $0 > last } }
  }

  private let state = Lock(State())
  private let stepper: (any TaskExecutor)?

  /// `stepper` is where the writes run; `nil` for where Swift runs them.
  init(_ stepper: (any TaskExecutor)? = nil) {
    self.stepper = stepper
  }

  /// Does something later, which ``finished()`` waits for.
  func add(_ write: @escaping @Sendable () async -> Void) {
    let number = state.withLock { state in
      state.last += 1
      state.running.insert(state.last)
      return state.last
    }
    Task(executorPreference: stepper) { [self] in
      await write()
      let ready = state.withLock { state in
        state.running.remove(number)
        let waiting = state.waiting
        state.waiting = waiting.filter { !state.isFinished(through: $0.last) }
        return waiting.filter { state.isFinished(through: $0.last) }.map(\.continuation)
      }
      for continuation in ready { continuation.resume() }
    }
  }

  /// Waits for everything that was added before.
  func finished() async {
    await withCheckedContinuation { continuation in
      let isFinished = state.withLock { state in
        if state.running.isEmpty { return true }
        state.waiting.append((state.last, continuation))
        return false
      }
      if isFinished { continuation.resume() }
    }
  }
}
