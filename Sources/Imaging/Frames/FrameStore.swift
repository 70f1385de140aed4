import VitrineRuntime

/// A change to a frame that was decoded; the closure returns `true` once it is no longer wanted.
package typealias FrameChange = @Sendable (Bitmap, @escaping @Sendable () -> Bool) throws(ImageError) -> Bitmap

/// The decoded frames of one animation, which all its players share.
///
/// Frames are decoded ahead of the players, one at a time and each once. If all frames fit the share of the budget they
/// stay, so that further loops decode nothing. Otherwise only those stay that come next.
final class FrameStore: Sendable {
  typealias Outcome = Deferred<Result<Bitmap, ImageError>>

  private struct State: ~Copyable {
    /// The frames as the codec reads them; `nil` while one is decoded, and after they were released.
    var source: FrameSource?
    /// The frames but the first, by their numbers.
    var frames: [Int: Bitmap] = [:]
    /// The frames that the players show, by the players' numbers.
    var players: [Int: Int] = [:]
    var nextPlayer = 0
    /// The frame to which a player moved last, also one that is gone.
    var latest: Int?
    /// The frames that are awaited.
    var requests: [(number: Int, index: Int, outcome: Outcome)] = []
    var nextRequest = 0
    /// True while there is an item in the queue, or it runs.
    var isScheduled = false
    /// The number of frames from the first that can be decoded.
    var usableCount: Int
    var failure: ImageError?
    var decodeCount = 0
    /// True if what is decoded now is not to be kept.
    var isReleased = false

    var isActive: Bool { !players.isEmpty || !requests.isEmpty }

    init(count: Int) { usableCount = count }
  }

  /// The number of frames decoded ahead of a player, if not all fit.
  private static let window = 16
  private static let queue = WorkQueue(
    label: "vitrine.frames",
    width: max(1, ProcessInfo.processInfo.activeProcessorCount),
  )

  private let poster: Bitmap
  private let open: @Sendable () throws(ImageError) -> FrameSource
  private let change: FrameChange?
  private let budget: FrameBudget
  private let state: Lock<State>
  /// The bytes that the source holds between two frames.
  let sourceByteCount: Int

  /// Makes a store without frames but the first.
  ///
  /// - Parameters:
  ///   - poster: The first frame.
  ///   - count: The number of frames.
  ///   - sourceByteCount: The bytes that the source holds between two frames.
  ///   - budget: The memory for frames.
  ///   - open: Opens the source.
  ///   - change: Changes a frame that was decoded. Defaults to `nil`, none.
  init(
    poster: Bitmap,
    count: Int,
    sourceByteCount: Int,
    budget: FrameBudget,
    open: @escaping @Sendable () throws(ImageError) -> FrameSource,
    change: FrameChange? = nil,
  ) {
    (self.poster, self.budget, self.open, self.change) = (poster, budget, open, change)
    self.sourceByteCount = sourceByteCount
    state = Lock(State(count: count))
  }

  /// Makes a store of another's frames, each changed once more.
  convenience init(_ other: FrameStore, poster: Bitmap, change: @escaping FrameChange) {
    let former = other.change
    self.init(
      poster: poster,
      count: other.usableCount,
      sourceByteCount: other.sourceByteCount,
      budget: other.budget,
      open: other.open,
      change: { (bitmap, isCancelled) throws(ImageError) in
        try change(former?(bitmap, isCancelled) ?? bitmap, isCancelled)
      },
    )
  }

  deinit { budget.remove(ObjectIdentifier(self)) }

  // MARK: For the image

  var usableCount: Int { state.withLock { $0.usableCount } }
  var failure: ImageError? { state.withLock { $0.failure } }
  /// The number of frames that were decoded, each time counted.
  var decodeCount: Int { state.withLock { $0.decodeCount } }
  var waitingCount: Int { state.withLock { $0.requests.count } }
  var byteCount: Int { state.withLock { state in heldByteCount(state) } }

