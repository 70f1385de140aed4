import Testing
import VitrineImaging
import VitrineRuntime
import VitrineTestSupport

struct FrameSourceTests {
  @Test(arguments: ["animated.avif", "animated.jxl"])
  func eachFrameIsTheOneThatIsDecodedByItself(name: String) throws {
    let file = try Fixture.data(name)
    var source = try FrameSource(file, decoders: registry)
    for _ in 0..<2 {
      while let frame = try source.next() {
        let alone = try decode(file) { $0.frame = frame.index }.bitmap
        #expect(frame.bitmap.content == alone.content, "frame \(frame.index)")
      }
      source.rewind()
    }
    for index in [2, 0, 1, 1, 0, 2] {
      try source.seek(to: index)
      let frame = try source.next()
      #expect(frame?.bitmap.content == (try decode(file) { $0.frame = index }.bitmap.content), "frame \(index)")
    }
  }

  /// The limit counts the pixels that a frame makes the codec decode.
  @Test(arguments: ["animated.avif", "animated.jxl"])
  func theNextFrameCostsNoMoreThanItself(name: String) throws {
    let file = try Fixture.data(name)
    let info = try registry.info(of: file)
    var options = DecodeOptions()
    options.limits.composedPixelCount = info.width * info.height
    var source = try FrameSource(file, options, decoders: registry)
    var count = 0
    for _ in 0..<2 {
      while try source.next() != nil { count += 1 }
      source.rewind()
    }
    #expect(count == 6)
    options.frame = 2
    #expect(failure { try registry.decode(file, options) }?.limit == .composedPixelCount)
  }

  /// As `avifdec --info` and `jxlinfo` say.
  @Test
  func delaysAndLoopsAreThoseOfTheFile() throws {
    for name in ["animated.avif", "animated.jxl"] {
      let file = try Fixture.data(name)
      let info = try registry.info(of: file)
      let delays = try registry.frameDelays(of: file)
      #expect(delays.count == 3)
      #expect(abs(delays.reduce(0, +) - info.duration) < 1e-9)
    }
  }

  @Test
  func pagesAreFramesOfTheirOwnSizes() throws {
    var source = try FrameSource(Fixture.data("pages.tiff"), decoders: registry)
    var sizes: [[Int]] = []
    while let page = try source.next() { sizes.append([page.bitmap.width, page.bitmap.height]) }
    let alone = try (0..<3).map { page in try decode(Fixture.data("pages.tiff")) { $0.frame = page }.bitmap }
    #expect(sizes == alone.map { [$0.width, $0.height] })
  }

  @Test(arguments: ["animated.avif", "animated.jxl"])
  func aFileThatIsCutShowsTheFramesThatItHas(name: String) throws {
    let file = try Fixture.data(name)
    for count in stride(from: file.count / 4, to: file.count, by: file.count / 12) {
      do throws(ImageError) {
        var source = try FrameSource(file.prefix(count), decoders: registry)
        while try source.next() != nil {}
      } catch {
        #expect(error.code == .truncated || error.code == .corrupt, "\(count) bytes: \(error)")
      }
    }
  }
}
