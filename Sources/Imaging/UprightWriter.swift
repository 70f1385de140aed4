/// Writes rows of the output from top to bottom in stored orientation, four bytes a pixel.
protocol RowWriter {
  mutating func write(_ source: UnsafeRawBufferPointer)
  /// Called after the last row, also if some are missing.
  mutating func finish()
}

/// Writes rows, given from top to bottom in stored orientation, to their place in the upright bitmap.
@safe
struct UprightWriter<Pixel: FixedWidthInteger>: RowWriter {
  /// Rows that become columns are collected, so that each line of memory is visited once for several of them.
  private static var stripHeight: Int { 16 }
  private static var pixelSize: Int { MemoryLayout<Pixel>.size }

  private let pixels: UnsafeMutableRawBufferPointer
  private let orientation: Orientation
  /// The stored size.
  private let width: Int
  private let height: Int
  private var strip: [Pixel] = []
  private var row = 0
  /// The number of rows written before ``finish()`` filled in the others.
  private(set) var rowsGiven = 0

  /// `pixels` is the memory of a bitmap of the size in `plan`.
  init(_ pixels: UnsafeMutableRawBufferPointer, _ plan: SamplingPlan, _ orientation: Orientation) {
    (width, height) = orientation.applied(width: plan.width, height: plan.height)
    precondition(pixels.count == Self.pixelSize * width * height)
    unsafe self.pixels = pixels
    self.orientation = orientation
    if orientation.swapsAxes { strip.reserveCapacity(Self.stripHeight * width) }
  }

  mutating func write(_ source: UnsafeRawBufferPointer) {
    precondition(source.count == Self.pixelSize * width && row < height)
    defer { row += 1 }
    switch orientation {
    case .up, .downMirrored:
      let target = orientation == .up ? row : height - 1 - row
      unsafe line(target).copyMemory(from: source)
    case .upMirrored, .down:
      let target = unsafe line(orientation == .down ? height - 1 - row : row)
      for x in 0..<width {
        // Both are one row of `width` pixels.
        let pixel = unsafe source.loadUnaligned(fromByteOffset: x * Self.pixelSize, as: Pixel.self)
        unsafe target.storeBytes(of: pixel, toByteOffset: (width - 1 - x) * Self.pixelSize, as: Pixel.self)
      }
    case .leftMirrored, .right, .rightMirrored, .left:
      for x in 0..<width {
        unsafe strip.append(source.loadUnaligned(fromByteOffset: x * Self.pixelSize, as: Pixel.self))
      }
      if strip.count == Self.stripHeight * width { flush(endingAt: row + 1) }
    }
  }

  /// Writes the collected rows, and zeros for the missing rows.
  mutating func finish() { finish(filling: 0) }

  /// Writes the collected rows, and `missing` for the missing rows.
  mutating func finish(filling missing: Pixel) {
    rowsGiven = row
    if !strip.isEmpty { flush(endingAt: row) }
    guard row < height else { return }
    let missing = [Pixel](repeating: missing, count: width)
    unsafe missing.withUnsafeBytes { bytes in
      while row < height { unsafe write(bytes) }
    }
    if !strip.isEmpty { flush(endingAt: row) }
  }

  /// Returns the memory of an upright row, if upright rows are as wide as stored ones.
  private func line(_ row: Int) -> UnsafeMutableRawBufferPointer {
    let count = width * Self.pixelSize
    // The slice checks the bounds.
    return unsafe UnsafeMutableRawBufferPointer(rebasing: pixels[row * count..<(row + 1) * count])
  }

  private mutating func flush(endingAt end: Int) {
    let count = strip.count / width
    let first = end - count
    // Stored column x is an upright row, in which the strip's rows are neighbours.
    for x in 0..<width {
      for index in 0..<count {
        let place = orientation.upright(x: x, y: first + index, width: width, height: height)
        // The upright bitmap is `height` pixels wide here.
        unsafe pixels.storeBytes(
          of: strip[index * width + x],
          toByteOffset: (place.y * height + place.x) * Self.pixelSize,
          as: Pixel.self,
        )
      }
    }
    strip.removeAll(keepingCapacity: true)
  }
}

/// Converts colours to gray levels and writes them to their place in the upright bitmap.
@safe
struct GrayWriter: RowWriter {
  private let background: UInt8
  private let isOpaque: Bool
  private var writer: UprightWriter<UInt8>
  private var levels: [UInt8]

  init(
    _ pixels: UnsafeMutableRawBufferPointer,
    _ plan: SamplingPlan,
    _ orientation: Orientation,
    over background: UInt8,
    isOpaque: Bool,
  ) {
    (self.background, self.isOpaque) = (background, isOpaque)
    unsafe writer = UprightWriter(pixels, plan, orientation)
    levels = [UInt8](repeating: 0, count: orientation.applied(width: plan.width, height: plan.height).width)
  }

  mutating func write(_ source: UnsafeRawBufferPointer) {
    precondition(source.count == 4 * levels.count)
    for x in levels.indices {
      // In bounds by the line above.
      let pixel = unsafe source.loadUnaligned(fromByteOffset: 4 * x, as: SIMD4<UInt8>.self)
      levels[x] = isOpaque ? GrayBitmap.level(of: pixel) : GrayBitmap.level(of: pixel, over: background)
    }
    unsafe levels.withUnsafeBytes { unsafe writer.write($0) }
  }

  mutating func finish() { writer.finish(filling: background) }
}
