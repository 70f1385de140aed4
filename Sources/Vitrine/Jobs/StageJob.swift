import VitrineRuntime

/// A stage that waits for the job before it and then works on a queue: what decoding and processing have in common.
class StageJob<Input: Sendable>: Job<CachedImage, LoadError>, @unchecked Sendable {
  // @unchecked: like its superclass, guarded by the engine's lock.
  private var subscription: Subscription<Input, LoadError>?
  /// The work on the queue, from when it was handed over.
  final var item: WorkItem?

  /// Waits for a job, passes its progress on, and gives `receive` its end.
  final func wait(
    for job: Job<Input, LoadError>,
    _ turn: inout Turn,
    _ receive: @escaping (Result<Input, LoadError>, inout Turn) -> Void,
  ) {
    subscription = job.subscribe(priority: priority, &turn) { [weak self] event, turn in
      guard let self else { return }
      switch event {
      case .progress(let completed, let total): send(progress: completed, of: total, &turn)
      case .partial: break
      case .finished(let result):
        subscription = nil
        receive(result, &turn)
      }
    }
  }

  override func stop(_ turn: inout Turn) {
    subscription?.unsubscribe(&turn)
    item?.cancel()
    (subscription, item) = (nil, nil)
  }

  override func priorityChanged(_ turn: inout Turn) {
    subscription?.setPriority(priority, &turn)
    item?.priority = priority
  }
}
