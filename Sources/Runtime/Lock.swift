/// Guards a value with a mutex, so that one thread at a time reads or changes it.
///
/// Copies share the value and the mutex. Hold it for a few instructions, and never across a call to unknown code or a
/// wait. It is not recursive: locking it twice on one thread deadlocks.
///
/// It uses a `pthread_mutex_t` and not a `Synchronization.Mutex`, which requires iOS 18 and for which ThreadSanitizer
/// reports false races on Linux. Both cost the same within 2 ns.
///
/// - Complexity: O(1), about 20 ns without contention; one allocation.
@safe
@usableFromInline
package struct Lock<State: ~Copyable>: @unchecked Sendable {
  // Sendable, because the state is accessed only while the mutex is held.

  @usableFromInline
  let storage: LockStorage<State>

  /// Creates an unlocked lock that owns a value.
  @inlinable
  package init(_ state: consuming sending State) { storage = LockStorage.make(state) }

  /// Calls `body` with exclusive access to the value, and returns its result.
  ///
  /// Blocks while another thread holds the lock. Rethrows the error of `body` after unlocking.
  @inlinable
  package func withLock<Answer: ~Copyable, Failure: Error>(
    _ body: (inout sending State) throws(Failure) -> sending Answer
  ) throws(Failure) -> sending Answer {
    let (mutex, state) = unsafe storage.parts
    // Both live as long as the storage, which `self` retains during the call.
    unsafe pthread_mutex_lock(mutex)
    defer { unsafe pthread_mutex_unlock(mutex) }
    return unsafe try body(&state.pointee)
  }
}

/// A mutex and its value in one allocation: a POSIX mutex has an identity, so neither may move.
@safe
@usableFromInline
final class LockStorage<State: ~Copyable>: ManagedBuffer<pthread_mutex_t, State> {
  @inlinable
  static func make(_ state: consuming State) -> LockStorage {
    let storage = unsafe LockStorage.create(minimumCapacity: 1) { _ in unsafe pthread_mutex_t() }
    let parts = unsafe storage.withUnsafeMutablePointers { unsafe ($0, $1) }
    // The memory is new, and no other thread knows of it yet.
    unsafe initialize(parts.0)
    unsafe parts.1.initialize(to: state)
    return unsafe unsafeDowncast(storage, to: LockStorage.self)
  }

  @usableFromInline
  static func initialize(_ mutex: UnsafeMutablePointer<pthread_mutex_t>) {
    var attributes = pthread_mutexattr_t()
    // The attributes outlive the calls, and the caller's mutex is not in use yet.
    unsafe pthread_mutexattr_init(&attributes)
    #if canImport(Glibc)
    // The lock is held for fewer instructions than the two system calls of sleeping take, so waiters spin first.
    unsafe pthread_mutexattr_settype(&attributes, CInt(PTHREAD_MUTEX_ADAPTIVE_NP))
    #endif
    let status = unsafe pthread_mutex_init(mutex, &attributes)
    precondition(status == 0, "not enough memory for a mutex")
    unsafe pthread_mutexattr_destroy(&attributes)
  }

  /// The mutex and the value, valid as long as the storage is retained.
  @inlinable
  var parts: (UnsafeMutablePointer<pthread_mutex_t>, UnsafeMutablePointer<State>) {
    unsafe withUnsafeMutablePointers { unsafe ($0, $1) }
  }

  @inlinable
  deinit {
    let (mutex, state) = unsafe parts
    // No reference to the lock is left, so no thread holds it.
    unsafe state.deinitialize(count: 1)
    unsafe pthread_mutex_destroy(mutex)
  }
}
