import Testing
import VitrineRuntime
import VitrineTestSupport
import VitrineTesting

@testable import VitrineImaging

/// Animations that play while their files arrive.
struct ArrivingAnimationTests {
  /// Files of which frames build on those before them, and the size of the pieces in which they come.
  static let files: [(name: String, pieces: Int)] = [
    ("animated.png", 7), ("animated.webp", 5), ("photographs.gif", 997), ("photographs.webp", 499),
  ]

  static func data(_ name: String) throws -> Data {
    switch name {
    case "photographs.gif": try Photograph.data("boats-animated.gif")
    case "photographs.webp": try Photograph.data("houses-animated.webp")
    default: try Fixture.data(name)
    }
  }

  private static var options: DecodeOptions {
    var options = DecodeOptions(size: .pixels(60, 60))
    options.animates = true
    return options
  }

  private static func feeding(_ decoders: DecoderRegistry = .standard) -> Feeding {
    Feeding(options, policy: .eager, decoders: decoders)
  }

  /// A file whose parts may be fed one after another.
  private struct Parts {
    let file: Data
    var feeding: Feeding
    private(set) var count = 0

    init(_ file: Data) { (self.file, feeding) = (file, ArrivingAnimationTests.feeding()) }

    /// Feeds the file up to a byte, and returns the animation, if it has begun.
    mutating func feed(to end: Int, pieces: Int = 64) throws -> AnimatedImage? {
      try feeding.feed(file[count..<end], pieces: pieces)
      count = end
      return feeding.previews.last?.animation
    }
  }

  /// The bytes after which each frame of a file of equal frames is whole.
  private static func ends(of file: Data, _ count: Int) -> [Int] {
    var arrival = GIFArrival()
    return file.reading { (bytes) -> [Int] in
      var ends: [Int] = []
      for end in 0...bytes.count {
        arrival.advance(bytes.slice(0, end))
        if arrival.frames.count > ends.count { ends.append(end) }
      }
      return ends
    }
  }

  @Test(arguments: files)
  func framesAreShownAsTheyComeAndAreThoseOfTheWholeFile(name: String, pieces: Int) async throws {
    let file = try Self.data(name)
    var source = try FrameSource(file, Self.options)
    var frames: [Bitmap] = []
    while let frame = try source.next() { frames.append(frame.bitmap) }
    var feeding = Self.feeding()
    var counts: [Int] = []
    var offset = 0
    while offset < file.count {
      let end = min(offset + pieces, file.count)
      try feeding.feed(file[offset..<end], pieces: pieces)
      offset = end
      guard let animation = feeding.previews.last?.animation else { continue }
      #expect(animation.isArriving)
      #expect(animation.poster.largestDifference(from: frames[0]) == 0)
      guard animation.frameCount != counts.last else { continue }
      counts.append(animation.frameCount)
      // The last one that has come, and so all that it builds on.
      let newest = try await animation.frame(at: animation.frameCount - 1)
      #expect(newest.largestDifference(from: frames[animation.frameCount - 1]) == 0)
      await #expect(throws: ImageError.self) { try await animation.frame(at: animation.frameCount) }
    }
    let playing = try #require(feeding.previews.last?.animation)
    #expect(counts == counts.sorted() && counts.count > 1 && counts[0] >= 2 && counts[0] < frames.count)
    // It is one animation from the first preview that has one.
    #expect(feeding.previews.count { $0.animation != nil } == 1)

    let image = try feeding.decoder.image()

    #expect(image.animation === playing)
    #expect(!playing.isArriving)
    #expect(playing.data == file)
    #expect((playing.info, playing.delays) == (source.info, source.delays))
    for (index, frame) in frames.enumerated() {
      #expect(try await playing.frame(at: index).largestDifference(from: frame) == 0, "frame \(index)")
    }
    // Each was decoded once, also where it came late.
    #expect(playing.decodeCount == frames.count - 1)
  }

