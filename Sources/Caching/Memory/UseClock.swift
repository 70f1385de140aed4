import Synchronization

/// A counter of uses, for their order.
///
/// A thread takes times in lots of 32, since all uses would contend for a single counter. The order is therefore exact
/// among the reads of one thread and between reads and changes. Among concurrent reads it is exact to a few dozen uses.
final class UseClock: Sendable {
  private let next = Atomic<UInt32>(0)

  /// Returns the time of a read.
  ///
  /// It wraps around.
  @inline(__always)
  func tick(_ notes: inout StripedLock.Notes) -> UInt32 {
    if notes.time == notes.lastTime || next.load(ordering: .relaxed) &- notes.lastTime > 256 {
      (notes.time, notes.lastTime) = next.wrappingAdd(32, ordering: .relaxed)
    }
    notes.time &+= 1
    return notes.time
  }

  /// Returns the time of a change, later than all times before.
  ///
  /// Call it with the whole lock held.
  func tick(_ lock: StripedLock) -> UInt32 {
    let time = now(lock) &+ 1
    settle(lock, at: time)
    return time
  }

  /// Returns the latest time given out.
  ///
  /// Call it with the whole lock held.
  func now(_ lock: StripedLock) -> UInt32 {
    let end = next.load(ordering: .relaxed)
    var unused = UInt32.max
    lock.eachNotes { unused = min(unused, end &- $0.time) }
    settle(lock, at: end &- unused)
    return end &- unused
  }

  /// Takes back the rest of all lots, whose times would be later than the next change.
  private func settle(_ lock: StripedLock, at time: UInt32) {
    next.store(time, ordering: .relaxed)
    lock.eachNotes { ($0.time, $0.lastTime) = (time, time) }
  }
}
