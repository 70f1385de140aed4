/// Writes rows of the output from top to bottom in stored orientation, four bytes a pixel.
protocol RowWriter {
  mutating func write(_ source: Elements<UInt8>)
  /// Called after the last row, also if some are missing.
  mutating func finish()
}

/// Writes rows, given from top to bottom in stored orientation, to their place in the upright bitmap.
struct UprightWriter<Pixel: FixedWidthInteger & BitwiseCopyable>: RowWriter {
  /// Rows that become columns are collected, so that each line of memory is visited once for several of them.
  private static var stripHeight: Int { 16 }
  private static var pixelSize: Int { MemoryLayout<Pixel>.size }

  private let pixels: MutableElements<UInt8>
  private let orientation: Orientation
  /// The stored size.
  private let width: Int
  private let height: Int
  /// The collected rows that are not written yet.
  private let strip: OwnedElements<UInt8>
  private var collected = 0
  private var row = 0
  /// The number of rows written before ``finish()`` filled in the others.
  private(set) var rowsGiven = 0

  /// `pixels` is the memory of a bitmap of the size in `plan`.
  init(_ pixels: MutableElements<UInt8>, _ plan: SamplingPlan, _ orientation: Orientation) {
    (width, height) = orientation.applied(width: plan.width, height: plan.height)
    precondition(pixels.count == Self.pixelSize * width * height)
    self.pixels = pixels
    self.orientation = orientation
    strip = OwnedElements(repeating: 0, count: orientation.swapsAxes ? Self.stripHeight * Self.pixelSize * width : 0)
  }

  mutating func write(_ source: Elements<UInt8>) {
    precondition(source.count == Self.pixelSize * width && row < height)
    defer { row += 1 }
    switch orientation {
    case .up, .downMirrored: line(orientation == .up ? row : height - 1 - row).update(from: source)
    case .upMirrored, .down:
      line(orientation == .down ? height - 1 - row : row).update(of: source, from: width - 1, step: -1, as: Pixel.self)
    case .leftMirrored, .right, .rightMirrored, .left:
      let start = collected * source.count
      strip.elements.extracting(start..<start + source.count).update(from: source)
      collected += 1
      if collected == Self.stripHeight { flush(endingAt: row + 1) }
    }
  }

  /// Writes the collected rows, and zeros for the missing rows.
  mutating func finish() { finish(filling: 0) }

  /// Writes the collected rows, and the byte `missing` all over the missing rows.
  mutating func finish(filling missing: UInt8) {
    rowsGiven = row
    flush(endingAt: row)
    guard row < height else { return }
    let missing = OwnedElements(repeating: missing, count: Self.pixelSize * width)
    while row < height { write(missing.elements.elements) }
    flush(endingAt: row)
  }

  /// Returns the memory of an upright row, if upright rows are as wide as stored ones.
  private func line(_ row: Int) -> MutableElements<UInt8> {
    let count = width * Self.pixelSize
    return pixels.extracting(row * count..<(row + 1) * count)
  }

  private mutating func flush(endingAt end: Int) {
    let (strip, count, size) = (strip.elements.elements, collected, Self.pixelSize)
    guard count > 0 else { return }
    // Stored column x is an upright row, in which the strip's rows are neighbours.
    for x in 0..<width {
      let first = orientation.upright(x: x, y: end - count, width: width, height: height)
      let last = orientation.upright(x: x, y: end - 1, width: width, height: height)
      // The upright bitmap is `height` pixels wide here.
      let start = (first.y * height + min(first.x, last.x)) * size
      let isReversed = last.x < first.x
      pixels.extracting(start..<start + count * size).update(
        of: strip,
        from: isReversed ? (count - 1) * width + x : x,
        step: isReversed ? -width : width,
        as: Pixel.self,
      )
    }
    collected = 0
  }
}

/// Converts colours to gray levels and writes them to their place in the upright bitmap.
struct GrayWriter: RowWriter {
  private let background: UInt8
  private let isOpaque: Bool
  private var writer: UprightWriter<UInt8>
  private let levels: OwnedElements<UInt8>

  init(
    _ pixels: MutableElements<UInt8>,
    _ plan: SamplingPlan,
    _ orientation: Orientation,
    over background: UInt8,
    isOpaque: Bool,
  ) {
    (self.background, self.isOpaque) = (background, isOpaque)
    writer = UprightWriter(pixels, plan, orientation)
    let width = orientation.applied(width: plan.width, height: plan.height).width
    levels = OwnedElements(repeating: 0, count: width)
  }

  mutating func write(_ source: Elements<UInt8>) {
    let levels = levels.elements
    precondition(source.count == 4 * levels.count)
    for x in levels.indices {
      let pixel = source.four(at: 4 * x)
      levels[x] = isOpaque ? GrayBitmap.level(of: pixel) : GrayBitmap.level(of: pixel, over: background)
    }
    writer.write(levels.elements)
  }

  mutating func finish() { writer.finish(filling: background) }
}
