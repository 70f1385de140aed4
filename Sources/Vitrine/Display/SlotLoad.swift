import VitrineCaching
import VitrineImaging
import VitrineRuntime

/// One load that a slot began: takes a note of what happens to it on any thread, and tells the slot on the main thread.
///
/// However much happens between two frames, the latest of each kind is told, once. Its identity is what the slot verifies
/// before it shows anything.
final class SlotLoad: MailboxItem {
  /// What has happened since the slot was last told.
  struct News {
    var progress: LoadProgress?
    var preview: ImageContainer?
    var result: Result<ImageResponse, LoadError>?
  }

  /// What the slot wants to know besides the end.
  struct Wanted {
    let progress: Bool
    let previews: Bool
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
  private let wanted: Wanted
  private let state = Lock(State())

  @MainActor
  init(slot: ImageSlot, mailbox: FrameMailbox, request: ImageRequest, wanted: Wanted) {
    (self.slot, self.mailbox, self.request) = (slot, mailbox, request)
    self.wanted = wanted
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
    // What is not needed any more is released when the lock is open.
    let (posts, left) = state.withLock { state -> (Bool, (ImageContainer?, (any RunningLoad)?)) in
      guard state.phase == .beginning || state.phase == .running else { return (false, (nil, nil)) }
      let isBeginning = state.phase == .beginning
      var left: (ImageContainer?, (any RunningLoad)?)
      switch event {
      case .progress(let progress):
        guard wanted.progress else { return (false, (nil, nil)) }
        state.news.progress = progress
      case .preview(let preview):
        guard wanted.previews else { return (false, (nil, nil)) }
        left.0 = state.news.preview
        state.news.preview = preview
      case .finished(let result):
        state.news.result = result
        state.phase = .ended
        // The task holds on to this load until its end; from then on neither holds the other.
        left.1 = state.task.take()
      }
      guard !isBeginning, !state.isPosted else { return (false, left) }
      state.isPosted = true
      return (true, left)
    }
    if posts { mailbox.post(self) }
    withExtendedLifetime(left) {}
  }

  @MainActor
  func deliver() {
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
