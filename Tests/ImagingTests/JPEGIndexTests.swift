import Testing
import VitrineImaging
import VitrineRuntime
import VitrineTestSupport
import VitrineTesting

/// Parts of a JPEG file read from places that one pass has noted.
struct JPEGIndexTests {
  static let samplings: [[(columns: Int, rows: Int)]] = [
    [(1, 1)], [(1, 1), (1, 1), (1, 1)], [(2, 1), (1, 1), (1, 1)], [(1, 2), (1, 1), (1, 1)],
    [(2, 2), (1, 1), (1, 1)],
    [(4, 1), (1, 1), (1, 1)],
  ]

  static func file(_ sampling: [(columns: Int, rows: Int)], restartInterval: Int = 0) -> Data {
    JPEGFile(width: 1500, height: 330, sampling: sampling, restartInterval: restartInterval).data
  }

  /// Checks that the index gives the pixels that the decoders give.
  static func check(_ file: Data, _ index: JPEGIndex, _ region: PixelRegion, _ size: TargetSize?) throws {
    var options = DecodeOptions(size: size)
    options.region = region
    let part = try index.decode(options).bitmap
    let expected = try DecoderRegistry.standard.decode(file, options).bitmap
    #expect(part.size == expected.size)
    #expect(part.largestDifference(from: expected) == 0, "\(region)")
  }

  static let regions = [
    PixelRegion(x: 0, y: 0, width: 40, height: 40), PixelRegion(x: 777, y: 100, width: 64, height: 48),
    PixelRegion(x: 1013, y: 250, width: 33, height: 80), PixelRegion(x: 1480, y: 320, width: 20, height: 10),
    PixelRegion(x: 3, y: 329, width: 700, height: 1), PixelRegion(x: 1499, y: 0, width: 1, height: 330),
  ]

  @Test(arguments: samplings, [0, 1, 7, 64, 100])
  func aPartIsThatOfTheWholeWhateverTheSampling(
    sampling: [(columns: Int, rows: Int)],
    restartInterval: Int,
  ) throws {
    let file = Self.file(sampling, restartInterval: restartInterval)
    let index = try JPEGIndex(file)

    for region in Self.regions { try Self.check(file, index, region, nil) }
  }

  @Test(.enabled(if: !Shape.isApple), arguments: samplings, [0.6, 0.3, 0.1])
  func aPartAtASizeIsThatOfTheWhole(sampling: [(columns: Int, rows: Int)], scale: Double) throws {
    let file = Self.file(sampling)
    let index = try JPEGIndex(file)

    for region in Self.regions {
      let size = TargetSize.pixels(Double(region.width) * scale, Double(region.height) * scale)
      try Self.check(file, index, region, size)
    }
  }

  static let ways: [(filter: ResamplingFilter, usesLinearLight: Bool, space: ColorSpace)] =
    ResamplingFilter.allCases.map { ($0, false, .sRGB) } + [
      (.lanczos3, true, .sRGB), (.lanczos3, false, .displayP3), (.box, true, .displayP3),
    ]

