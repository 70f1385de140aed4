import VitrineRuntime

/// A job whose work is an `async` function.
///
/// The function runs in a task of its own, with no lock held. It is cancelled when the last subscriber leaves.
// @unchecked: like its superclass, guarded by the jobs' lock.
final class FunctionJob<Value: Sendable>: Job<Value>, @unchecked Sendable {
  typealias Work = @Sendable (FunctionJob) async throws(LoadError) -> Value

  private let request: ImageRequest
  private let stage: StageKind
  private let context: JobContext
  private let work: Work

  override var requestKeys: RequestKeys? { request.keys }

  init(_ request: ImageRequest, _ stage: StageKind, _ context: JobContext, _ work: @escaping Work) {
    (self.request, self.stage, self.context, self.work) = (request, stage, context, work)
  }

  override func start(_ turn: inout Turn) {
    trace = context.recorder?.stage(stage, request.name, at: turn.uptime)
    task = Task(executorPreference: context.stepper) { [self] in
      let result: Result<Value, LoadError>
      do throws(LoadError) {
        result = .success(try await work(self))
      } catch {
        result = .failure(error)
      }
      context.turn { finish(result, &$0) }
    }
  }

  /// Returns the value of another job, which it joins at its own priority and leaves with its last subscriber.
  ///
  /// Passes the other's progress on, and its partial values to `partial`.
  func value<Input: Sendable>(
    of job: (inout Turn) -> Job<Input>,
    partial: ((Input, inout Turn) -> Void)? = nil,
  ) async throws(LoadError) -> Input {
    let outcome = Deferred<Result<Input, LoadError>>()
    context.turn { turn in
      guard isRunning else { return }
      trace?.enter("wait", at: turn.uptime)
      let job = job(&turn)
      let subscription = job.subscribe(priority: priority, isWatching: isWatched, for: trace, &turn) {
        [self] event, turn in
        switch event {
        case .progress(let completed, let total): send(progress: completed, of: total, &turn)
        case .partial(let value): partial?(value, &turn)
        case .finished(let result):
          dependency = nil
          turn.afterwards { outcome.resolve(result) }
        }
      }
      if job.isRunning { dependency = subscription }
    }
    return try await result(outcome).get()
  }

  /// Returns the result of work on a queue, which has the job's priority.
  ///
  /// Work that does not end after a cancellation is not waited for.
  func run<Output: Sendable>(
    on queue: WorkQueue,
    _ body: @escaping @Sendable (WorkItem) throws -> Output,
  ) async throws -> Output {
    let outcome = Deferred<Result<Output, any Error>>()
    context.turn { turn in
      guard isRunning else { return }
      trace?.enter("queue", at: turn.uptime)
      do throws(WorkQueueError) {
        item = try queue.enqueue(priority: priority) { [self, trace] item in
          trace?.enter("work")
          let result = Result { try body(item) }
          context.turn { _ in self.item = nil }
          outcome.resolve(result)
        }
      } catch {
        turn.afterwards { outcome.resolve(.failure(error)) }
      }
    }
    return try await withTaskCancellationHandler {
      await outcome.value()
    } onCancel: {
      outcome.resolve(.failure(cancelled))
    }.get()
  }

  private var cancelled: LoadError { LoadError(.cancelled, .request, request.name, "cancelled") }

  private func result<Output>(_ outcome: Deferred<Result<Output, LoadError>>) async -> Result<Output, LoadError> {
    await withTaskCancellationHandler {
      await outcome.value()
    } onCancel: {
      // The job has left the other one.
      outcome.resolve(.failure(cancelled))
    }
  }
}

/// A job whose value is known.
// @unchecked: like its superclass, guarded by the jobs' lock.
final class KnownJob<Value: Sendable>: Job<Value>, @unchecked Sendable {
  private let value: Value

  init(_ value: Value) { self.value = value }

  override func start(_ turn: inout Turn) { finish(.success(value), &turn) }
}

extension JobContext {
  /// Returns the value of the first of a request's alternatives that has one; each begins when the one before has
  /// failed.
  ///
  /// `job` returns the job of an alternative; `whenFound` is called before subscribers get the value.
  func first<Value: Sendable>(
    _ request: ImageRequest,
    _ whole: FunctionJob<Value>,
    job: (ImageRequest, inout Turn) -> Job<Value>,
    whenFound: (ImageRequest, Value, inout Turn) -> Void = { _, _, _ in },
  ) async throws(LoadError) -> Value {
    var decisive: LoadError?
    for (index, alternative) in (request.alternatives ?? []).enumerated() {
      do throws(LoadError) {
        let value = try await whole.value(of: { job(alternative, &$0) }) { part, turn in
          whole.send(partial: part, &turn)
        }
        turn { whenFound(alternative, value, &$0) }
        return value
      } catch {
        if error.isCancellation { throw error }
        if index == request.decisiveAlternative { decisive = error }
      }
    }
    throw decisive ?? LoadError(.invalidURL, .request, request.name, "no source is given")
  }
}
