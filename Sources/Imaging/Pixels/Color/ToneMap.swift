import VitrineRuntime

/// Shows the colours of high dynamic range on a screen that shows nothing brighter than the white of a page.
///
/// The steps: light by the curve (for HLG, on the screen that it is made for); the primaries of the target; less light by
/// the curve of ITU-R BT.2390-11, section 5.1.5.2, with its knee of 0.5, which is applied to the largest component, so that
/// the hue stays; and colours beyond the gamut moved towards the neutral one.
struct ToneMap: Sendable {
  /// The light of each component, as a multiple of white; for HLG, of the scene.
  private let levels: [Float]
  /// HLG: the factor from the scene's light to the screen's, by the luminance of the scene.
  private let system: SampledCurve?
  private let luminance: SIMD4<Float>
  /// The factor of the tone curve, by the largest component; `nil` if nothing is brighter than white.
  private let tone: SampledCurve?
  /// The change of primaries.
  private let columns: ColumnMatrix
  private let gamut: GamutCompression?

  /// The share of the pixels that may be brighter than the measured peak.
  private static let brightShare = 0.001
  /// Components have 16 bits, and the light of every 16th is known.
  private static let levelShift = 4

  /// Makes a map.
  ///
  /// - Parameters:
  ///   - colors: The colours of the file.
  ///   - peak: The brightness in nits that becomes white; brighter colours do, too.
  ///   - target: The colour space of the result.
  init(_ colors: HighRangeColors, peak: Double, to target: ColorSpace) {
    let peak = min(max(peak, HighRangeColors.white), PerceptualQuantizer.limit)
    let light = colors.primaries.primaryLight ?? .identity
    columns = ColumnMatrix(from: colors.primaries, to: target.encoding)
    luminance = SIMD4(Float(light.rows[1][0]), Float(light.rows[1][1]), Float(light.rows[1][2]), 0)
    gamut = colors.primaries.hasPrimaries(of: target.encoding) ? nil : GamutCompression(target)
    switch colors.transfer {
    case .pq: (levels, system) = (Self.quantized, nil)
    case .hlg:
      levels = Self.logarithmic
      // By the luminance, so that its ratios to the components, and with them the hue, stay (BT.2100-2, note 5i).
      system = SampledCurve(limit: 1) {
        HybridLogGamma.screen / HighRangeColors.white * pow($0, HybridLogGamma.gamma - 1)
      }
    }
    let brightest = peak / HighRangeColors.white
    tone = brightest <= 1 ? nil : SampledCurve(limit: brightest) { Self.tone($0, brightest) }
  }

  private static let quantized = levels { PerceptualQuantizer.light($0) / HighRangeColors.white }
  private static let logarithmic = levels { HybridLogGamma.light($0) }

  private static func levels(_ light: (Double) -> Double) -> [Float] {
    // One more, so that the last has a successor.
    (0...(1 << (16 - levelShift)) + 1).map { Float(light(min(1, Double($0 << levelShift) / 65_535))) }
  }

  /// Returns the factor for light of a multiple of white, the brightest of which becomes white.
  private static func tone(_ light: Double, _ brightest: Double) -> Double {
    let most = PerceptualQuantizer.component(brightest * HighRangeColors.white)
    let white = PerceptualQuantizer.component(HighRangeColors.white) / most
    let component = PerceptualQuantizer.component(light * HighRangeColors.white) / most
    let knee = 1.5 * white - 0.5
    guard component > knee, light > 0 else { return 1 }
    // A Hermite spline from the knee, with the slope 1, to white, with the slope 0.
    let t = (component - knee) / (1 - knee)
    let (t2, t3) = (t * t, t * t * t)
    let shown = (2 * t3 - 3 * t2 + 1) * knee + (t3 - 2 * t2 + t) * (1 - knee) + (3 * t2 - 2 * t3) * white
    return min(1, PerceptualQuantizer.light(min(shown, white) * most) / HighRangeColors.white / light)
  }

