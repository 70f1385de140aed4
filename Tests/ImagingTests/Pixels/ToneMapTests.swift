import Testing
import VitrineRuntime

@testable import VitrineImaging

/// Colours of high dynamic range on an ordinary screen, beside the formulas of ITU-R BT.2100, BT.2390 and Oklab, which are
/// written down again here, in double precision and without tables.
struct ToneMapTests {
  struct Screen: Sendable, CustomTestStringConvertible {
    var transfer: HighRangeColors.Transfer
    var primaries: ColorEncoding
    var target: ColorSpace
    var peak: Double

    var colors: HighRangeColors { HighRangeColors(transfer, primaries: primaries, peak: peak) }
    var testDescription: String { "\(transfer) of \(peak) nits, \(primaries.green.x), to \(target)" }
  }

  static let screens: [Screen] = HighRangeColors.Transfer.allCases.flatMap { transfer in
    [ColorEncoding.rec2020, .displayP3, .sRGB].flatMap { primaries in
      [100, 203, 1_000, 4_000].flatMap { peak in
        ColorSpace.allCases.map { Screen(transfer: transfer, primaries: primaries, target: $0, peak: peak) }
      }
    }
  }

  /// Neutral colours, primaries and their mixtures, skin and foliage, each as a ramp of brightness up to the peak.
  static let shapes: [[Double]] = [
    [1, 1, 1], [1, 0, 0], [0, 1, 0], [0, 0, 1], [1, 1, 0], [0, 1, 1], [1, 0, 1], [1, 0.62, 0.45], [0.55, 0.33, 0.22],
    [0.3, 0.5, 0.15], [0.35, 0.55, 1], [1, 0.9, 0.75], [1, 0.3, 0.05], [0.2, 0.1, 0.9],
  ]

  static func pixels(_ screen: Screen) -> [SIMD4<UInt16>] {
    shapes.flatMap { shape in
      (1...24).map { step in
        let nits = screen.peak * pow(Double(step) / 24, 3)
        let components = Oracle.components(shape.map { $0 * nits }, screen)
        return SIMD4(components[0], components[1], components[2], 65_535)
      }
    }
  }

  @Test(arguments: screens)
  func coloursAreTheFormulas(screen: Screen) {
    let pixels = Self.pixels(screen)
    let map = ToneMap(screen.colors, peak: screen.peak, to: screen.target)

    let errors = pixels.map { pixel in
      ColorDifference.ciede2000(
        Oracle.lab(Oracle.encoded(map.shown(pixel), screen.target), screen.target),
        Oracle.lab(Oracle.shown(pixel, screen), screen.target),
      )
    }

    #expect(errors.reduce(0, +) / Double(errors.count) <= 0.5)
    #expect(
      errors.allSatisfy { $0 <= 2 },
      "\(errors.max() ?? 0) of \(pixels[errors.firstIndex(of: errors.max() ?? 0) ?? 0])",
    )
  }

  @Test(arguments: screens)
  func huesStay(screen: Screen) {
    let map = ToneMap(screen.colors, peak: screen.peak, to: screen.target)
    for pixel in Self.pixels(screen) {
      let before = Oracle.oklab(Oracle.light(pixel, screen), screen.primaries)
      let after = Oracle.oklab(Oracle.encoded(map.shown(pixel), screen.target), screen.target.encoding)
      // Levels of 8 bits turn the hue of what is dark or nearly grey.
      guard after[0] > 0.25, hypot(after[1], after[2]) > 0.06 else { continue }
      let turn = abs(atan2(after[2], after[1]) - atan2(before[2], before[1])) * 180 / .pi
      #expect(min(turn, 360 - turn) <= 3, "\(pixel) turns by \(turn) degrees")
    }
  }

  @Test(arguments: screens)
  func brighterNeverBecomesDarker(screen: Screen) {
    let map = ToneMap(screen.colors, peak: screen.peak, to: screen.target)
    var last: UInt8 = 0
    for level in stride(from: UInt16(0), through: 65_280, by: 256) {
      let shown = map.shown(SIMD4(level, level, level, 65_535))
      #expect(shown.x >= last && shown.x == shown.y && shown.y == shown.z && shown.w == 255)
      last = shown.x
    }
    // The screen that HLG is made for has 1,000 nits.
    #expect(last == 255 || screen.transfer == .hlg && screen.peak > 1_000)
  }

  /// 203 nits are white without anything brighter, and what is brighter than the peak is white.
  @Test
  func whiteIsThePeak() {
    let white = UInt16((PerceptualQuantizer.component(203) * 65_535).rounded())
    let colors = HighRangeColors(.pq, primaries: .rec2020)
    func shown(_ level: UInt16, peak: Double) -> UInt8 {
      ToneMap(colors, peak: peak, to: .sRGB).shown(SIMD4(level, level, level, 65_535)).x
    }
    #expect(shown(white, peak: 100) == 255)
    #expect(shown(white, peak: 203) == 255)
    #expect((1..<255).contains(shown(white, peak: 1_000)))
    #expect(shown(65_535, peak: 1_000) == 255)
  }

  /// All but a thousandth of the pixels are darker than the measured peak, whatever their order.
  @Test(arguments: HighRangeColors.Transfer.allCases)
  func thePeakIsMeasured(transfer: HighRangeColors.Transfer) {
    let screen = Screen(transfer: transfer, primaries: .rec2020, target: .sRGB, peak: 0)
    func pixel(_ nits: Double, alpha: UInt16 = 65_535) -> SIMD4<UInt16> {
      let components = Oracle.components([nits, nits, nits], screen)
      return SIMD4(components[0], components[1], components[2], alpha)
    }
    func peak(_ pixels: [SIMD4<UInt16>]) -> Double {
      pixels.flatMap { [$0.x, $0.y, $0.z, $0.w] }.withElements { ToneMap.peak(of: $0, screen.colors, to: .sRGB) }
    }
    var pixels = [SIMD4<UInt16>](repeating: pixel(600), count: 9_989) + [SIMD4](repeating: pixel(900), count: 11)
    #expect(abs(peak(pixels) / 900 - 1) < 0.01)
    #expect(peak(pixels) == peak(pixels.reversed()))
    pixels[9_989] = pixel(600)
    pixels[9_990] = pixel(600)
    #expect(abs(peak(pixels) / 600 - 1) < 0.01)
    // What nobody sees does not count.
    #expect(abs(peak([pixel(300), pixel(900, alpha: 0)]) / 300 - 1) < 0.01)
    #expect(peak([pixel(900, alpha: 0)]) == 0)
  }
}

