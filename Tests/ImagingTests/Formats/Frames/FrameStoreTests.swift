import Testing
import VitrineRuntime
import VitrineTestSupport
import VitrineTesting

@testable import VitrineImaging

/// What is decoded when, and what is kept; each decode is a step of the test.
struct FrameStoreTests {
  // MARK: Players out of step

  /// The room for frames, and whether decoding keeps up with the players.
  static let places = [0, 3, 16, 40].flatMap { room in [(room, true), (room, false)] }

  @Test(arguments: places)
  func playersOutOfStepAllMoveOn(room: Int, isFast: Bool) throws {
    let (stage, frames) = (Stage(room: room), ScriptedFrames(count: 100))
    let image = try stage.image(frames)
    let players = [5, 9, 90].map { _ in AnimationPlayer(image) }
    for (player, place) in zip(players, [5, 9, 90]) {
      let shown = try player.seek(to: place)
      #expect(shown == nil)
      player.play()
    }

    for tick in 0..<3000 {
      for player in players { _ = player.advance(to: .milliseconds(100 * tick)) }
      if isFast { stage.run() } else { stage.queue.runNext() }
      #expect(image.frameByteCount <= max(room, 2 * players.count) * ScriptedFrames.byteCount)
    }

    for player in players { #expect(player.completedLoops >= (isFast ? 28 : 5)) }
    // Going on from one frame to the next costs least, so a jump is worth a few frames where there is room for them.
    let order = frames.order
    let jumps = zip(order, order.dropFirst()).count { ($0 + 1) % 100 != $1 && ($0 + 2) % 100 != $1 }
    if room == 40 || !isFast { #expect(jumps * 4 <= order.count) }
  }

  // MARK: The budget

  /// The decode that is under way holds the canvas, which cannot be freed before it ends.
  @Test
  func anAnimationThatStopsWhileItDecodesIsReleasedOnce() throws {
    let (stage, frames) = (Stage(room: 2), ScriptedFrames(count: 5))
    let store = try stage.store(frames, sourceByteCount: 1000)
    let player = store.add(at: 0)
    frames.onFrame(1) { store.remove(player) }

    stage.run()

    #expect(frames.order == [0, 1])
    #expect(stage.budget.byteCount == 0)
    _ = store.add(at: 0)
    stage.run()
    #expect(store.cachedFrame(at: 1) != nil)
  }

  @Test
  func twoAnimationsThatPlayShareTheBudget() throws {
    let stage = Stage(room: 20)
    let images = try (0..<2).map { _ in try stage.image(ScriptedFrames(count: 16)) }
    let players = images.map { AnimationPlayer($0) }
    func play(_ ticks: Range<Int>) {
      for tick in ticks {
        for player in players { _ = player.advance(to: .milliseconds(100 * tick)) }
        stage.run()
        #expect(stage.budget.byteCount <= stage.budget.byteLimit)
      }
    }
    players[0].play()
    play(0..<40)
    #expect(images[0].frameByteCount == 15 * ScriptedFrames.byteCount)

    // The first one decodes nothing any more, and gives up half of its room all the same.
    players[1].play()
    play(40..<90)
    for image in images { #expect(image.frameByteCount <= 10 * ScriptedFrames.byteCount) }
    for player in players { #expect(player.completedLoops >= 2) }

    players[0].pause()
    play(90..<130)
    #expect(images[1].frameByteCount == 15 * ScriptedFrames.byteCount)
  }

  @Test
  func anOldHoldingIsNotBelieved() throws {
    let stage = Stage(room: 100)
    let (store, other) = (try stage.store(ScriptedFrames(count: 5)), try stage.store(ScriptedFrames(count: 5)))
    stage.budget.update(other, FrameBudget.Holding(byteCount: 64, isActive: true, version: 1))
    stage.budget.update(store, FrameBudget.Holding(byteCount: 0, isActive: false, version: 8))

    stage.budget.update(store, FrameBudget.Holding(byteCount: 640, isActive: true, version: 7))

    #expect(stage.budget.byteCount == 64)
    #expect(stage.budget.allowance.share == stage.budget.byteLimit)
    withExtendedLifetime((store, other)) {}
  }

  // MARK: Failures

  static let passing: [ImageError.Code] = [.outOfTime, .decoderFailed, .overLimit, .cancelled]

  @Test(arguments: passing)
  func aFailureThatMayPassIsTriedAgainLessAndLessOften(code: ImageError.Code) throws {
    let (stage, frames) = (Stage(room: 100), ScriptedFrames(count: 5))
    let image = try stage.image(frames)
    let player = AnimationPlayer(image)
    frames.fail(2, code)
    player.play()
    var tick = 0
    /// Returns how often the frame was tried.
    func attempts(after time: Duration) -> Int {
      stage.clock.advance(by: time)
      for _ in 0..<5 {
        stage.run()
        _ = player.advance(to: .milliseconds(100 * tick))
        tick += 1
      }
      stage.run()
      return frames.order.count { $0 == 2 }
    }

    #expect(attempts(after: .zero) == 1)
    #expect(attempts(after: .milliseconds(999)) == 1)
    #expect(attempts(after: .milliseconds(1)) == 2)
    #expect(attempts(after: .milliseconds(1999)) == 2)
    #expect((image.frameCount, player.frameIndex) == (5, 1))
    #expect(image.damage == nil)

    frames.fail(2, nil)
    #expect(attempts(after: .milliseconds(1)) == 3)
    #expect(attempts(after: .zero) == 3)
    #expect(player.completedLoops > 0)
  }

  @Test
  func whoAsksForAFrameThatFailsIsToldAndMayAskAgain() async throws {
    let (stage, frames) = (Stage(room: 100), ScriptedFrames(count: 5))
    let image = try stage.image(frames)
    func ask() async throws -> Result<Bitmap, any Error> {
      let task = Task { try await image.frame(at: 2) }
      // It waits for the frame a moment before there is work.
      try await until { stage.queue.pendingCount != 0 }
      stage.run()
      return await task.result
    }
    frames.fail(2, .outOfTime)
    let error = await #expect(throws: ImageError.self) { try await ask().get() }
    #expect(error?.code == .outOfTime)
    #expect(frames.order == [0, 2])

    frames.fail(2, nil)
    #expect(try await ask().get()[0, 0].x == 2)
    #expect(frames.order == [0, 2, 2])
  }

  static let lasting: [ImageError.Code] = [.truncated, .corrupt, .processingFailed]

  /// The one player seeks the frame that is damaged, the other has shown later ones.
  @Test(arguments: lasting, [100, 3])
  func damageEndsTheAnimationAndEveryPlayerGoesOn(code: ImageError.Code, room: Int) throws {
    let (stage, frames) = (Stage(room: room), ScriptedFrames(count: 40))
    let image = try stage.image(frames)
    let (one, other) = (AnimationPlayer(image), AnimationPlayer(image))
    #expect(try other.seek(to: 30) == nil)
    for player in [one, other] { player.play() }
    stage.run()
    #expect(other.advance(to: .zero) != nil)
    #expect(image.cachedFrame(at: 30) != nil)

    frames.fail(20, code)
    #expect(try one.seek(to: 20) == nil)
    stage.run()

    #expect(image.frameCount == 20)
    #expect(image.damage?.code == code)
    #expect(image.cachedFrame(at: 30) == nil)
    for tick in 1..<60 {
      for player in [one, other] { _ = player.advance(to: .milliseconds(100 * tick)) }
      stage.run()
    }
    for player in [one, other] {
      #expect(player.completedLoops >= 2)
      #expect(player.frameIndex < 20)
    }
    #expect(failure { try one.seek(to: 20) }?.code == .noSuchFrame)
  }

  /// While it stops, somebody asks again: what it says then is no fact of the frame.
  @Test
  func aStepThatStopsWithAnErrorOfItsOwnEndsNothing() throws {
    let (stage, frames) = (Stage(room: 100), ScriptedFrames(count: 3))
    let (leave, count) = (Lock<(@Sendable () -> Void)?>(nil), Lock(0))
    let comeBack = Lock<(@Sendable () -> Void)?>(nil)
    let store = try stage.store(frames) { (bitmap, isCancelled) throws(ImageError) in
      let isFirst = count.withLock { count in
        count += 1
        return count == 1
      }
      guard isFirst else { return bitmap }
      leave.withLock { $0 }?()
      #expect(isCancelled())
      comeBack.withLock { $0 }?()
      throw ImageError(.processingFailed, "stopped")
    }
    let player = store.add(at: 0)
    leave.withLock { $0 = { store.remove(player) } }
    comeBack.withLock { $0 = { _ = store.add(at: 0) } }

    stage.run()

    #expect(store.failure == nil)
    #expect(store.usableCount == 3)
    #expect([1, 2].allSatisfy { store.cachedFrame(at: $0) != nil })
  }
}

/// A budget, a clock and a queue that stand still until the test moves them.
private struct Stage {
  let queue = WorkQueue(label: "test.frames", width: 1, hasThreads: false)
  let clock = ManualClock()
  let budget: FrameBudget

  /// `room` is a number of frames.
  init(room: Int) {
    budget = FrameBudget(byteLimit: room * ScriptedFrames.byteCount, memoryPressure: nil, time: clock)
  }

  func image(_ frames: ScriptedFrames) throws -> AnimatedImage {
    try AnimatedImage(StubDecoder.file, decoders: DecoderRegistry([frames]), budget: budget, queue: queue)
  }

  func store(_ frames: ScriptedFrames, sourceByteCount: Int = 0, change: FrameChange? = nil) throws -> FrameStore {
    let decoders = DecoderRegistry([frames])
    let first = try decoders.decode(StubDecoder.file)
    let delays = try decoders.frameDelays(of: StubDecoder.file)
    return FrameStore(
      poster: first.bitmap,
      file: AnimationFile(AnimationFile.Contents(StubDecoder.file, first.info, delays, arrived: nil)),
      sourceByteCount: sourceByteCount,
      budget: budget,
      queue: queue,
      open: { (file) throws(ImageError) in try FrameSource(file, decoders: decoders) },
      change: change,
    )
  }

  /// Decodes until nothing is to be done.
  func run(sourceLocation: SourceLocation = #_sourceLocation) {
    for _ in 0..<1000 where !queue.runNext() { return }
    Issue.record("it decodes for ever", sourceLocation: sourceLocation)
  }
}

/// Frames of 4x4 pixels, whose red is their number; the test says which of them fail.
private struct ScriptedFrames: ImageDecoder {
  static let byteCount = 4 * 4 * 4

  private struct State {
    var order: [Int] = []
    var failures: [Int: ImageError.Code] = [:]
    var hooks: [Int: @Sendable () -> Void] = [:]
  }

  let formats: [ImageFormat] = [.qoi]
  let count: Int
  private let state = Lock(State())

  init(count: Int) { self.count = count }

  /// The frames in the order in which they were tried.
  var order: [Int] { state.withLock { $0.order } }

  func fail(_ frame: Int, _ code: ImageError.Code?) { state.withLock { $0.failures[frame] = code } }

  /// Calls `hook` once, while the frame is decoded.
  func onFrame(_ frame: Int, _ hook: @escaping @Sendable () -> Void) { state.withLock { $0.hooks[frame] = hook } }

  func info(
    of bytes: UnsafeRawBufferPointer,
    format: ImageFormat,
    limits: DecodeLimits,
  ) throws(ImageError) -> ImageInfo? {
    var info = ImageInfo(format: .qoi, storedWidth: 4, storedHeight: 4)
    (info.frameCount, info.duration, info.loopCount) = (count, 0.1 * Double(count), 0)
    return info
  }

  func open(_ bytes: UnsafeRawBufferPointer, _ request: RowRequest) throws(ImageError) -> (any RowSource)? {
    let frame = request.frame
    let (code, hook) = state.withLock { state in
      state.order.append(frame)
      return (state.failures[frame], state.hooks.removeValue(forKey: frame))
    }
    hook?()
    if let code { throw ImageError(code, "as told") }
    return HeldRows(width: 4, height: 4, hasAlpha: false) { (pixels, _) throws(ImageError) in
      for offset in stride(from: 0, to: pixels.count, by: 4) {
        pixels.store(SIMD4(UInt8(frame), 0, 0, 255), at: offset)
      }
    }
  }
}
