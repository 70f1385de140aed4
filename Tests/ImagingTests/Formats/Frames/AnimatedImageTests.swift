import Dispatch
import Testing
import VitrineImaging
import VitrineRuntime
import VitrineTestSupport
import VitrineTesting

struct AnimatedImageTests {
  /// Frames of 20x14 pixels, of which each is of another colour in a corner.
  static func file(_ count: Int, loops: Bool = true) -> Data {
    let frames = (0..<count).map { number in
      var frame = GIFFile.Frame(width: 20, height: 14) { x, y in (x + y + number) % 4 }
      frame.delay = 10
      return frame
    }
    return GIFFile(width: 20, height: 14, palette: GIFTests.palette, frames: frames).data
  }

  static let frameByteCount = 20 * 14 * 4

  @Test
  func theFirstFrameIsThereAtOnceAndTheOthersWhenAskedFor() async throws {
    let file = Self.file(5)
    let image = try AnimatedImage(file, budget: FrameBudget(memoryPressure: nil))

    #expect(image.poster.pixels == (try decode(file).bitmap.pixels))
    #expect(image.byteCount == file.count + Self.frameByteCount)
    #expect(image.cachedFrame(at: 0)?.pixels == image.poster.pixels)
    #expect(image.cachedFrame(at: 3) == nil)
    let frame = try await image.frame(at: 3)
    #expect(frame.pixels == (try decode(file) { $0.frame = 3 }.bitmap.pixels))
    #expect(image.decodeCount == 1)
    await #expect(throws: ImageError.self) { try await image.frame(at: 5) }
  }

  @Test
  func itIsDecodedAtTheSizeAtWhichItIsShown() async throws {
    let image = try AnimatedImage(Self.file(3), DecodeOptions(size: .pixels(10, 10)))
    let frame = try await image.frame(at: 2)
    #expect([image.poster.size, frame.size] == [[10, 7], [10, 7]])
  }

  @Test
  func aStillImageHasOneFrame() throws {
    let image = try AnimatedImage(Fixture.data("baseline-420.jpg"))
    let player = AnimationPlayer(image)
    player.play()
    #expect(image.frameCount == 1)
    #expect(!player.isPlaying)
  }

  @Test
  func aDecodeBringsTheAnimationIfAskedForIt() async throws {
    let file = Self.file(5)
    let image = try decode(file, .pixels(10, 10)) { $0.animates = true }
    let animation = try #require(image.animation)
    #expect(image.bitmap.pixels == animation.poster.pixels)
    #expect(image.info.frameCount == 5)
    let frame = try await animation.frame(at: 2)
    #expect(frame.pixels == (try decode(file, .pixels(10, 10)) { $0.frame = 2 }.bitmap.pixels))

    #expect(try decode(file).animation == nil)
    #expect(try decode(Fixture.data("baseline-420.jpg")) { $0.animates = true }.animation == nil)
    let second = try decode(file) {
      $0.animates = true
      $0.frame = 1
    }
    #expect(second.animation == nil)
    #expect(second.bitmap.pixels == (try decode(file) { $0.frame = 1 }.bitmap.pixels))
  }

  @Test
  func aProcessorChangesEachFrameWhenItIsShown() async throws {
    let file = Self.file(4)
    let steps = ImageProcessor.chain([.grayscale(), .flip(.horizontal)])
    let image = try steps.process(decode(file) { $0.animates = true })
    let animation = try #require(image.animation)
    #expect(image.bitmap.pixels == animation.poster.pixels)
    for index in 0..<4 {
      let alone = try steps.process(decode(file) { $0.frame = index }.bitmap)
      #expect(try await animation.frame(at: index).pixels == alone.pixels, "frame \(index)")
    }
  }

  @Test
  func aProcessorThatChangesNothingLeavesTheAnimation() throws {
    let image = try decode(Self.file(4)) { $0.animates = true }
    #expect(try ImageProcessor.blur(radius: 0).process(image).animation === image.animation)
    var other = image
    other.bitmap = Bitmap.testPattern(width: 20, height: 14)
    #expect(other.animation == nil)
  }

  @Test
  func aProcessorThatFailsOnALaterFrameEndsTheAnimation() async throws {
    struct Refused: Error {}
    let count = Lock(0)
    let processor = ImageProcessor.custom(id: "thrice") { bitmap in
      let number = count.withLock { count in
        count += 1
        return count
      }
      if number > 2 { throw Refused() }
      return Bitmap.solid(SIMD4(UInt8(number), 0, 0, 255), width: bitmap.width, height: bitmap.height)
    }
    let image = try processor.process(decode(Self.file(6)) { $0.animates = true })
    let animation = try #require(image.animation)
    #expect(try await animation.frame(at: 1)[0, 0].x == 2)
    await #expect(throws: ImageError.self) { try await animation.frame(at: 2) }
    #expect(animation.frameCount == 2)
    #expect(animation.damage?.cause is Refused)
  }

