/// Calls that run one at a time, in the order in which they were added, with no lock held.
///
/// Code that decides under a lock adds its calls there, so that calls run in the order of the decisions, and runs them
/// after unlocking:
/// ```swift
/// state.withLock { state in
///   state.priority = priority
///   calls.add { handle.priority = priority }
/// }
/// calls.run()
/// ```
/// A call may add others, run them, or block. A blocking call delays only the calls after it, not callers of
/// ``add(_:)`` and ``run()``.
package final class SerialCalls: Sendable {
  private struct State {
    var waiting: [(@Sendable () -> Void)?] = []
    var isRunning = false
  }

  private let state = Lock(State())

  /// Creates an empty list of calls.
  package init() {}

  /// Adds a call after all others; it runs in any thread's ``run()``.
  ///
  /// It calls and releases nothing, so any lock may be held.
  ///
  /// - Complexity: O(1), amortised.
  package func add(_ call: @escaping @Sendable () -> Void) {
    state.withLock { $0.waiting.append(call) }
  }

  /// Runs all added calls, including those added meanwhile, and releases each after it has run.
  ///
  /// Returns at once if another thread, or a caller further up this stack, is running calls: that run includes the new
  /// ones. Call it with no lock held.
  package func run() {
    guard var calls = begin() else { return }
    while !calls.isEmpty {
      for index in calls.indices {
        // The call is released at the end of the iteration, before the next one is called.
        let call = calls[index].take()
        call?()
      }
      calls = takeWaiting()
    }
  }

  /// Returns the calls to run; `nil` if another thread is running them, or there are none.
  private func begin() -> [(@Sendable () -> Void)?]? {
    state.withLock { state in
      guard !state.isRunning, !state.waiting.isEmpty else { return nil }
      state.isRunning = true
      defer { state.waiting = [] }
      return state.waiting
    }
  }

  /// Returns the calls added meanwhile.
  ///
  /// If it is empty, the run is over and another may begin.
  private func takeWaiting() -> [(@Sendable () -> Void)?] {
    state.withLock { state in
      defer { state.waiting = [] }
      if state.waiting.isEmpty { state.isRunning = false }
      return state.waiting
    }
  }
}
