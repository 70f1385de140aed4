import VitrineRuntime

/// The exchanges that are being answered, all of which must end before libmicrohttpd may be stopped: it ends the process
/// if a connection is suspended then.
final class OpenExchanges: Sendable {
  private struct State {
    var count = 0
    var isStopping = false
  }

  private let monitor = Monitor(State())

  /// Begins one; returns `false` if none may begin any more.
  func enter() -> Bool {
    monitor.withLock { state in
      guard !state.isStopping else { return false }
      state.count += 1
      return true
    }
  }

  /// Ends one, whose connection is not suspended any more.
  func leave() {
    let isLast = monitor.withLock { state in
      state.count -= 1
      return state.count == 0 && state.isStopping
    }
    if isLast { monitor.broadcast() }
  }

  /// Lets none begin, and waits until all have ended.
  func stop() {
    monitor.withLock { $0.isStopping = true }
    monitor.wait { $0.count == 0 ? .leave(()) : .wait }
  }
}
