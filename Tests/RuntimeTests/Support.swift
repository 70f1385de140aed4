import VitrineRuntime

/// Stops threads until the test opens it.
final class Gate: Sendable {
  private let monitor = Monitor(false)

  func open() {
    monitor.withLock { $0 = true }
    monitor.broadcast()
  }

  func wait() {
    monitor.wait { $0 ? .leave(()) : .wait }
  }
}

/// Keeps what happened, in order, and lets the test block until enough has.
///
/// Only what a thread of our own records may be waited for, never what a task does.
final class Record<Event: Sendable>: Sendable {
  private let monitor = Monitor([Event]())

  var events: [Event] { monitor.withLock { $0 } }

  func add(_ event: Event) {
    monitor.withLock { $0.append(event) }
    monitor.broadcast()
  }

  @discardableResult
  func wait(for count: Int) -> [Event] {
    monitor.wait { $0.count >= count ? .leave($0) : .wait }
  }
}

/// A queue whose slots are all taken by items that wait for a gate.
struct BlockedQueue {
  let queue: WorkQueue
  let gate = Gate()

  init(
    width: Int = 1,
    byteBudget: Int? = nil,
    queueLimit: Int? = nil,
    bytes: Int = 0,
  ) throws {
    queue = WorkQueue(
      label: "blocked",
      width: width,
      byteBudget: byteBudget,
      queueLimit: queueLimit,
    )
    let started = Record<Int>()
    for number in 0..<width {
      try queue.enqueue(bytes: bytes) { [gate] _ in
        started.add(number)
        gate.wait()
      }
    }
    started.wait(for: width)
  }
}

/// Starts threads, and returns when all have ended their work.
func onThreads(_ count: Int, _ body: @escaping @Sendable (Int) -> Void) {
  let ended = Record<Int>()
  for number in 0..<count {
    let isStarted = startThread(named: "test") {
      body(number)
      ended.add(number)
    }
    precondition(isStarted)
  }
  ended.wait(for: count)
}

/// Tells when threads have ended: a thread-specific value is destroyed after all that the thread did.
final class ThreadEnds: Sendable {
  private let record = Record<Void>()

  private static let key: pthread_key_t = {
    var key = pthread_key_t()
    #if canImport(Darwin)
    unsafe pthread_key_create(&key) { value in
      unsafe Unmanaged<Record<Void>>.fromOpaque(value).takeRetainedValue().add(())
    }
    #else
    unsafe pthread_key_create(&key) { value in
      guard let value = unsafe value else { return }
      unsafe Unmanaged<Record<Void>>.fromOpaque(value).takeRetainedValue().add(())
    }
    #endif
    return key
  }()

  /// Reports the end of the calling thread.
  func watch() {
    unsafe pthread_setspecific(Self.key, Unmanaged.passRetained(record).toOpaque())
  }

  func wait(for count: Int) {
    record.wait(for: count)
  }
}

/// The same numbers in every run.
struct SplitMix: RandomNumberGenerator {
  var state: UInt64

  mutating func next() -> UInt64 {
    state &+= 0x9E37_79B9_7F4A_7C15
    var mixed = state
    mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
    mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
    return mixed ^ (mixed >> 31)
  }
}

struct Failure: Error, Equatable {}
