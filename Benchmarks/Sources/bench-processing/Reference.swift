import Foundation

/// Three components a pixel in double precision: what a result should be.
///
/// Filters are those of the definitions, without a short cut: every weight, of every pixel, in doubles.
struct Reference {
  /// Whether the values are known.
  var isKnown: Bool { !values.isEmpty }
  /// The size of the whole result.
  let size: (width: Int, height: Int)
  /// The part that is known, without the edges, where programs continue images in different ways.
  let part: (x: Int, y: Int, width: Int, height: Int)
  let values: [Float]

  init(_ work: Work, _ input: Picture) {
    switch work.name {
    case "resize-300": self = Self.resized(input, to: 300)
    case "resize-600": self = Self.resized(input, to: 600)
    case let name where name.hasPrefix("blur-"): self = Self.blurred(input, Double(name.dropFirst(5)) ?? 0)
    case let name where name.hasPrefix("sharpen-"): self = Self.sharpened(input, Double(name.dropFirst(8)) ?? 0)
    case "rotate-7": self = Reference((0, 0), (0, 0, 0, 0), [])
    default:
      let size = (input.width, input.height)
      self = Reference(size, (0, 0, input.width, input.height), input.bytes.map(Float.init))
    }
  }

  /// The ratio of signal to noise of raw bytes with `components` a pixel, in decibels; `nil` for another size.
  func psnr(_ bytes: Data, components: Int) -> Double? {
    guard bytes.count == size.width * size.height * components else { return nil }
    let bytes = [UInt8](bytes)
    var (sum, count) = (0.0, 0)
    for y in 0..<part.height {
      for x in 0..<part.width {
        let place = ((y + part.y) * size.width + x + part.x) * components
        // The colour of what is not visible does not matter.
        if components == 4, bytes[place + 3] == 0 { continue }
        count += 3
        for component in 0..<3 {
          let difference = Double(bytes[place + component]) - Double(values[(y * part.width + x) * 3 + component])
          sum += difference * difference
        }
      }
    }
    return sum == 0 ? .infinity : 10 * log10(255 * 255 * Double(count) / sum)
  }

  private typealias Taps = [(first: Int, weights: [Double])]

  private static func blurred(_ input: Picture, _ sigma: Double) -> Reference {
    func taps(_ count: Int) -> Taps {
      let reach = Int(5 * sigma)
      return (0..<count).map { center in
        let (first, last) = (max(0, center - reach), min(count - 1, center + reach))
        return (first, (first...last).map { exp(-0.5 * pow(Double($0 - center) / sigma, 2)) })
      }
    }
    // The middle of the picture says enough, and takes seconds instead of minutes.
    return filtered(
      input,
      taps(input.width),
      taps(input.height),
      (input.width / 2 - 200, input.height / 2 - 150, 400, 300),
    )
  }

  /// An unsharp mask of 150 %.
  private static func sharpened(_ input: Picture, _ sigma: Double) -> Reference {
    let soft = blurred(input, sigma)
    let part = soft.part
    var values = soft.values
    for y in 0..<part.height {
      for index in 0..<part.width * 3 {
        let old = Float(input.bytes[((y + part.y) * input.width + part.x) * 3 + index])
        let place = y * part.width * 3 + index
        values[place] = min(max(old + 1.5 * (old - values[place]), 0), 255)
      }
    }
    return Reference(soft.size, part, values)
  }

  /// Lanczos' filter with three lobes, as wide as the smaller size needs.
  private static func resized(_ input: Picture, to width: Int) -> Reference {
    let height = Int((Double(input.height * width) / Double(input.width)).rounded())
    func taps(_ from: Int, _ to: Int) -> Taps {
      let scale = Double(from) / Double(to)
      return (0..<to).map { output in
        let center = (Double(output) + 0.5) * scale
        let (first, last) = (max(0, Int(center - 3 * scale)), min(from - 1, Int(center + 3 * scale)))
        let weights = (first...last).map { place -> Double in
          let x = (Double(place) + 0.5 - center) / scale * .pi
          return abs(x) < 1e-9 ? 1 : abs(x) >= 3 * .pi ? 0 : 3 * sin(x) * sin(x / 3) / (x * x)
        }
        return (first, weights)
      }
    }
    return filtered(input, taps(input.width, width), taps(input.height, height), (2, 2, width - 4, height - 4))
  }

  private init(
    _ size: (width: Int, height: Int),
    _ part: (x: Int, y: Int, width: Int, height: Int),
    _ values: [Float],
  ) {
    (self.size, self.part, self.values) = (size, part, values)
  }

  private static func filtered(
    _ input: Picture,
    _ across: Taps,
    _ down: Taps,
    _ part: (x: Int, y: Int, width: Int, height: Int),
  ) -> Reference {
    let (columns, rows) = (across[part.x..<part.x + part.width], down[part.y..<part.y + part.height])
    let top = rows.map(\.first).min() ?? 0
    let bottom = rows.map { $0.first + $0.weights.count }.max() ?? 0
    var lines = [SIMD3<Double>](repeating: SIMD3(), count: part.width * (bottom - top))
    for y in top..<bottom {
      for (x, (first, weights)) in columns.enumerated() {
        var (sum, total) = (SIMD3<Double>(), 0.0)
        for (index, weight) in weights.enumerated() {
          let place = (y * input.width + first + index) * 3
          let pixel = SIMD3(input.bytes[place], input.bytes[place + 1], input.bytes[place + 2])
          sum += SIMD3<Double>(pixel) * weight
          total += weight
        }
        lines[(y - top) * part.width + x] = sum / total
      }
    }
    var values: [Float] = []
    for (first, weights) in rows {
      let total = weights.reduce(0, +)
      var line = [SIMD3<Double>](repeating: SIMD3(), count: part.width)
      for (index, weight) in weights.enumerated() {
        let start = (first + index - top) * part.width
        for x in line.indices { line[x] += lines[start + x] * (weight / total) }
      }
      for pixel in line { for component in 0..<3 { values.append(Float(min(max(pixel[component], 0), 255))) } }
    }
    return Reference((across.count, down.count), part, values)
  }
}

/// A picture of raw bytes, three a pixel.
struct Picture {
  let width: Int
  let height: Int
  let bytes: [UInt8]
  let path: String
}
