import VitrineCaching
import VitrineHTTP
import VitrineRuntime

/// Carries events from wherever they happen, mostly under a lock, to the observers, who may take their time.
final class EventFeed: Sendable {
  enum What: Sendable {
    case requestBegan(ImageRequest)
    case stageBegan
    case stageJoined(by: Int)
    case phaseBegan(String)
    case noted(String)
    case stageEnded
    case requestEnded(PipelineOutcome)
  }

  private enum Item: Sendable {
    case event(PipelineEvent, What)
    case action(@Sendable () -> Void)
  }

  private struct State {
    var waiting: [Item] = []
    var isDelivering = false
    /// How many are being told.
    var taken = 0
    var missed = 0
  }

  static let limit = 10_000

  private let observer: any PipelineObserver
  private let log: PipelineLog?
  private let state = Lock(State())
  private let queue = WorkQueue(label: "vitrine-observe", width: 1)

  /// `nil` where nobody listens.
  init?(_ configuration: ImagePipeline.Configuration) {
    var observers: [any PipelineObserver] = []
    if let observer = configuration.observer { observers.append(observer) }
    log = configuration.log.map { PipelineLog($0, clock: configuration.clock) }
    if let log { observers.append(log) }
    guard let first = observers.first else { return nil }
    observer = observers.count == 1 ? first : PipelineObserverList(observers)
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

  func post(_ event: PipelineEvent, _ what: What) { post(.event(event, what)) }

  /// Does something once all that was posted before has been told, on the observers' thread.
  func afterAll(_ action: @escaping @Sendable () -> Void) { post(.action(action)) }

  private func post(_ item: Item) {
    let isDue = state.withLock { state in
      state.waiting.append(item)
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
      let (items, missed) = state.withLock { state -> ([Item], Int) in
        let (items, missed) = (state.waiting, state.missed)
        (state.waiting, state.taken, state.missed) = ([], items.count, 0)
        state.isDelivering = !items.isEmpty
        return (items, missed)
      }
      if missed > 0 { observer.requestsMissed(missed) }
      guard !items.isEmpty else { return }
      for item in items {
        switch item {
        case .event(let event, let what): tell(event, what)
        case .action(let action): action()
        }
      }
    }
  }

  private func tell(_ event: PipelineEvent, _ what: What) {
    switch what {
    case .requestBegan(let request): observer.requestBegan(request, event)
    case .stageBegan: observer.stageBegan(event)
    case .stageJoined(let request): observer.stageJoined(by: request, event)
    case .phaseBegan(let phase): observer.phaseBegan(phase, event)
    case .noted(let fact): observer.noted(fact, event)
    case .stageEnded: observer.stageEnded(event)
    case .requestEnded(let outcome): observer.requestEnded(outcome, event)
    }
  }
}
