import VitrineRuntime
import VitrineTestSupport

/// A queue whose slots are all taken by items that wait for a gate.
struct BlockedQueue {
  let queue: WorkQueue
  let gate = Gate()

  init(width: Int = 1, queueLimit: Int? = nil) throws {
    queue = WorkQueue(label: "blocked", width: width, queueLimit: queueLimit)
    let started = Record<Int>()
    for number in 0..<width {
      try queue.enqueue { [gate] _ in
        started.add(number)
        gate.wait()
      }
    }
    started.wait(for: width)
  }
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

struct Failure: Error, Equatable {}
