/// Calls that run one at a time, in the order in which they were added, with no lock held.
///
/// Whoever decides under a lock what is to be told adds it there, so that the order is that of the decisions, and runs it
/// once the lock is open:
/// ```swift
/// state.withLock { state in
///   state.priority = priority
///   calls.add { handle.priority = priority }
/// }
/// calls.run()
/// ```
/// A call may add others, run them, or block: one that blocks holds back the calls behind it and nobody who adds or runs.
package final class SerialCalls: Sendable {
  private struct State {
    var waiting: [(@Sendable () -> Void)?] = []
    var isRunning = false
  }

  private let state = Lock(State())

  /// Creates a list without calls.
  package init() {}

  /// Puts a call behind all others; it runs in somebody's ``run()``.
  ///
  /// Nothing is called or released here, so any lock may be held.
  ///
  /// - Complexity: O(1), amortised.
  package func add(_ call: @escaping @Sendable () -> Void) {
    state.withLock { $0.waiting.append(call) }
  }

  /// Runs all calls that were added, those included that come meanwhile, and releases each behind it.
  ///
  /// If another thread, or a caller further up this stack, is running calls, returns at once: that one goes on with those
  /// that are there. To be called with no lock held.
  package func run() {
    guard var calls = begin() else { return }
    while !calls.isEmpty {
      for index in calls.indices {
        // Released at the end of the turn, before the next one is called.
        let call = calls[index].take()
        call?()
      }
      calls = takeWaiting()
    }
  }

  /// Nil where another one is at it, or nothing is there.
  private func begin() -> [(@Sendable () -> Void)?]? {
    state.withLock { state in
      guard !state.isRunning, !state.waiting.isEmpty else { return nil }
      state.isRunning = true
      defer { state.waiting = [] }
      return state.waiting
    }
  }

  /// Empty for the end, from which on another one may begin.
  private func takeWaiting() -> [(@Sendable () -> Void)?] {
    state.withLock { state in
      defer { state.waiting = [] }
      if state.waiting.isEmpty { state.isRunning = false }
      return state.waiting
    }
  }
}
