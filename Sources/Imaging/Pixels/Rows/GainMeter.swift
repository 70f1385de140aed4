import VitrineRuntime

/// Measures the gains of a picture of high dynamic range over the picture of standard range that is shown for it, at half
/// its size.
///
/// The two are compared in linear light: each gain is of the means of four pixels.
struct GainMeter {
  private let (width, height): (Int, Int)
  private let (columns, rows): (Int, Int)
  private let toneMap: ToneMap
  /// The peak as a multiple of white.
  private let brightest: Float
  private let levels = TransferCurve.sRGB.levels
  /// The sums of light in the blocks of the current rows: high dynamic range, and standard.
  private var sums: [(high: SIMD4<Float>, low: SIMD4<Float>)]
  private var rowCount = 0
  /// The logarithms to base 2 of the gains of finished blocks.
  private var gains: [SIMD4<Float>] = []

  private static let offset: Float = 1 / 64

  /// - Parameters:
  ///   - width: The width of the picture, in pixels.
  ///   - height: The height.
  ///   - toneMap: The tone map that makes the shown picture.
  ///   - peak: The brightness that the tone map shows as white, in nits.
  init(width: Int, height: Int, _ toneMap: ToneMap, peak: Double) {
    (self.width, self.height, self.toneMap) = (width, height, toneMap)
    (columns, rows) = ((width + 1) / 2, (height + 1) / 2)
    brightest = Float(peak / HighRangeColors.white)
    sums = Array(repeating: (SIMD4(), SIMD4()), count: columns)
    gains.reserveCapacity(columns * rows)
  }

  /// Adds the next row: pixels of 16 bits a component, and the bytes that the tone map has made of them.
  mutating func add(_ row: Elements<UInt16>, shownAs bytes: Elements<UInt8>) {
    for x in 0..<width {
      var light = toneMap.light(row.four(at: 4 * x))
      light.replace(with: 0, where: light .< 0)
      light.replace(with: brightest, where: light .> brightest)
      sums[x / 2].high += light
      sums[x / 2].low += SIMD4(
        levels[Int(bytes[4 * x])],
        levels[Int(bytes[4 * x + 1])],
        levels[Int(bytes[4 * x + 2])],
        0,
      )
    }
    rowCount += 1
    guard rowCount % 2 == 0 || rowCount == height else { return }
    let lines = Float(rowCount % 2 == 0 ? 2 : 1)
    for column in 0..<columns {
      let count = lines * Float(min(2, width - 2 * column))
      let ratio = (sums[column].high / count + Self.offset) / (sums[column].low / count + Self.offset)
      gains.append(SIMD4(log2(ratio.x), log2(ratio.y), log2(ratio.z), 0))
      sums[column] = (SIMD4(), SIMD4())
    }
  }

  /// Returns the map; `nil` if nothing is brighter than white, or rows are missing.
  func gainMap(_ orientation: Orientation, _ space: ColorSpace) throws(ImageError) -> GainMap? {
    guard brightest > 1.01, rowCount == height, let first = gains.first else { return nil }
    var (least, most) = (first, first)
    for gain in gains {
      least.replace(with: gain, where: gain .< least)
      most.replace(with: gain, where: gain .> most)
    }
    var formula = GainMapFormula(maximum: Double(log2(brightest)))
    formula.minimum = SIMD3(Double(least.x), Double(least.y), Double(least.z))
    formula.maximum = SIMD3(Double(most.x), Double(most.y), Double(most.z))
    formula.baseOffset = SIMD3(repeating: Double(Self.offset))
    (formula.alternateOffset, formula.colorSpace) = (formula.baseOffset, space)
    var scale = most - least
    scale.replace(with: 1, where: scale .<= 0)
    let stored = Bitmap.writing(width: columns, height: rows, alpha: .opaque, colorSpace: .sRGB) { pixels in
      for (index, gain) in gains.enumerated() {
        var bytes = SIMD4<UInt8>((gain - least) / scale * 255 + 0.5)
        bytes.w = 255
        pixels.store(bytes, at: 4 * index)
      }
    }
    let size = orientation.applied(width: columns, height: rows)
    let bitmap = try stored.resampled(
      SamplingPlan(width: size.width, height: size.height),
      of: size,
      orientation: orientation,
      filter: .bilinear,
      usesLinearLight: false,
      limits: DecodeLimits(),
      isCancelled: nil,
    )
    return GainMap(bitmap, formula)
  }
}