  @Test
  func aPlayerWaitsForWhatHasNotCome() async throws {
    let file = AnimatedImageTests.file(5)
    let ends = Self.ends(of: file, 5)
    var parts = Parts(file)
    let animation = try #require(try parts.feed(to: ends[1] + 1))
    #expect(animation.frameCount == 2)
    _ = try await animation.frame(at: 1)
    let player = AnimationPlayer(animation)
    player.loopCount = 0
    player.play()
    _ = player.advance(to: .zero)
    #expect(player.advance(to: .milliseconds(100)) != nil)
    #expect(player.frameIndex == 1)

    // Long after its time it is still shown, and the view looks again now and then.
    #expect(player.advance(to: .seconds(3)) == nil)
    #expect((player.frameIndex, player.completedLoops) == (1, 0))
    #expect(player.timeToNextFrame == .milliseconds(100))

    _ = try parts.feed(to: ends[3] + 1)
    #expect(animation.frameCount == 4)
    for index in 2...3 { _ = try await animation.frame(at: index) }
    #expect(player.advance(to: .seconds(4)) != nil)
    // The time of the wait is not made up for.
    #expect(player.frameIndex == 2)
    _ = player.advance(to: .milliseconds(4100))
    #expect(player.frameIndex == 3)

    _ = try parts.feed(to: file.count)
    let image = try parts.feeding.decoder.image()
    _ = try await animation.frame(at: 4)
    #expect(image.animation === animation)
    var shown: [Int] = []
    for time in [4200, 4300, 4400] {
      _ = player.advance(to: .milliseconds(time))
      shown.append(player.frameIndex)
    }
    #expect(shown == [4, 0, 1])
    #expect(player.completedLoops == 1)
  }

  /// The load was cancelled, or failed: what the view keeps plays on, and nothing waits.
  @Test
  func afterAnArrivalThatEndsEarlyThePartPlaysOn() async throws {
    let file = AnimatedImageTests.file(5)
    let ends = Self.ends(of: file, 5)
    var parts: Parts? = Parts(file)
    let animation = try #require(try parts?.feed(to: ends[2] + 1))
    for index in 1...2 { _ = try await animation.frame(at: index) }
    let player = AnimationPlayer(animation)
    player.loopCount = 0
    player.play()
    for time in [0, 100, 200, 900] { _ = player.advance(to: .milliseconds(time)) }
    #expect(player.frameIndex == 2 && animation.isArriving)

    parts = nil

    #expect(!animation.isArriving)
    _ = player.advance(to: .milliseconds(1000))
    #expect(player.frameIndex == 0 && player.completedLoops == 1)
  }

  @Test
  func aNewPlayerGoesOnWhereTheFormerOneIs() async throws {
    let file = AnimatedImageTests.file(5)
    var parts = Parts(file)
    let animation = try #require(try parts.feed(to: Self.ends(of: file, 5)[3] + 1))
    let steps = ImageProcessor.grayscale()
    let preview = try #require(parts.feeding.previews.last)
    var container = ImageContainer(preview.bitmap, info: preview.info)
    container.animation = animation
    let changed = try #require(try steps.process(container).animation)
    for index in 1...3 { _ = try await changed.frame(at: index) }
    let former = AnimationPlayer(changed)
    former.play()
    for time in [0, 100, 200, 250] { _ = former.advance(to: .milliseconds(time)) }
    #expect(former.frameIndex == 2)

    _ = try parts.feed(to: file.count)
    let whole = try #require(try steps.process(parts.feeding.decoder.image()).animation)
    let player = AnimationPlayer(whole, after: former)

    // With the pixels that are shown, although its own are not decoded yet.
    #expect((player.frameIndex, player.bitmap.isSamePixels(as: former.bitmap)) == (2, true))
    player.play()
    for index in 1...4 { _ = try await whole.frame(at: index) }
    _ = player.advance(to: .milliseconds(250))
    _ = player.advance(to: .milliseconds(300))
    #expect(player.frameIndex == 3)
    // Another file begins anew.
    #expect(AnimationPlayer(try AnimatedImage(file), after: former).frameIndex == 0)
  }

