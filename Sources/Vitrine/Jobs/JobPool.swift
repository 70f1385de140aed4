/// The jobs under way, by key: requests with equal keys share one.
// @unchecked: guarded by the jobs' lock, as every access asks for a `Turn`.
final class JobPool: @unchecked Sendable {
  private var jobs: [JobKey: AnyObject] = [:]
  private var lastTask = 0
  private let isCoalescing: Bool

  /// - Parameter isCoalescing: Whether equal keys share a job; if not, every request has its own.
  init(isCoalescing: Bool = true) {
    self.isCoalescing = isCoalescing
  }

  /// How many jobs are under way.
  func count(_ turn: inout Turn) -> Int { jobs.count }

  /// Whether there is one under way.
  func contains(_ key: JobKey, _ turn: inout Turn) -> Bool { jobs[key] != nil }

  /// The one under way, if there is one.
  func running<Value: Sendable>(_ key: JobKey, _ turn: inout Turn) -> Job<Value>? { jobs[key] as? Job<Value> }

  /// The job of a key: the one under way, else the one that `make` gives.
  ///
  /// Whoever asks subscribes to it within the turn.
  func job<Value: Sendable>(
    for key: @autoclosure () -> JobKey,
    _ turn: inout Turn,
    make: (inout Turn) -> Job<Value>,
  ) -> Job<Value> {
    guard isCoalescing else { return make(&turn) }
    let key = key()
    if let job = jobs[key] as? Job<Value> { return job }
    let job = make(&turn)
    jobs[key] = job
    job.takePlace(key, in: self)
    return job
  }

  /// Adds the job of one task alone, until it ends.
  func add(_ job: InterceptJob, _ turn: inout Turn) {
    lastTask += 1
    let key = job.key.ofTask(lastTask)
    jobs[key] = job
    job.takePlace(key, in: self)
  }

  /// Those of single tasks that wait for exactly one image.
  func intercepted(for key: JobKey, _ turn: inout Turn) -> [InterceptJob] {
    jobs.values.compactMap { $0 as? InterceptJob }.filter { $0.key == key }
  }

  /// Forgets a job that has ended.
  func forget(_ key: JobKey, _ turn: inout Turn) { jobs[key] = nil }
}
