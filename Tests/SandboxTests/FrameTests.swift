import Testing
import VitrineImaging
import VitrineRuntime
import VitrineSandbox
import VitrineTestSupport
import VitrineTesting

/// Frames of animations, decoded in workers.
struct FrameTests {
  static let files = ["animated.png", "animated.webp", "animated.avif", "animated.jxl"]

  @Test(arguments: files)
  func framesAreThoseOfTheDecodersThemselves(path: String) throws {
    let file = try Fixture.data(path)
    let decoders = try Sandbox.built().decoders
    let options = DecodeOptions(size: .pixels(40, 40))
    var there = try FrameSource(file, options, decoders: decoders)
    var here = try FrameSource(file, options, decoders: ownDecoders)
    #expect(there.delays == here.delays)
    for _ in 0..<2 {
      while let own = try here.next() {
        let frame = try there.next()
        #expect(frame?.bitmap.content == own.bitmap.content)
      }
      here.rewind()
      there.rewind()
    }
  }

  /// The limit counts what a frame costs, so that a worker that began anew would exceed it.
  @Test(arguments: files)
  func theWorkerKeepsWhatTheNextFrameBuildsOn(path: String) throws {
    let file = try Fixture.data(path)
    // One process for each animation, and one for the stills: one more would end the spare one of an animation. None is
    // started ahead, since an image does not wait for such a process but starts another.
    let decoders = try Sandbox.built { ($0.processes, $0.startsAhead) = (3, false) }.decoders
    let info = try decoders.info(of: file)
    var options = DecodeOptions()
    options.limits.composedPixelCount = info.width * info.height
    // Two animations in turns, and stills between their frames.
    var first = try FrameSource(file, options, decoders: decoders)
    var second = try FrameSource(file, options, decoders: decoders)
    var count = 0
    while let frame = try first.next() {
      let other = try second.next()
      #expect(other?.bitmap.content == frame.bitmap.content)
      _ = try decoders.decode(Fixture.data("still.gif"))
      count += 1
    }
    #expect(count == info.frameCount)
  }

  /// The worker keeps what the next frame builds on, also of a file that has more bytes than before.
  @Test(arguments: ["animated.png", "animated.webp"])
  func framesOfAFileThatArrivesAreThoseOfTheWholeFile(path: String) async throws {
    let file = try Fixture.data(path)
    var options = DecodeOptions()
    options.animates = true
    let own = try FrameList(file, options)
    // No more than two frames may be composed at a time.
    options.limits.composedPixelCount = 2 * own.info.width * own.info.height
    var policy = PreviewPolicy()
    policy.interval = 1
    let decoders = try Sandbox.built().decoders
    var decoder = IncrementalDecoder(options: options, previews: policy, decoders: decoders)
    var animation: AnimatedImage?
    var known = 0
    for byte in file where try decoder.append(Data([byte])) == .previewReady {
      if let preview = try decoder.preview(), let begun = preview.animation { animation = begun }
      guard let animation else { continue }
      for index in known..<animation.frameCount {
        #expect(try await animation.frame(at: index).largestDifference(from: own.frames[index]) == 0)
      }
      known = animation.frameCount
    }
    #expect(known > 2)
    let image = try decoder.image()
    #expect(image.animation === animation)
    for index in known..<own.frames.count {
      let frame = try await image.animation?.frame(at: index)
      #expect(frame?.largestDifference(from: own.frames[index]) == 0)
    }
  }

  @Test
  func anAnimationTakesAnotherWorkerThanTheFirst() throws {
    let sandbox = try Sandbox.built { ($0.processes, $0.startsAhead) = (2, false) }
    let file = try Fixture.data("animated.jxl")
    let info = try sandbox.decoders.info(of: file)
    var options = DecodeOptions()
    options.limits.composedPixelCount = info.width * info.height
    var first = try FrameSource(file, options, decoders: sandbox.decoders)
    var second = try FrameSource(file, options, decoders: sandbox.decoders)
    for _ in 0..<info.frameCount {
      #expect(try first.next() != nil)
      #expect(try second.next() != nil)
    }
    #expect(sandbox.counts.started == 2)
    // There is no third worker, and so the third animation takes that of one which is over.
    var third = try FrameSource(file, options, decoders: sandbox.decoders)
    #expect(try third.next() != nil)
    #expect(sandbox.counts.started == 2)
  }

  @Test
  func aWorkerThatIsKilledCostsOneFrameAtMost() throws {
    let file = try Fixture.data("animated.avif")
    let sandbox = try Sandbox.built { $0.processes = 1 }
    var source = try FrameSource(file, decoders: sandbox.decoders)
    var here = try FrameSource(file, decoders: ownDecoders)
    for _ in 0..<3 {
      let own = try here.next()
      var frame: AnimationFrame?
      for _ in 0..<5 where frame == nil { frame = try? source.next() }
      #expect(frame?.bitmap.content == own?.bitmap.content)
      for identifier in sandbox.processIdentifiers { kill(identifier, SIGKILL) }
    }
  }
}

/// The frames of a file, by this process's own decoders.
private struct FrameList {
  let info: ImageInfo
  private(set) var frames: [Bitmap] = []

  init(_ file: Data, _ options: DecodeOptions) throws {
    var source = try FrameSource(file, options, decoders: ownDecoders)
    info = source.info
    while let frame = try source.next() { frames.append(frame.bitmap) }
  }
}
