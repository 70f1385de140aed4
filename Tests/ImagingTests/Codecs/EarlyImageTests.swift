import Testing
import VitrineImaging
import VitrineRuntime
import VitrineTestSupport
import VitrineTesting

/// Images for which the beginning of a file is enough, where care is not asked for.
struct EarlyImageTests {
  /// The photograph, 768x512 and progressive with half as much chroma, with comments behind its first scan and behind
  /// those that bring chroma's first coefficients: so a beginning ends where the test says.
  private static func file() throws -> Data {
    try Photograph.data("lighthouse-progressive.jpg").withJPEGComments(ofBytes: 200 << 10, beforeScans: [2, 6])
  }

  /// Follows a file in pieces until it has its image.
  private static func early(
    _ file: Data,
    _ size: TargetSize?,
    total: Int? = nil,
    decoders: DecoderRegistry = .standard,
    _ configure: (inout DecodeOptions) -> Void = { _ in },
  ) throws -> (image: Bitmap, byteCount: Int)? {
    var options = DecodeOptions(size: size)
    options.quality = .fast
    configure(&options)
    var decoder = IncrementalDecoder(options: options, previews: .none, decoders: decoders)
    decoder.stopsEarly = true
    decoder.expectedByteCount = total ?? file.count
    for end in stride(from: 512, to: file.count, by: 512) {
      guard let pending = try decoder.follow(file.prefix(end)) else { continue }
      #expect(pending.isImage)
      if let shown = try pending.decode() { return (shown.bitmap, end) }
    }
    return nil
  }

  @Test(arguments: [(16.0, 37.0), (24, 37), (64, 37)])
  func theFirstScanShowsASixteenthAndLess(divisor: Double, least: Double) throws {
    let (file, size) = (try Self.file(), TargetSize.pixels(768 / divisor, 512 / divisor))
    let best = try decode(file, size) { $0.quality = .best }.bitmap

    let (image, count) = try #require(try Self.early(file, size))

    #expect(count < 8192)
    #expect(image.size == best.size)
    #expect(image.psnr(against: best) > least)
  }

  @Test
  func anEighthWaitsForTheFirstCoefficientsOfChroma() throws {
    let (file, size) = (try Self.file(), TargetSize.pixels(96, 64))
    let fast = try decode(file, size) { $0.quality = .fast }.bitmap

    let (image, count) = try #require(try Self.early(file, size))

    #expect(count > 200 << 10)
    #expect(count < 290 << 10)
    #expect(image.psnr(against: fast) > 35)
  }

  @Test
  func grayHasNothingToWaitFor() throws {
    let scans: [JPEGFile.Scan] = [JPEGFile.Scan(), JPEGFile.Scan(component: 0, first: 1, last: 63)]
    let gray = JPEGFile(width: 800, height: 600, sampling: [(1, 1)], scans: scans, identifiers: [1]).data

    let image = try Self.early(gray, .pixels(100, 75), total: gray.count + (1 << 20))?.image

    #expect(image?.size == [100, 75])
  }

  @Test
  func aThumbnailInTheHeaderIsEnough() throws {
    let file = try ThumbnailTests.file((150, 100)) + Data(count: 200 << 10)

    let (image, count) = try #require(try Self.early(file, .pixels(120, 120)))

    #expect(ThumbnailTests.isThumbnail(image))
    #expect(image.largestDifference(from: try decode(file, .pixels(120, 120)) { $0.quality = .fast }.bitmap) == 0)
    // The first rows are there, with which it is compared.
    #expect(count >= file.count / 8)
    #expect(count < file.count / 2)
  }

  @Test
  func nothingIsEnoughForMoreThanIsThere() throws {
    #expect(try Self.early(ThumbnailTests.file((150, 100)) + Data(count: 200 << 10), .pixels(300, 300)) == nil)
    #expect(try Self.early(Self.file(), .pixels(97, 97)) == nil)
    #expect(try Self.early(Self.file(), nil) == nil)
    let baseline = try Photograph.data("macaws-444.jpg")
    #expect(try Self.early(baseline, .pixels(40, 40), total: baseline.count + (1 << 20)) == nil)
    let interlaced = try Photograph.data("spinnakers-interlaced.gif")
    #expect(try Self.early(interlaced, .pixels(40, 40), total: interlaced.count + (1 << 20)) == nil)
  }

  @Test
  func whoAsksForCareWaits() throws {
    let (file, size) = (try Self.file(), TargetSize.pixels(48, 48))
    #expect(try Self.early(file, size) != nil)

    #expect(try Self.early(file, size) { $0.quality = .balanced } == nil)
    #expect(try Self.early(file, size) { $0.quality = .best } == nil)
    #expect(try Self.early(file, size) { $0.usesLinearLight = true } == nil)
    #expect(try Self.early(file, size) { $0.region = PixelRegion(x: 0, y: 0, width: 768, height: 512) } == nil)
  }

  @Test
  func littleIsNotWorthLeaving() throws {
    let (file, size) = (try Self.file(), TargetSize.pixels(48, 48))

    #expect(try Self.early(file, size, total: 100_000) == nil)
    #expect(try Self.early(file, size, total: 0) == nil)
  }

  @Test
  func aSpoiledScanIsNoImage() throws {
    var file = try Self.file()
    // Codes that no table of the file has.
    for index in 2000..<2100 { file[index] = index.isMultiple(of: 2) ? 0xFF : 0 }

    #expect(try Self.early(file, .pixels(48, 48)) == nil)
  }

  @Test
  func cancellingItIsHeeded() throws {
    var options = DecodeOptions(size: .pixels(48, 48))
    options.quality = .fast
    var decoder = IncrementalDecoder(options: options, previews: .none)
    decoder.stopsEarly = true
    let file = try Self.file()
    decoder.expectedByteCount = file.count
    let pending = try #require(try decoder.follow(file.prefix(8192)))

    let error = #expect(throws: ImageError.self) { _ = try pending.decode { true } }
    #expect(error?.code == .cancelled)
  }
}
