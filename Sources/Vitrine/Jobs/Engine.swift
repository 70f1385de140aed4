import VitrineRuntime

/// The one lock under which all jobs of a pipeline change.
///
/// A job calls the job it depends on, and that one calls back with what it found. With a lock each, two threads that come
/// from either end would wait for one another; with one lock for all, both directions are plain calls. What is done under
/// it is short: numbers change, work is handed to a queue, continuations are resumed. Whatever is not known to be short
/// or could call back (a loader, a user's closure) is put off with ``Turn/afterwards(_:)`` until the lock is open again.
final class Engine: Sendable {
  // How many turns there have been. A state of no size would have the address of the mutex beside it, which the thread
  // sanitizer takes for a race.
  private let lock = Lock(0)

  /// Runs `body` alone, then, with the lock open, what it put off.
  ///
  /// Not to be called from within a turn.
  @discardableResult
  func turn<Answer: Sendable>(_ body: (inout Turn) -> Answer) -> Answer {
    var turn = Turn()
    let answer = lock.withLock { turns in
      turns &+= 1
      return body(&turn)
    }
    turn.runEffects()
    return answer
  }
}

/// The proof that the engine's lock is held: whatever changes a job asks for it.
struct Turn {
  private var effects: [@Sendable () -> Void] = []

  fileprivate init() {}

  /// Puts something off until the lock is open, in the order of the calls.
  mutating func afterwards(_ effect: @escaping @Sendable () -> Void) {
    effects.append(effect)
  }

  fileprivate func runEffects() {
    for effect in effects { effect() }
  }
}
