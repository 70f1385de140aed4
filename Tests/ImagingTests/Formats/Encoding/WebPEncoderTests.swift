import Testing
import VitrineImaging
import VitrineRuntime
import VitrineTestSupport
import VitrineTesting

/// WebP that moves, and what is written beside its pixels.
@Suite(.enabled(if: !Shape.isApple))
struct WebPEncoderTests {
  private func container(_ frames: Int) throws -> ImageContainer {
    let animation = try AnimatedImage(AnimatedImageTests.file(frames))
    var image = ImageContainer(animation.poster)
    image.animation = animation
    return image
  }

  @Test
  func anAnimationComesBackFrameByFrame() throws {
    let image = try container(7)
    let file = try EncoderRegistry.standard.encode(image, as: .webp(isLossless: true)).data
    #expect(try info(file).frameCount == 7)
    var source = try FrameSource(AnimatedImageTests.file(7))
    var copy = try FrameSource(file)
    #expect(copy.info.loopCount == source.info.loopCount)
    while let frame = try source.next() {
      let other = try #require(try copy.next())
      #expect(other.delay == frame.delay)
      #expect(other.bitmap.largestDifference(from: frame.bitmap) == 0)
    }
    #expect(try copy.next() == nil)
  }

  @Test
  func anAnimationOfOneFrameStopsAtAnyMomentUntilItIsWhole() throws {
    // Equal frames are one, which libwebp encodes again at the end.
    let frames = (0..<3).map { _ in GIFFile.Frame(width: 96, height: 64) { x, y in (x * y / 7) % 4 } }
    let original = GIFFile(width: 96, height: 64, palette: GIFTests.palette, frames: frames).data
    let animation = try AnimatedImage(original)
    var image = ImageContainer(animation.poster)
    image.animation = animation
    let calls = Watched(0)
    func encode(stoppingAt last: Int) throws -> Data {
      calls.change { $0 = 0 }
      return try EncoderRegistry.standard.encode(image, as: .webp(quality: 80)) {
        calls.change { $0 += 1 }
        return calls.value >= last
      }.data
    }
    #expect(try info(encode(stoppingAt: .max)).frameCount == 1)
    let count = calls.value
    #expect(count > 10)
    for last in 1...count {
      let error = #expect(throws: ImageError.self) { try encode(stoppingAt: last) }
      #expect(error?.code == .cancelled, "\(last) of \(count)")
    }
  }

  @Test
  func aLossyAnimationIsNearlyTheSame() throws {
    // Quarters that change their colours.
    let frames = (0..<4).map { number in
      var frame = GIFFile.Frame(width: 32, height: 24) { x, y in (x / 16 + y / 12 * 2 + number) % 4 }
      frame.delay = 7
      return frame
    }
    let original = GIFFile(width: 32, height: 24, palette: GIFTests.palette, frames: frames).data
    let animation = try AnimatedImage(original)
    var image = ImageContainer(animation.poster)
    image.animation = animation
    let file = try EncoderRegistry.standard.encode(image, as: .webp(quality: 90)).data
    var source = try FrameSource(original)
    var copy = try FrameSource(file)
    while let frame = try source.next() {
      let other = try #require(try copy.next())
      #expect(other.delay == frame.delay)
      #expect(other.bitmap.psnr(against: frame.bitmap) > 22)
    }
  }

  @Test
  func framesAreWrittenAsAProcessorLeavesThem() async throws {
    let image = try ImageProcessor.resize(width: 10).process(container(3), ProcessingContext())
    let file = try EncoderRegistry.standard.encode(image, as: .webp(isLossless: true)).data
    let decoded = try AnimatedImage(file)
    #expect((decoded.poster.width, decoded.poster.height) == (10, 7))
    let animation = try #require(image.animation)
    #expect(
      try await decoded.frame(at: 2).largestDifference(from: try await animation.frame(at: 2)) == 0
    )
  }

  @Test
  func anAnimationThatNobodyWantsIsLeft() throws {
    let asked = Lock(0)
    let image = try container(20)
    let error = failure {
      try EncoderRegistry.standard.encode(image, as: .webp()) {
        asked.withLock { asked in
          asked += 1
          return asked > 5
        }
      }
    }
    #expect(error?.isCancellation == true)
  }

  @Test
  func aFrameThatCannotBeDecodedIsAnError() throws {
    let file = AnimatedImageTests.file(5)
    let animation = try AnimatedImage(file.prefix(file.count * 3 / 5))
    var image = ImageContainer(animation.poster)
    image.animation = animation
    let error = failure { try EncoderRegistry.standard.encode(image, as: .webp()) }
    #expect(error?.code == .truncated || error?.code == .corrupt)
  }

  @Test(arguments: [false, true])
  func metadataComesBack(moves: Bool) throws {
    var image = try container(3)
    if !moves { image.animation = nil }
    let xmp = "<x:xmpmeta xmlns:x=\"adobe:ns:meta/\"/>"
    image.metadata = .made(exif: EXIFFile.named, xmp: xmp)
    let file = try EncoderRegistry.standard.encode(image, as: .webp().metadata(.keep)).data
    let metadata = try DecoderRegistry.standard.metadata(of: file)
    #expect(metadata.exif != nil)
    #expect(metadata.xmp.map { String(decoding: $0, as: UTF8.self) }?.contains("xmpmeta") == true)
    #expect(try info(file).frameCount == (moves ? 3 : 1))
  }
}
