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
  /// `done` receives the index of a row and its numbers, of which only the first `4 * width` may be used.
  func run(
    on source: Bitmap,
    _ layout: PixelLayout,
    _ kernels: PixelKernels,
    _ context: ProcessingContext,
    done: (Int, UnsafeMutablePointer<Int16>) -> Void,
  ) throws(ImageError) {
    let (width, height, taps) = (source.width, source.height, weights.count)
    // All rows that a row needs, also where they are mirrored: those are among its neighbours.
    let ring = RowRing(capacity: min(taps, height), count: width * 4, element: .short)
    let line = ShortRow(count: (width + taps) * 4)
    let output = ShortRow(count: width * 4)
    let table = PointerTable(count: taps)
    var next = 0
    for y in 0..<height {
      try context.checkCancellation()
      while next < min(height, y + radius + 1) {
        unsafe fill(ring.row(next).assumingMemoryBound(to: Int16.self), from: source, next, layout)
        next += 1
      }
      for tap in 0..<taps {
        // The last tap may be the one that only makes their number even.
        let row = Self.mirrored(y - radius + min(tap, 2 * radius), height)
        unsafe table.pointer[tap] = UnsafeRawPointer(ring.row(row))
      }
      let middle = unsafe line.pointer + radius * 4
      unsafe combine(kernels, table, into: middle, count: width * 4)
      // `radius` pixels on either side of `width`, within the line.
      for place in 1...radius {
        unsafe Self.copyPixel(from: middle + Self.mirrored(-place, width) * 4, to: middle - place * 4)
        unsafe Self.copyPixel(
          from: middle + Self.mirrored(width - 1 + place, width) * 4,
          to: middle + (width - 1 + place) * 4,
        )
      }
      for tap in 0..<taps { unsafe table.pointer[tap] = UnsafeRawPointer(line.pointer + min(tap, 2 * radius) * 4) }
      unsafe combine(kernels, table, into: output.pointer, count: width * 4)
      unsafe done(y, output.pointer)
    }
  }

  private func combine(
    _ kernels: PixelKernels,
    _ table: PointerTable,
    into target: UnsafeMutablePointer<Int16>,
    count: Int,
  ) {
    unsafe weights.withUnsafeBufferPointer { weights in
      guard let start = weights.baseAddress else { return }
      // There are as many rows as weights.
      unsafe kernels.combine(table.pointer, weights: start, taps: weights.count, into: target, count: count)
    }
  }

  private static func copyPixel(from source: UnsafeMutablePointer<Int16>, to target: UnsafeMutablePointer<Int16>) {
    unsafe target.update(from: source, count: 4)
  }

  /// Returns the place of which a place beyond the edges is the mirror image.
  private static func mirrored(_ place: Int, _ count: Int) -> Int {
    if (0..<count).contains(place) { return place }
    let period = 2 * count
    let within = (place % period + period) % period
    return within < count ? within : period - 1 - within
  }

  /// Converts a row of the source, which `target` has room for.
  private func fill(
    _ target: UnsafeMutablePointer<Int16>,
    from source: Bitmap,
    _ row: Int,
    _ layout: PixelLayout,
  ) {
    unsafe source.withUnsafeBytes { bytes in
      let start = row * source.bytesPerRow
      // The slice checks the bounds.
      let pixels = unsafe UnsafeRawBufferPointer(rebasing: bytes[start..<start + source.width * 4])
      unsafe PixelKernels.widen(pixels, into: target, count: source.width, premultiplies: layout == .colorAndAlpha)
    }
  }
}

/// Numbers of 16 bits, allocated once and freed with their owner.
@safe
private final class ShortRow {
  // Owned: allocated in init, freed in deinit, used by one thread at a time.
  let pointer: UnsafeMutablePointer<Int16>

  init(count: Int) {
    unsafe pointer = .allocate(capacity: count)
    unsafe pointer.initialize(repeating: 0, count: count)
  }

  deinit { unsafe pointer.deallocate() }
}

/// Addresses of rows, allocated once and freed with their owner.
@safe
private final class PointerTable {
  // Owned: allocated in init, freed in deinit, used by one thread at a time.
  let pointer: UnsafeMutablePointer<UnsafeRawPointer?>

  init(count: Int) {
    unsafe pointer = .allocate(capacity: count)
    unsafe pointer.initialize(repeating: nil, count: count)
  }

  deinit { unsafe pointer.deallocate() }
}
