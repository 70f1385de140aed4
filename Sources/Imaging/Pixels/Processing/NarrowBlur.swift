import VitrineRuntime

/// A blur with a narrow Gaussian: each pixel is a weighted sum of its neighbours, along columns and then along rows.
///
/// Levels are multiples of 1/128 and weights of 1/16,384, so that a sum of products has 32 bits and its error is below
/// 0.05 levels. Numbers of 16 bits take half the time of floats. Beyond its edges, the image is continued by its mirror
/// image.
struct NarrowBlur {
  /// The standard deviation up to which this is faster than a coarser grid, in pixels.
  static let most = 4.8
  /// The reach of weights, in standard deviations; beyond it is less than 0.05 % of a Gaussian.
  private static let reach = 3.5
  private static let unit = 1 << 14

  /// The weights of a pixel and its neighbours, and a zero if they are an odd number.
  private let weights: [Int16]
  private let radius: Int

  /// `sigma` is above 0 and at most ``most``.
  init(sigma: Double) {
    let radius = max(1, Int((Self.reach * sigma).rounded(.up)))
    let values = (-radius...radius).map { exp(-0.5 * Double($0 * $0) / (sigma * sigma)) }
    let sum = values.reduce(0, +)
    var weights = values.map { Int16(($0 / sum * Double(Self.unit)).rounded()) }
    // What rounding has taken or added belongs to the middle, where it is the smallest part.
    weights[radius] += Int16(Self.unit - weights.reduce(0) { $0 + Int($1) })
    self.radius = radius
    self.weights = weights + [0]
  }

  /// Makes the rows of the blurred image, each of four numbers a pixel: levels times 128, and premultiplied.
  ///
  /// `done` receives the index of a row and its numbers, `4 * width` of them.
  func run(
    on source: Bitmap,
    _ layout: PixelLayout,
    _ kernels: PixelKernels,
    _ context: ProcessingContext,
    done: (Int, Elements<Int16>) -> Void,
  ) throws(ImageError) {
    let (width, height, taps) = (source.width, source.height, weights.count)
    // All rows that a row needs, also where they are mirrored: those are among its neighbours.
    let ring = RowRing<Int16>(capacity: min(taps, height), count: width * 4)
    let table = RowTable<Int16>(rowLength: width * 4)
    let memory = OwnedElements<Int16>(repeating: 0, count: (width + taps) * 4)
    let result = OwnedElements<Int16>(repeating: 0, count: width * 4)
    let (line, output) = (memory.elements, result.elements)
    var next = 0
    for y in 0..<height {
      try context.checkCancellation()
      while next < min(height, y + radius + 1) {
        fill(ring.row(next), from: source, next, layout)
        next += 1
      }
      // The last tap may only make their number even.
      table.fill(0..<taps) { tap in ring.row(Self.mirrored(y - radius + min(tap, 2 * radius), height)).elements }
      kernels.combine(table, weights: weights[...], into: line.extracting(radius * 4..<(radius + width) * 4))
      for place in 1...radius {
        line.store(line.four(at: (radius + Self.mirrored(-place, width)) * 4), at: (radius - place) * 4)
        let last = radius + width - 1
        line.store(line.four(at: (radius + Self.mirrored(width - 1 + place, width)) * 4), at: (last + place) * 4)
      }
      table.fill(0..<taps) { tap in
        let start = min(tap, 2 * radius) * 4
        return line.elements.extracting(start..<start + width * 4)
      }
      kernels.combine(table, weights: weights[...], into: output)
      done(y, output.elements)
    }
  }

  /// Returns the place of which a place beyond the edges is the mirror image.
  private static func mirrored(_ place: Int, _ count: Int) -> Int {
    if (0..<count).contains(place) { return place }
    let period = 2 * count
    let within = (place % period + period) % period
    return within < count ? within : period - 1 - within
  }

  /// Converts a row of the source.
  private func fill(_ target: MutableElements<Int16>, from source: Bitmap, _ row: Int, _ layout: PixelLayout) {
    source.withElements { pixels in
      let line = pixels.rows(from: row, count: 1, width: source.width)
      PixelKernels.widen(line, into: target, premultiplies: layout == .colorAndAlpha)
    }
  }
}
