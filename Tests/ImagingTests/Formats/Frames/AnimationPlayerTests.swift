import Testing
import VitrineImaging
import VitrineRuntime
import VitrineTestSupport
import VitrineTesting

/// With all frames decoded, so that only the time decides.
struct AnimationPlayerTests {
  private static func player(_ count: Int = 4) async throws -> AnimationPlayer {
    let image = try AnimatedImage(AnimatedImageTests.file(count), budget: FrameBudget(memoryPressure: nil))
    for index in 0..<count { _ = try await image.frame(at: index) }
    let player = AnimationPlayer(image)
    player.loopCount = 0
    return player
  }

  /// The frames that are shown at times in milliseconds.
  private static func frames(_ player: AnimationPlayer, at times: [Int]) -> [Int] {
    times.map { time in
      _ = player.advance(to: .milliseconds(time))
      return player.frameIndex
    }
  }

  @Test
  func framesAreShownForTheirDelays() async throws {
    let player = try await Self.player()
    #expect(player.advance(to: .seconds(3)) == nil)
    player.play()
    #expect(Self.frames(player, at: [5000, 5099, 5100, 5150, 5210, 5400, 5500]) == [0, 0, 1, 1, 2, 0, 1])
    #expect(player.completedLoops == 1)
    #expect(player.timeToNextFrame == .milliseconds(100))
  }

  @Test
  func onlyANewFrameIsReturned() async throws {
    let player = try await Self.player()
    player.play()
    let seen = stride(from: 0, through: 400, by: 50).map { player.advance(to: .milliseconds($0)) != nil }
    #expect(seen == [false, false, true, false, true, false, true, false, true])
    #expect(player.bitmap.pixels == player.image.poster.pixels)
  }

  @Test
  func theTimeOfAPauseDoesNotCount() async throws {
    let player = try await Self.player()
    player.play()
    #expect(Self.frames(player, at: [0, 150]) == [0, 1])
    player.pause()
    #expect(Self.frames(player, at: [400]) == [1])
    #expect(player.timeToNextFrame == nil)
    player.play()
    // Half of the frame's time is still to come.
    #expect(Self.frames(player, at: [9000, 9040, 9050]) == [1, 1, 2])
  }

  @Test
  func theRateChangesTheSpeed() async throws {
    let player = try await Self.player()
    player.play()
    player.rate = 2
    #expect(Self.frames(player, at: [0, 49, 50, 100]) == [0, 0, 1, 2])
    player.rate = 0.5
    #expect(player.timeToNextFrame == .milliseconds(200))
    #expect(Self.frames(player, at: [299, 300]) == [2, 3])
    for rate in [0, -1, .nan, .infinity] {
      player.rate = rate
      #expect(player.timeToNextFrame == nil)
      #expect(player.advance(to: .seconds(100)) == nil)
    }
  }

  @Test
  func atAHighRateWholeLoopsPassAndTheRestIsShown() async throws {
    let player = try await Self.player()
    player.play()
    player.rate = 25
    // Twenty-five frames of four at a time.
    #expect(Self.frames(player, at: [0, 100, 200]) == [0, 1, 2])
    #expect(player.completedLoops == 12)
  }

  @Test(arguments: [1e9, 1e300, .greatestFiniteMagnitude, 1e-25, .leastNonzeroMagnitude] as [Double])
  func anAbsurdRateCostsNoMoreThanALoop(rate: Double) async throws {
    let player = try await Self.player()
    player.play()
    player.rate = rate
    for time in 0..<1000 { _ = player.advance(to: .milliseconds(16 * time)) }
    let rest = try #require(player.timeToNextFrame)
    #expect(rest >= .zero && rest <= .seconds(1_000_000_000))
    #expect(rate < 1 || player.completedLoops > 1000)
    player.rate = 1
    // It is as it was.
    #expect(try #require(player.timeToNextFrame) <= .milliseconds(100))
    player.loopCount = player.completedLoops + 3
    player.rate = 1e9
    for time in 1000..<1010 { _ = player.advance(to: .milliseconds(16 * time)) }
    #expect(player.isFinished)
    #expect((player.frameIndex, player.completedLoops) == (3, player.loopCount))
  }

