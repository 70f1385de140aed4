import VitrineRuntime

/// A stage that waits for the job before it and then works on a queue: what decoding and processing have in common.
class StageJob: Job<CachedImage, LoadError>, @unchecked Sendable {
  // @unchecked: like its superclass, guarded by the engine's lock.
  private var dependency: (any Dependency)?
  /// The work on the queue, from when it was handed over.
  final var item: WorkItem?

  /// Waits for a job, passes its progress on, its previews too if they are those of this one, and gives `receive` its end.
  final func wait<Input>(
    for job: Job<Input, LoadError>,
    _ turn: inout Turn,
    forwardsParts: Bool = false,
    _ receive: @escaping (Result<Input, LoadError>, inout Turn) -> Void,
  ) {
    trace?.enter("wait")
    let subscription = job.subscribe(priority: priority, isWatching: isWatched, for: trace, &turn) {
      [weak self] event, turn in
      guard let self else { return }
      switch event {
      case .progress(let completed, let total): send(progress: completed, of: total, &turn)
      case .partial(let part):
        if forwardsParts, let part = part as? CachedImage { send(partial: part, &turn) }
      case .finished(let result):
        dependency = nil
        receive(result, &turn)
      }
    }
    // One that ends at once may have had the next waited for before it is noted down.
    if job.isRunning { dependency = subscription }
  }

  /// Does the job's work on a queue and finishes with what it gives; with `refused` where the queue takes no more.
  final func work(
    on queue: WorkQueue,
    _ engine: Engine,
    _ turn: inout Turn,
    _ body: @escaping @Sendable (WorkItem) -> Result<CachedImage, LoadError>,
    refused: () -> LoadError,
  ) {
    let trace = trace
    trace?.enter("queue")
    do throws(WorkQueueError) {
      item = try queue.enqueue(priority: priority) { [weak self] item in
        trace?.enter("work")
        let result = body(item)
        guard let self else { return }
        engine.turn { self.finish(result, &$0) }
      }
    } catch {
      finish(.failure(refused()), &turn)
    }
  }

  override func stop(_ turn: inout Turn) {
    leave(&turn)
    item?.cancel()
    item = nil
  }

  /// Waits for the job before it no longer.
  final func leave(_ turn: inout Turn) {
    dependency?.unsubscribe(&turn)
    dependency = nil
  }

  override func priorityChanged(_ turn: inout Turn) {
    dependency?.setPriority(priority, &turn)
    item?.priority = priority
  }

  override func watchingBegan(_ turn: inout Turn) { dependency?.watch(&turn) }
}

/// A hold on a job, whatever that job gives.
protocol Dependency {
  func unsubscribe(_ turn: inout Turn)
  func setPriority(_ priority: Priority, _ turn: inout Turn)
  func watch(_ turn: inout Turn)
}

extension Subscription: Dependency {}
