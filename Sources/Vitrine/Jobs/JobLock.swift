import Synchronization
import VitrineRuntime

/// The one lock under which all jobs of a pipeline change.
///
/// A job calls the job it depends on, and that one calls back with what it found. With a lock each, two threads that come
/// from either end would wait for each other; with one lock for all, both directions are plain calls. Only numbers and
/// references change under it. A user's code is called, and a user's objects are released, after the turn, when the lock
/// is open; see ``Turn``.
final class JobLock: Sendable {
  // How many turns there have been. A state of no size would have the address of the mutex beside it, which the thread
  // sanitizer takes for a race.
  private let lock = Lock(0)
  private let clock: any TimeSource
  /// Where a user's closures are called that are due on a loader's thread; `nil` for where they are due.
  private let callbacks: WorkQueue?
  #if DEBUG
  private let owner = Atomic<UInt>(0)
  #endif

  init(clock: any TimeSource = .system, callbacks: WorkQueue? = nil) {
    (self.clock, self.callbacks) = (clock, callbacks)
  }

  /// Runs `body` alone, then, with the lock open, what it put off.
  ///
  /// Traps in debug builds when it is called from within a turn.
  ///
  /// `isOnLoaderThread` says whether the calling thread is a loader's, which other transfers wait for.
  @discardableResult
  func turn<Answer: Sendable>(isOnLoaderThread: Bool = false, _ body: (inout Turn) -> Answer) -> Answer {
    // The clock is a user's perhaps.
    var turn = Turn(now: clock.now, uptime: clock.uptime, isOnLoaderThread: isOnLoaderThread)
    #if DEBUG
    // This thread alone can have written its number there.
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

/// The proof that the lock of the jobs is held: whatever changes a job asks for it.
struct Turn {
  private enum Effect {
    case call(@Sendable () -> Void)
    case deliver(any Deliverable)
  }

  /// The time at which the turn began; clocks are not asked within one.
  let now: Date
  /// The same, as a span.
  let uptime: Duration
  /// Whether the thread is a loader's, which other transfers wait for.
  let isOnLoaderThread: Bool
  private var effects = ShortList<Effect>()
  private var kept = ShortList<AnyObject>()

  fileprivate init(now: Date, uptime: Duration, isOnLoaderThread: Bool) {
    (self.now, self.uptime, self.isOnLoaderThread) = (now, uptime, isOnLoaderThread)
  }

  /// Puts something off until the lock is open, in the order of the calls.
  mutating func afterwards(_ effect: @escaping @Sendable () -> Void) { effects.append(.call(effect)) }

  /// Has something delivered once the lock is open.
  mutating func deliver(_ one: any Deliverable) { effects.append(.deliver(one)) }

  /// Keeps an object until the lock is open, since its release may run a user's `deinit`.
  mutating func keep(_ object: AnyObject) { kept.append(object) }

  /// Keeps a value until the lock is open.
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

/// A list that is mostly short, of which the first elements need no allocation.
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

/// Something with news for somebody outside of the jobs.
protocol Deliverable: AnyObject, Sendable {
  /// Whether a user's closures are called.
  var callsOut: Bool { get }

  /// Tells what there is to be told, in order and one after the other, whatever number of threads call; with no lock held.
  func deliver()
}