  /// Returns a frame that is decoded.
  func cachedFrame(at index: Int) -> Bitmap? {
    index == 0 ? poster : state.withLock { $0.frames[index] }
  }

  /// Returns a frame, decoded if need be.
  func frame(at index: Int) async throws(ImageError) -> Bitmap {
    if let known = cachedFrame(at: index) { return known }
    guard !Task.isCancelled else { throw ImageError(.cancelled, "cancelled") }
    let outcome = Outcome()
    let number = state.withLock { state -> Int? in
      guard index < state.usableCount else { return nil }
      state.nextRequest += 1
      state.requests.append((state.nextRequest, index, outcome))
      return state.nextRequest
    }
    guard let number else { throw failure ?? ImageError(.noSuchFrame, "no frame \(index)") }
    report()
    schedule()
    return try await withTaskCancellationHandler {
      await outcome.value()
    } onCancel: {
      state.withLock { state in state.requests.removeAll { $0.number == number } }
      outcome.resolve(.failure(ImageError(.cancelled, "cancelled")))
      report()
    }.get()
  }

  // MARK: For players

  /// Adds a player that shows a frame, and returns its number.
  func add(at frame: Int) -> Int {
    let number = state.withLock { state in
      state.nextPlayer += 1
      state.players[state.nextPlayer] = frame
      state.latest = frame
      return state.nextPlayer
    }
    report()
    schedule()
    return number
  }

  /// The frame to which a player moved last; `nil` if there is no player.
  var latest: Int? { state.withLock { $0.players.isEmpty ? nil : $0.latest } }

  func move(_ player: Int, to frame: Int) {
    state.withLock { state in
      state.players[player] = frame
      state.latest = frame
    }
    schedule()
  }

  func remove(_ player: Int) {
    state.withLock { state in _ = state.players.removeValue(forKey: player) }
    report()
  }

  /// Frees what can be decoded again, of a player's frames all but those that come next.
  func release() {
    let (frames, source) = state.withLock { state -> ([Int: Bitmap], Carrier) in
      defer { state.frames = [:] }
      // A source would have to begin anew, at the cost of all frames up to the one that is shown.
      guard !state.isActive else { return (state.frames, Carrier(nil)) }
      state.isReleased = state.isScheduled
      return (state.frames, Carrier(state.source.take()))
    }
    // Freed without the lock.
    _ = (consume frames, consume source)
    report()
    schedule()
  }

  private func report() {
    let (byteCount, isActive) = state.withLock { state in (heldByteCount(state), state.isActive) }
    budget.update(self, byteCount: byteCount, isActive: isActive)
  }

  private func heldByteCount(_ state: borrowing State) -> Int {
    let hasSource = state.source != nil || state.isScheduled
    return state.frames.values.reduce(0) { $0 + $1.byteCount } + (hasSource ? sourceByteCount : 0)
  }

  // MARK: Decoding

  private func schedule() {
    let share = budget.share
    let isNeeded = state.withLock { state in
      guard !state.isScheduled, next(state, share) != nil else { return false }
      state.isScheduled = true
      return true
    }
    guard isNeeded else { return }
    do throws(WorkQueueError) {
      try Self.queue.enqueue { [self] _ in step() }
    } catch {
      // Tried again when a player moves.
      let waiting = state.withLock { state in
        state.isScheduled = false
        defer { state.requests = [] }
        return state.requests
      }
      let failure = ImageError(.decoderFailed, "the frame cannot be decoded: \(error)")
      for request in waiting { request.outcome.resolve(.failure(failure)) }
    }
  }

  /// The number of frames that may be held.
  private func capacity(_ share: Int) -> Int {
    max(2, (share - min(share, sourceByteCount)) / max(1, poster.byteCount))
  }