  @Test
  func waitingForAFrameCanBeCancelled() async throws {
    let image = try AnimatedImage(Self.file(5), budget: FrameBudget(memoryPressure: nil))
    let task = Task {
      unsafe withUnsafeCurrentTask { unsafe $0?.cancel() }
      do throws(ImageError) {
        _ = try await image.frame(at: 4)
        return ImageError.Code?.none
      } catch {
        return error.code
      }
    }
    #expect(await task.value == .cancelled)
    #expect(try await image.frame(at: 4).size == [20, 14])
  }

  /// The first caller leaves while the frame is decoded, and another asks for it before the decoder stops.
  @Test
  func whoAsksWhileAFrameIsGivenUpGetsIt() async throws {
    let gates = GatedFrames.Gates()
    var registry = DecoderRegistry.standard
    registry.add(GatedFrames(gates: gates))
    let image = try AnimatedImage(GatedFrames.file, decoders: registry, budget: FrameBudget(memoryPressure: nil))
    let first = Task { try await image.frame(at: 1) }
    await gates.begun.value()
    first.cancel()
    await #expect(throws: ImageError.self) { try await first.value }
    await gates.stopped.value()

    let second = Task { try await image.frame(at: 1) }
    try await until { image.waitingCount != 0 }
    gates.mayReturn.open()

    #expect(try await second.value.size == [4, 4])
    #expect(image.frameCount == 3)
  }

  /// A decoder that says so of itself would otherwise be asked again and again.
  @Test
  func aDecoderThatIsCancelledByNobodyFails() async throws {
    var registry = DecoderRegistry.standard
    registry.add(GatedFrames(gates: nil))
    let image = try AnimatedImage(GatedFrames.file, decoders: registry, budget: FrameBudget(memoryPressure: nil))
    let player = AnimationPlayer(image)
    player.play()
    await #expect(throws: ImageError.self) { try await image.frame(at: 1) }
    #expect(image.frameCount == 3)
  }

  @Test
  func aProcessorStopsWhenNobodyWantsItsFrame() async throws {
    let (begun, stopped) = (Deferred<Bool>(), Deferred<Bool>())
    let processor = ImageProcessor.customInContext(id: "slow") { bitmap, context in
      guard context.isCancelled == nil || !begun.resolve(true) else {
        while true {
          do {
            try context.checkCancellation()
          } catch {
            stopped.resolve(true)
            throw error
          }
        }
      }
      return Bitmap.solid(SIMD4(9, 0, 0, 255), width: bitmap.width, height: bitmap.height)
    }
    let image = try processor.process(decode(Self.file(6)) { $0.animates = true })
    let animation = try #require(image.animation)
    let task = Task { try await animation.frame(at: 3) }
    _ = await begun.value()
    task.cancel()
    _ = await stopped.value()
    #expect(try await animation.frame(at: 3)[0, 0].x == 9)
  }

  @Test
  func aStepThatSetsTheAnimationDecidesAboutIt() throws {
    let image = try decode(Self.file(4)) { $0.animates = true }
    let other = try AnimatedImage(Self.file(2), budget: FrameBudget(memoryPressure: nil))
    let white = Bitmap.solid(SIMD4(repeating: 255), width: 20, height: 14)
    func process(_ change: @escaping @Sendable (inout ImageContainer) -> Void) throws -> ImageContainer {
      let step = ImageProcessor.customContainer(id: "own") { image in
        var image = image
        change(&image)
        return image
      }
      // In a chain, what follows sees what the step decided.
      let chained = try ImageProcessor.chain([step, .flip(.vertical)]).process(image)
      let alone = try step.process(image)
      #expect((chained.animation == nil) == (alone.animation == nil))
      return alone
    }

    let changed = try process { $0.bitmap = white }
    #expect(changed.animation?.frameCount == 4)
    #expect(changed.animation?.poster.isSamePixels(as: white) == true)
    let stopped = try process { image in
      image.bitmap = white
      image.animation = nil
    }
    #expect(stopped.animation == nil)
    let replaced = try process { image in
      image.bitmap = other.poster
      image.animation = other
    }
    #expect(replaced.animation === other)
    let new = ImageProcessor.customContainer(id: "new") { _ in ImageContainer(white) }
    #expect(try new.process(image).animation == nil)
  }

