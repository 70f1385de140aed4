import Testing
import VitrineRuntime
import VitrineTestSupport
import VitrineTesting

@testable import VitrineImaging

/// Alpha, edges and colours after processing.
struct PixelTests {
  static let opaque = Bitmap.testPattern(width: 45, height: 33)

  /// Those whose result is a rectangle without holes.
  static let rectangular =
    ImageProcessor.samples.filter { processor in
      let shapes: [ImageProcessor] = [
        .circle(), .roundedCorners(radius: 6), .roundedCorners(CornerRadii(topLeft: 9)),
        .border(width: 2, color: .black, radius: 9), .rotate(degrees: 33),
      ]
      return !shapes.contains(processor)
    } + [.rotate(degrees: 33, background: .white), .chain([.circle(), .background(.black)])]

  @Test(arguments: rectangular)
  func anOpaquePictureStaysOpaque(processor: ImageProcessor) throws {
    let result = try processor.process(Self.opaque)
    #expect(result.alpha == .opaque)
    #expect(result.pixels.allSatisfy { $0.w == 255 })
  }

  @Test(arguments: ImageProcessor.samples)
  func premultipliedPicturesGiveTheSameAsStraightOnes(processor: ImageProcessor) throws {
    let straight = Bitmap.pixels(width: 40, height: 30, alpha: .straight) { x, y in
      SIMD4<UInt8>(UInt8(x * 6), UInt8(y * 8), 77, x < 20 ? 255 : 0)
    }
    let inputs = [straight.premultiplied().straightened(), straight.premultiplied()]
    let results = try inputs.map { try processor.process($0) }
    #expect(results[0].pixels == results[1].pixels)
    #expect(results[1].alpha != .premultiplied)
  }

  /// A blue disc; around it is invisible white, which would make its edge lighter, or black, which would darken it.
  @Test(arguments: [SIMD4<UInt8>(255, 255, 255, 0), SIMD4(0, 0, 0, 0)])
  func edgesHaveNoFringes(hidden: SIMD4<UInt8>) throws {
    let disc = Bitmap.pixels(width: 60, height: 60, alpha: .straight) { x, y in
      (x - 30) * (x - 30) + (y - 30) * (y - 30) < 400 ? SIMD4<UInt8>(20, 40, 200, 255) : hidden
    }
    let filters: [ImageProcessor] = [
      .blur(radius: 1), .blur(radius: 4), .blur(radius: 12), .resize(.pixels(23)),
      .resize(.pixels(90, enlarges: true)), .rotate(degrees: 17), .overlay(disc, width: .fraction(0.7)),
      .sharpen(amount: 2, radius: 3),
    ]
    for filter in filters {
      let result = try filter.process(disc)
      // A faint pixel's colour is known to a level of what is visible of it.
      for pixel in result.pixels where pixel.w >= 32 {
        #expect(pixel.isWithin(255 / Int(pixel.w) + 2, of: SIMD4(20, 40, 200, pixel.w)), "\(filter)")
      }
    }
  }

  @Test
  func aBlurKeepsFlatColoursAndTheMean() throws {
    let flat = Bitmap.solid(SIMD4(13, 200, 77, 255), width: 41, height: 30)
    for radius in [0.3, 1, 2.6, 5, 8, 40, 300] {
      let step = ImageProcessor.blur(radius: .pixels(radius))
      #expect(try step.process(flat).largestDifference(from: flat) == 0)
      #expect(abs(try step.process(Self.opaque).mean - Self.opaque.mean) < 0.6)
    }
  }

  @Test(arguments: [1, 2, 3, 31, 32, 33, 64, 127])
  func thinPicturesAreBlurred(length: Int) throws {
    for (width, height) in [(length, 1), (1, length), (length, 2)] {
      let picture = Bitmap.testPattern(width: max(width, 1), height: height)
      for radius in [0.5, 3, 6, 50, 1e6] {
        #expect(try ImageProcessor.blur(radius: .pixels(radius)).process(picture).size == [width, height])
      }
    }
  }

  /// An independent blur: sums in double precision over the mirrored picture.
  @Test(arguments: [0.4, 1, 2.4, 2.55, 2.7, 4, 5.2, 5.4, 7, 13, 29] as [Double], [(97, 61), (130, 33), (40, 200)])
  func aBlurIsAGaussianWhateverItsRadius(sigma: Double, size: (Int, Int)) throws {
    var generator = SplitMix64(seed: 7)
    // Noise, bars of full contrast and a single bright pixel.
    let picture = Bitmap.pixels(width: size.0, height: size.1, alpha: .opaque) { x, y in
      let noise = UInt8.random(in: 0...255, using: &generator)
      return SIMD4(noise, x / 4 % 2 == 0 ? 255 : 0, x == 20 && y == 20 ? 255 : x > 30 ? 255 : 0, 255)
    }

    let result = try ImageProcessor.blur(radius: .pixels(sigma)).process(picture)

    #expect(result.largestDifference(from: picture.gaussian(sigma)) <= 1)
  }

