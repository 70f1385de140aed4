import Testing
import VitrineImaging
import VitrineRuntime
import VitrineTestSupport
import VitrineTesting

/// Parts of images: the same pixels as in the whole, for less work.
struct RegionTests {
  static let photographs = [
    "macaws-444.jpg", "waterfall-cliff-orientation-6.jpg", "lighthouse-progressive.jpg", "statue-grey.jpg",
    "white-lighthouse-adam7.png", "hibiscus-window-alpha.png", "rafting-still.gif", "spinnakers-interlaced.gif",
    "harbour-pier-lossless.webp", "motocross-lossy.webp", "yacht-lossy-alpha.webp", "houses-animated.webp",
  ]

  static let kinds = [
    "baseline-411.jpg", "baseline-420.jpg", "baseline-422.jpg", "baseline-440.jpg", "baseline-444.jpg",
    "restart-420.jpg", "cmyk.jpg", "ycck.jpg", "rgb.jpg", "arithmetic.jpg", "progressive-420.jpg", "lossy.webp",
  ]

  /// Regions all over the picture, and at its edges.
  static func regions(_ width: Int, _ height: Int, count: Int) -> [PixelRegion] {
    var generator = SplitMix64(seed: UInt64(width * height))
    let random = (0..<count).map { _ in
      let (x, y) = (Int.random(in: 0..<width, using: &generator), Int.random(in: 0..<height, using: &generator))
      return PixelRegion(
        x: x,
        y: y,
        width: .random(in: 1...width - x, using: &generator),
        height: .random(in: 1...height - y, using: &generator),
      )
    }
    return random + [
      PixelRegion(x: 0, y: 0, width: 1, height: 1),
      PixelRegion(x: width - 1, y: height - 1, width: 1, height: 1),
      PixelRegion(x: 0, y: height / 2, width: width, height: 1),
      PixelRegion(x: 0, y: 0, width: width, height: height),
    ]
  }

  @Test(arguments: photographs)
  func aPartHasThePixelsOfTheWhole(name: String) throws {
    let file = try Photograph.data(name)
    let whole = try decode(file).bitmap

    for region in Self.regions(whole.width, whole.height, count: 4) {
      let part = try decode(file) { $0.region = region }.bitmap
      #expect(part.size == [region.width, region.height])
      #expect(part.largestDifference(from: whole.part(region)) == 0, "\(region)")
      #expect(part.alpha == whole.alpha)
    }
  }

  @Test(arguments: kinds)
  func everySamplingIsCutWithoutATrace(name: String) throws {
    let file = try Fixture.data(name)
    let whole = try decode(file).bitmap

    for region in Self.regions(whole.width, whole.height, count: 30) {
      let part = try decode(file) { $0.region = region }.bitmap
      #expect(part.largestDifference(from: whole.part(region)) == 0, "\(region)")
    }
  }

  @Test(
    arguments: [[], JPEGFile.usualScans],
    [[(2, 2), (1, 1), (1, 1)], [(2, 1), (1, 1), (1, 1)], [(1, 2), (1, 1), (1, 1)]],
  )
  func farDownAndInTheMiddleItIsTheSame(scans: [JPEGFile.Scan], sampling: [(columns: Int, rows: Int)]) throws {
    let file = JPEGFile(width: 160, height: 1400, sampling: sampling, restartInterval: 3, scans: scans).data
    let whole = try decode(file).bitmap

    for y in [15, 16, 17, 511, 512, 513, 1040, 1399] {
      let region = PixelRegion(x: 67, y: y, width: 20, height: min(40, 1400 - y))
      let part = try decode(file) { $0.region = region }.bitmap
      #expect(part.largestDifference(from: whole.part(region)) == 0, "\(region)")
    }
  }

  @Test(arguments: photographs, [0.7, 0.4, 0.2, 0.09])
  func aPartAtASizeIsThatOfTheWholeDecoded(name: String, scale: Double) throws {
    let file = try Photograph.data(name)
    let header = try info(file)

    for region in Self.regions(header.width, header.height, count: 2) {
      var options = DecodeOptions(size: .pixels(Double(region.width) * scale, Double(region.height) * scale))
      options.region = region
      let part = try DecoderRegistry.standard.decode(file, options).bitmap
      let reference = try DecoderRegistry.ofWholes.decode(file, options).bitmap
      #expect(part.size == reference.size)
      #expect(part.largestDifference(from: reference) == 0, "\(region)")
    }
  }

  @Test
  func theSizeIsThatOfThePart() throws {
    let file = try Photograph.data("macaws-444.jpg")
    let region = PixelRegion(x: 100, y: 50, width: 400, height: 200)

    #expect(try decode(file, .pixels(100, 100)) { $0.region = region }.bitmap.size == [100, 50])
    #expect(try decode(file, .pixels(100, 100, .fill)) { $0.region = region }.bitmap.size == [100, 100])
    #expect(try decode(file, .pixels(800, 800)) { $0.region = region }.bitmap.size == [400, 200])
    #expect(try decode(file, .pixels(800, 800, enlarges: true)) { $0.region = region }.bitmap.size == [800, 400])
  }

  @Test
  func aRegionIsCutToTheImageAndRefusedOutsideOfIt() throws {
    let file = try Photograph.data("macaws-444.jpg")
    func size(_ x: Int, _ y: Int, _ width: Int, _ height: Int) throws(ImageError) -> [Int] {
      try decode(file) { $0.region = PixelRegion(x: x, y: y, width: width, height: height) }.bitmap.size
    }

    #expect(try size(700, 500, 256, 256) == [68, 12])
    #expect(try size(-10, -20, 256, 256) == [246, 236])
    #expect(try size(760, 0, .max, .max) == [8, 512])
    for outside in [
      (768, 0, 9, 9), (0, 512, 9, 9), (-9, 0, 9, 9), (.min, 0, .max, 10), (5, 5, 0, 9), (5, 5, 9, -1),
      (.max, .max, .max, .max),
    ] {
      let error = failure { try size(outside.0, outside.1, outside.2, outside.3) }
      #expect(error?.code == .invalidSize)
    }
  }

