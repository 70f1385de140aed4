import VitrineImaging
import VitrineRuntime
import VitrineTesting

/// Resampling as the books have it: every pixel at once, in double precision, colours multiplied by coverage.
///
/// Written apart from the library's, to be compared with it.
struct ReferenceResampler {
  /// The part of the source that is shown, in its pixels; all of it where `nil`.
  var crop: (x: Double, y: Double, width: Double, height: Double)?
  /// How many pixels are averaged to one beforehand, across and down, and then sharpened by what that has blurred.
  var box = 1
  var filter = ResamplingFilter.lanczos3
  var usesLinearLight = false

  func resample(_ bitmap: Bitmap, width: Int, height: Int) -> Bitmap {
    var grid = Grid(bitmap, usesLinearLight: usesLinearLight)
    var part = crop ?? (0, 0, Double(bitmap.width), Double(bitmap.height))
    if box > 1 {
      grid = grid.averaged(box).sharpened((1 - 1 / Double(box * box)) / 24)
      let factor = Double(box)
      part = (part.x / factor, part.y / factor, part.width / factor, part.height / factor)
    }
    let across = taps(part.x, part.width, grid.width, width)
    let down = taps(part.y, part.height, grid.height, height)
    // Rows first, then columns: the other way round from the library.
    var lines: [[SIMD4<Double>]] = []
    for y in 0..<grid.height {
      lines.append(across.map { taps in taps.reduce(SIMD4()) { $0 + grid[$1.index, y] * $1.weight } })
    }
    return .pixels(width: width, height: height, alpha: bitmap.alpha) { x, y in
      let sum = down[y].reduce(SIMD4<Double>()) { $0 + lines[$1.index][x] * $1.weight }
      var color = sum.w < 0.5 ? SIMD4() : sum * (255 / sum.w)
      color.w = sum.w
      if usesLinearLight { for index in 0..<3 { color[index] = 255 * SRGB.encoded(color[index] / 255) } }
      let inside = color.clamped(lowerBound: SIMD4(repeating: 0), upperBound: SIMD4(repeating: 255))
      return SIMD4<UInt8>(inside.rounded(.toNearestOrAwayFromZero))
    }
  }

  private func taps(
    _ start: Double,
    _ length: Double,
    _ count: Int,
    _ output: Int,
  ) -> [[(index: Int, weight: Double)]] {
    let scale = length / Double(output)
    let width = max(scale, 1)
    return (0..<output).map { place in
      let center = start + (Double(place) + 0.5) * scale
      let all = (0..<count).map { index in
        let weight =
          filter == .box
          ? Self.share(of: index, in: center - scale / 2, center + scale / 2)
          : kernel((Double(index) + 0.5 - center) / width)
        return (index: index, weight: weight)
      }
      let used = all.filter { $0.weight != 0 }
      let sum = used.reduce(0) { $0 + $1.weight }
      return used.map { ($0.index, $0.weight / sum) }
    }
  }

  private static func share(of index: Int, in start: Double, _ end: Double) -> Double {
    let (first, last) = (Double(index), Double(index + 1))
    if last <= start || first >= end { return 0 }
    return (last > end ? end : last) - (first < start ? start : first)
  }

  private func kernel(_ x: Double) -> Double {
    switch filter {
    case .box: return 0
    case .bilinear: return abs(x) >= 1 ? 0 : 1 - abs(x)
    case .mitchell:
      // In the general form of the paper.
      let (b, c, t) = (1.0 / 3, 1.0 / 3, abs(x))
      if t >= 2 { return 0 }
      let value =
        t < 1
        ? (12 - 9 * b - 6 * c) * pow(t, 3) + (-18 + 12 * b + 6 * c) * pow(t, 2) + (6 - 2 * b)
        : (-b - 6 * c) * pow(t, 3) + (6 * b + 30 * c) * pow(t, 2) + (-12 * b - 48 * c) * t + (8 * b + 24 * c)
      return value / 6
    case .lanczos3:
      if x == 0 { return 1 }
      if abs(x) >= 3 { return 0 }
      return sin(.pi * x) / (.pi * x) * sin(.pi * x / 3) / (.pi * x / 3)
    }
  }

  /// Pixels multiplied by their coverage.
  private struct Grid {
    var width: Int
    var height: Int
    var values: [SIMD4<Double>]

    init(width: Int, height: Int, values: [SIMD4<Double>]) {
      (self.width, self.height, self.values) = (width, height, values)
    }

    init(_ bitmap: Bitmap, usesLinearLight: Bool) {
      let values = bitmap.pixels.map { pixel in
        var light = SIMD4<Double>(pixel)
        if usesLinearLight { for index in 0..<3 { light[index] = 255 * SRGB.light(light[index] / 255) } }
        var value = light * (Double(pixel.w) / 255)
        value.w = Double(pixel.w)
        return value
      }
      self.init(width: bitmap.width, height: bitmap.height, values: values)
    }

    subscript(x: Int, y: Int) -> SIMD4<Double> { values[y * width + x] }

    func averaged(_ factor: Int) -> Grid {
      let (columns, rows) = ((width + factor - 1) / factor, (height + factor - 1) / factor)
      var result: [SIMD4<Double>] = []
      for row in 0..<rows {
        for column in 0..<columns {
          let xs = column * factor..<min(width, (column + 1) * factor)
          let ys = row * factor..<min(height, (row + 1) * factor)
          var sum = SIMD4<Double>()
          for y in ys { for x in xs { sum += self[x, y] } }
          result.append(sum / Double(xs.count * ys.count))
        }
      }
      return Grid(width: columns, height: rows, values: result)
    }

    /// Every pixel with `amount` of its difference to each neighbour added; at the edges it is its own neighbour.
    func sharpened(_ amount: Double) -> Grid {
      var across = values
      for y in 0..<height {
        for x in 0..<width {
          let beside = self[max(0, x - 1), y] + self[min(width - 1, x + 1), y]
          across[y * width + x] += (self[x, y] * 2 - beside) * amount
        }
      }
      let wide = Grid(width: width, height: height, values: across)
      var result = across
      for y in 0..<height {
        for x in 0..<width {
          let beside = wide[x, max(0, y - 1)] + wide[x, min(height - 1, y + 1)]
          result[y * width + x] += (wide[x, y] * 2 - beside) * amount
        }
      }
      return Grid(width: width, height: height, values: result)
    }
  }
}

/// IEC 61966-2-1, for numbers and light of 0 to 1.
enum SRGB {
  static func light(_ value: Double) -> Double {
    value <= 0.04045 ? value / 12.92 : pow((value + 0.055) / 1.055, 2.4)
  }

  static func encoded(_ light: Double) -> Double {
    light <= 0.0031308 ? max(0, light) * 12.92 : 1.055 * pow(light, 1 / 2.4) - 0.055
  }
}
