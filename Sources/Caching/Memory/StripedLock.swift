import Synchronization
import VitrineRuntime

/// Lets several threads read a value at once, each with a mutex of its own, and one change it, with all of them.
///
/// With one mutex two threads that read all the time get less done together than one alone, since each passing on of the
/// mutex is a call of the system. A lock for readers has one word that all of them write. Here the first eight threads of a
/// process share nothing when they read; further ones share with one of these.
///
/// Hold it for a few instructions: never across a call to code that you do not know, and never while waiting. It is not
/// recursive.
///
/// - Complexity: O(1); about 20 ns to read and 120 ns to change, when nobody else holds it.
@safe
final class StripedLock: @unchecked Sendable {
  // Sendable, since each stripe's notes are only touched while its mutex is held, and the pointer never changes.

  static let count = 8

  /// What is noted by who reads, with that stripe held or all.
  struct Notes: Sendable {
    var hits = 0
    var misses = 0
    /// The last time that was given out, and the last that may be; see ``UseClock``.
    var time: UInt32 = 0
    var lastTime: UInt32 = 0
  }

  @safe
  private struct Stripe {
    // Never touched but through its address, see below.
    var mutex = unsafe pthread_mutex_t()
    var notes = Notes()
  }

  // Two lines of the processor's cache for each: it fetches them in pairs, and what one thread writes another must not wait
  // for.
  private static let stride = 128
  // On the heap: POSIX gives a mutex an identity.
  private let memory: UnsafeMutableRawPointer

  /// Creates an open lock.
  init() {
    precondition(MemoryLayout<Stripe>.size <= Self.stride)
    unsafe memory = .allocate(byteCount: Self.count * Self.stride, alignment: Self.stride)
    for number in 0..<Self.count {
      // Just allocated, and no other thread knows of it yet.
      unsafe (memory + number * Self.stride).initializeMemory(as: Stripe.self, to: Stripe())
      let status = unsafe pthread_mutex_init(mutex(number), nil)
      precondition(status == 0, "no memory for a mutex")
    }
  }

  deinit {
    // Nobody refers to the lock any more, so nobody holds it.
    for number in 0..<Self.count { unsafe pthread_mutex_destroy(mutex(number)) }
    unsafe memory.deallocate()
  }

  /// Calls `body` while nobody changes the value, with the notes of this thread's stripe.
  @inline(__always)
  func reading<Answer>(_ body: (inout Notes) -> Answer) -> Answer {
    let stripe = ThreadNumber.current & (Self.count - 1)
    lock(stripe)
    // In bounds, as `stripe` is less than their number, and the pointers live as long as `self`.
    defer { unsafe pthread_mutex_unlock(mutex(stripe)) }
    return unsafe body(&self.stripe(stripe).pointee.notes)
  }

  /// Calls `body` while nobody else reads or changes the value.
  func changing<Answer>(_ body: () -> Answer) -> Answer {
    // Always in this order, so that two who want all never wait for each other.
    for number in 0..<Self.count { lock(number) }
    defer {
      for number in 0..<Self.count { unsafe pthread_mutex_unlock(mutex(number)) }
    }
    return body()
  }

  /// Calls `body` with the notes of each stripe; to be called within ``changing(_:)``.
  func eachNotes(_ body: (inout Notes) -> Void) {
    // In bounds, and all stripes are held.
    for number in 0..<Self.count { unsafe body(&stripe(number).pointee.notes) }
  }

  @inline(__always)
  private func lock(_ stripe: Int) {
    // Held for some dozen instructions, so it is open again sooner than the system could put this thread to sleep.
    for _ in 0..<64 where unsafe pthread_mutex_trylock(mutex(stripe)) == 0 { return }
    unsafe pthread_mutex_lock(mutex(stripe))
  }

  @inline(__always)
  private func stripe(_ number: Int) -> UnsafeMutablePointer<Stripe> {
    // Initialised as such, for each number below the count.
    unsafe (memory + number &* Self.stride).assumingMemoryBound(to: Stripe.self)
  }

  @inline(__always)
  private func mutex(_ number: Int) -> UnsafeMutablePointer<pthread_mutex_t> {
    // The first field of a stripe lies where the stripe lies.
    unsafe (memory + number &* Self.stride).assumingMemoryBound(to: pthread_mutex_t.self)
  }
}

/// Numbers the threads of the process, in the order in which they first ask.
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
    // What is kept for a thread is its number and no address; 0 stands for none.
    let known = unsafe Int(bitPattern: pthread_getspecific(key))
    return known != 0 ? known : makeNumber()
  }

  private static func makeNumber() -> Int {
    let number = last.wrappingAdd(1, ordering: .relaxed).newValue
    _ = unsafe pthread_setspecific(key, UnsafeRawPointer(bitPattern: number))
    return number
  }
}
