/// The jobs under way, by key: jobs with equal keys are one job.
// @unchecked: guarded by the engine's lock, as every access asks for a `Turn`.
final class JobPool<Key: Hashable, Value: Sendable, Failure: Error>: @unchecked Sendable {
  private var jobs: [Key: Job<Value, Failure>] = [:]
  private let isCoalescing: Bool

  /// - Parameter isCoalescing: Whether equal keys share a job; if not, every request has its own.
  init(isCoalescing: Bool = true) {
    self.isCoalescing = isCoalescing
  }

  /// How many jobs are under way.
  func count(_ turn: inout Turn) -> Int { jobs.count }

  /// Whether there is one under way.
  func contains(_ key: Key, _ turn: inout Turn) -> Bool { jobs[key] != nil }

  /// The one under way, if there is one.
  func running(_ key: Key, _ turn: inout Turn) -> Job<Value, Failure>? { jobs[key] }

  /// The job of a key: the one under way, else the one that `make` gives, which must call its argument at its end.
  func job(
    for key: @autoclosure () -> Key,
    _ turn: inout Turn,
    make: (_ onEnd: @escaping (inout Turn) -> Void) -> Job<Value, Failure>,
  ) -> Job<Value, Failure> {
    guard isCoalescing else { return make { _ in } }
    let key = key()
    if let job = jobs[key] { return job }
    let job = make { [weak self] _ in self?.jobs[key] = nil }
    jobs[key] = job
    return job
  }
}