  @Test
  func theLimitOfTheOutputIsThatOfThePart() throws {
    let file = try Photograph.data("macaws-444.jpg")
    var options = DecodeOptions()
    options.limits.outputByteCount = 64 * 64 * 4
    #expect(failure { try DecoderRegistry.standard.decode(file, options) }?.code == .overLimit)

    options.region = PixelRegion(x: 300, y: 300, width: 64, height: 64)
    #expect(try DecoderRegistry.standard.decode(file, options).bitmap.size == [64, 64])

    options.region?.width = 65
    #expect(failure { try DecoderRegistry.standard.decode(file, options) }?.code == .overLimit)
  }

  @Test(.enabled(if: !Shape.isApple), arguments: ["macaws-444.jpg", "aeroplane-rgb.png", "rafting-still.gif"])
  func whatIsMissingBelowThePartDoesNotMatter(name: String) throws {
    let file = try Photograph.data(name)
    let header = try info(file)
    let cut = file.prefix(file.count / 2)
    let top = PixelRegion(x: 10, y: 0, width: 64, height: 64)
    let bottom = PixelRegion(x: 10, y: header.height - 64, width: 64, height: 64)

    #expect(try decode(cut) { $0.region = top }.bitmap.pixels == decode(file) { $0.region = top }.bitmap.pixels)
    #expect(failure { try decode(cut) { $0.region = bottom } }?.code == .truncated)
    let partial = try decode(cut) {
      $0.region = bottom
      $0.acceptsPartial = true
    }
    #expect(partial.damage?.code == .truncated)
    #expect(partial.bitmap.pixels.allSatisfy { $0.w == 0 })
  }

  @Test(arguments: ["macaws-444.jpg", "aeroplane-rgb.png", "lighthouse-progressive.jpg"])
  func itCanBeCancelledOnTheWayToThePart(name: String) throws {
    let file = try Photograph.data(name)
    let header = try info(file)
    let asked = Lock(0)
    let error = failure {
      try decode(file) {
        $0.region = PixelRegion(x: 0, y: header.height - 1, width: 1, height: 1)
        $0.isCancelled = {
          asked.withLock {
            $0 += 1
            return $0 > 2
          }
        }
      }
    }

    #expect(error?.code == .cancelled)
  }

  @Test(.enabled(if: !Shape.isApple))
  func decodersLeaveOutWhatLiesAround() throws {
    let region = PixelRegion(x: 300, y: 400, width: 50, height: 40)
    for (name, decoder) in [
      ("macaws-444.jpg", JPEGDecoder() as any ImageDecoder), ("motocross-lossy.webp", WebPDecoder()),
    ] {
      let file = try Photograph.data(name)
      let request = RowRequest(info: try info(file), minimumScale: 1, region: region.within(try info(file)))
      let shape = try unsafe file.withUnsafeBytes { bytes in
        let rows = try unsafe #require(try decoder.open(bytes, request))
        return [rows.width, rows.height, rows.origin.x, rows.origin.y]
      }
      #expect(shape[0] <= 50 + 64 && shape[1] <= 40 + 64, "\(name): \(shape)")
      #expect(shape[2] > 0 && shape[3] > 0)
    }
  }

  @Test
  func aDamagedFileAtAnEighthIsStillCutRight() throws {
    let file = try Photograph.data("waterfall-cliff-large.jpg")
    let header = try info(file)
    var options = DecodeOptions(size: .pixels(20, 20))
    options.region = PixelRegion(x: 8, y: 8, width: header.width - 16, height: header.height - 16)
    options.acceptsPartial = true

    let cut = file.prefix(file.count / 2)
    let part = try DecoderRegistry.standard.decode(cut, options)
    let reference = try DecoderRegistry.ofWholes.decode(cut, options)

    #expect(part.damage?.code == .truncated)
    #expect(part.bitmap.pixels == reference.bitmap.pixels)
    #expect(part.bitmap[10, 1].w == 255)
  }
}

extension PixelRegion {
  fileprivate func within(_ info: ImageInfo) -> PixelRegion {
    PixelRegion(x: min(x, info.width - width), y: min(y, info.height - height), width: width, height: height)
  }
}

extension Bitmap {
  fileprivate func part(_ region: PixelRegion) -> Bitmap {
    .pixels(width: region.width, height: region.height, alpha: alpha) { x, y in self[region.x + x, region.y + y] }
  }
}

extension DecoderRegistry {
  /// The standard decoders, that do not know of regions.
  fileprivate static let ofWholes: DecoderRegistry = {
    let decoders: [any ImageDecoder] = [JPEGDecoder(), PNGDecoder(), WebPDecoder(), GIFDecoder()]
    return DecoderRegistry(decoders.map { WholeDecoder(base: $0) })
  }()
}

private struct WholeDecoder: ImageDecoder {
  let base: any ImageDecoder
  var formats: [ImageFormat] { base.formats }

  func info(
    of bytes: UnsafeRawBufferPointer,
    format: ImageFormat,
    limits: DecodeLimits,
  ) throws(ImageError) -> ImageInfo? {
    try unsafe base.info(of: bytes, format: format, limits: limits)
  }

  func open(_ bytes: UnsafeRawBufferPointer, _ request: RowRequest) throws(ImageError) -> (any RowSource)? {
    try unsafe base.open(bytes, request.ofWhole)
  }
}
