import VitrineCaching
import VitrineHTTP
import VitrineRuntime

/// Carries events from wherever they happen, mostly under a lock, to the observers, who may take their time.
final class EventFeed: Sendable {
  /// Tells an observer of an event.
  typealias Telling = @Sendable (any PipelineObserver, PipelineEvent) -> Void

  private struct State {
    var waiting: [@Sendable () -> Void] = []
    var isDelivering = false
    /// How many are being told.
    var taken = 0
    var missed = 0
  }

  static let limit = 10_000

  private let observers: PipelineObserverList
  private let log: PipelineLog?
  private let state = Lock(State())
  private let queue = WorkQueue(label: "vitrine-observe", width: 1)

  /// `nil` where nobody listens.
  init?(_ configuration: ImagePipeline.Configuration) {
    log = configuration.log.map { PipelineLog($0, clock: configuration.clock) }
    let listeners: [(any PipelineObserver)?] = [configuration.observer, log]
    observers = PipelineObserverList(listeners.compactMap { $0 })
    guard log != nil || configuration.observer != nil else { return nil }
    guard let log, let disk = configuration.diskCache as? DiskCache else { return }
    disk.addWarning { [weak self, weak log] trouble in
      guard let self, let log else { return false }
      afterAll { log.warn(trouble) }
      return true
    }
  }

  /// The same policy, with what it has tried again in the log.
  func watching(_ policy: RetryPolicy) -> RetryPolicy {
    guard let log else { return policy }
    return RetryPolicy { [weak self] attempt in
      let delay = policy.delay(attempt)
      if let self, let delay { afterAll { log.retry(attempt, after: delay) } }
      return delay
    }
  }

  /// Whether another request can be told of; those that have begun are told of to their end.
  func begins() -> Bool {
    state.withLock { state in
      guard state.waiting.count + state.taken < Self.limit else {
        state.missed += 1
        return false
      }
      return true
    }
  }

  func post(_ event: PipelineEvent, _ tell: @escaping Telling) {
    afterAll { [observers] in tell(observers, event) }
  }

  /// Does something once all that was posted before has been told, on the observers' thread.
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
      // The system has no thread to give; the next event tries again.
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
      if missed > 0 { observers.requestsMissed(missed) }
      guard !actions.isEmpty else { return }
      for action in actions { action() }
    }
  }
}

extension ImagePipeline {
  /// Waits until ``Configuration/observer`` and ``Configuration/log`` have been told everything that has happened so far.
  ///
  /// A program that ends by itself calls it before. Returns at once where nobody listens.
  public func flushEvents() async {
    guard let feed = context.recorder?.feed else { return }
    await withCheckedContinuation { continuation in feed.afterAll { continuation.resume() } }
  }
}
