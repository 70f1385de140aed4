import VitrineCaching
import VitrineRuntime

/// A running job of any value type.
protocol PooledJob: AnyObject {
  /// The keys of the job's request; `nil` for a job without a request of its own.
  var requestKeys: RequestKeys? { get }

  /// Ends the wait of the job's callers; jobs that depend on it keep waiting.
  func cancelCallers(_ error: LoadError, _ turn: inout Turn)

  /// Registers the job's entry in a pool, to be removed at the end.
  func takePlace(_ key: JobKey, in pool: JobPool)
}

/// The running jobs by key: requests with equal keys share one.
// @unchecked: guarded by the jobs' lock, as every access takes a `Turn`.
final class JobPool: @unchecked Sendable {
  private var jobs: [JobKey: any PooledJob] = [:]
  private var lastTask = 0
  /// The largest number of jobs at once since the memory of a burst was last returned.
  private var most = 0
  private let isCoalescing: Bool
  private let clock: any TimeSource

  /// The number of jobs at once whose memory is worth being returned.
  static let burst = 10_000

  /// - Parameters:
  ///   - isCoalescing: True if equal keys share a job; otherwise every request has its own.
  ///   - clock: The clock that tells when the end of a burst is over.
  init(isCoalescing: Bool = true, clock: any TimeSource = .system) {
    (self.isCoalescing, self.clock) = (isCoalescing, clock)
  }

  func count(_ turn: inout Turn) -> Int { jobs.count }

  func contains(_ key: JobKey, _ turn: inout Turn) -> Bool { jobs[key] != nil }

  func running<Value: Sendable>(_ key: JobKey, _ turn: inout Turn) -> Job<Value>? { jobs[key] as? Job<Value> }

  /// Returns the running job of a key, or else the job that `make` returns.
  ///
  /// The caller subscribes within the turn. A job that is not shared is always new.
  func job<Value: Sendable>(
    for key: @autoclosure () -> JobKey,
    isShared: Bool = true,
    _ turn: inout Turn,
    make: (inout Turn) -> Job<Value>,
  ) -> Job<Value> {
    let key = key()
    let isShared = isShared && isCoalescing
    if isShared, let job = jobs[key] as? Job<Value> { return job }
    let job = make(&turn)
    if isShared { add(job, key) } else { add(job, ofOneTask: key) }
    return job
  }

  /// Adds the job of one task alone, until it ends.
  func add(_ job: InterceptJob, _ turn: inout Turn) { add(job, ofOneTask: job.key) }

  private func add<Value: Sendable>(_ job: Job<Value>, ofOneTask key: JobKey) {
    lastTask += 1
    add(job, key.ofTask(lastTask))
  }

  private func add<Value: Sendable>(_ job: Job<Value>, _ key: JobKey) {
    jobs[key] = job
    most = max(most, jobs.count)
    job.takePlace(key, in: self)
  }

  /// Gives the running jobs of a source, or all jobs for `nil`, keys that no later request has.
  ///
  /// The jobs go on for their present subscribers.
  ///
  /// Complexity: O(n) over the jobs.
  func detach(_ source: RequestKeys?, _ turn: inout Turn) {
    let found = jobs.filter { _, job in source.map { job.requestKeys?.hasSource(of: $0) ?? false } ?? true }
    for (key, job) in found where key.isShared {
      jobs[key] = nil
      lastTask += 1
      let own = key.ofTask(lastTask)
      jobs[own] = job
      job.takePlace(own, in: self)
    }
  }

  // MARK: Cancelling

  /// Ends the wait of the callers of a key.
  ///
  /// Complexity: O(n) over the jobs where some serve one task alone, else O(1).
  func cancelCallers(of key: JobKey, _ error: LoadError, _ turn: inout Turn) {
    var found: [any PooledJob] = lastTask == 0 ? [] : jobs.filter { $0.key.isOfOneTask(key) }.map(\.value)
    if let job = jobs[key] { found.append(job) }
    for job in found { job.cancelCallers(error, &turn) }
  }

  /// Ends the wait of the callers of a source.
  ///
  /// Complexity: O(n) over the jobs.
  func cancelCallers(ofSource source: RequestKeys, _ error: LoadError, _ turn: inout Turn) {
    let found = jobs.values.filter { $0.requestKeys?.hasSource(of: source) ?? false }
    for job in found { job.cancelCallers(error, &turn) }
  }

  func forget(_ key: JobKey, _ turn: inout Turn) {
    jobs[key] = nil
    guard most >= Self.burst, jobs.count <= most / 16 else { return }
    // The new table has the capacity for the jobs of now.
    jobs = Dictionary(uniqueKeysWithValues: jobs.map { ($0, $1) })
    most = 0
    turn.deliver(MemoryReturn(clock))
  }
}

/// Returns the memory of a burst to the system once its callers have gone, too: the allocator keeps it otherwise.
private final class MemoryReturn: Deliverable {
  private let clock: any TimeSource

  init(_ clock: any TimeSource) { self.clock = clock }

  var callsOut: Bool { false }

  func deliver() {
    clock.schedule(after: .seconds(2)) {
      // It takes a while for gigabytes, so not on the clock's thread.
      _ = startThread(named: "vitrine-free") { FreeMemory.returnToSystem() }
    }
  }
}
