import VitrineCaching
import VitrineImaging
import VitrineRuntime

/// One load of a slot, which records events on any thread and delivers them on the main thread.
///
/// The latest event of each kind between two frames is delivered, once. The slot checks the load's identity before it
/// shows anything.
final class SlotLoad: Sendable {
  /// The events since the last delivery.
  struct News {
    var progress: LoadProgress?
    var preview: ImageContainer?
    var result: Result<ImageResponse, LoadError>?
  }

  private enum Phase {
    /// Nothing is posted until `began(_:)` has returned the events so far.
    case beginning
    case running
    case ended
    /// The slot has abandoned the load.
    case left
  }

  private struct State {
    var phase = Phase.beginning
    var news = News()
    var isPosted = false
    var task: (any RunningLoad)?
  }

  let request: ImageRequest

  @MainActor
  private weak var slot: ImageSlot?
  private let mailbox: FrameMailbox
  let wantsProgress: Bool
  let wantsPreviews: Bool
  private let state = Lock(State())

  @MainActor
  init(_ request: ImageRequest, for slot: ImageSlot, isWatching: Bool = true) {
    (self.slot, mailbox, self.request) = (slot, slot.mailbox, request)
    wantsProgress = isWatching && (slot.onProgress != nil || slot.progressChanged != nil)
    wantsPreviews = isWatching && slot.showsPreviews
  }

  /// Returns the events that happened while the load was started.
  func began(_ task: any RunningLoad) -> News {
    state.withLock { state in
      if state.phase == .beginning { state.phase = .running }
      if state.phase == .running { state.task = task }
      defer { state.news = News() }
      return state.news
    }
  }

  func note(_ event: ImageEvent) {
    // The copy keeps replaced values alive until the lock is released.
    let (before, posts) = state.withLock { state in
      let before = state
      guard before.phase == .beginning || before.phase == .running else { return (before, false) }
      switch event {
      case .progress(let progress):
        guard wantsProgress else { return (before, false) }
        state.news.progress = progress
      case .preview(let preview):
        guard wantsPreviews else { return (before, false) }
        state.news.preview = preview
      case .finished(let result):
        state.news.result = result
        state.phase = .ended
        // The task retains this load until its end; from then on neither retains the other.
        state.task = nil
      }
      state.isPosted = before.isPosted || before.phase == .running
      return (before, state.isPosted && !before.isPosted)
    }
    if posts { mailbox.post { [self] in deliver() } }
    withExtendedLifetime(before) {}
  }

  @MainActor
  private func deliver() {
    let news = state.withLock { state in
      state.isPosted = false
      defer { state.news = News() }
      return state.news
    }
    slot?.receive(news, from: self)
  }

  /// A Boolean value that indicates whether the load has ended, even if the slot has not received the result.
  var isEnded: Bool { state.withLock { $0.phase == .ended } }

  /// Changes the priority of a running load.
  func setPriority(_ priority: Priority) {
    state.withLock { $0.task }?.priority = priority
  }

  /// Abandons the load: only events that are already in the mailbox are still delivered.
  ///
  /// - Returns: `true` if the load was still running.
  @discardableResult
  func leave(_ leaving: ImageSlot.Leaving) -> Bool {
    let task = state.withLock { state in
      state.phase = .left
      defer { state.task = nil }
      return state.task
    }
    guard let task else { return false }
    switch leaving {
    case .cancel: task.cancel()
    case .lower: task.priority = min(task.priority, .low)
    case .keepGoing: break
    }
    return true
  }
}
