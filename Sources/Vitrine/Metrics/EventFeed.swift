import VitrineCaching
import VitrineHTTP
import VitrineRuntime

/// A feed of events from their origin, mostly under a lock, to the observers, which may be slow.
final class EventFeed: Sendable {
  private struct State {
    var waiting: [@Sendable () -> Void] = []
    var isDelivering = false
    /// The number of events that were taken from `waiting` and whose delivery has not begun.
    var taken = 0
    var missed = 0
  }

  static let limit = 10_000

  private let observers: [any PipelineObserver]
  private let log: PipelineLog?
  private let state = Lock(State())
  private let queue = WorkQueue(label: "vitrine-observe", width: 1)

  /// Creates a feed; returns `nil` if there are no observers and no log.
  init?(
    _ observers: [any PipelineObserver],
    log write: (@Sendable (LogEntry) -> Void)?,
    disk: (any DataCaching)?,
    clock: any TimeSource,
  ) {
    log = write.map { PipelineLog($0, clock: clock) }
    self.observers = observers + [log].compactMap { $0 }
    guard !self.observers.isEmpty else { return nil }
    guard let log, let disk = disk as? any WarningDataCaching else { return }
    if let disk = disk as? DiskCache, let reason = disk.readOnlyReason {
      let trouble = "the disk cache at \(disk.directory.path) keeps new images in memory only: \(reason)"
      afterAll { log.warn(trouble) }
    }
    disk.addWarning { [weak self, weak log] trouble in
      guard let self, let log else { return false }
      afterAll { log.warn(trouble) }
      return true
    }
  }

  /// Logs that a decode does not return.
  func decodeIsStuck(_ format: String) {
    guard let log else { return }
    afterAll { log.decodeIsStuck(format) }
  }

  /// Returns the same policy, which also logs each retry.
  func watching(_ policy: RetryPolicy) -> RetryPolicy {
    guard let log else { return policy }
    return RetryPolicy { [weak self] attempt in
      let delay = policy.delay(attempt)
      if let self, let delay { afterAll { log.retry(attempt, after: delay) } }
      return delay
    }
  }

  /// Returns `false` if the next request must be skipped; events of requests that have begun are never skipped.
  func begins() -> Bool {
    state.withLock { state in
      guard state.waiting.count + state.taken < Self.limit else {
        state.missed += 1
        return false
      }
      return true
    }
  }

  func post(_ event: PipelineEvent) {
    afterAll { [observers] in observers.notify(event) }
  }

  /// Runs an action on the observers' thread after all earlier events.
  func afterAll(_ action: @escaping @Sendable () -> Void) {
    let isDue = state.withLock { state in
      state.waiting.append(action)
      defer { state.isDelivering = true }
      return !state.isDelivering
    }
    guard isDue else { return }
    do throws(WorkQueueError) {
      try queue.enqueue { [self] _ in deliver() }
    } catch {
      // The system has no thread left; the next event tries again.
      state.withLock { $0.isDelivering = false }
    }
  }

  private func deliver() {
    while true {
      let (actions, missed) = state.withLock { state in
        defer {
          (state.taken, state.missed, state.isDelivering) = (state.waiting.count, 0, !state.waiting.isEmpty)
          state.waiting = []
        }
        return (state.waiting, state.missed)
      }
      if missed > 0 { observers.notify(.requestsMissed(missed)) }
      guard !actions.isEmpty else { return }
      for action in actions {
        // The count drops before the action, since its caller may begin a request as soon as it runs.
        state.withLock { $0.taken -= 1 }
        action()
      }
    }
  }
}

extension [any PipelineObserver] {
  fileprivate func notify(_ event: PipelineEvent) {
    for observer in self { observer.observe(event) }
  }
}
