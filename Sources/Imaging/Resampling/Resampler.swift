/// Shrinks or enlarges an image that arrives row by row, holding a few rows of it.
///
/// Far above the size wanted, whole blocks of pixels are averaged (an integer box filter) down to a little more than
/// twice that size; then a separable Lanczos filter does the rest, columns first: a source row is added, weighted, to the
/// few output rows it belongs to, and an output row is filtered across when its last source row has come. What averaging,
/// here or in the decoder, has blurred below the size wanted, the filter's weights restore.
///
/// Colours are filtered multiplied by their coverage, so that what cannot be seen does not bleed into what can. Sums are
/// kept in integers or floats and rounded once.
final class Resampler {
  /// How much larger than the output the box filter leaves the image.
  static let boxMargin = 2.0

  let outputWidth: Int
  let outputHeight: Int
  /// The last source row that is needed; reading may stop behind it.
  let lastRow: Int

  private let hasAlpha: Bool
  private let columns: Range<Int>
  private let firstRow: Int
  private let box: BoxFilter?
  private let horizontal: FilterWeights
  private let vertical: FilterWeights
  private let rowLength: Int
  private let slotCount: Int
  /// A ring of output rows in the making, `slotCount` of `rowLength` floats, RGBA premultiplied, 0 to 255.
  private let slots: FloatRow
  private let line: FloatRow
  private let output: PixelRow
  private var sourceRow = 0
  private var filterRow = 0
  private var firstOpen = 0
  private var nextOpen = 0

  /// `crop` is the part of the source that the output shows, in source pixels; each of those is the mean of `averaged`
  /// pixels along either axis.
  init(
    sourceWidth: Int,
    sourceHeight: Int,
    crop: PixelRect,
    outputWidth: Int,
    outputHeight: Int,
    hasAlpha: Bool,
    averaged: Double = 1,
  ) {
    self.outputWidth = outputWidth
    self.outputHeight = outputHeight
    self.hasAlpha = hasAlpha
    let factorX = max(1, Int(crop.width / Double(outputWidth) / Self.boxMargin))
    let factorY = max(1, Int(crop.height / Double(outputHeight) / Self.boxMargin))
    // Beyond the crop the filter looks at what lies next to it.
    columns = Self.window(crop.x, crop.width, outputWidth, factorX, sourceWidth)
    let rows = Self.window(crop.y, crop.height, outputHeight, factorY, sourceHeight)
    firstRow = rows.lowerBound
    lastRow = rows.upperBound - 1
    box =
      factorX * factorY == 1
      ? nil
      : BoxFilter(width: columns.count, height: rows.count, factorX: factorX, factorY: factorY, hasAlpha: hasAlpha)
    let width = (columns.count + factorX - 1) / factorX
    let height = (rows.count + factorY - 1) / factorY
    horizontal = FilterWeights(
      origin: (crop.x - Double(columns.lowerBound)) / Double(factorX),
      length: crop.width / Double(factorX),
      sourceCount: width,
      outputCount: outputWidth,
      averaged: averaged * Double(factorX),
    )
    vertical = FilterWeights(
      origin: (crop.y - Double(rows.lowerBound)) / Double(factorY),
      length: crop.height / Double(factorY),
      sourceCount: height,
      outputCount: outputHeight,
      averaged: averaged * Double(factorY),
    )
    rowLength = width * 4
    var most = 1
    var oldest = 0
    for row in 0..<outputHeight {
      while vertical.starts[oldest] + vertical.counts[oldest] <= vertical.starts[row] { oldest += 1 }
      most = max(most, row - oldest + 1)
    }
    slotCount = most
    slots = FloatRow(count: slotCount * rowLength)
    line = FloatRow(count: rowLength)
    output = PixelRow(count: outputWidth)
  }

  /// The source pixels along one axis that the filter can reach.
  private static func window(
    _ start: Double,
    _ length: Double,
    _ output: Int,
    _ factor: Int,
    _ count: Int,
  ) -> Range<Int> {
    let lobes = FilterWeights.lobes * max(length / Double(output), 1)
    let reach = lobes + Double(factor * (1 + FilterWeights.correctionReach))
    let first = min(max(0, Int((start - reach).rounded(.down))), count - 1)
    return first..<max(first + 1, min(count, Int((start + length + reach).rounded(.up))))
  }

  /// Takes the next source row and gives `emit` each output row that it completes.
  ///
  /// A row is RGBA with straight alpha, the source's whole width.
  func push<E: Error>(_ row: UnsafeRawBufferPointer, emit: (UnsafeRawBufferPointer) throws(E) -> Void) throws(E) {
    defer { sourceRow += 1 }
    guard sourceRow >= firstRow, sourceRow <= lastRow else { return }
    // In bounds by the slice: a row of the source holds the window's columns.
    let pixels = unsafe UnsafeRawBufferPointer(rebasing: row[columns.lowerBound * 4..<columns.upperBound * 4])
    if let box {
      guard unsafe box.push(pixels, into: line) else { return }
    } else if hasAlpha {
      unsafe PixelKernels.premultiply(pixels, into: line.pointer, count: columns.count)
    } else {
      unsafe PixelKernels.widen(pixels, into: line.pointer, count: columns.count)
    }
    try unsafe filter(emit)
  }