  @Test
  func itEndsAfterItsLoopsAndBeginsAgain() async throws {
    let player = try await Self.player()
    player.loopCount = 2
    player.play()
    #expect(Self.frames(player, at: [0, 350, 450, 799]) == [0, 3, 0, 3])
    #expect(!player.isFinished)
    #expect(Self.frames(player, at: [800, 900]) == [3, 3])
    #expect(player.isFinished && !player.isPlaying)
    #expect(player.completedLoops == 2)
    player.play()
    #expect(player.frameIndex == 0 && player.isPlaying && !player.isFinished)
    #expect(player.completedLoops == 0)
  }

  @Test
  func seekingShowsAFrameAtOnce() async throws {
    let player = try await Self.player()
    let shown = try player.seek(to: 2)
    #expect(shown?.pixels == player.image.cachedFrame(at: 2)?.pixels)
    #expect(player.frameIndex == 2)
    player.play()
    #expect(Self.frames(player, at: [0, 99, 100]) == [2, 2, 3])
    #expect(failure { try player.seek(to: 4) }?.code == .noSuchFrame)
    #expect(failure { try player.seek(to: -1) }?.code == .noSuchFrame)
  }

  @Test
  func aFrameThatIsSoughtIsShownWhenItIsDecoded() async throws {
    let image = try AnimatedImage(AnimatedImageTests.file(30), budget: FrameBudget(memoryPressure: nil))
    let player = AnimationPlayer(image)
    #expect(try player.seek(to: 20) == nil)
    #expect(player.frameIndex == 0)
    player.play()
    let frame = try await image.frame(at: 20)
    #expect(player.advance(to: .seconds(1))?.pixels == frame.pixels)
    #expect(player.frameIndex == 20)
  }

  @Test
  func whoPrefersStillImagesSeesTheFirstFrame() async throws {
    let player = try await Self.player()
    player.play()
    #expect(Self.frames(player, at: [0, 250]) == [0, 2])
    player.reducesMotion = true
    #expect(player.frameIndex == 0 && !player.isPlaying)
    player.play()
    #expect(!player.isPlaying)
    player.reducesMotion = false
    player.play()
    #expect(player.isPlaying)
  }

  @Test
  func aLongGapIsNotCaughtUpWith() async throws {
    let player = try await Self.player(100)
    player.play()
    _ = Self.frames(player, at: [0])
    // The rest of the frame, and a second.
    #expect(Self.frames(player, at: [3_600_000]) == [11])
    // A clock that goes back stands still.
    #expect(Self.frames(player, at: [3_000_000, 3_000_050]) == [11, 11])
  }

  @Test
  func aSecondViewOfAnEndlessAnimationIsInStep() async throws {
    let first = try await Self.player(10)
    first.play()
    #expect(Self.frames(first, at: [0, 350]) == [0, 3])
    let second = AnimationPlayer(first.image)
    second.loopCount = 0
    second.play()
    #expect(second.frameIndex == 3)
    let once = AnimationPlayer(first.image)
    once.loopCount = 1
    once.play()
    #expect(once.frameIndex == 0)
  }

  @Test
  func aFrameThatIsLateIsShownWhenItComesAndNoneIsSkipped() async throws {
    let (gate, count) = (Gate(), Lock(0))
    let late = ImageProcessor.custom(id: "late") { bitmap in
      let isFirst = count.withLock { count in
        count += 1
        return count == 1
      }
      if !isFirst { gate.wait() }
      return Bitmap.solid(SIMD4(9, 0, 0, 255), width: bitmap.width, height: bitmap.height)
    }
    let still = try late.process(decode(AnimatedImageTests.file(4)) { $0.animates = true })
    let image = try #require(still.animation)
    let player = AnimationPlayer(image)
    player.play()
    #expect(Self.frames(player, at: [0, 100, 900]) == [0, 0, 0])
    #expect(player.timeToNextFrame == .zero)
    gate.open()
    _ = try await image.frame(at: 1)
    #expect(Self.frames(player, at: [1000]) == [1])
    _ = try await image.frame(at: 2)
    #expect(Self.frames(player, at: [1099, 1100]) == [1, 2])
  }
}
