import Foundation
import VitrineCaching

/// A value to store: one object for each entry, as with an image.
final class Payload: Sendable {
  let number: Int
  // About as large as the pipeline's data for an image without its pixels, so that no two share a cache line.
  let facts: (SIMD8<Int>, SIMD8<Int>) = (.zero, .zero)
  init(_ number: Int) { self.number = number }
}

/// A dictionary behind a lock: the common handwritten cache, and the minimum cost of any.
final class LockedDictionary: @unchecked Sendable {
  // @unchecked: guarded by `mutex`.
  private let mutex: UnsafeMutablePointer<pthread_mutex_t>
  private var values: [CacheKey: Payload]

  init(_ values: [CacheKey: Payload]) {
    self.values = values
    mutex = .allocate(capacity: 1)
    pthread_mutex_init(mutex, nil)
  }

  deinit {
    pthread_mutex_destroy(mutex)
    mutex.deallocate()
  }

  subscript(key: CacheKey) -> Payload? {
    get {
      pthread_mutex_lock(mutex)
      defer { pthread_mutex_unlock(mutex) }
      return values[key]
    }
    set {
      pthread_mutex_lock(mutex)
      defer { pthread_mutex_unlock(mutex) }
      values[key] = newValue
    }
  }
}

/// The same behind a readers-writer lock.
///
/// It could not record uses.
final class ReadWriteLockedDictionary: @unchecked Sendable {
  // @unchecked: guarded by `lock`.
  private let lock: UnsafeMutablePointer<pthread_rwlock_t>
  private var values: [CacheKey: Payload]

  init(_ values: [CacheKey: Payload]) {
    self.values = values
    lock = .allocate(capacity: 1)
    pthread_rwlock_init(lock, nil)
  }

  deinit {
    pthread_rwlock_destroy(lock)
    lock.deallocate()
  }

  subscript(key: CacheKey) -> Payload? {
    get {
      pthread_rwlock_rdlock(lock)
      defer { pthread_rwlock_unlock(lock) }
      return values[key]
    }
    set {
      pthread_rwlock_wrlock(lock)
      defer { pthread_rwlock_unlock(lock) }
      values[key] = newValue
    }
  }
}

/// `NSCache`, which is documented as thread-safe.
struct SharedNSCache: @unchecked Sendable {
  // @unchecked: `NSCache` locks.
  let cache = NSCache<NSString, Payload>()
}

/// Immutable `NSString`s.
struct SharedStrings: @unchecked Sendable {
  // @unchecked: immutable.
  let strings: [NSString]
}