extension ToneMap {
  /// Shows one pixel.
  fileprivate func shown(_ pixel: SIMD4<UInt16>) -> SIMD4<UInt8> {
    let target = OwnedElements<UInt8>(repeating: 0, count: 4)
    [pixel.x, pixel.y, pixel.z, pixel.w].withElements { apply($0, into: target.elements) }
    return target.elements.four(at: 0)
  }
}

/// The formulas.
private enum Oracle {
  typealias Screen = ToneMapTests.Screen

  static func pq(_ component: Double) -> Double {
    let power = pow(component, 1 / 78.84375)
    return 10_000 * pow(max(power - 0.8359375, 0) / (18.8515625 - 18.6875 * power), 1 / 0.1593017578125)
  }

  static func inversePQ(_ nits: Double) -> Double {
    let power = pow(max(nits, 0) / 10_000, 0.1593017578125)
    return pow((0.8359375 + 18.8515625 * power) / (1 + 18.6875 * power), 78.84375)
  }

  static func hlg(_ component: Double) -> Double {
    component <= 0.5 ? component * component / 3 : (exp((component - 0.55991073) / 0.17883277) + 0.28466892) / 12
  }

  static func inverseHLG(_ light: Double) -> Double {
    light <= 1.0 / 12 ? (3 * light).squareRoot() : 0.17883277 * log(12 * light - 0.28466892) + 0.55991073
  }

  /// The rows of the matrix from linear components to XYZ, by the chromaticities.
  static func xyz(_ encoding: ColorEncoding) -> [[Double]] {
    let points = [encoding.red, encoding.green, encoding.blue].map { [$0.x / $0.y, 1, (1 - $0.x - $0.y) / $0.y] }
    let white = [0.3127 / 0.3290, 1, (1 - 0.3127 - 0.3290) / 0.3290]
    let columns = (0..<3).map { row in points.map { $0[row] } }
    let strengths = solve(columns, white)
    return columns.map { row in zip(row, strengths).map { $0 * $1 } }
  }

  /// Solves three equations by Cramer's rule.
  static func solve(_ matrix: [[Double]], _ right: [Double]) -> [Double] {
    func determinant(_ m: [[Double]]) -> Double {
      m[0][0] * (m[1][1] * m[2][2] - m[1][2] * m[2][1]) - m[0][1] * (m[1][0] * m[2][2] - m[1][2] * m[2][0])
        + m[0][2] * (m[1][0] * m[2][1] - m[1][1] * m[2][0])
    }
    let whole = determinant(matrix)
    return (0..<3).map { column in
      var other = matrix
      for row in 0..<3 { other[row][column] = right[row] }
      return determinant(other) / whole
    }
  }

