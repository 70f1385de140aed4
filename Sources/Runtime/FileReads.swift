/// Reads files on threads of its own.
///
/// A read from a dead network file system may not return, and nothing can stop it. So a slow read loses its place:
/// another thread takes over, and the read ends whenever it can.
package final class FileReads: Sendable {
  private struct State {
    /// The running reads with the times at which they began.
    var running: [ObjectIdentifier: (item: WorkItem, start: Duration)] = [:]
    var isWatching = false
  }

  /// The time after which a read loses its place.
  package static let patience = Duration.seconds(5)
  /// The maximum number of threads that do not return.
  package static let lostThreadLimit = 64

  package let queue: WorkQueue
  private let clock: any TimeSource
  private let state = Lock(State())

  package init(width: Int = 2, queueLimit: Int?, clock: any TimeSource) {
    self.clock = clock
    queue = WorkQueue(label: "files", width: width, queueLimit: queueLimit, abandonLimit: Self.lostThreadLimit)
  }

  package func enqueue(
    priority: Priority,
    _ read: @escaping @Sendable (WorkItem) -> Void,
  ) throws(WorkQueueError) -> WorkItem {
    try queue.enqueue(priority: priority) { [self] item in
      begin(item)
      defer { end(item) }
      read(item)
    }
  }

  private func begin(_ item: WorkItem) {
    let now = clock.uptime
    let isFirst = state.withLock { state in
      state.running[ObjectIdentifier(item)] = (item, now)
      defer { state.isWatching = true }
      return !state.isWatching
    }
    // One alarm for all reads: most end at once.
    if isFirst { watch(after: Self.patience) }
  }

  private func end(_ item: WorkItem) { state.withLock { $0.running[ObjectIdentifier(item)] = nil } }

  private func watch(after delay: Duration) {
    clock.schedule(after: delay) { [weak self] in self?.replaceLateReads() }
  }

  private func replaceLateReads() {
    let now = clock.uptime
    let (late, next) = state.withLock { state -> ([WorkItem], Duration?) in
      let late = state.running.values.filter { $0.start + Self.patience <= now }.map(\.item)
      for item in late { state.running[ObjectIdentifier(item)] = nil }
      let next = state.running.values.map(\.start).min().map { $0 + Self.patience - now }
      state.isWatching = next != nil
      return (late, next)
    }
    for item in late { item.abandon() }
    if let next { watch(after: next) }
  }
}
