import VitrineCaching
import VitrineRuntime

/// What is still being written to the caches after its callers were answered.
final class PendingWrites: Sendable {
  private struct Write: Sendable {
    let number: Int
    let body: @Sendable () async -> Void
  }

  private struct State {
    var last = 0
    var running: Set<Int> = []
    var waiting: [(last: Int, continuation: CheckedContinuation<Void, Never>)] = []
    /// What follows the one under way, by what it is about.
    var following: [CacheKey: [Write]] = [:]

    func isFinished(through last: Int) -> Bool { running.allSatisfy { $0 > last } }
  }

  private let state = Lock(State())
  private let stepper: (any TaskExecutor)?

  /// `stepper` is where the writes run; `nil` for where Swift runs them.
  init(_ stepper: (any TaskExecutor)? = nil) {
    self.stepper = stepper
  }

  /// Does something later, which ``finished()`` waits for; of what is about the same key one after the other, so that what
  /// came last is what stays.
  func add(for key: CacheKey? = nil, _ write: @escaping @Sendable () async -> Void) {
    let first = state.withLock { state -> Write? in
      state.last += 1
      state.running.insert(state.last)
      let write = Write(number: state.last, body: write)
      guard let key else { return write }
      if state.following[key] != nil {
        state.following[key]?.append(write)
        return nil
      }
      state.following[key] = []
      return write
    }
    guard let first else { return }
    Task(executorPreference: stepper) { [self] in
      var next: Write? = first
      while let write = next {
        await write.body()
        next = end(write, of: key)
      }
    }
  }

  /// Takes note of an end, and returns what is to follow.
  private func end(_ write: Write, of key: CacheKey?) -> Write? {
    let (next, ready) = state.withLock { state -> (Write?, [CheckedContinuation<Void, Never>]) in
      var next: Write?
      if let key, let following = state.following[key] {
        next = following.first
        state.following[key] = next == nil ? nil : Array(following.dropFirst())
      }
      state.running.remove(write.number)
      let waiting = state.waiting
      state.waiting = waiting.filter { !state.isFinished(through: $0.last) }
      return (next, waiting.filter { state.isFinished(through: $0.last) }.map(\.continuation))
    }
    for continuation in ready { continuation.resume() }
    return next
  }

  /// Whether something is still being done about a key.
  func isBusy(for key: CacheKey) -> Bool { state.withLock { $0.following[key] != nil } }

  /// Waits for what was added for a key before.
  func finished(for key: CacheKey) async {
    guard isBusy(for: key) else { return }
    await withCheckedContinuation { continuation in add(for: key) { continuation.resume() } }
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