  static let crops: [ImageProcessor] = [
    .smartCrop(aspectRatio: 1, by: .edges), .chain([.grayscale(), .smartCrop(aspectRatio: 1, by: .edges)]),
    .chain([.smartCrop(width: 10, height: 10, by: .edges), .grayscale()]),
    .chain([.crop(x: 0, y: 0, width: 30, height: 10), .smartCrop(aspectRatio: 1, by: .edges), .flip(.horizontal)]),
  ]

  /// Each frame's own choice would make the picture jump.
  @Test(arguments: crops)
  func aSmartCropIsTheSameForAllFrames(processor: ImageProcessor) async throws {
    let frames = (0..<3).map { number in
      var frame = GIFFile.Frame(width: 40, height: 10) { x, y in x / 10 == number ? (x + y) % 4 : 0 }
      frame.delay = 10
      return frame
    }
    let file = GIFFile(width: 40, height: 10, palette: GIFTests.palette, frames: frames).data
    let image = try processor.process(decode(file) { $0.animates = true })
    let animation = try #require(image.animation)
    for index in 0..<3 {
      let part = try decode(file) { $0.frame = index }.bitmap.cropped(x: 0, y: 0, width: 10, height: 10)
      let steps: [ImageProcessor] =
        (processor.identifier.contains("grayscale") ? [.grayscale()] : [])
        + (processor.identifier.contains("flip") ? [.flip(.horizontal)] : [])
      let expected = try ImageProcessor.chain(steps).process(part)
      #expect(try await animation.frame(at: index).pixels == expected.pixels, "frame \(index)")
    }
  }

  @Test
  func aDamagedFrameEndsTheAnimationBeforeIt() async throws {
    let whole = try HostileTests.twoFrames()
    let image = try AnimatedImage(whole.prefix(whole.count - 800), budget: FrameBudget(memoryPressure: nil))
    #expect(image.frameCount == 2)
    await #expect(throws: ImageError.self) { try await image.frame(at: 1) }
    #expect(image.frameCount == 1)
    #expect(image.damage?.code == .truncated)
  }

  @Test
  func framesThatFitStayAndFurtherLoopsDecodeNothing() async throws {
    let image = try AnimatedImage(Self.file(12), budget: FrameBudget(memoryPressure: nil))
    let player = AnimationPlayer(image)
    player.play()
    try await Self.run(player, loops: 3)
    #expect(image.decodeCount == 11)
  }

  @Test
  func tenViewsDecodeEachFrameOnce() async throws {
    let image = try AnimatedImage(Self.file(40), budget: FrameBudget(memoryPressure: nil))
    let players = (0..<10).map { _ in AnimationPlayer(image) }
    for player in players {
      player.loopCount = 0
      player.play()
    }
    var time = Duration.zero
    for _ in 0..<120 {
      for player in players {
        if player.advance(to: time) == nil, player.timeToNextFrame == .zero {
          _ = try await image.frame(at: (player.frameIndex + 1) % 40)
          _ = player.advance(to: time)
        }
      }
      time += .milliseconds(100)
    }
    #expect(image.decodeCount == 39)
    #expect(Set(players.map(\.frameIndex)).count == 1)
  }

  /// With room for few frames each loop decodes them anew, and never more are held.
  @Test
  func framesThatDoNotFitAreDecodedAheadWithinTheBudget() async throws {
    // What the next frame builds on counts too.
    let kept = try AnimatedImage(Self.file(60)).sourceByteCount
    let budget = FrameBudget(byteLimit: kept + 8 * Self.frameByteCount, memoryPressure: nil)
    let image = try AnimatedImage(Self.file(60), budget: budget)
    let player = AnimationPlayer(image)
    player.play()
    var most = 0
    try await Self.run(player, loops: 2) { most = max(most, image.frameByteCount) }
    #expect(most <= budget.byteLimit)
    // Each once in a loop, and those ahead of the player.
    #expect((100...140).contains(image.decodeCount))
    #expect(budget.byteCount <= budget.byteLimit)
  }

  @Test
  func whatDoesNotPlayIsFreedWhenAnotherNeedsTheRoom() async throws {
    let budget = FrameBudget(byteLimit: 20 * Self.frameByteCount, memoryPressure: nil)
    let (first, second) = (
      try AnimatedImage(Self.file(12), budget: budget), try AnimatedImage(Self.file(12), budget: budget),
    )
    let (one, other) = (AnimationPlayer(first), AnimationPlayer(second))
    one.play()
    try await Self.run(one, loops: 1)
    one.pause()
    #expect(first.frameByteCount >= 11 * Self.frameByteCount)
    other.play()
    try await Self.run(other, loops: 1)
    #expect(first.frameByteCount == 0)
    #expect(second.frameByteCount >= 11 * Self.frameByteCount)
  }

