import Synchronization

/// Counts uses, for their order.
///
/// A thread gets times in lots of 32, since a counter that every use wrote would be waited for by every use. So among
/// reads of several threads at once the order is known to within some dozen uses; it is exact among those of one thread,
/// and between reads and changes.
final class UseClock: Sendable {
  private let next = Atomic<UInt32>(0)

  /// The time of a read; wraps around.
  @inline(__always)
  func tick(_ notes: inout StripedLock.Notes) -> UInt32 {
    if notes.time == notes.lastTime || next.load(ordering: .relaxed) &- notes.lastTime > 256 {
      (notes.time, notes.lastTime) = next.wrappingAdd(32, ordering: .relaxed)
    }
    notes.time &+= 1
    return notes.time
  }

  /// The time of a change, later than all before; to be called with the whole lock held.
  func tick(_ lock: StripedLock) -> UInt32 {
    let time = now(lock) &+ 1
    settle(lock, at: time)
    return time
  }

  /// The latest time that was given; to be called with the whole lock held.
  func now(_ lock: StripedLock) -> UInt32 {
    let end = next.load(ordering: .relaxed)
    var unused = UInt32.max
    lock.eachNotes { unused = min(unused, end &- $0.time) }
    settle(lock, at: end &- unused)
    return end &- unused
  }

  /// Takes back what is left of all lots, which would be later than what comes now.
  private func settle(_ lock: StripedLock, at time: UInt32) {
    next.store(time, ordering: .relaxed)
    lock.eachNotes { ($0.time, $0.lastTime) = (time, time) }
  }
}