  @Test(.enabled(if: !Shape.isApple), arguments: ways)
  func aPartIsFilteredAndColouredLikeTheWhole(
    way: (filter: ResamplingFilter, usesLinearLight: Bool, space: ColorSpace)
  ) throws {
    let file = try Photograph.data("waterfall-cliff-large.jpg")
    let index = try JPEGIndex(file)
    let region = PixelRegion(x: index.info.width / 2, y: index.info.height / 2, width: 120, height: 90)

    var options = DecodeOptions(size: .pixels(50, 50))
    options.region = region
    (options.filter, options.usesLinearLight, options.colorSpace) = way
    let part = try index.decode(options).bitmap
    let expected = try DecoderRegistry.standard.decode(file, options).bitmap
    let plain = try DecoderRegistry.standard.decode(file, Self.plain(options)).bitmap

    #expect(part.colorSpace == way.space)
    #expect(part.largestDifference(from: expected) == 0)
    // The option is not one that makes no difference here.
    if way != (.lanczos3, false, .sRGB) { #expect(plain.largestDifference(from: expected) > 0) }
  }

  private static func plain(_ options: DecodeOptions) -> DecodeOptions {
    var plain = DecodeOptions(size: options.size)
    plain.region = options.region
    return plain
  }

  @Test(
    .enabled(if: !Shape.isApple),
    arguments: ["waterfall-cliff-large.jpg", "waterfall-visitor-orientation-7.jpg", "statue-grey.jpg"],
  )
  func photographsAreReadFromTheMiddle(name: String) throws {
    let file = try Photograph.data(name)
    let index = try JPEGIndex(file)
    let (width, height) = (index.info.width, index.info.height)

    for region in [
      PixelRegion(x: width / 2, y: height / 2, width: 90, height: 70),
      PixelRegion(x: width - 50, y: height - 40, width: 50, height: 40),
    ] {
      try Self.check(file, index, region, nil)
      try Self.check(file, index, region, .pixels(20, 20))
    }
    try Self.check(file, index, PixelRegion(x: 0, y: 0, width: width, height: height), .pixels(64, 64))
  }

  @Test
  func theWholeIsDecodedWithoutARegion() throws {
    let file = try Photograph.data("statue-grey.jpg")
    let image = try JPEGIndex(file).decode(DecodeOptions(size: .pixels(50, 50)))

    #expect(image.bitmap.pixels == (try decode(file, .pixels(50, 50)).bitmap.pixels))
  }

  @Test(arguments: ["progressive-420.jpg", "cmyk.jpg", "arithmetic.jpg"])
  func whatCannotBeIndexedIsSaid(name: String) throws {
    #expect(failure { try JPEGIndex(Fixture.data(name)) }?.code == .unsupported)
  }

  @Test
  func anotherFormatIsSaidToBe() throws {
    #expect(failure { try JPEGIndex(Fixture.data("lossy.webp")) }?.code == .unsupported)
    #expect(failure { try JPEGIndex(Data()) }?.code == .unrecognised)
  }

  @Test(arguments: [0, 7])
  func aFileCutShortIsNotIndexed(restartInterval: Int) throws {
    let file = Self.file(Self.samplings[4], restartInterval: restartInterval)
    for count in stride(from: 1000, to: file.count - 8, by: file.count / 9) {
      let error = failure { try JPEGIndex(file.prefix(count)) }
      #expect([.truncated, .corrupt].contains(error?.code))
    }
  }

  @Test(arguments: samplings)
  func spoiledFilesNeverCrash(sampling: [(columns: Int, rows: Int)]) throws {
    let file = JPEGFile(width: 300, height: 100, sampling: sampling).data
    var generator = SplitMix64(seed: 3)
    var indexed = 0
    for _ in 0..<60 {
      // Behind the header, where damage is not always noticed.
      let place = Int.random(in: file.count / 2..<file.count, using: &generator)
      let spoiled = file.replacing(place, with: .random(in: 0...255, using: &generator))
      guard let index = try? JPEGIndex(spoiled) else { continue }
      indexed += 1
      var options = DecodeOptions()
      options.region = PixelRegion(x: 200, y: 60, width: 40, height: 30)
      let part = try? index.decode(options)
      #expect(part == nil || part?.bitmap.size == [40, 30])
    }
    #expect(indexed > 0)
  }

  @Test
  func makingAndUsingItCanBeCancelled() throws {
    let file = Self.file(Self.samplings[4])
    #expect(failure { try JPEGIndex(file) { true } }?.code == .cancelled)

    let index = try JPEGIndex(file)
    var options = DecodeOptions()
    options.region = Self.regions[1]
    options.isCancelled = { true }
    #expect(failure { try index.decode(options) }?.code == .cancelled)
  }

  @Test
  func limitsAreThoseOfDecoding() throws {
    let file = Self.file(Self.samplings[4])
    var limits = DecodeLimits()
    limits.pixelCount = 1000
    #expect(failure { try JPEGIndex(file, limits: limits) }?.code == .overLimit)

    let index = try JPEGIndex(file)
    var options = DecodeOptions()
    options.region = Self.regions[1]
    options.limits.outputByteCount = 1000
    #expect(failure { try index.decode(options) }?.code == .overLimit)
    options.limits = limits
    #expect(failure { try index.decode(options) }?.code == .overLimit)
    options.limits = DecodeLimits()
    options.region?.x = 5000
    #expect(failure { try index.decode(options) }?.code == .invalidSize)
    options.region = Self.regions[1]
    options.frame = 1
    #expect(failure { try index.decode(options) }?.code == .noSuchFrame)
  }
}