  @Test
  func thoseThatNobodyShowsHoldAnEighthTogether() async throws {
    // The eighth holds one of them, and not two.
    let one = try AnimatedImage(Self.file(8)).sourceByteCount + 9 * Self.frameByteCount
    let budget = FrameBudget(byteLimit: 8 * one, memoryPressure: nil)
    let images = try (0..<3).map { _ in try AnimatedImage(Self.file(8), budget: budget) }
    var players: [AnimationPlayer] = []
    for image in images {
      let player = AnimationPlayer(image)
      player.play()
      try await Self.run(player, loops: 1)
      player.pause()
      players.append(player)
    }
    // Paused ones may go on.
    #expect(images.allSatisfy { $0.frameByteCount >= 7 * Self.frameByteCount })

    players = []
    #expect(images.map { $0.frameByteCount > 0 } == [false, false, true])
    #expect(budget.byteCount <= budget.byteLimit / 8)
  }

  @Test
  func memoryPressureDropsFramesAndTheAnimationGoesOn() async throws {
    let (pressure, clock) = (ManualMemoryPressure(), ManualClock())
    let budget = FrameBudget(memoryPressure: pressure, time: clock)
    let image = try AnimatedImage(Self.file(30), budget: budget)
    let kept = image.sourceByteCount
    let player = AnimationPlayer(image)
    player.play()
    try await Self.run(player, loops: 1)
    let before = image.frameByteCount
    #expect(before >= 29 * Self.frameByteCount)

    pressure.tell(.low)

    try await Self.run(player, loops: 1)
    // The frame that is shown, and the next ones.
    #expect(image.frameByteCount <= kept + 3 * Self.frameByteCount)
    clock.advance(by: .seconds(31))
    try await Self.run(player, loops: 1)
    #expect(image.frameByteCount == before)
  }

  @Test
  func pressureFreesWhatDoesNotPlay() async throws {
    let pressure = ManualMemoryPressure()
    let image = try AnimatedImage(Self.file(6), budget: FrameBudget(memoryPressure: pressure))
    let player = AnimationPlayer(image)
    player.play()
    try await Self.run(player, loops: 1)
    player.pause()
    pressure.tell(.critical)
    #expect(image.frameByteCount == 0)
    #expect(image.cachedFrame(at: 0) != nil)
  }

  /// Plays to the ends of loops, and waits for frames that are due.
  static func run(_ player: AnimationPlayer, loops: Int, each: () -> Void = {}) async throws {
    player.loopCount = 0
    let end = player.completedLoops + loops
    var time = Duration.zero
    _ = player.advance(to: time)
    while player.completedLoops < end {
      time += .milliseconds(100)
      while player.advance(to: time) == nil, player.timeToNextFrame == .zero {
        _ = try await player.image.frame(at: (player.frameIndex + 1) % player.image.frameCount)
      }
      each()
    }
  }
}

/// Three frames; decoding the second one is stopped the first time.
private struct GatedFrames: ImageDecoder {
  /// What a test and the decoder tell each other.
  struct Gates {
    let begun = Gate()
    let stopped = Gate()
    let mayReturn = Gate()
  }

  static let format = ImageFormat(name: "gated", mediaType: "image/x-gated", fileExtension: "gated")
  static let file = Data("GATED frames".utf8)

  /// With `nil` it says that it was cancelled, although nobody did that.
  let gates: Gates?

  var formats: [ImageFormat] { [Self.format] }

  func recognizes(_ bytes: UnsafeRawBufferPointer) -> ImageFormat? {
    unsafe bytes.starts(with: Array("GATED".utf8)) ? Self.format : nil
  }

  func info(
    of bytes: UnsafeRawBufferPointer,
    format: ImageFormat,
    limits: DecodeLimits,
  ) throws(ImageError) -> ImageInfo? {
    var info = ImageInfo(format: format, storedWidth: 4, storedHeight: 4)
    (info.frameCount, info.duration) = (3, 3)
    return info
  }

  func open(_ bytes: UnsafeRawBufferPointer, _ request: RowRequest) throws(ImageError) -> (any RowSource)? {
    if request.frame == 1 {
      guard let gates else { throw ImageError(.cancelled, "cancelled") }
      if gates.begun.open() {
        while true {
          do throws(ImageError) {
            try request.control.check()
          } catch {
            gates.stopped.open()
            gates.mayReturn.wait()
            throw error
          }
        }
      }
    }
    return HeldRows(width: 4, height: 4, hasAlpha: false) { (pixels, _) throws(ImageError) in
      pixels.update(repeating: 255)
    }
  }
}
