import VitrineRuntime

/// State that a test can wait for: tasks and threads go on, without a clock, when it satisfies their condition.
package final class Watched<State: Sendable>: Sendable {
  private struct Guarded {
    var state: State
    var waiters: [(condition: @Sendable (State) -> Bool, arrived: Deferred<Void>)] = []
  }

  private let guarded: Monitor<Guarded>

  package init(_ state: State) {
    guarded = Monitor(Guarded(state: state))
  }

  package var value: State { guarded.withLock { $0.state } }

  /// Changes the state, then resumes those who waited for the new state.
  ///
  /// `body` must not call unknown code.
  package func change<Answer: Sendable>(_ body: (inout State) -> Answer) -> Answer {
    let (answer, satisfied) = guarded.withLock { guarded in
      let answer = body(&guarded.state)
      let state = guarded.state
      let satisfied = guarded.waiters.filter { $0.condition(state) }.map(\.arrived)
      if !satisfied.isEmpty { guarded.waiters.removeAll { $0.condition(state) } }
      return (answer, satisfied)
    }
    guarded.broadcast()
    for waiter in satisfied { waiter.resolve(()) }
    return answer
  }

  /// Waits until the state satisfies `condition`.
  ///
  /// Returns early if the awaiting task is cancelled, so that a test's time limit ends the test.
  package func wait(until condition: @escaping @Sendable (State) -> Bool) async {
    let arrived = Deferred<Void>()
    let isReached = guarded.withLock { guarded in
      if condition(guarded.state) { return true }
      guarded.waiters.append((condition, arrived))
      return false
    }
    guard !isReached else { return }
    await withTaskCancellationHandler {
      await arrived.value()
    } onCancel: {
      arrived.resolve(())
    }
  }

  /// Blocks the thread until the state satisfies `condition`; it must not be one of Swift's.
  ///
  /// - Returns: The state that satisfies it.
  @discardableResult
  package func block(until condition: (State) -> Bool) -> State {
    guarded.wait { condition($0.state) ? .leave($0.state) : .wait }
  }
}