  /// Returns the brightness in nits that all but a thousandth of the visible pixels stay below: RGBA of 16 bits.
  static func peak(of pixels: Elements<UInt16>, _ colors: HighRangeColors, to target: ColorSpace) -> Double {
    let map = ToneMap(colors, peak: HighRangeColors.white, to: target)
    let limit = Float(PerceptualQuantizer.limit / HighRangeColors.white)
    var counts = [Int](repeating: 0, count: SampledCurve.count + 1)
    var visible = 0
    for start in stride(from: 0, to: pixels.count, by: 4) {
      let pixel = pixels.four(at: start)
      guard pixel.w > 0 else { continue }
      visible += 1
      counts[Int(SampledCurve.place(map.light(pixel).max(), limit).rounded(.up))] += 1
    }
    var brighter = Int(Double(visible) * brightShare)
    let place = counts.indices.reversed().first { place in
      brighter -= counts[place]
      return brighter < 0
    }
    return SampledCurve.value(at: place ?? 0, limit: PerceptualQuantizer.limit)
  }

  /// Returns the light of a pixel as multiples of white, with the primaries of the target; below 0 beyond its gamut.
  @inline(__always)
  func light(_ pixel: SIMD4<UInt16>) -> SIMD4<Float> {
    var light = SIMD4(level(pixel.x), level(pixel.y), level(pixel.z), 0)
    if let system { light *= system.value((light * luminance).sum()) }
    return columns.product(light)
  }

  @inline(__always)
  private func level(_ value: UInt16) -> Float {
    let (place, rest) = (Int(value >> Self.levelShift), Float(value & (1 << Self.levelShift - 1)))
    return levels[place] + (levels[place + 1] - levels[place]) * (rest / Float(1 << Self.levelShift))
  }

  /// Shows pixels: RGBA of 16 bits with straight alpha becomes RGBA of 8 bits, which has as many elements.
  func apply(_ source: Elements<UInt16>, into target: MutableElements<UInt8>) {
    precondition(source.count == target.count && source.count % 4 == 0)
    TransferCurve.sRGB.encoded.withElements { encoded in
      for start in stride(from: 0, to: source.count, by: 4) {
        let pixel = source.four(at: start)
        let place = TransferCurve.place(shown(light(pixel)))
        let alpha = UInt8(truncatingIfNeeded: (UInt32(pixel.w) * 255 + 32_767) / 65_535)
        let color = SIMD4(encoded[Int(place.x)], encoded[Int(place.y)], encoded[Int(place.z)], alpha)
        target.store(color, at: start)
      }
    }
  }

  /// Returns light of 0 to 1 for light of the target's primaries.
  @inline(__always)
  private func shown(_ light: SIMD4<Float>) -> SIMD4<Float> {
    let largest = max(light.x, light.y, light.z)
    // Brighter pixels than the peak have the brightness of the peak.
    let isBright = largest > tone?.limit ?? 1
    let color = light * (isBright ? 1 / largest : tone?.value(largest) ?? 1)
    return gamut?.compressed(color) ?? color
  }
}

/// A function of 0 to a limit, sampled at the fourth powers of equal steps, which look about equal to the eye.
struct SampledCurve: Sendable {
  static let count = 4_096
  let limit: Float
  private let values: [Float]

  init(limit: Double, _ function: (Double) -> Double) {
    self.limit = Float(limit)
    values = (0...Self.count + 1).map { Float(function(Self.value(at: min($0, Self.count), limit: limit))) }
  }

  /// Returns the argument at a place.
  static func value(at place: Int, limit: Double) -> Double {
    let step = Double(place) / Double(count)
    return limit * (step * step) * (step * step)
  }

  /// Returns the place of an argument, of 0 to ``count``.
  @inline(__always)
  static func place(_ argument: Float, _ limit: Float) -> Float {
    let share = min(max(argument / limit, 0), 1)
    return share.squareRoot().squareRoot() * Float(count)
  }

  /// Returns the value for an argument, between the values of its neighbours.
  @inline(__always)
  func value(_ argument: Float) -> Float {
    let place = Self.place(argument, limit)
    let index = Int(place)
    return values[index] + (values[index + 1] - values[index]) * (place - Float(index))
  }
}

