import Synchronization
import VitrineRuntime

/// A lock for many readers or one writer.
///
/// A reader takes one of eight mutexes, a writer takes all of them. With a single mutex, two threads that read all the
/// time achieve less together than one alone, since every hand-over of the mutex is a system call. A readers-writer
/// lock has a word that all readers write. Here the first eight threads of a process share nothing when they read.
/// Further threads share a stripe with one of these.
///
/// Hold it for a few instructions only: never across a call to unknown code, and never while waiting. It is not
/// recursive.
///
/// - Complexity: O(1); about 20 ns to read and 120 ns to change without contention.
@safe
final class StripedLock: @unchecked Sendable {
  // Sendable, since each stripe's notes are only touched while its mutex is held, and the pointer never changes.

  static let count = 8

  /// Counters that a reader may change, with its stripe or all stripes held.
  struct Notes: Sendable {
    var hits = 0
    var misses = 0
    /// The last time given out, and the end of the lot; see ``UseClock``.
    var time: UInt32 = 0
    var lastTime: UInt32 = 0
  }

  @safe
  private struct Stripe {
    // Used only through its address, see below.
    var mutex = unsafe pthread_mutex_t()
    var notes = Notes()
  }

  // Two cache lines each: the processor fetches lines in pairs, and a write by one thread must not delay another.
  private static let stride = 128
  // On the heap, since POSIX gives a mutex an identity.
  private let memory: UnsafeMutableRawPointer

  /// Creates an unlocked lock.
  init() {
    precondition(MemoryLayout<Stripe>.size <= Self.stride)
    unsafe memory = .allocate(byteCount: Self.count * Self.stride, alignment: Self.stride)
    for number in 0..<Self.count {
      // The memory is new, and no other thread knows of it yet.
      unsafe (memory + number * Self.stride).initializeMemory(as: Stripe.self, to: Stripe())
      let status = unsafe pthread_mutex_init(mutex(number), nil)
      precondition(status == 0, "no memory for a mutex")
    }
  }

  deinit {
    // There is no reference to the lock any more, so no thread holds it.
    for number in 0..<Self.count { unsafe pthread_mutex_destroy(mutex(number)) }
    unsafe memory.deallocate()
  }

  /// Calls `body` with the notes of this thread's stripe, while nothing changes the value.
  @inline(__always)
  func reading<Answer>(_ body: (inout Notes) -> Answer) -> Answer {
    let stripe = ThreadNumber.current & (Self.count - 1)
    lock(stripe)
    // In bounds, since `stripe` is less than their number. The pointers live as long as `self`.
    defer { unsafe pthread_mutex_unlock(mutex(stripe)) }
    return unsafe body(&self.stripe(stripe).pointee.notes)
  }

  /// Calls `body` while no other thread reads or changes the value.
  func changing<Answer>(_ body: () -> Answer) -> Answer {
    // Always in the same order, so that two writers never deadlock.
    for number in 0..<Self.count { lock(number) }
    defer {
      for number in 0..<Self.count { unsafe pthread_mutex_unlock(mutex(number)) }
    }
    return body()
  }

  /// Calls `body` with the notes of each stripe.
  ///
  /// Call it within ``changing(_:)``.
  func eachNotes(_ body: (inout Notes) -> Void) {
    // In bounds, and all stripes are held.
    for number in 0..<Self.count { unsafe body(&stripe(number).pointee.notes) }
  }

  @inline(__always)
  private func lock(_ stripe: Int) {
    // The lock is held for a few dozen instructions, less than the system takes to put this thread to sleep.
    for _ in 0..<64 where unsafe pthread_mutex_trylock(mutex(stripe)) == 0 { return }
    unsafe pthread_mutex_lock(mutex(stripe))
  }

  @inline(__always)
  private func stripe(_ number: Int) -> UnsafeMutablePointer<Stripe> {
    // Initialised as a stripe for each number below the count.
    unsafe (memory + number &* Self.stride).assumingMemoryBound(to: Stripe.self)
  }

  @inline(__always)
  private func mutex(_ number: Int) -> UnsafeMutablePointer<pthread_mutex_t> {
    // The first field of a stripe has the stripe's address.
    unsafe (memory + number &* Self.stride).assumingMemoryBound(to: pthread_mutex_t.self)
  }
}

/// The numbers of the process's threads, in the order of their first use of a lock.
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