  /// Returns the numbers of the frames that players show next, the most urgent first.
  private func wanted(_ state: borrowing State, _ share: Int) -> [Int] {
    let (count, capacity) = (state.usableCount, capacity(share))
    let ahead = count <= capacity ? Self.window : min(capacity, Self.window)
    var wanted: [Int] = []
    for distance in 0..<min(ahead, count) {
      for frame in state.players.values {
        let index = (frame + distance) % count
        if !wanted.contains(index) { wanted.append(index) }
      }
      if count > capacity, wanted.count >= capacity { break }
    }
    return wanted
  }

  private func next(_ state: borrowing State, _ share: Int) -> Int? {
    if let request = state.requests.first { return request.index }
    guard !state.players.isEmpty, state.frames.count + 1 < state.usableCount else { return nil }
    return wanted(state, share).first { $0 != 0 && state.frames[$0] == nil }
  }

  private struct Work: ~Copyable {
    let index: Int
    var source: FrameSource?
  }

  /// Decodes one frame, and enqueues the next, so that other animations get their turns.
  private func step() {
    let share = budget.share
    let work = state.withLock { state -> Work? in
      guard let index = next(state, share) else {
        state.isScheduled = false
        return nil
      }
      state.isReleased = false
      return Work(index: index, source: state.source.take())
    }
    guard var work else { return }
    let index = work.index
    let wasStopped = Lock(false)
    let isCancelled: @Sendable () -> Bool = { [weak self] in
      let isActive = self?.state.withLock { $0.isActive } ?? false
      if !isActive { wasStopped.withLock { $0 = true } }
      return !isActive
    }
    var bitmap: Result<Bitmap, ImageError>
    do throws(ImageError) {
      if work.source == nil { work.source = try open() }
      let frame = try work.source?.frame(at: index) { $0.isCancelled = isCancelled }
      guard let frame else { throw ImageError(.noSuchFrame, "no frame \(index)") }
      bitmap = .success(try change?(frame.bitmap, isCancelled) ?? frame.bitmap)
    } catch {
      bitmap = .failure(error)
    }
    finish(index, bitmap, wasStopped: wasStopped.withLock { $0 }, work.source.take(), share)
  }

  /// Keeps a frame, and answers those who asked for it.
  ///
  /// If it was stopped because nobody wanted it, those who have asked for it since are answered by the next decode.
  private func finish(
    _ index: Int,
    _ result: Result<Bitmap, ImageError>,
    wasStopped: Bool,
    _ source: consuming FrameSource?,
    _ share: Int,
  ) {
    let carrier = Carrier(source)
    let (answered, freed) = state.withLock { state -> ([Outcome], [Bitmap]) in
      state.isScheduled = false
      if !state.isReleased { state.source = carrier.take() }
      if case .failure(let error) = result, wasStopped, error.isCancellation { return ([], []) }
      var answered = state.requests.filter { $0.index == index }
      state.requests.removeAll { $0.index == index }
      var freed: [Bitmap] = []
      switch result {
      case .success(let bitmap):
        state.decodeCount += 1
        state.frames[index] = bitmap
        guard state.usableCount > capacity(share) else { break }
        let wanted = Set(wanted(state, share))
        for key in state.frames.keys where !wanted.contains(key) {
          if let frame = state.frames.removeValue(forKey: key) { freed.append(frame) }
        }
      case .failure(let error):
        // The animation is what comes before.
        (state.usableCount, state.failure) = (max(1, min(state.usableCount, index)), error)
        answered += state.requests.filter { $0.index > index }
        state.requests.removeAll { $0.index > index }
      }
      return (answered.map(\.outcome), freed)
    }
    _ = (consume carrier, consume freed)
    for outcome in answered { outcome.resolve(result) }
    report()
    schedule()
  }

  /// Carries a source into the lock or out of it; what it still has is freed with it.
  private final class Carrier {
    private var source: FrameSource?
    init(_ source: consuming FrameSource?) { self.source = source }
    func take() -> FrameSource? { source.take() }
  }
}
