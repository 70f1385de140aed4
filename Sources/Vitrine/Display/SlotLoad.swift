import VitrineCaching
import VitrineImaging
import VitrineRuntime

/// One load that a slot began: takes a note of what happens to it on any thread, and tells the slot on the main thread.
///
/// However much happens between two frames, the latest of each kind is told, once. Its identity is what the slot verifies
/// before it shows anything.
final class SlotLoad: Sendable {
  /// What has happened since the slot was last told.
  struct News {
    var progress: LoadProgress?
    var preview: ImageContainer?
    var result: Result<ImageResponse, LoadError>?
  }

  private enum Phase {
    /// Not begun for good: what happens now is told without a hop.
    case beginning
    case running
    case ended
    /// The slot does not want it any more.
    case left
  }

  private struct State {
    var phase = Phase.beginning
    var news = News()
    var isPosted = false
    var task: (any RunningLoad)?
  }

  /// What is loaded.
  let request: ImageRequest

  @MainActor
  private weak var slot: ImageSlot?
  private let mailbox: FrameMailbox
  let wantsProgress: Bool
  let wantsPreviews: Bool
  private let state = Lock(State())

  @MainActor
  init(_ request: ImageRequest, for slot: ImageSlot) {
    (self.slot, mailbox, self.request) = (slot, slot.mailbox, request)
    (wantsProgress, wantsPreviews) = (slot.onProgress != nil, slot.showsPreviews)
  }

  /// Returns what happened while the load was begun.
  func began(_ task: any RunningLoad) -> News {
    state.withLock { state in
      if state.phase == .beginning { state.phase = .running }
      if state.phase == .running { state.task = task }
      defer { state.news = News() }
      return state.news
    }
  }

  func note(_ event: ImageEvent) {
    // The copy keeps what is not needed any more until the lock is open.
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
        // The task holds on to this load until its end; from then on neither holds the other.
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

  /// Whether it has ended, be it that the slot has not been told.
  var isEnded: Bool { state.withLock { $0.phase == .ended } }

  /// Changes the priority of the work, if it is still going on.
  func setPriority(_ priority: Priority) {
    state.withLock { $0.task }?.priority = priority
  }

  /// Lets the work go: nothing is told any more, except what waits in the mailbox already.
  ///
  /// - Returns: Whether it was still going on.
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