  static func product(_ matrix: [[Double]], _ vector: [Double]) -> [Double] {
    matrix.map { row in zip(row, vector).map { $0 * $1 }.reduce(0, +) }
  }

  /// The components of 16 bits for light in nits.
  static func components(_ nits: [Double], _ screen: Screen) -> [UInt16] {
    var components = nits.map { inversePQ($0) }
    if screen.transfer == .hlg {
      let luminance = product(xyz(screen.primaries), nits)[1]
      let scene = pow(luminance / 1_000, 1 / 1.2)
      components = nits.map { inverseHLG(luminance > 0 ? $0 / 1_000 * scene / (luminance / 1_000) : 0) }
    }
    return components.map { UInt16((min(max($0, 0), 1) * 65_535).rounded()) }
  }

  /// The light of a pixel in nits.
  static func light(_ pixel: SIMD4<UInt16>, _ screen: Screen) -> [Double] {
    let components = (0..<3).map { Double(pixel[$0]) / 65_535 }
    guard screen.transfer == .hlg else { return components.map { pq($0) } }
    let scene = components.map { hlg($0) }
    let luminance = product(xyz(screen.primaries), scene)[1]
    return scene.map { luminance > 0 ? 1_000 * pow(luminance, 0.2) * $0 : 0 }
  }

  /// The light that the target shows, in nits.
  static func shown(_ pixel: SIMD4<UInt16>, _ screen: Screen) -> [Double] {
    let color = solve(xyz(screen.target.encoding), product(xyz(screen.primaries), light(pixel, screen)))
    let largest = color.max() ?? 0
    let peak = max(screen.peak, 203)
    var factor = 1.0
    if largest > 0 {
      let (source, white) = (inversePQ(peak), inversePQ(203) / inversePQ(peak))
      let input = min(inversePQ(largest) / source, 1)
      let knee = 1.5 * white - 0.5
      var output = input
      if input > knee {
        let t = (input - knee) / (1 - knee)
        output =
          (2 * t * t * t - 3 * t * t + 1) * knee + (t * t * t - 2 * t * t + t) * (1 - knee)
          + (-2 * t * t * t + 3 * t * t) * white
      }
      factor = min(pq(output * source), 203) / largest
    }
    let shown = color.map { $0 * factor / 203 }
    let isSame = screen.primaries.hasPrimaries(of: screen.target.encoding)
    return (isSame ? shown : compressed(shown, screen.target)).map { $0 * 203 }
  }

  /// Less chroma of Oklab for colours at the edge of a gamut and beyond.
  static func compressed(_ color: [Double], _ target: ColorSpace) -> [Double] {
    let lab = oklab(color.map { $0 * 203 }, target.encoding)
    func light(_ share: Double) -> [Double] {
      let (l, a, b) = (min(max(lab[0], 0), 1), lab[1] * share, lab[2] * share)
      let roots = [
        l + 0.3963377774 * a + 0.2158037573 * b, l - 0.1055613458 * a - 0.0638541728 * b,
        l - 0.0894841775 * a - 1.2914855480 * b,
      ]
      return solve(xyz(target.encoding), solve(cones, roots.map { $0 * $0 * $0 }))
    }
    func isWithin(_ color: [Double]) -> Bool { color.allSatisfy { $0 >= -1e-12 } }
    guard hypot(lab[1], lab[2]) > 1e-4 else { return color }
    var (inside, outside) = (0.0, 1 / 0.95)
    if isWithin(light(outside)) { return color }
    for _ in 0..<50 {
      let middle = (inside + outside) / 2
      if isWithin(light(middle)) { inside = middle } else { outside = middle }
    }
    let excess = 1 / max(inside, 1e-9) - 0.95
    return light(inside * (0.95 + 0.05 * excess / (excess + 0.05)))
  }

  static let cones = [
    [0.8189330101, 0.3618667424, -0.1288597137], [0.0329845436, 0.9293118715, 0.0361456387],
    [0.0482003018, 0.2643662691, 0.6338517070],
  ]

  /// Oklab of light in nits, relative to 203.
  static func oklab(_ nits: [Double], _ primaries: ColorEncoding) -> [Double] {
    let roots = product(cones, product(xyz(primaries), nits.map { $0 / 203 })).map { cbrt($0) }
    return product(
      [
        [0.2104542553, 0.7936177850, -0.0040720468], [1.9779984951, -2.4285922050, 0.4505937099],
        [0.0259040371, 0.7827717662, -0.8086757660],
      ],
      roots,
    )
  }

