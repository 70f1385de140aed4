public import VitrineRuntime

/// A mailbox that collects updates for the views of one main loop and delivers them on the main thread, once a frame.
///
/// All slots of a main loop share one mailbox. However many images arrive between two frames, it requests one delivery.
/// If a delivery exceeds the budget, the rest waits for the next frame.
///
/// ``main``, the default everywhere, suits any toolkit whose loop runs Swift's main actor. For other toolkits, make a
/// mailbox that requests a tick of the frame clock or an idle call:
///
/// ```swift
/// let mailbox = FrameMailbox { mailbox in
///   toolkit.callOnMainThread { MainActor.assumeIsolated { mailbox.deliver() } }
/// }
/// ```
public final class FrameMailbox: Sendable {
  /// The mailbox of the main actor; it requests delivery by a `Task`.
  public static let main = FrameMailbox(frameInterval: .milliseconds(16)) { mailbox in
    Task { @MainActor in mailbox.deliver() }
  }

  /// An update to run on the main thread.
  package typealias Telling = @MainActor @Sendable () -> Void

  private struct State {
    var waiting: [Telling] = []
    /// A Boolean value that indicates whether a delivery has been requested and has not ended.
    var isAsked = false
  }

  let clock: any TimeSource
  private let budget: Duration
  private let frameInterval: Duration
  private let ask: @Sendable (FrameMailbox) -> Void
  private let state = Lock(State())
  /// Updates taken out of `state`, in reverse order.
  @MainActor
  private var batch: [Telling] = []

  /// The slots of this mailbox whose loads have failed.
  @MainActor
  let failedSlots = FailedSlots()

  /// The counts of the slots of this mailbox, for measurements.
  @MainActor
  package internal(set) var statistics = ImageSlot.Statistics()

  /// Creates a mailbox for a main loop.
  ///
  /// - Parameters:
  ///   - budget: The longest time that ``deliver()`` may hold the main thread. Defaults to 4 ms. At least one item is
  ///     delivered.
  ///   - frameInterval: The delay before `requestDelivery` is called again after the budget was used up. Defaults to
  ///     zero, for a `requestDelivery` that itself waits for the next frame.
  ///   - clock: The clock. Defaults to the system clock.
  ///   - requestDelivery: A closure that asks the main loop to call ``deliver()`` once, on the main thread, at the next
  ///     frame or when idle. It is called on any thread, must return at once, and must not call ``deliver()`` itself.
  ///     It is not called again before ``deliver()`` has been called, so that call must come even if no window is on
  ///     screen.
  public init(
    budget: Duration = .milliseconds(4),
    frameInterval: Duration = .zero,
    clock: any TimeSource = .system,
    requestDelivery: @escaping @Sendable (FrameMailbox) -> Void,
  ) {
    (self.budget, self.frameInterval, self.clock) = (budget, frameInterval, clock)
    ask = requestDelivery
  }

  package func post(_ tell: @escaping Telling) {
    let isFirst = state.withLock { state in
      state.waiting.append(tell)
      defer { state.isAsked = true }
      return !state.isAsked
    }
    if isFirst { ask(self) }
  }

  /// Delivers pending updates to the slots until the budget is used up.
  ///
  /// Call it on the main thread, as requested; extra calls are harmless. Complexity: O(n) in the number of updates.
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
      // The next update is assumed to take as long as the longest so far.
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
