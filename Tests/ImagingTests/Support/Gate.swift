import VitrineRuntime

/// Holds threads until it is opened.
final class Gate: Sendable {
  private let monitor = Monitor(false)

  func wait() { monitor.wait { $0 ? .leave(()) : .wait } }

  func open() {
    monitor.withLock { $0 = true }
    monitor.broadcast()
  }
}
