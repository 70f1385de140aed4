import VitrineRuntime

/// A change to a frame that was decoded; the closure returns `true` once it is no longer wanted.
package typealias FrameChange = @Sendable (Bitmap, @escaping @Sendable () -> Bool) throws(ImageError) -> Bitmap

/// The decoded frames of one animation, which all its players share.
///
/// Frames are decoded ahead of the players, one at a time and each once. If all frames fit the share of the budget they
/// stay, so that further loops decode nothing. Otherwise only those stay that come next.
///
/// All players share one source, for which the next frame costs least and another one up to all that are before it. So
/// it goes on with the frames that follow, as long as a view will show them, and jumps when a player has few left.
/// A player whose next frame is missing waits for no more than one run of ``window`` frames for each other player.
final class FrameStore: Sendable {
  typealias Outcome = Deferred<Result<Bitmap, ImageError>>

  private struct State: ~Copyable {
    /// The frames as the codec reads them; `nil` while one is decoded, and after they were released.
    var source: FrameSource?
    /// The frame that costs the source least; `nil` if it has nothing on which another builds.
    var position: Int?
    /// The frames but the first, by their numbers.
    var frames: [Int: Bitmap] = [:]
    /// The frames that the players show, by the players' numbers.
    var players: [Int: Int] = [:]
    var nextPlayer = 0
    /// The number of players, also of players that do not play.
    var viewCount = 0
    /// The frame to which a player moved last, also a player that is gone.
    var latest: Int?
    /// The frames that are awaited.
    var requests: [(number: Int, index: Int, outcome: Outcome)] = []
    var nextRequest = 0
    /// True while there is an item in the queue, or it runs.
    var isScheduled = false
    /// The number of frames from the first in which no damage was found.
    var soundCount = Int.max
    var failure: ImageError?
    var decodeCount = 0
    /// True if the frame that is decoded now is kept only if a view wants it by then.
    var isReleased = false
    /// The number of frames that players were given since the last jump, each next to the one before.
    var run = 0
    /// The frames that could not be decoded for a reason that may pass.
    var stalls: [Int: FrameStall] = [:]
    /// The number of holdings that the budget was told.
    var holdingCount = 0

    var isActive: Bool { !players.isEmpty || !requests.isEmpty }
  }

  /// The number of frames decoded ahead of a player.
  private static let window = 16
  /// The queue of all animations.
  static let queue = WorkQueue(
    label: "vitrine.frames",
    width: CoreBudget.machine.count,
  )

  private let poster: Bitmap
  private let file: AnimationFile
  private let open: @Sendable (Data) throws(ImageError) -> FrameSource
  private let change: FrameChange?
  private let budget: FrameBudget
  private let queue: WorkQueue
  private let state: Lock<State>
  /// The bytes that the source holds between two frames.
  let sourceByteCount: Int

  /// Makes a store without frames but the first.
  ///
  /// - Parameters:
  ///   - poster: The first frame.
  ///   - file: The file, and the number of frames.
  ///   - sourceByteCount: The bytes that the source holds between two frames.
  ///   - budget: The memory for frames.
  ///   - queue: The queue on which frames are decoded.
  ///   - open: Opens the source of a file.
  ///   - change: Changes a frame that was decoded. Defaults to `nil`, none.
  init(
    poster: Bitmap,
    file: AnimationFile,
    sourceByteCount: Int,
    budget: FrameBudget,
    queue: WorkQueue,
    open: @escaping @Sendable (Data) throws(ImageError) -> FrameSource,
    change: FrameChange? = nil,
  ) {
    (self.poster, self.file, self.budget, self.queue) = (poster, file, budget, queue)
    (self.open, self.change, self.sourceByteCount) = (open, change, sourceByteCount)
    state = Lock(State())
  }

  /// Makes a store of another's frames, each changed once more.
  convenience init(_ other: FrameStore, poster: Bitmap, change: @escaping FrameChange) {
    let former = other.change
    self.init(
      poster: poster,
      file: other.file,
      sourceByteCount: other.sourceByteCount,
      budget: other.budget,
      queue: other.queue,
      open: other.open,
      change: { (bitmap, isCancelled) throws(ImageError) in
        try change(former?(bitmap, isCancelled) ?? bitmap, isCancelled)
      },
    )
    let soundCount = other.state.withLock { $0.soundCount }
    state.withLock { $0.soundCount = soundCount }
  }

  deinit { budget.remove(ObjectIdentifier(self)) }

  // MARK: For the image

