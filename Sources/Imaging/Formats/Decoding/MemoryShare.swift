package import VitrineRuntime

/// A share of a budget that several have in common: of a decode, or of an encode with the decodes of its frames.
package final class MemoryShare: Sendable {
  private struct State {
    var held = 0
    /// The bytes that are held with each of these.
    var base = 0
    var isWaiting = false
  }

  private let budget: ByteBudget
  private let state = Lock(State())

  /// Makes an empty share.
  package init(of budget: ByteBudget) {
    self.budget = budget
  }

  deinit { release() }

  /// A Boolean value that indicates whether the decode waits for others to end.
  package var isWaiting: Bool { state.withLock { $0.isWaiting } }

  /// Waits until `count` bytes are free, or no other decode holds any.
  ///
  /// - Returns: `true` if it had to wait.
  package func hold(_ count: Int, _ control: DecodeControl) throws(ImageError) -> Bool {
    release()
    let count = count.addingSaturating(state.withLock { $0.base })
    let hasWaited = try waiting { () throws(ImageError) in
      try budget.acquire(count) { () throws(ImageError) in try control.checkCancellation() }
    }
    state.withLock { $0.held = count }
    return hasWaited
  }

  /// Holds `count` bytes with all others from now on, for the work that decodes are a part of.
  ///
  /// They do not get a share of their own, since who holds one while it waits for another could wait for ever.
  package func setBase(_ count: Int) { state.withLock { $0.base = count } }

  /// Calls `body`, which waits for others to end.
  package func waiting<Value>(_ body: () throws(ImageError) -> Value) throws(ImageError) -> Value {
    state.withLock { $0.isWaiting = true }
    defer { state.withLock { $0.isWaiting = false } }
    return try body()
  }

  /// Holds `count` bytes if that needs no wait; returns `false` otherwise.
  package func tryHold(_ count: Int) -> Bool {
    release()
    let count = count.addingSaturating(state.withLock { $0.base })
    guard budget.tryAcquire(count) else { return false }
    state.withLock { $0.held = count }
    return true
  }

  /// Returns the bytes to the budget; does nothing the second time.
  package func release() {
    let count = state.withLock { state in
      defer { state.held = 0 }
      return state.held
    }
    if count > 0 { budget.release(count) }
  }
}
