/// A limit on the bytes that concurrent work on several threads holds together.
///
/// Work waits, in the order of arrival, until enough bytes are free. Work that needs more than the whole budget runs
/// alone.
package final class ByteBudget: Sendable {
  private struct State {
    var held = 0
    var waiting: [Int] = []
    var nextTicket = 0
  }

  /// The interval at which a waiting thread calls `check`.
  private static let interval = Duration.milliseconds(20)

  /// The maximum number of bytes held together.
  package let limit: Int
  private let monitor = Monitor(State())

  /// Creates a budget.
  package init(limit: Int) {
    self.limit = limit
  }

  /// The number of held bytes.
  package var heldCount: Int { monitor.withLock { $0.held } }

  /// The number of waiting threads.
  package var waitingCount: Int { monitor.withLock { $0.waiting.count } }

  /// Blocks until `count` bytes are free or none are held, and takes them.
  ///
  /// `check` is called every 20 ms during the wait; if it throws, the wait ends with its error.
  ///
  /// - Returns: `true` if the thread had to wait.
  package func acquire<Failure: Error>(_ count: Int, check: () throws(Failure) -> Void) throws(Failure) -> Bool {
    let ticket = monitor.withLock { state -> Int? in
      if state.waiting.isEmpty, hasRoom(for: count, state) {
        state.held += count
        return nil
      }
      state.nextTicket += 1
      state.waiting.append(state.nextTicket)
      return state.nextTicket
    }
    guard let ticket else { return false }
    while true {
      do throws(Failure) {
        try check()
      } catch {
        monitor.withLock { state in state.waiting.removeAll { $0 == ticket } }
        monitor.broadcast()
        throw error
      }
      let deadline = systemUptime() + Self.interval
      let isDone = monitor.wait { state -> MonitorStep<Bool> in
        if state.waiting.first == ticket, hasRoom(for: count, state) {
          state.waiting.removeFirst()
          state.held += count
          return .leave(true)
        }
        return systemUptime() < deadline ? .waitUntil(deadline) : .leave(false)
      }
      guard isDone else { continue }
      // The next one may fit too.
      monitor.broadcast()
      return true
    }
  }

  /// Takes `count` bytes if they are free and no thread waits; returns `false` at once if not.
  package func tryAcquire(_ count: Int) -> Bool {
    monitor.withLock { state in
      guard state.waiting.isEmpty, hasRoom(for: count, state) else { return false }
      state.held += count
      return true
    }
  }

  /// Returns bytes that ``acquire(_:check:)`` or ``tryAcquire(_:)`` has granted.
  package func release(_ count: Int) {
    monitor.withLock { $0.held -= count }
    monitor.broadcast()
  }

  private func hasRoom(for count: Int, _ state: State) -> Bool {
    // A subtraction, so that an estimate from a hostile header cannot overflow.
    state.held == 0 || count <= limit - state.held
  }
}
