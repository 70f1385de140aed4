import Foundation

/// A scheduler whose clock is moved by hand.
///
/// Unchecked: all state is behind a lock, and the closures run where the clock is moved.
public final class _ManualScheduler: Scheduler, @unchecked Sendable {
  /// An instant, which is a length of time since the start.
  public typealias SchedulerTimeType = DispatchQueue.SchedulerTimeType
  /// There are no options.
  public typealias SchedulerOptions = Never

  private struct Job {
    let id: Int
    let due: SchedulerTimeType
    let interval: SchedulerTimeType.Stride?
    let action: () -> Void
  }

  private let lock = NSLock()
  private var time = SchedulerTimeType(DispatchTime(uptimeNanoseconds: 1_000_000_000))
  private var jobs: [Job] = []
  private var lastID = 0

  /// Makes a scheduler at its start.
  public init() {}

  /// The present instant.
  public var now: SchedulerTimeType { lock.withLock { time } }
  /// The smallest tolerance: none.
  public var minimumTolerance: SchedulerTimeType.Stride { .nanoseconds(0) }

  /// How many closures wait.
  public var _pending: Int { lock.withLock { jobs.count } }

  /// Keeps a closure until `_run()` or `_advance(by:)`.
  public func schedule(options: SchedulerOptions?, _ action: @escaping () -> Void) {
    _ = add(after: now, interval: nil, action)
  }

  /// Keeps a closure until the clock has come to an instant.
  public func schedule(
    after date: SchedulerTimeType,
    tolerance: SchedulerTimeType.Stride,
    options: SchedulerOptions?,
    _ action: @escaping () -> Void,
  ) {
    _ = add(after: date, interval: nil, action)
  }

  /// Keeps a closure until an instant, and again at an interval.
  public func schedule(
    after date: SchedulerTimeType,
    interval: SchedulerTimeType.Stride,
    tolerance: SchedulerTimeType.Stride,
    options: SchedulerOptions?,
    _ action: @escaping () -> Void,
  ) -> any Cancellable {
    let id = add(after: date, interval: interval, action)
    return AnyCancellable { [weak self] in self?.remove(id) }
  }

  /// Runs what is due now, and what that adds, without moving the clock.
  public func _run() {
    _advance(by: .nanoseconds(0))
  }

  /// Moves the clock, and runs what is due on the way in order of time.
  public func _advance(by interval: SchedulerTimeType.Stride) {
    let end = now.advanced(by: interval)
    while let job = takeFirst(until: end) {
      job.action()
    }
    lock.withLock { time = end }
  }

  private func takeFirst(until end: SchedulerTimeType) -> Job? {
    lock.withLock {
      let first = jobs.filter { $0.due <= end }.min { ($0.due, $0.id) < ($1.due, $1.id) }
      guard let first else { return nil }
      time = max(time, first.due)
      jobs.removeAll { $0.id == first.id }
      if let interval = first.interval, interval.magnitude > 0 {
        let due = first.due.advanced(by: interval)
        jobs.append(Job(id: first.id, due: due, interval: interval, action: first.action))
      }
      return first
    }
  }

  private func add(
    after date: SchedulerTimeType,
    interval: SchedulerTimeType.Stride?,
    _ action: @escaping () -> Void,
  ) -> Int {
    lock.withLock {
      lastID += 1
      jobs.append(Job(id: lastID, due: date, interval: interval, action: action))
      return lastID
    }
  }

  private func remove(_ id: Int) {
    lock.withLock { jobs.removeAll { $0.id == id } }
  }
}
