import VitrineRuntime

/// The shards of a ``MemoryStore``, each behind a mutex of its own.
///
/// With 64 shards, threads rarely meet in one. A hit writes to its shard, to its entry and to its thread's time, and to
/// no cache line that all hits write.
///
/// Hold a shard for a few instructions only: never across a call to unknown code, and never while taking another
/// shard. The mutexes are not recursive.
@safe
struct MemoryShards: ~Copyable, @unchecked Sendable {
  // Sendable, since a shard is only touched while its mutex is held, and the pointer never changes.

  static var count: Int { 64 }

  @safe
  private struct Slot: ~Copyable {
    // The mutex is used only through its address, see below. The fields that a hit writes follow it on the same cache
    // line.
    var mutex = unsafe pthread_mutex_t()
    var shard = MemoryShard()
  }

  // The stride is whole pairs of cache lines: the processor fetches pairs, and a write to one shard must not delay
  // another.
  private static var stride: Int { 256 }
  // The shards are on the heap, since POSIX gives a mutex an identity.
  private let memory: UnsafeMutableRawPointer

  init() {
    precondition(MemoryLayout<Slot>.size <= Self.stride)
    unsafe memory = .allocate(byteCount: Self.count * Self.stride, alignment: Self.stride)
    for number in 0..<Self.count {
      // The memory is new, and no other thread knows of it yet.
      unsafe (memory + number * Self.stride).initializeMemory(as: Slot.self, to: Slot())
      let status = unsafe pthread_mutex_init(mutex(number), nil)
      precondition(status == 0, "no memory for a mutex")
    }
  }

  deinit {
    // There is no reference to the shards any more, so no thread holds one.
    for number in 0..<Self.count {
      unsafe pthread_mutex_destroy(mutex(number))
      unsafe slot(number).deinitialize(count: 1)
    }
    unsafe memory.deallocate()
  }

  /// Returns the number of the shard of a key, or of a group.
  ///
  /// The hash is keyed, so untrusted keys cannot fill one shard.
  @inline(__always)
  static func number(of key: CacheKey) -> Int { Int(truncatingIfNeeded: key.hash.high) & (count - 1) }

  /// Calls `body` while no other thread reads or changes the shard.
  @inline(__always)
  func withLock<Answer>(_ number: Int, _ body: (inout MemoryShard) -> Answer) -> Answer {
    precondition(UInt(bitPattern: number) < UInt(bitPattern: Self.count))
    let mutex = unsafe mutex(number)
    // The lock is held for a few dozen instructions, less than the system takes to put this thread to sleep.
    var attempts = 0
    while unsafe pthread_mutex_trylock(mutex) != 0 {
      attempts += 1
      if attempts == 64 {
        unsafe pthread_mutex_lock(mutex)
        break
      }
    }
    // The slot is in bounds, and the memory lives as long as `self`.
    defer { unsafe pthread_mutex_unlock(mutex) }
    return unsafe body(&slot(number).pointee.shard)
  }

  /// Calls `body` with each shard in turn, and returns the results.
  func each<Answer>(_ body: (inout MemoryShard) -> Answer) -> [Answer] {
    (0..<Self.count).map { withLock($0, body) }
  }

  @inline(__always)
  private func slot(_ number: Int) -> UnsafeMutablePointer<Slot> {
    // The memory is initialised as a slot for each number below the count.
    unsafe (memory + number &* Self.stride).assumingMemoryBound(to: Slot.self)
  }

  @inline(__always)
  private func mutex(_ number: Int) -> UnsafeMutablePointer<pthread_mutex_t> {
    // The first field of a slot has the slot's address.
    unsafe (memory + number &* Self.stride).assumingMemoryBound(to: pthread_mutex_t.self)
  }
}

/// A locked table of a ``MemoryStore``.
struct MemoryShard: ~Copyable {
  /// The time of the latest use of an entry here, see ``UseClock``.
  var time: UInt64 = 0
  var hits = 0
  var misses = 0
  /// The entries whose keys belong here.
  var table = MemoryTable()
  /// The groups whose keys belong here.
  ///
  /// Their entries may be in any shard.
  var groups = MemoryGroups()
}