  private func filter<E: Error>(_ emit: (UnsafeRawBufferPointer) throws(E) -> Void) throws(E) {
    while nextOpen < outputHeight, vertical.starts[nextOpen] <= filterRow {
      slots.clear(from: nextOpen % slotCount * rowLength, count: rowLength)
      nextOpen += 1
    }
    for row in firstOpen..<nextOpen {
      let tap = filterRow - vertical.starts[row]
      guard tap < vertical.counts[row] else { continue }
      // Slot and line are `rowLength` floats each.
      unsafe PixelKernels.accumulate(
        line.pointer,
        weight: vertical.weights[row * vertical.stride + tap],
        into: slots.pointer + row % slotCount * rowLength,
        count: rowLength,
      )
    }
    filterRow += 1
    while firstOpen < nextOpen, vertical.starts[firstOpen] + vertical.counts[firstOpen] <= filterRow {
      // The weights' indices were made for a line of `rowLength` floats, which a slot is.
      unsafe PixelKernels.filter(
        slots.pointer + firstOpen % slotCount * rowLength,
        weights: horizontal,
        into: output.pointer,
        count: outputWidth,
        hasAlpha: hasAlpha,
      )
      try unsafe emit(output.bytes)
      firstOpen += 1
    }
  }
}

/// Averages blocks of `factorX` x `factorY` pixels.
///
/// Blocks at the right and lower edge may be smaller.
private final class BoxFilter {
  private let width: Int
  private let height: Int
  private let factorX: Int
  private let factorY: Int
  private let hasAlpha: Bool
  private let sums: WideRow
  private var row = 0
  private var rowsSummed = 0

  init(width: Int, height: Int, factorX: Int, factorY: Int, hasAlpha: Bool) {
    (self.width, self.height, self.factorX, self.factorY) = (width, height, factorX, factorY)
    self.hasAlpha = hasAlpha
    sums = WideRow(count: width * 4)
  }

  /// Whether a row of averages is now in `line`.
  func push(_ pixels: UnsafeRawBufferPointer, into line: FloatRow) -> Bool {
    // `pixels`, `sums` are `width` pixels; `line` is one for each block.
    if hasAlpha {
      unsafe PixelKernels.addPremultiplied(pixels, into: sums.pointer, count: width)
    } else {
      unsafe PixelKernels.add(pixels, into: sums.pointer, count: width * 4)
    }
    row += 1
    rowsSummed += 1
    guard rowsSummed == factorY || row == height else { return false }
    unsafe PixelKernels.average(
      sums.pointer,
      width: width,
      factor: factorX,
      rows: rowsSummed,
      into: line.pointer,
      isPremultiplied: hasAlpha,
    )
    sums.clear()
    rowsSummed = 0
    return true
  }
}

/// Floats allocated once and freed with their owner.
@safe
final class FloatRow {
  // Owned: allocated in init, freed in deinit, used by one thread at a time.
  let pointer: UnsafeMutablePointer<Float>
  private let count: Int

  init(count: Int) {
    self.count = count
    unsafe pointer = .allocate(capacity: count)
    unsafe pointer.initialize(repeating: 0, count: count)
  }

  deinit { unsafe pointer.deallocate() }

  func clear(from start: Int, count: Int) {
    precondition(start >= 0 && start + count <= self.count)
    unsafe (pointer + start).update(repeating: 0, count: count)
  }
}

@safe
private final class WideRow {
  // Owned: allocated in init, freed in deinit, used by one thread at a time.
  let pointer: UnsafeMutablePointer<UInt32>
  private let count: Int

  init(count: Int) {
    self.count = count
    unsafe pointer = .allocate(capacity: count)
    unsafe pointer.initialize(repeating: 0, count: count)
  }

  deinit { unsafe pointer.deallocate() }

  func clear() { unsafe pointer.update(repeating: 0, count: count) }
}

@safe
private final class PixelRow {
  // Owned: allocated in init, freed in deinit, used by one thread at a time.
  let pointer: UnsafeMutableRawPointer
  private let count: Int

  init(count: Int) {
    self.count = count
    unsafe pointer = .allocate(byteCount: count * 4, alignment: 16)
  }

  deinit { unsafe pointer.deallocate() }

  var bytes: UnsafeRawBufferPointer { unsafe UnsafeRawBufferPointer(start: pointer, count: count * 4) }
}
