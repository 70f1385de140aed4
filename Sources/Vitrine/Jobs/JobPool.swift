/// The running jobs by key: requests with equal keys share one.
// @unchecked: guarded by the jobs' lock, as every access takes a `Turn`.
final class JobPool: @unchecked Sendable {
  private var jobs: [JobKey: AnyObject] = [:]
  private var lastTask = 0
  private let isCoalescing: Bool

  /// - Parameter isCoalescing: True if equal keys share a job; otherwise every request has its own.
  init(isCoalescing: Bool = true) {
    self.isCoalescing = isCoalescing
  }

  func count(_ turn: inout Turn) -> Int { jobs.count }

  func contains(_ key: JobKey, _ turn: inout Turn) -> Bool { jobs[key] != nil }

  func running<Value: Sendable>(_ key: JobKey, _ turn: inout Turn) -> Job<Value>? { jobs[key] as? Job<Value> }

  /// Returns the running job of a key, or else the one that `make` returns.
  ///
  /// The caller subscribes within the turn.
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

  /// Returns the jobs of single tasks that wait for exactly this image.
  func intercepted(for key: JobKey, _ turn: inout Turn) -> [InterceptJob] {
    jobs.values.compactMap { $0 as? InterceptJob }.filter { $0.key == key }
  }

  func forget(_ key: JobKey, _ turn: inout Turn) { jobs[key] = nil }
}
