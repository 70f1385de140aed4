import Testing
import VitrineRuntime
import VitrineTestSupport
import VitrineTesting

@testable import VitrineImaging

/// The numbers of gain maps: their two forms in files, and what they make of a picture.
struct GainMapFormulaTests {
  /// A formula whose numbers all differ, and have at most six places behind the point.
  static let varied: GainMapFormula = {
    var formula = GainMapFormula(maximum: 2.5)
    formula.minimum = SIMD3(-0.256907, -0.25, 0.125)
    formula.maximum = SIMD3(1.277177, 2.25, 3.5)
    formula.gamma = SIMD3(0.953784, 1, 2.2)
    formula.baseOffset = SIMD3(0.015625, 0, 0.03125)
    formula.alternateOffset = SIMD3(0.000977, -0.01, 0.015625)
    formula.baseHeadroom = 0.5
    return formula
  }()

  private func read(_ bytes: [UInt8], base: ColorSpace = .sRGB, alternate: ColorSpace = .sRGB) -> GainMapFormula? {
    Data(bytes).reading { GainMapFormula(iso: $0, base: base, alternate: alternate) }
  }

  @Test(arguments: ColorSpace.allCases, ColorSpace.allCases)
  func theBinaryFormIsReadAsItIsWritten(base: ColorSpace, space: ColorSpace) {
    for var formula in [Self.varied, GainMapFormula(minimum: -1, maximum: 3)] {
      formula.colorSpace = space
      let other: ColorSpace = base == .sRGB ? .displayP3 : .sRGB
      #expect(read(formula.iso(base: base), base: base, alternate: other) == formula)
    }
  }

  @Test
  func equalGainsTakeOneChannel() {
    #expect(GainMapFormula(maximum: 2).iso(base: .sRGB).count == 5 + 7 * 8)
    #expect(Self.varied.iso(base: .sRGB).count == 5 + 17 * 8)
  }

  /// As Android writes it: one denominator for all numbers.
  @Test
  func aCommonDenominatorIsRead() throws {
    let numbers = [0, 3_000, -500, 2_500, 1_000, 10, 20]
    let bytes: [UInt8] = [0, 0, 0, 0, 0x48] + .big32(1_000) + numbers.flatMap { [UInt8].big32($0) }
    let formula = try #require(read(bytes))
    #expect(formula.alternateHeadroom == 3)
    #expect(formula.minimum == SIMD3(repeating: -0.5))
    #expect(formula.maximum == SIMD3(repeating: 2.5))
    #expect(formula.gamma == SIMD3(repeating: 1))
    #expect(formula.baseOffset == SIMD3(repeating: 0.01))
    #expect(formula.alternateOffset == SIMD3(repeating: 0.02))
  }

