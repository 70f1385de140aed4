/// Guards a value with a mutex, so that one thread at a time reads or changes it.
///
/// Copies share the value and the mutex. Hold it for a few instructions: never across a call to code that you do not
/// know, and never while waiting. It is not recursive; locking it twice on one thread never returns.
///
/// A `pthread_mutex_t` and not `Synchronization.Mutex`, because ThreadSanitizer reports false races
/// for that one on Linux, and because it asks for iOS 18. They cost the same within 2 ns.
///
/// - Complexity: O(1), about 20 ns when nobody else holds it; one allocation.
@safe
package struct Lock<State: ~Copyable>: @unchecked Sendable {
  // Sendable, since the state is only touched while the mutex is held.

  @usableFromInline
  let storage: LockStorage<State>

  /// Creates an open lock around a value that nobody else keeps.
  @inlinable
  package init(_ state: consuming sending State) { storage = LockStorage.make(state) }

  /// Calls `body` with the value while no other thread can touch it, and returns what it returns.
  ///
  /// Blocks while another thread holds the lock. Rethrows what `body` throws, with the lock open again.
  @inlinable
  package func withLock<Answer: ~Copyable, Failure: Error>(
    _ body: (inout sending State) throws(Failure) -> sending Answer
  ) throws(Failure) -> sending Answer {
    let (mutex, state) = unsafe storage.parts
    // Both live as long as the storage, which `self` keeps during the call.
    unsafe pthread_mutex_lock(mutex)
    defer { unsafe pthread_mutex_unlock(mutex) }
    return unsafe try body(&state.pointee)
  }
}

/// A mutex and the value behind it in one allocation: POSIX gives a mutex an identity, so that neither may move.
@safe
@usableFromInline
final class LockStorage<State: ~Copyable>: ManagedBuffer<pthread_mutex_t, State> {
  @inlinable
  static func make(_ state: consuming State) -> LockStorage {
    let storage = unsafe LockStorage.create(minimumCapacity: 1) { _ in unsafe pthread_mutex_t() }
    let parts = unsafe storage.withUnsafeMutablePointers { unsafe ($0, $1) }
    // Just allocated, and no other thread knows of it yet.
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
    // What is held for a few instructions is waited for with fewer: sleeping takes two calls of the system.
    unsafe pthread_mutexattr_settype(&attributes, CInt(PTHREAD_MUTEX_ADAPTIVE_NP))
    #endif
    let status = unsafe pthread_mutex_init(mutex, &attributes)
    precondition(status == 0, "no memory for a mutex")
    unsafe pthread_mutexattr_destroy(&attributes)
  }

  /// The mutex and the value; valid for as long as the storage is kept.
  @inlinable
  var parts: (UnsafeMutablePointer<pthread_mutex_t>, UnsafeMutablePointer<State>) {
    unsafe withUnsafeMutablePointers { unsafe ($0, $1) }
  }

  @inlinable
  deinit {
    let (mutex, state) = unsafe parts
    // Nobody refers to the lock any more, so nobody holds it.
    unsafe state.deinitialize(count: 1)
    unsafe pthread_mutex_destroy(mutex)
  }
}