  @Test
  func bytesOfAnotherFileDoNotExtendIt() throws {
    let file = AnimatedImageTests.file(6)
    let ends = Self.ends(of: file, 6)
    var first = Parts(file)
    let animation = try #require(try first.feed(to: ends[2] + 1))
    #expect(animation.frameCount == 3)
    // A copy gets other bytes from here on.
    var second = first.feeding
    var other = file
    other[ends[2] - 3] ^= 1
    try second.feed(Data(other[(ends[2] + 1)...]), pieces: 64)
    second.previews = []
    let image = try second.decoder.image()
    #expect(image.animation === animation)
    #expect(animation.data == file.prefix(ends[2] + 1) + other[(ends[2] + 1)...])

    // The bytes that came first have been extended, and so the others make an animation of their own.
    _ = try first.feed(to: file.count)
    let rest = try #require(try first.feeding.decoder.image().animation)
    #expect(rest !== animation)
    #expect(rest.data == file)
  }

  /// The beginning that was decoded is not that of the file that came in the end.
  @Test
  func aFileThatWasReplacedIsDecodedAnew() throws {
    let file = AnimatedImageTests.file(6)
    var parts = Parts(file)
    let animation = try #require(try parts.feed(to: Self.ends(of: file, 6)[2] + 1))
    var job = DecodeJob()
    job.arriving = parts.feeding.decoder.animation
    var other = file
    // The delay of the first frame.
    other[try #require(file.firstRange(of: Data([0x21, 0xF9]))).lowerBound + 4] = 99
    let image = try DecoderRegistry.standard.decode(other, Self.options, job)
    #expect(image.animation !== animation)
    #expect(image.animation?.delays.first == 0.99)
    #expect(animation.isArriving)
  }

  @Test
  func damageEndsItAsInAWholeFile() async throws {
    var file = AnimatedImageTests.file(6)
    let ends = Self.ends(of: file, 6)
    // The code size of the fourth frame: 0 is none.
    let descriptor = try #require(file[ends[2]...].firstRange(of: Data([0x2C, 0, 0, 0, 0]))).lowerBound
    file[descriptor + 10] = 0
    var parts = Parts(file)
    let animation = try #require(try parts.feed(to: ends[4] + 1))
    await #expect(throws: ImageError.self) { try await animation.frame(at: 3) }
    #expect(animation.frameCount == 3)
    _ = try parts.feed(to: file.count)
    #expect(try parts.feeding.decoder.image().animation === animation)
    #expect(animation.frameCount == 3)
    #expect(animation.damage != nil)
  }

  @Test
  func itIsNotMadeUnlessAskedForNorOfFewBytes() throws {
    let file = AnimatedImageTests.file(40)
    var still = Self.options
    still.animates = false
    for (options, policy) in [(still, .eager), (Self.options, .none), (Self.options, PreviewPolicy())] {
      let feeding = try Feeding.of(file, pieces: 100, options, policy: policy)
      #expect(feeding.previews.allSatisfy { $0.animation == nil })
    }
    // It is about to come as a whole.
    var late = Self.feeding()
    late.decoder.expectedByteCount = file.count
    try late.feed(file.prefix(file.count * 8 / 10), pieces: .max)
    #expect(late.previews.isEmpty)
  }

  /// However small the pieces are, the header is read a limited number of times.
  @Test
  func theHeaderOfALongAnimationIsNotReadWithEachFrame() throws {
    let file = AnimatedImageTests.file(400)
    let counting = CountingDecoder(GIFDecoder())
    let decoders = DecoderRegistry([counting])
    let feeding = try Feeding.of(file, pieces: 200, Self.options, policy: .eager, decoders: decoders)
    #expect(try feeding.decoder.image().animation?.frameCount == 400)
    // Each time the file is an eighth longer; three questions each.
    #expect(counting.headers.count < 3 * 60)
  }
}
