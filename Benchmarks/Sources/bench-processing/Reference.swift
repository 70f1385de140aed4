import Foundation

/// Three components a pixel in double precision: what a result should be.
///
/// Filters are those of the definitions, without a short cut: every weight, of every pixel, in doubles.
struct Reference {
  let width: Int
  let height: Int
  let values: [Float]

  init(_ work: Work, _ input: Picture) {
    switch work.name {
    case "resize-300": self = Self.resized(input, to: 300)
    case "resize-600": self = Self.resized(input, to: 600)
    case "blur-8": self = Self.blurred(input, 8)
    case "blur-40": self = Self.blurred(input, 40)
    default: self.init(width: input.width, height: input.height, values: input.bytes.map(Float.init))
    }
  }

  private init(width: Int, height: Int, values: [Float]) {
    (self.width, self.height, self.values) = (width, height, values)
  }

  /// The ratio of signal to noise of raw bytes with `components` a pixel, in decibels; `nil` for another size.
  func psnr(_ bytes: Data, components: Int, margin: Int) -> Double? {
    guard bytes.count == width * height * components else { return nil }
    var sum = 0.0
    var count = 0
    bytes.withUnsafeBytes { bytes in
      for y in margin..<height - margin {
        for x in margin..<width - margin {
          for component in 0..<3 {
            let place = y * width + x
            let difference = Double(bytes[place * components + component]) - Double(values[place * 3 + component])
            sum += difference * difference
            count += 1
          }
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
    return filtered(input, taps(input.width), taps(input.height))
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
    return filtered(input, taps(input.width, width), taps(input.height, height))
  }

  private static func filtered(_ input: Picture, _ across: Taps, _ down: Taps) -> Reference {
    let (width, height) = (across.count, down.count)
    var lines = [Float](repeating: 0, count: width * input.height * 3)
    for y in 0..<input.height {
      for x in 0..<width {
        let (first, weights) = across[x]
        var (sum, total) = (SIMD3<Double>(), 0.0)
        for (index, weight) in weights.enumerated() {
          let place = (y * input.width + first + index) * 3
          let pixel = SIMD3(input.bytes[place], input.bytes[place + 1], input.bytes[place + 2])
          sum += SIMD3<Double>(pixel) * weight
          total += weight
        }
        for component in 0..<3 { lines[(y * width + x) * 3 + component] = Float(sum[component] / total) }
      }
    }
    var values = [Float](repeating: 0, count: width * height * 3)
    for y in 0..<height {
      let (first, weights) = down[y]
      let total = weights.reduce(0, +)
      var line = [Double](repeating: 0, count: width * 3)
      for (index, weight) in weights.enumerated() {
        let start = (first + index) * width * 3
        for place in line.indices { line[place] += Double(lines[start + place]) * weight }
      }
      for place in line.indices { values[y * width * 3 + place] = Float(min(max(line[place] / total, 0), 255)) }
    }
    return Reference(width: width, height: height, values: values)
  }
}

/// A picture of raw bytes, three a pixel.
struct Picture {
  let width: Int
  let height: Int
  let bytes: [UInt8]
  let path: String
}