  /// Opens the frames anew, for one who reads them all; they are not kept here.
  func openSource() throws(ImageError) -> FrameSource { try open(file.data) }
  /// The change of each frame after it was decoded.
  var frameChange: FrameChange? { change }
  /// The number of frames from the first that can be decoded.
  var usableCount: Int { state.withLock { usableCount($0) } }
  private func usableCount(_ state: borrowing State) -> Int { min(state.soundCount, file.frameCount) }
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
      // It may have been decoded since.
      if let known = state.frames[index] {
        outcome.resolve(.success(known))
        return 0
      }
      guard index < usableCount(state) else { return nil }
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

  /// Notes the damage at which an encoder's frames ended.
  func fail(_ damage: ImageError) { state.withLock { $0.failure = $0.failure ?? damage } }

  // MARK: For players

  /// Notes a player that may play later.
  func attach() { state.withLock { $0.viewCount += 1 } }

  /// Notes that a player is gone.
  func detach() {
    let isLast = state.withLock { state in
      state.viewCount -= 1
      return state.viewCount == 0
    }
    if isLast { report() }
  }

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

  /// Frees all frames but the first; the frames that players show next are decoded again.
  func release() {
    let (frames, source) = state.withLock { state -> ([Int: Bitmap], Carrier) in
      defer { state.frames = [:] }
      // A source would have to begin anew, at the cost of all frames up to the shown one.
      guard !state.isActive else { return (state.frames, Carrier(nil)) }
      state.isReleased = state.isScheduled
      state.position = nil
      return (state.frames, Carrier(state.source.take()))
    }
    // Freed without the lock.
    _ = (consume frames, consume source)
    budget.note(self, holding())
    schedule()
  }

  /// Tells the budget what is held, which may make others free what they hold.
  private func report() { budget.update(self, holding()) }

  private func holding() -> FrameBudget.Holding {
    state.withLock { state in
      state.holdingCount += 1
      let byteCount = heldByteCount(state)
      return FrameBudget.Holding(
        byteCount: byteCount,
        isActive: state.isActive,
        isShown: state.viewCount > 0,
        version: state.holdingCount,
      )
    }
  }

  private func heldByteCount(_ state: borrowing State) -> Int {
    let hasSource = state.source != nil || state.isScheduled
    return state.frames.values.reduce(0) { $0 + $1.byteCount } + (hasSource ? sourceByteCount : 0)
  }

  // MARK: Decoding

  /// Frees what there is no more room for, and begins to decode if a frame is missing.
  private func schedule() {
    let allowance = budget.allowance
    let (isNeeded, freed) = state.withLock { state -> (Bool, [Bitmap]) in
      let freed = evict(&state, allowance)
      guard !state.isScheduled, next(state, allowance) != nil else { return (false, freed) }
      state.isScheduled = true
      return (true, freed)
    }
    if !freed.isEmpty { budget.note(self, holding()) }
    _ = consume freed
    guard isNeeded else { return }
    do throws(WorkQueueError) {
      try queue.enqueue { [self] _ in step() }
    } catch {
      // Tried again when a player moves.
      let waiting = state.withLock { state in
        state.isScheduled = false
        defer { state.requests = [] }
        return state.requests
      }
      let failure = ImageError(.decoderFailed, "the frame cannot be decoded: \(error)")
      for request in waiting { request.outcome.resolve(.failure(failure)) }
      budget.note(self, holding())
    }
  }

  /// The number of frames that may be held.
  private func capacity(_ allowance: FrameBudget.Allowance) -> Int {
    max(2, (allowance.share - min(allowance.share, sourceByteCount)) / max(1, poster.byteCount))
  }

  /// The frames that players show next.
  private struct Ahead {
    /// The number of frames from a player to each of them; that to the nearest player.
    var distances: [Int: Int] = [:]
    /// The number of frames of each player, with the shown one.
    var depth = 0
  }

  /// Returns the frames that players show next: two for each, and more as far as there is room.
  private func ahead(_ state: borrowing State, _ allowance: FrameBudget.Allowance) -> Ahead {
    let (count, capacity) = (usableCount(state), capacity(allowance))
    let positions = Set(state.players.values)
    var ahead = Ahead()
    while ahead.depth < min(Self.window, count) {
      // No player stands still for want of room.
      if count > capacity, ahead.depth > 1, ahead.distances.count + positions.count > capacity { break }
      for position in positions {
        let index = (position + ahead.depth) % count
        if ahead.distances[index] == nil { ahead.distances[index] = ahead.depth }
      }
      ahead.depth += 1
    }
    return ahead
  }

  /// Takes out what no player shows next, if not all frames fit; it is freed without the lock.
  private func evict(_ state: inout State, _ allowance: FrameBudget.Allowance) -> [Bitmap] {
    guard !state.frames.isEmpty, usableCount(state) > capacity(allowance) else { return [] }
    let distances = ahead(state, allowance).distances
    let keys = state.frames.keys.filter { distances[$0] == nil }
    return keys.compactMap { state.frames.removeValue(forKey: $0) }
  }