  /// The light of a pixel of 8 bits in nits, of a screen whose white is 203.
  static func encoded(_ pixel: SIMD4<UInt8>, _ target: ColorSpace) -> [Double] {
    (0..<3).map { place in
      let value = Double(pixel[place]) / 255
      return 203 * (value <= 0.04045 ? value / 12.92 : pow((value + 0.055) / 1.055, 2.4))
    }
  }

  /// CIE L*a*b* of light in nits, relative to 203.
  static func lab(_ nits: [Double], _ target: ColorSpace) -> [Double] {
    let tristimulus = product(xyz(target.encoding), nits.map { max(0, $0) / 203 })
    let white = product(xyz(target.encoding), [1, 1, 1])
    let f = zip(tristimulus, white).map { value, white in
      let share = value / white
      return share > 216.0 / 24_389 ? cbrt(share) : (24_389.0 / 27 * share + 16) / 116
    }
    return [116 * f[1] - 16, 500 * (f[0] - f[1]), 200 * (f[1] - f[2])]
  }
}

/// The difference of two colours as people see it.
enum ColorDifference {
  /// CIEDE2000 (ISO/CIE 11664-6) of two colours in L*a*b*.
  static func ciede2000(_ one: [Double], _ two: [Double]) -> Double {
    let meanChroma = (hypot(one[1], one[2]) + hypot(two[1], two[2])) / 2
    let seventh = pow(meanChroma, 7)
    let stretch = 1 + 0.5 * (1 - (seventh / (seventh + 6_103_515_625)).squareRoot())
    let (a1, a2) = (one[1] * stretch, two[1] * stretch)
    let (c1, c2) = (hypot(a1, one[2]), hypot(a2, two[2]))
    func hue(_ a: Double, _ b: Double) -> Double {
      guard a != 0 || b != 0 else { return 0 }
      let angle = atan2(b, a) * 180 / .pi
      return angle < 0 ? angle + 360 : angle
    }
    let (h1, h2) = (hue(a1, one[2]), hue(a2, two[2]))
    var turn = h2 - h1
    if c1 * c2 == 0 { turn = 0 } else if turn > 180 { turn -= 360 } else if turn < -180 { turn += 360 }
    let (lightness, chroma) = ((one[0] + two[0]) / 2, (c1 + c2) / 2)
    var mean = (h1 + h2) / 2
    if c1 * c2 == 0 { mean = h1 + h2 } else if abs(h1 - h2) > 180 { mean += h1 + h2 < 360 ? 180 : -180 }
    func cosine(_ degrees: Double) -> Double { cos(degrees * .pi / 180) }
    let t =
      1 - 0.17 * cosine(mean - 30) + 0.24 * cosine(2 * mean) + 0.32 * cosine(3 * mean + 6) - 0.2 * cosine(4 * mean - 63)
    let bow = (lightness - 50) * (lightness - 50)
    let (sl, sc, sh) = (1 + 0.015 * bow / (20 + bow).squareRoot(), 1 + 0.045 * chroma, 1 + 0.015 * chroma * t)
    let power = pow(chroma, 7)
    let rotation =
      -2 * (power / (power + 6_103_515_625)).squareRoot()
      * sin(60 * .pi / 180 * exp(-(mean - 275) / 25 * (mean - 275) / 25))
    let (dl, dc) = ((two[0] - one[0]) / sl, (c2 - c1) / sc)
    let dh = 2 * (c1 * c2).squareRoot() * sin(turn / 2 * .pi / 180) / sh
    return max(0, dl * dl + dc * dc + dh * dh + rotation * dc * dh).squareRoot()
  }
}

struct ColorDifferenceTests {
  /// Pairs of table 1 of Sharma, Wu and Dalal (2005).
  @Test(arguments: [
    ([50, 2.6772, -79.7751], [50, 0, -82.7485], 2.0425), ([50, -1, 2], [50, 0, 0], 2.3669),
    ([50, 2.49, -0.001], [50, -2.49, 0.0009], 7.1792),
    ([60.2574, -34.0099, 36.2677], [60.4626, -34.1751, 39.4387], 1.2644),
    ([22.7233, 20.0904, -46.694], [23.0331, 14.973, -42.5619], 2.0373),
    ([2.0776, 0.0795, -1.135], [0.9033, -0.0636, -0.5514], 0.9082),
  ])
  func differencesAreThoseOfTheTable(one: [Double], two: [Double], difference: Double) {
    #expect(abs(ColorDifference.ciede2000(one, two) - difference) < 0.0001)
  }
}
