import Synchronization
import VitrineRuntime

/// The one lock under which all jobs of a pipeline change.
///
/// A job calls the job it depends on, and that one calls back. With a lock each, two threads that come from either end
/// could deadlock; with one lock for all, both directions are plain calls. Nothing but numbers and references changes
/// under it.
/// A user's code is called, and a user's objects are released, after the turn, when the lock is released; see ``Turn``.
final class JobLock: Sendable {
  // The number of turns. An empty state would share the mutex's address, which the thread sanitizer reports.
  private let lock = Lock(0)
  private let clock: any TimeSource
  /// The queue for users' closures that are due on a loader's thread; `nil` runs them there.
  private let callbacks: WorkQueue?
  #if DEBUG
  private let owner = Atomic<UInt>(0)
  #endif

  init(clock: any TimeSource = .system, callbacks: WorkQueue? = nil) {
    (self.clock, self.callbacks) = (clock, callbacks)
  }

  /// Runs `body` under the lock, then, with the lock released, the effects that it put off.
  ///
  /// Traps in debug builds when called within a turn. `isOnLoaderThread` is true on a thread of a loader.
  @discardableResult
  func turn<Answer: Sendable>(isOnLoaderThread: Bool = false, _ body: (inout Turn) -> Answer) -> Answer {
    // The clock may be a user's.
    var turn = Turn(now: clock.now, uptime: clock.uptime, isOnLoaderThread: isOnLoaderThread)
    #if DEBUG
    // No other thread can have stored this thread's identity.
    let me = threadIdentity()
    precondition(owner.load(ordering: .relaxed) != me, "a turn within a turn")
    #endif
    let answer = lock.withLock { turns in
      turns &+= 1
      #if DEBUG
      owner.store(me, ordering: .relaxed)
      defer { owner.store(0, ordering: .relaxed) }
      #endif
      return body(&turn)
    }
    turn.end(on: isOnLoaderThread ? callbacks : nil)
    return answer
  }
}

/// The proof that the jobs' lock is held; every change to a job takes one.
struct Turn {
  private enum Effect {
    case call(@Sendable () -> Void)
    case deliver(any Deliverable)
  }

  /// The time at which the turn began; clocks are not called within one.
  let now: Date
  /// The same as uptime.
  let uptime: Duration
  /// True on a loader's thread, which other transfers wait for.
  let isOnLoaderThread: Bool
  private var effects = ShortList<Effect>()
  private var kept = ShortList<AnyObject>()

  fileprivate init(now: Date, uptime: Duration, isOnLoaderThread: Bool) {
    (self.now, self.uptime, self.isOnLoaderThread) = (now, uptime, isOnLoaderThread)
  }

  /// Puts off an effect until the lock is released; effects run in order.
  mutating func afterwards(_ effect: @escaping @Sendable () -> Void) { effects.append(.call(effect)) }

  /// Has an object deliver its events once the lock is released.
  mutating func deliver(_ one: any Deliverable) { effects.append(.deliver(one)) }

  /// Keeps an object until the lock is released, since its release may run a user's `deinit`.
  mutating func keep(_ object: AnyObject) { kept.append(object) }

  /// Keeps a value until the lock is released.
  mutating func release<Value: Sendable>(_ value: Value) { afterwards { withExtendedLifetime(value) {} } }

  fileprivate func end(on queue: WorkQueue?) {
    effects.forEach { effect in
      switch effect {
      case .call(let effect): effect()
      case .deliver(let one):
        guard one.callsOut, let queue, (try? queue.enqueue({ _ in one.deliver() })) != nil else { return one.deliver() }
      }
    }
  }
}

/// A list whose first four elements need no allocation.
private struct ShortList<Element> {
  private var first: (Element?, Element?, Element?, Element?)
  private var count = 0
  private var rest: [Element] = []

  mutating func append(_ element: Element) {
    count += 1
    switch count {
    case 1: first.0 = element
    case 2: first.1 = element
    case 3: first.2 = element
    case 4: first.3 = element
    default: rest.append(element)
    }
  }

  func forEach(_ body: (Element) -> Void) {
    if let element = first.0 { body(element) }
    if let element = first.1 { body(element) }
    if let element = first.2 { body(element) }
    if let element = first.3 { body(element) }
    for element in rest { body(element) }
  }
}

/// A source of events for a receiver outside of the jobs.
protocol Deliverable: AnyObject, Sendable {
  /// True if delivery calls a user's closures.
  var callsOut: Bool { get }

  /// Delivers all events in order and one at a time, however many threads call; with no lock held.
  func deliver()
}