  @Test(arguments: [0.7, 3, 8, 60] as [Double])
  func everyProcessorBlursToTheSameBits(sigma: Double) throws {
    for alpha in [Bitmap.Alpha.opaque, .straight] {
      let picture = Bitmap.pixels(width: 83, height: 71, alpha: alpha) { x, y in
        SIMD4(UInt8(x * 3), UInt8(y * 3), UInt8((x * y) % 256), alpha == .opaque ? 255 : UInt8((x + y) % 256))
      }
      let results = try [PixelKernels.best, .scalar].map { kernels in
        try GaussianBlur(width: 83, height: 71, sigma: sigma, ProcessingContext(), kernels: kernels)(picture)
      }
      #expect(results[0].pixels == results[1].pixels)
    }
  }

  @Test
  func fourQuarterTurnsAreNone() throws {
    var picture = Self.opaque
    for _ in 0..<4 { picture = try ImageProcessor.rotate(quarterTurns: 1).process(picture) }
    #expect(picture.pixels == Self.opaque.pixels)
    let back = try ImageProcessor.chain([.rotate(quarterTurns: 1), .rotate(quarterTurns: -1)]).process(Self.opaque)
    #expect(back.pixels == Self.opaque.pixels)
    let half = try ImageProcessor.rotate(degrees: 180).process(Self.opaque)
    #expect(
      try half.pixels == ImageProcessor.chain([.flip(.horizontal), .flip(.vertical)]).process(Self.opaque).pixels
    )
  }

  @Test
  func cornersThatDoNotFitShrinkTogether() throws {
    let tall = Bitmap.solid(SIMD4(9, 9, 9, 255), width: 20, height: 60)
    let huge = try ImageProcessor.roundedCorners(radius: 1000).process(tall)
    #expect(huge.pixels == (try ImageProcessor.roundedCorners(radius: 10).process(tall).pixels))
    #expect(huge[10, 0].w > 200)
    #expect(huge[0, 0].w == 0)
    #expect(huge[0, 30].w == 255)
  }

  @Test
  func anotherColourSpaceHasTheSameColour() throws {
    let picture = Bitmap.solid(SIMD4(10, 10, 10, 255), width: 4, height: 4).converted(to: .displayP3)
    let result = try ImageProcessor.tint(PixelColor(0xFF0000)).process(picture)
    #expect(result.colorSpace == .displayP3)
    #expect(result.converted(to: .sRGB)[0, 0].isWithin(1, of: SIMD4(255, 0, 0, 255)))
  }

  @Test(arguments: ImageProcessor.Interest.allCases, [(0, 0), (150, 10), (80, 100)])
  func aSmartCropFindsWhatThereIsToSee(interest: ImageProcessor.Interest, place: (Int, Int)) throws {
    var generator = SplitMix64(seed: 3)
    // A patch of noise on plain gray.
    let picture = Bitmap.pixels(width: 200, height: 150, alpha: .opaque) { x, y in
      let isPatch = (place.0..<place.0 + 40).contains(x) && (place.1..<place.1 + 40).contains(y)
      let level = isPatch ? UInt8.random(in: 0...255, using: &generator) : 128
      return SIMD4(level, level, level, 255)
    }

    let result = try ImageProcessor.smartCrop(width: 60, height: 60, by: interest).process(picture)

    #expect(result.size == [60, 60])
    let shown = result.pixels.count { $0.x != 128 }
    #expect(shown > 1300)
  }

  @Test
  func aPlainPictureIsCroppedInTheMiddle() throws {
    let flat = Bitmap.pixels(width: 90, height: 30, alpha: .straight) { x, _ in SIMD4(UInt8(x), 0, 0, 0) }
    #expect(try ImageProcessor.smartCrop(aspectRatio: 1).process(flat)[0, 0].x == 30)
  }
}

extension Bitmap {
  fileprivate var mean: Double {
    Double(pixels.reduce(0) { $0 + Int($1.x) + Int($1.y) + Int($1.z) }) / Double(3 * width * height)
  }

  /// Blurs pixel by pixel; opaque pictures only.
  fileprivate func gaussian(_ sigma: Double) -> Bitmap {
    func weights(_ count: Int) -> [[(Int, Double)]] {
      let reach = Int((5 * sigma).rounded(.up))
      return (0..<count).map { center in
        (-reach...reach).map { offset in
          let place = ((center + offset) % (2 * count) + 2 * count) % (2 * count)
          return (place < count ? place : 2 * count - 1 - place, exp(-0.5 * Double(offset * offset) / (sigma * sigma)))
        }
      }
    }
    func filtered(_ line: [SIMD4<Double>], _ weights: [[(Int, Double)]]) -> [SIMD4<Double>] {
      weights.map { taps in
        taps.reduce(SIMD4<Double>()) { $0 + line[$1.0] * $1.1 } / taps.reduce(0) { $0 + $1.1 }
      }
    }
    let (across, down) = (weights(width), weights(height))
    let rows = (0..<height).map { y in filtered((0..<width).map { SIMD4<Double>(self[$0, y]) }, across) }
    let columns = (0..<width).map { x in filtered(rows.map { $0[x] }, down) }
    return .pixels(width: width, height: height, alpha: .opaque) { x, y in
      SIMD4<UInt8>(columns[x][y].rounded(.toNearestOrAwayFromZero))
    }
  }
}
