/// Guards a value with a mutex and lets threads wait for a change: a mutex with one condition variable.
///
/// Use it only on dedicated threads: waiting on one of Swift's cooperative threads stops other tasks.
@safe
package final class Monitor<State>: @unchecked Sendable {
  // Sendable, because `lock` guards the state and `condition` never changes.

  private let lock: Lock<State>
  private let condition: UnsafeMutablePointer<pthread_cond_t>

  /// Creates a monitor that owns a value.
  package init(_ state: consuming sending State) {
    lock = Lock(state)
    unsafe condition = .allocate(capacity: 1)
    // The memory is new, and no other thread knows of it yet.
    unsafe condition.initialize(to: pthread_cond_t())
    unsafe Self.makeMonotonic(condition)
  }

  deinit {
    // A waiting thread retains the monitor, so no thread waits.
    unsafe pthread_cond_destroy(condition)
    unsafe condition.deinitialize(count: 1)
    unsafe condition.deallocate()
  }

  /// Calls `body` with exclusive access to the value, and returns its result.
  ///
  /// Blocks while another thread holds the lock, but not for a change.
  package func withLock<Answer, Failure: Error>(
    _ body: (inout sending State) throws(Failure) -> sending Answer
  ) throws(Failure) -> sending Answer {
    try lock.withLock(body)
  }

  /// Calls `body` repeatedly, waiting for a signal in between, until it returns ``MonitorStep/leave(_:)``.
  ///
  /// Blocks the thread. `body` also runs without a signal: at the requested time, and on spurious wake-ups. It must
  /// check the state, not the reason for waking.
  ///
  /// The value is not borrowed while the thread waits, so `body` is called afresh and has no `wait()` to call.
  package func wait<Answer>(
    _ body: (inout sending State) -> sending MonitorStep<Answer>
  ) -> Answer {
    // The mutex, the value and the condition live as long as `self`; the mutex is held around every
    // `pthread_cond_wait`.
    let (mutex, state) = unsafe lock.storage.parts
    unsafe pthread_mutex_lock(mutex)
    defer { unsafe pthread_mutex_unlock(mutex) }
    while true {
      switch unsafe body(&state.pointee) {
      case .leave(let answer): return answer
      case .wait: unsafe pthread_cond_wait(condition, mutex)
      case .waitUntil(let uptime): unsafe Self.wait(condition, mutex, until: uptime)
      }
    }
  }

  /// Wakes one waiting thread, if there is one.
  package func signal() {
    // The condition lives as long as `self`.
    unsafe pthread_cond_signal(condition)
  }

  /// Wakes every waiting thread.
  package func broadcast() {
    // The condition lives as long as `self`.
    unsafe pthread_cond_broadcast(condition)
  }

  #if canImport(Darwin)
  private static func makeMonotonic(_ condition: UnsafeMutablePointer<pthread_cond_t>) {
    // Darwin cannot choose the clock of a condition; it waits for a duration instead, as below.
    let status = unsafe pthread_cond_init(condition, nil)
    precondition(status == 0, "not enough memory for a condition variable")
  }

  private static func wait(
    _ condition: UnsafeMutablePointer<pthread_cond_t>,
    _ mutex: UnsafeMutablePointer<pthread_mutex_t>,
    until uptime: Duration,
  ) {
    var span = timespec(min(max(uptime - systemUptime(), .zero), longestWait))
    // `span` outlives the call, which does not keep it.
    unsafe pthread_cond_timedwait_relative_np(condition, mutex, &span)
  }
  #else
  private static func makeMonotonic(_ condition: UnsafeMutablePointer<pthread_cond_t>) {
    // With the wall clock, a step of it would lengthen or shorten every wait. `attributes` outlives the calls, and
    // `pthread_cond_init` copies it.
    var attributes = pthread_condattr_t()
    unsafe pthread_condattr_init(&attributes)
    unsafe pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC)
    let status = unsafe pthread_cond_init(condition, &attributes)
    unsafe pthread_condattr_destroy(&attributes)
    precondition(status == 0, "not enough memory for a condition variable")
  }

  private static func wait(
    _ condition: UnsafeMutablePointer<pthread_cond_t>,
    _ mutex: UnsafeMutablePointer<pthread_mutex_t>,
    until uptime: Duration,
  ) {
    var deadline = timespec(min(uptime, systemUptime() + longestWait))
    // `deadline` outlives the call, which does not keep it.
    unsafe pthread_cond_timedwait(condition, mutex, &deadline)
  }
  #endif
}

/// The next step of a thread in a ``Monitor``.
package enum MonitorStep<Answer> {
  /// Unlocks and returns the answer.
  case leave(Answer)
  /// Sleeps until the next signal.
  case wait
  /// Sleeps until the next signal, or until the system's uptime reaches this value.
  case waitUntil(Duration)
}

extension MonitorStep: Sendable where Answer: Sendable {}

/// Returns the time for which the machine has been up and awake.
///
/// Steps of the wall clock do not affect it.
package func systemUptime() -> Duration {
  var time = timespec()
  // `time` outlives the call, which fails only for a clock that does not exist.
  #if canImport(Darwin)
  unsafe clock_gettime(CLOCK_UPTIME_RAW, &time)
  #else
  unsafe clock_gettime(CLOCK_MONOTONIC, &time)
  #endif
  return .seconds(time.tv_sec) + .nanoseconds(time.tv_nsec)
}

/// The maximum time of one wait.
///
/// A deadline many years ahead does not fit every system's `timespec`. Waking once a day costs nothing.
private let longestWait = Duration.seconds(86_400)

extension timespec {
  fileprivate init(_ duration: Duration) {
    let (seconds, attoseconds) = duration.components
    // The time is rounded up, so that a thread does not wake just before its deadline only to sleep again.
    let nanoseconds = (attoseconds + 999_999_999) / 1_000_000_000
    self.init()
    tv_sec = time_t(seconds + nanoseconds / 1_000_000_000)
    tv_nsec = Int(nanoseconds % 1_000_000_000)
  }
}
