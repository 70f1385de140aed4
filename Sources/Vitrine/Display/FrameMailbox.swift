public import VitrineRuntime

/// Gathers what background work has to tell the views of one main loop, and tells it in one hop of the main thread a frame.
///
/// There is one for each main loop, shared by all of its slots. However many images come between two frames, the loop is
/// asked for one hop; and if telling them takes longer than the budget, the rest waits for the next frame.
///
/// A toolkit whose loop runs Swift's main actor needs nothing: ``main`` is the default everywhere. A front door for
/// another one makes a mailbox that asks for a tick of the frame clock, or for an idle call:
///
/// ```swift
/// let mailbox = FrameMailbox { mailbox in
///   toolkit.callOnMainThread { MainActor.assumeIsolated { mailbox.deliver() } }
/// }
/// ```
public final class FrameMailbox: Sendable {
  /// The mailbox of the main actor, which asks for a `Task` on it.
  public static let main = FrameMailbox(frameInterval: .milliseconds(16)) { mailbox in
    Task { @MainActor in mailbox.deliver() }
  }

  /// Something to be told on the main thread.
  typealias Telling = @MainActor @Sendable () -> Void

  private struct State {
    var waiting: [Telling] = []
    /// Whether a delivery has been asked for that has not begun, or is under way.
    var isAsked = false
  }

  let clock: any TimeSource
  private let budget: Duration
  private let frameInterval: Duration
  private let ask: @Sendable (FrameMailbox) -> Void
  private let state = Lock(State())
  /// What was taken out of `state`, the next to be told last.
  @MainActor
  private var batch: [Telling] = []

  /// What the slots of this mailbox have done so far; for measuring.
  @MainActor
  public internal(set) var statistics = ImageSlot.Statistics()

  /// Makes a mailbox for a main loop.
  ///
  /// - Parameters:
  ///   - budget: The longest a ``deliver()`` may hold the main thread: 4 ms unless told. One item is always delivered.
  ///   - frameInterval: How long to wait before `requestDelivery` is called again when the budget was used. Zero, the default,
  ///     is right where `requestDelivery` itself waits for the next frame.
  ///   - clock: What tells the time; the machine's clock unless told.
  ///   - requestDelivery: Asks the main loop to call ``deliver()`` once, on the main thread, soon: at the next frame, or when it
  ///     is idle. Called on any thread: it must post and return, and must not call ``deliver()`` itself. It
  ///     is not called again before ``deliver()`` has been, so the call must come even if no window is on screen.
  public init(
    budget: Duration = .milliseconds(4),
    frameInterval: Duration = .zero,
    clock: any TimeSource = .system,
    requestDelivery: @escaping @Sendable (FrameMailbox) -> Void,
  ) {
    (self.budget, self.frameInterval, self.clock) = (budget, frameInterval, clock)
    ask = requestDelivery
  }

  func post(_ tell: @escaping Telling) {
    let isFirst = state.withLock { state in
      state.waiting.append(tell)
      defer { state.isAsked = true }
      return !state.isAsked
    }
    if isFirst { ask(self) }
  }

  /// Tells the slots what has come for them, for as long as the budget lasts.
  ///
  /// To be called on the main thread, as asked for; calling it more often does no harm. Complexity: O(n) in what has come.
  @MainActor
  public func deliver() {
    let start = clock.uptime
    var now = start
    var longest = Duration.zero
    while let tell = takeFirst() {
      tell()
      let end = clock.uptime
      longest = max(longest, end - now)
      now = end
      // The next one is taken to last as long as the longest so far.
      if now - start + longest > budget { break }
    }
    let isLeft = state.withLock { state in
      state.isAsked = !state.waiting.isEmpty || !batch.isEmpty
      return state.isAsked
    }
    guard isLeft else { return }
    if frameInterval > .zero { clock.schedule(after: frameInterval) { self.ask(self) } } else { ask(self) }
  }

  @MainActor
  private func takeFirst() -> Telling? {
    if batch.isEmpty {
      batch = state.withLock { state in
        defer { state.waiting = [] }
        state.waiting.reverse()
        return state.waiting
      }
    }
    return batch.popLast()
  }
}
