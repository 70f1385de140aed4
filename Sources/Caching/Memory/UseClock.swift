import Synchronization
import VitrineRuntime

/// A counter of uses, for their order.
///
/// It is a Lamport clock, since a counter that all threads write at each use would be as slow as one lock. A use is
/// later than the earlier uses of its thread, and than the earlier uses of its shard. The order is therefore exact for
/// one thread. A thread that was idle catches up with the others to ``step`` uses, by a time that they publish.
@safe
struct UseClock: ~Copyable, @unchecked Sendable {
  // Sendable, since everything in the memory is atomic, and the pointer never changes.

  /// The number of uses after which a thread publishes its time.
  private static var step: UInt64 { 16 }
  private static var threads: Int { 32 }
  // The stride is two cache lines: the processor fetches lines in pairs, and a write by one thread must not delay
  // another.
  private static var stride: Int { 128 }
  /// The latest time of each thread, then the published time.
  ///
  /// Threads beyond the number share times, which costs speed and some order.
  private let memory: UnsafeMutableRawPointer

  init() {
    unsafe memory = .allocate(byteCount: (Self.threads + 1) * Self.stride, alignment: Self.stride)
    for slot in 0...Self.threads {
      // The memory is new, and has room for as many slots.
      unsafe (memory + slot * Self.stride).initializeMemory(as: Atomic<UInt64>.self, to: Atomic(0))
    }
  }

  deinit {
    // Atomic integers need no deinitialisation.
    unsafe memory.deallocate()
  }

  /// Returns the time of a use of a shard whose latest use was at `last`.
  @inline(__always)
  func tick(after last: UInt64) -> UInt64 {
    let own = unsafe slot(ThreadNumber.current & (Self.threads - 1))
    let published = unsafe slot(Self.threads)
    let known = unsafe published.pointee.load(ordering: .relaxed)
    let time = unsafe max(own.pointee.load(ordering: .relaxed), last, known) &+ 1
    // An atomic addition would cost as much as a lock. Threads that share a slot may use the same time twice.
    unsafe own.pointee.store(time, ordering: .relaxed)
    if time &- known >= Self.step { unsafe published.pointee.store(time, ordering: .relaxed) }
    return time
  }

  @inline(__always)
  private func slot(_ number: Int) -> UnsafeMutablePointer<Atomic<UInt64>> {
    // The memory is initialised for each number up to the published time's.
    unsafe (memory + number &* Self.stride).assumingMemoryBound(to: Atomic<UInt64>.self)
  }
}

/// The numbers of the process's threads, in the order of their first use of a clock.
private enum ThreadNumber {
  private static let last = Atomic<Int>(0)

  private static let key: pthread_key_t = {
    var key = pthread_key_t()
    let status = unsafe pthread_key_create(&key, nil)
    precondition(status == 0, "no memory for a thread's number")
    return key
  }()

  @inline(__always)
  static var current: Int {
    // The thread-specific value is a number and not a pointer; 0 means none.
    let known = unsafe Int(bitPattern: pthread_getspecific(key))
    return known != 0 ? known : makeNumber()
  }

  private static func makeNumber() -> Int {
    let number = last.wrappingAdd(1, ordering: .relaxed).newValue
    _ = unsafe pthread_setspecific(key, UnsafeRawPointer(bitPattern: number))
    return number
  }
}