  /// A frame to decode.
  private struct Choice {
    let index: Int
    /// True if it is near behind the frame that was decoded last.
    let follows: Bool
  }

  private func next(_ state: borrowing State, _ allowance: FrameBudget.Allowance) -> Choice? {
    if let request = state.requests.first { return Choice(index: request.index, follows: false) }
    let count = usableCount(state)
    guard !state.players.isEmpty, state.frames.count + 1 < count else { return nil }
    let ahead = ahead(state, allowance)
    var following: (index: Int, gap: Int)?
    var jump: (index: Int, distance: Int, gap: Int)?
    for (index, distance) in ahead.distances where index != 0 && state.frames[index] == nil {
      if let stall = state.stalls[index], allowance.now < stall.until { continue }
      // Forward around the loop, so that everyone's turn comes.
      let gap = (index - (state.position ?? 0) % count + count) % count
      if state.position != nil, gap < ahead.depth {
        if gap < following?.gap ?? .max { following = (index, gap) }
      } else if distance <= max(1, ahead.depth / 2) {
        let rank = (max(1, distance), gap)
        if jump.map({ rank < ($0.distance, $0.gap) }) ?? true { jump = (index, rank.0, gap) }
      }
    }
    if let following, state.run < Self.window || jump.map({ $0.distance > 1 }) ?? true {
      return Choice(index: following.index, follows: true)
    }
    return jump.map { Choice(index: $0.index, follows: false) }
  }

  private struct Work: ~Copyable {
    let index: Int
    var source: FrameSource?
  }

  /// Decodes one frame, and enqueues the next, so that other animations get their turns.
  private func step() {
    let allowance = budget.allowance
    let work = state.withLock { state -> Work? in
      guard let choice = next(state, allowance) else {
        state.isScheduled = false
        return nil
      }
      state.isReleased = false
      state.run = choice.follows ? state.run + 1 : 0
      return Work(index: choice.index, source: state.source.take())
    }
    // Without work, the source is not held any more.
    guard var work else { return report() }
    let index = work.index
    let wasStopped = Lock(false)
    let isCancelled: @Sendable () -> Bool = { [weak self] in
      let isActive = self?.state.withLock { $0.isActive } ?? false
      if !isActive { wasStopped.withLock { $0 = true } }
      return !isActive
    }
    var bitmap: Result<Bitmap, ImageError>
    do throws(ImageError) {
      let data = file.data
      if work.source == nil { work.source = try open(data) }
      try work.source?.extend(to: data)
      let frame = try work.source?.frame(at: index) { (options, _) in options.isCancelled = isCancelled }
      guard let frame else { throw ImageError(.noSuchFrame, "no frame \(index)") }
      bitmap = .success(try change?(frame.bitmap, isCancelled) ?? frame.bitmap)
    } catch {
      bitmap = .failure(error)
    }
    finish(index, bitmap, wasStopped: wasStopped.withLock { $0 }, work.source.take())
  }

  /// Keeps a frame, and answers the callers that asked for it.
  ///
  /// If it was stopped for want of callers, callers that have asked for it since are answered by the next decode.
  private func finish(
    _ index: Int,
    _ result: Result<Bitmap, ImageError>,
    wasStopped: Bool,
    _ source: consuming FrameSource?,
  ) {
    let carrier = Carrier(source)
    let allowance = budget.allowance
    let (answered, freed) = state.withLock { state -> ([Outcome], [Bitmap]) in
      state.isScheduled = false
      let isKept = !state.isReleased || state.isActive
      if isKept { state.source = carrier.take() }
      let error: ImageError? = if case .failure(let error) = result { error } else { nil }
      state.position = isKept && error == nil ? index + 1 : nil
      // A step that was stopped may say so with an error of its own.
      if error != nil, wasStopped { return ([], []) }
      let isLasting = error.map { !$0.mayPass } ?? false
      var answered: [Outcome] = []
      state.requests.removeAll { request in
        guard request.index == index || isLasting && request.index > index else { return false }
        answered.append(request.outcome)
        return true
      }
      var freed: [Bitmap] = []
      if isLasting {
        // The animation is what comes before.
        (state.soundCount, state.failure) = (max(1, min(state.soundCount, index)), error)
        let lost = state.frames.keys.filter { $0 >= index }
        freed = lost.compactMap { state.frames.removeValue(forKey: $0) }
      } else if error != nil {
        state.stalls[index] = FrameStall(after: state.stalls[index], now: allowance.now)
      } else if case .success(let bitmap) = result {
        state.decodeCount += 1
        state.stalls[index] = nil
        if isKept { state.frames[index] = bitmap }
        freed = evict(&state, allowance)
      }
      return (answered, freed)
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
