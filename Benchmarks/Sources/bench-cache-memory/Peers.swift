import Foundation
import VitrineCaching

/// Something to keep: an object of its own for each entry, as an image is.
final class Payload: Sendable {
  let number: Int
  // About as large as what a pipeline keeps of an image beside its pixels, so that no two share a line of the cache.
  let facts: (SIMD8<Int>, SIMD8<Int>) = (.zero, .zero)
  init(_ number: Int) { self.number = number }
}

/// A dictionary behind a lock: what people write by hand, and the least that a cache can cost.
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
    pthread_mutex_lock(mutex)
    defer { pthread_mutex_unlock(mutex) }
    return values[key]
  }
}

/// The same behind a lock that lets readers in together.
///
/// It could not note what was used.
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
    pthread_rwlock_rdlock(lock)
    defer { pthread_rwlock_unlock(lock) }
    return values[key]
  }
}

/// `NSCache`, which says itself that it may be used from several threads.
struct SharedNSCache: @unchecked Sendable {
  // @unchecked: `NSCache` locks.
  let cache = NSCache<NSString, Payload>()
}

/// `NSString`s that nobody changes.
struct SharedStrings: @unchecked Sendable {
  // @unchecked: immutable.
  let strings: [NSString]
}