  @Test
  func whatCannotBeReadIsNone() {
    let whole = Self.varied.iso(base: .sRGB)
    for length in 0..<whole.count { #expect(read(Array(whole.prefix(length))) == nil) }
    var later = whole
    later[1] = 1
    #expect(read(later) == nil)
    // A writer's version that is later only adds bytes behind.
    var added = whole + [1, 2, 3]
    added[3] = 1
    #expect(read(added) == Self.varied)
    // A denominator of zero.
    var undefined = whole
    for place in 9..<13 { undefined[place] = 0 }
    #expect(read(undefined) == nil)
  }

  @Test
  func theTextualFormIsReadAsItIsWritten() {
    for formula in [Self.varied, GainMapFormula(minimum: -1, maximum: 3)] {
      #expect(GainMapFormula(xmp: formula.xmp) == formula)
    }
  }

  /// Only the maximum has no default.
  @Test
  func propertiesHaveTheirDefaults() throws {
    let text = "<rdf:Description xmlns:hdrgm=\"\(GainMapFormula.namespace)\" hdrgm:Version=\"1.0\""
    let least = XMP.packet("\(text) hdrgm:GainMapMax=\"3\" hdrgm:HDRCapacityMax=\"2\"/>")
    let formula = try #require(GainMapFormula(xmp: least))
    var expected = GainMapFormula(maximum: 3)
    expected.alternateHeadroom = 2
    #expect(formula == expected)
    #expect(GainMapFormula(xmp: XMP.packet("\(text) hdrgm:GainMapMax=\"3\"/>")) == nil)
    #expect(GainMapFormula(xmp: XMP.packet("\(text) hdrgm:GainMapMax=\"three\" hdrgm:HDRCapacityMax=\"2\"/>")) == nil)
    let reversed = XMP.packet(
      "\(text) hdrgm:BaseRenditionIsHDR=\"True\" hdrgm:GainMapMax=\"3\" hdrgm:HDRCapacityMax=\"2\"/>"
    )
    #expect(GainMapFormula(xmp: reversed) == nil)
    #expect(GainMapFormula(xmp: Data("no XML".utf8)) == nil)
  }

  @Test
  func numbersBeyondAllDisplaysAreNoFormula() {
    #expect(Self.varied.isValid)
    let changes: [(inout GainMapFormula) -> Void] = [
      { $0.gamma.y = 0 }, { $0.gamma.x = -1 }, { $0.maximum.z = .nan }, { $0.maximum.x = 1e9 }, { $0.minimum.x = 4 },
      { $0.alternateHeadroom = 0.5 }, { $0.alternateHeadroom = .infinity }, { $0.baseHeadroom = -1 },
      { $0.baseOffset.x = 2 },
    ]
    for change in changes {
      var formula = Self.varied
      change(&formula)
      #expect(!formula.isValid)
    }
  }

  // MARK: The picture

  /// Components in linear light, by the formulas of IEC 61966-2-1 and ISO 21496-1 in double precision.
  private func expected(
    _ pixel: SIMD4<UInt8>,
    _ stored: SIMD3<UInt8>,
    _ formula: GainMapFormula,
    _ space: ColorSpace,
    _ weight: Double,
  ) -> SIMD4<Double> {
    func light(_ byte: UInt8) -> Double {
      let level = Double(byte) / 255
      return level <= 0.04045 ? level / 12.92 : pow((level + 0.055) / 1.055, 2.4)
    }
    let source = [light(pixel.x), light(pixel.y), light(pixel.z)]
    let own = convert(source, space, formula.colorSpace)
    var gained = [0.0, 0, 0]
    for place in 0..<3 {
      let share = pow(Double(stored[place]) / 255, 1 / formula.gamma[place])
      let gain = formula.minimum[place] + (formula.maximum[place] - formula.minimum[place]) * share
      let value = (own[place] + formula.baseOffset[place]) * exp2(gain * weight) - formula.alternateOffset[place]
      gained[place] = max(0, value)
    }
    let result = convert(gained, formula.colorSpace, .displayP3)
    let alpha = Double(pixel.w) / 255
    return SIMD4(result[0] * alpha, result[1] * alpha, result[2] * alpha, alpha)
  }

  /// By the primaries of IEC 61966-2-1 and SMPTE EG 432-1, white D65.
  private func convert(_ light: [Double], _ source: ColorSpace, _ target: ColorSpace) -> [Double] {
    guard source != target else { return light }
    let rows: [[Double]] =
      source == .sRGB
      ? [[0.8224620, 0.1775380, 0], [0.0331942, 0.9668058, 0], [0.0170826, 0.0723974, 0.9105199]]
      : [[1.2249402, -0.2249402, 0], [-0.0420570, 1.0420570, 0], [-0.0196376, -0.0786361, 1.0982735]]
    return rows.map { row in zip(row, light).reduce(0) { $0 + $1.0 * $1.1 } }
  }

  @Test(arguments: ColorSpace.allCases, ColorSpace.allCases)
  func aPictureIsMadeByTheFormula(space: ColorSpace, gains: ColorSpace) throws {
    var random = SplitMix64(seed: 49)
    var uniform = GainMapFormula(minimum: -0.5, maximum: 3)
    uniform.gamma = SIMD3(repeating: 1.5)
    for var formula in [uniform, Self.varied] {
      formula.colorSpace = gains
      let (width, height) = (37, 11)
      let picture = Bitmap.pixels(width: width, height: height, alpha: .straight) { _, _ in
        SIMD4.random(in: 0...255, using: &random)
      }
      let map = Bitmap.pixels(width: width, height: height, alpha: .straight) { _, _ in
        var pixel: SIMD4<UInt8> = .random(in: 0...255, using: &random)
        if formula.isUniform { pixel = SIMD4(repeating: pixel.x) }
        pixel.w = 255
        return pixel
      }
      for headroom in [nil, 1, 1.6, 3, 100] as [Double?] {
        let made = try HighRangeBitmap(picture.declared(space), GainMap(map, formula), headroom: headroom)
        let stops = headroom.map { log2($0) } ?? formula.alternateHeadroom
        let weight = min(
          max((stops - formula.baseHeadroom) / (formula.alternateHeadroom - formula.baseHeadroom), 0),
          1,
        )
        var worst = 0.0
        for y in 0..<height {
          for x in 0..<width {
            let stored = map[x, y]
            let right = expected(picture[x, y], SIMD3(stored.x, stored.y, stored.z), formula, space, weight)
            for place in 0..<4 {
              // Half floats have eleven binary places.
              let error = abs(Double(made[x, y][place]) - right[place])
              worst = max(worst, error / (abs(right[place]) + 0.02))
            }
          }
        }
        #expect(worst < 0.004, "\(formula) at \(headroom ?? 0)")
      }
    }
  }

  @Test
  func aMapIsInterpolated() throws {
    var formula = GainMapFormula(maximum: 2)
    (formula.baseOffset, formula.alternateOffset) = (SIMD3(), SIMD3())
    let white = Bitmap.solid(SIMD4(repeating: 255), width: 8, height: 1)
    let map = Bitmap.pixels(width: 2, height: 1, alpha: .opaque) { x, _ in SIMD4(repeating: x == 0 ? 0 : 255) }
    let made = try HighRangeBitmap(white, GainMap(map, formula))
    // The centres of the map's pixels are at 2 and 6.
    let shares = [0, 0, 0.125, 0.375, 0.625, 0.875, 1, 1]
    for x in 0..<8 { #expect(abs(Double(made[x, 0].y) - exp2(2 * shares[x])) < 0.005) }
    #expect(made.headroom == 4)
    #expect(try HighRangeBitmap(white, GainMap(map, formula), headroom: 2).headroom == 2)
  }

  @Test
  func aProcessorAddsWhatIsBrighterThanWhite() throws {
    var image = ImageContainer(.solid(SIMD4(repeating: 255), width: 8, height: 4))
    let processor = ImageProcessor.highRange(headroom: 2)
    #expect(try processor.process(image).highRange == nil)
    image.gainMap = GainMap(.solid(SIMD4(repeating: 255), width: 4, height: 2), GainMapFormula(maximum: 2))
    let bright = try processor.process(image)
    #expect(bright.bitmap.isSamePixels(as: image.bitmap))
    #expect(bright.gainMap != nil)
    let made = try #require(bright.highRange)
    #expect((made.width, made.height, made.headroom) == (8, 4, 2))
    #expect(abs(made[3, 2].y - 2) < 0.05)
    // What comes later moves the map, and leaves no such pixels; a display of white needs none.
    let smaller = try ImageProcessor.resize(.pixels(4)).process(bright)
    #expect(smaller.gainMap != nil && smaller.highRange == nil)
    #expect(try ImageProcessor.highRange(headroom: 1).process(image).highRange == nil)
    #expect(processor != .highRange(headroom: 4))
  }

  @Test(arguments: [0.5, -1, .nan, .infinity])
  func aHeadroomThatMakesNoSenseIsAnError(headroom: Double) {
    let image = ImageContainer(.solid(SIMD4(repeating: 255), width: 2, height: 2))
    let error = #expect(throws: ImageError.self) { try ImageProcessor.highRange(headroom: headroom).process(image) }
    #expect(error?.code == .processingFailed)
    #expect(error?.detail.contains("headroom") == true)
  }

  @Test
  func pixelsBrighterThanWhiteCountAgainstTheLimit() {
    var image = ImageContainer(.solid(SIMD4(repeating: 255), width: 64, height: 64))
    image.gainMap = GainMap(.solid(SIMD4(repeating: 255), width: 4, height: 4), GainMapFormula(maximum: 2))
    var context = ProcessingContext()
    context.limits.outputByteCount = 64 * 64 * 8 - 1
    let error = #expect(throws: ImageError.self) { try ImageProcessor.highRange(headroom: 2).process(image, context) }
    #expect(error?.code == .overLimit && error?.limit == .outputByteCount)
    context.limits.outputByteCount += 1
    #expect(throws: Never.self) { try ImageProcessor.highRange(headroom: 2).process(image, context) }
  }

  @Test
  func whatIsCancelledStops() throws {
    let white = Bitmap.solid(SIMD4(repeating: 255), width: 8, height: 8)
    #expect(throws: ImageError.self) {
      _ = try HighRangeBitmap(
        white,
        GainMap(white, GainMapFormula(maximum: 2)),
        ProcessingContext(isCancelled: { true }),
      )
    }
  }
}