/// Moves colours beyond a gamut, and a little the colours at its edge, towards the neutral colour of their lightness.
///
/// Lightness and hue, as defined by Oklab (B. Ottosson, 2020), stay. Chroma up to 0.95 of the gamut's is kept; more is
/// compressed to the rest.
struct GamutCompression: Sendable {
  private static let kept: Float = 0.95
  private static let steps = 14
  /// The conversions from linear light to the light of the cones, and back.
  private let toCones: ColumnMatrix
  private let fromCones: ColumnMatrix
  /// The conversions from the cube roots of the cones' light to Oklab, and back.
  private let toLab = ColumnMatrix(
    SIMD4(0.2104542553, 1.9779984951, 0.0259040371, 0),
    SIMD4(0.7936177850, -2.4285922050, 0.7827717662, 0),
    SIMD4(-0.0040720468, 0.4505937099, -0.8086757660, 0),
  )
  private let fromLab = ColumnMatrix(
    SIMD4(1, 1, 1, 0),
    SIMD4(0.3963377774, -0.1055613458, -0.0894841775, 0),
    SIMD4(0.2158037573, -0.0638541728, -1.2914855480, 0),
  )

  init(_ target: ColorSpace) {
    // From XYZ relative to D65 to the cones of Oklab.
    let cones = Matrix3(rows: [
      [0.8189330101, 0.3618667424, -0.1288597137],
      [0.0329845436, 0.9293118715, 0.0361456387],
      [0.0482003018, 0.2643662691, 0.6338517070],
    ])
    let light = target.encoding.primaryLight ?? .identity
    let matrix = Matrix3(columns: light.columns.map { cones.applied(to: $0) })
    (toCones, fromCones) = (ColumnMatrix(matrix), ColumnMatrix(matrix.inverse ?? .identity))
  }

  /// Returns the colour in the gamut for linear light of 1 at most, a component of which may be below 0.
  func compressed(_ color: SIMD4<Float>) -> SIMD4<Float> {
    // Far from the edge: nearly all colours of photographs.
    if min(color.x, color.y, color.z) >= 0.1 * max(color.x, color.y, color.z) { return color }
    let lab = toLab.product(Self.cubeRoots(toCones.product(color)))
    let lightness = min(max(lab.x, 0), 1)
    let (a, b) = (lab.y, lab.z)
    // The chroma of the edge, as a multiple of the colour's own. Far from the edge nothing is to be done.
    var (inside, outside): (Float, Float) = (0, 1 / Self.kept)
    if isWithin(light(lightness, a * outside, b * outside)) { return color }
    for _ in 0..<Self.steps {
      let middle = (inside + outside) / 2
      if isWithin(light(lightness, a * middle, b * middle)) { inside = middle } else { outside = middle }
    }
    guard inside > 0 else { return light(lightness, 0, 0) }
    let excess = 1 / inside - Self.kept
    let rest = 1 - Self.kept
    let scale = inside * (Self.kept + rest * excess / (excess + rest))
    return light(lightness, a * scale, b * scale)
  }

  @inline(__always)
  private func isWithin(_ color: SIMD4<Float>) -> Bool { min(color.x, color.y, color.z) >= 0 }

  @inline(__always)
  private func light(_ lightness: Float, _ a: Float, _ b: Float) -> SIMD4<Float> {
    let roots = fromLab.product(SIMD4(lightness, a, b, 0))
    return fromCones.product(roots * roots * roots)
  }

  /// Returns the cube root of each number: a guess by a third of the exponent, and three steps of Newton's.
  @inline(__always)
  private static func cubeRoots(_ numbers: SIMD4<Float>) -> SIMD4<Float> {
    let sizes = numbers.replacing(with: -numbers, where: numbers .< 0)
    var roots = SIMD4(
      Float(bitPattern: sizes.x.bitPattern / 3 + 709_921_077),
      Float(bitPattern: sizes.y.bitPattern / 3 + 709_921_077),
      Float(bitPattern: sizes.z.bitPattern / 3 + 709_921_077),
      1,
    )
    for _ in 0..<3 { roots = (roots * 2 + sizes / (roots * roots)) * (1 / 3) }
    return roots.replacing(with: -roots, where: numbers .< 0)
  }
}
