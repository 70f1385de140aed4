/// The options for resampling pixels.
package struct ResamplingOptions: Hashable, Sendable {
  package var filter = ResamplingFilter.lanczos3
  /// True if sums are made of linear light instead of encoded values.
  package var usesLinearLight = false

  package init(filter: ResamplingFilter = .lanczos3, usesLinearLight: Bool = false) {
    (self.filter, self.usesLinearLight) = (filter, usesLinearLight)
  }
}

/// Downsamples or enlarges an image that arrives row by row, holding a few rows of it.
///
/// An image much larger than the requested size is first reduced to slightly more than twice that size by averaging
/// whole blocks of pixels (an integer box filter). A separable filter does the rest, columns first: when the last
/// source row of an output row arrives, its rows are added with their weights, and the sum is filtered across. The
/// filter's weights restore what averaging, here or in the decoder, has blurred.
///
/// Colours are filtered multiplied by their coverage, so that invisible colours do not bleed into visible ones. Sums
/// are kept in integers or floats and rounded once.
final class Resampler {
  /// The ratio of the box filter's output to the requested size.
  static let boxMargin = 2.0

  /// The geometry of the rows that arrive.
  struct Source {
    var width: Int
    var height: Int
    /// The part that the output shows, in source pixels.
    var crop: PixelRect
    var layout: PixelLayout
    /// The number of pixels along either axis that each source pixel is the mean of.
    var averaged = 1.0
  }

  private enum Ring {
    case bytes(RowRing<UInt8>)
    case floats(RowRing<Float>)
  }

  let outputWidth: Int
  let outputHeight: Int
  /// The last source row that is needed; reading may stop after it.
  let lastRow: Int

  private let kernels: PixelKernels
  private let layout: PixelLayout
  private let usesLinearLight: Bool
  private let columns: Range<Int>
  private let firstRow: Int
  private let box: BoxFilter?
  private let horizontal: FilterWeights
  private let vertical: FilterWeights
  /// The rows to filter: unchanged bytes where possible, otherwise premultiplied floats of 0 to 255.
  private let ring: Ring
  private let line: OwnedElements<Float>
  private let sums: OwnedElements<Float>
  private let output: OwnedElements<UInt8>
  /// The output row of 16 bits a component; empty for rows of bytes.
  private let wideOutput: OwnedElements<UInt16>
  private var sourceRow = 0
  private var filterRow = 0
  private var nextOutput = 0

  init(
    _ source: Source,
    outputWidth: Int,
    outputHeight: Int,
    options: ResamplingOptions = ResamplingOptions(),
    isWide: Bool = false,
    kernels: PixelKernels = .best,
  ) {
    (self.outputWidth, self.outputHeight) = (outputWidth, outputHeight)
    (self.kernels, layout) = (kernels, source.layout)
    // Ink is not light, and rows of 16 bits are not in sRGB.
    usesLinearLight = options.usesLinearLight && source.layout != .ink && !isWide
    let (filter, crop) = (options.filter, source.crop)
    let factorX = Self.factor(filter, crop.width / Double(outputWidth))
    let factorY = Self.factor(filter, crop.height / Double(outputHeight))
    // The filter reads pixels next to the crop.
    columns = Self.window(filter, crop.x, crop.width, outputWidth, factorX, source.width)
    let rows = Self.window(filter, crop.y, crop.height, outputHeight, factorY, source.height)
    firstRow = rows.lowerBound
    lastRow = rows.upperBound - 1
    box =
      factorX * factorY == 1
      ? nil
      : BoxFilter(
        width: columns.count,
        height: rows.count,
        factorX: factorX,
        factorY: factorY,
        hasAlpha: layout == .colorAndAlpha,
        sumsFloats: usesLinearLight || isWide,
      )
    let width = (columns.count + factorX - 1) / factorX
    let height = (rows.count + factorY - 1) / factorY
    horizontal = FilterWeights(
      filter,
      origin: (crop.x - Double(columns.lowerBound)) / Double(factorX),
      length: crop.width / Double(factorX),
      sourceCount: width,
      outputCount: outputWidth,
      averaged: source.averaged * Double(factorX),
    )
    vertical = FilterWeights(
      filter,
      origin: (crop.y - Double(rows.lowerBound)) / Double(factorY),
      length: crop.height / Double(factorY),
      sourceCount: height,
      outputCount: outputHeight,
      averaged: source.averaged * Double(factorY),
    )
    let rowLength = width * 4
    let staysBytes = kernels.prefersBytes && box == nil && !usesLinearLight && !isWide && layout != .colorAndAlpha
    let taps = vertical.mostTaps
    ring =
      staysBytes
      ? .bytes(RowRing(capacity: taps, count: rowLength)) : .floats(RowRing(capacity: taps, count: rowLength))
    line = OwnedElements(repeating: 0, count: rowLength)
    sums = OwnedElements(repeating: 0, count: outputWidth * 4)
    output = OwnedElements(repeating: 0, count: isWide ? 0 : outputWidth * 4)
    wideOutput = OwnedElements(repeating: 0, count: isWide ? outputWidth * 4 : 0)
  }

  private static func factor(_ filter: ResamplingFilter, _ scale: Double) -> Int {
    filter.restoresMeans ? max(1, Int(scale / boxMargin)) : 1
  }

  /// Returns the source pixels along one axis that the filter can reach.
  private static func window(
    _ filter: ResamplingFilter,
    _ start: Double,
    _ length: Double,
    _ output: Int,
    _ factor: Int,
    _ count: Int,
  ) -> Range<Int> {
    let support = filter.support * max(length / Double(output), 1)
    let reach = support + Double(factor * (1 + FilterWeights.correctionReach))
    let first = min(max(0, Int((start - reach).rounded(.down))), count - 1)
    return first..<max(first + 1, min(count, Int((start + length + reach).rounded(.up))))
  }

  /// Adds the next source row and calls `emit` with each output row that it completes.
  ///
  /// A row is RGBA with straight alpha, or four inks, in the source's whole width. `emit` may change its row until it
  /// returns.
  func push<E: Error>(_ row: Elements<UInt8>, emit: (MutableElements<UInt8>) throws(E) -> Void) throws(E) {
    defer { sourceRow += 1 }
    guard sourceRow >= firstRow, sourceRow <= lastRow else { return }
    guard keep(row.extracting(columns.lowerBound * 4..<columns.upperBound * 4)) else { return }
    filterRow += 1
    while filterNext() {
      if usesLinearLight {
        PixelKernels.encode(sums.elements.elements, into: output.elements, hasAlpha: layout == .colorAndAlpha)
      } else {
        PixelKernels.round(sums.elements, into: output.elements, layout: layout)
      }
      try emit(output.elements)
    }
  }

  /// Adds the next source row of 16 bits a component, of a resampler that was made for such rows.
  func push<E: Error>(wide row: Elements<UInt16>, emit: (Elements<UInt16>) throws(E) -> Void) throws(E) {
    defer { sourceRow += 1 }
    guard sourceRow >= firstRow, sourceRow <= lastRow, case .floats(let ring) = ring else { return }
    let pixels = row.extracting(columns.lowerBound * 4..<columns.upperBound * 4)
    let hasAlpha = layout == .colorAndAlpha
    if let box {
      guard box.push(wide: pixels, into: ring.row(filterRow)) else { return }
    } else {
      ring.row(filterRow).update(repeating: 0)
      PixelKernels.addWide(pixels, into: ring.row(filterRow), hasAlpha: hasAlpha)
    }
    filterRow += 1
    while filterNext() {
      PixelKernels.round(sums.elements.elements, into: wideOutput.elements, hasAlpha: hasAlpha)
      try emit(wideOutput.elements.elements)
    }
  }

  /// Adds a source row to the ring.
  ///
  /// Returns `false` if it only completes part of a row there.
  private func keep(_ pixels: Elements<UInt8>) -> Bool {
    switch ring {
    case .bytes(let ring): ring.row(filterRow).update(from: pixels)
    case .floats(let ring):
      let floats = ring.row(filterRow)
      if let box { return box.push(pixels, into: floats) }
      if usesLinearLight {
        floats.update(repeating: 0)
        PixelKernels.addLinear(pixels, into: floats, hasAlpha: layout == .colorAndAlpha)
      } else if layout == .colorAndAlpha {
        PixelKernels.premultiply(pixels, into: floats)
      } else {
        PixelKernels.widen(pixels, into: floats)
      }
    }
    return true
  }

  /// Makes the sums of the next output row from the rows in the ring; returns `false` if some are missing.
  private func filterNext() -> Bool {
    let row = nextOutput
    guard row < outputHeight, vertical.starts[row] + vertical.counts[row] <= filterRow else { return false }
    nextOutput += 1
    let (first, weights) = (vertical.starts[row], vertical[row])
    let (line, sums) = (line.elements, sums.elements)
    switch ring {
    case .bytes(let ring):
      kernels.combine(ring.rows(from: first, count: weights.count), weights: weights, into: line)
    case .floats(let ring):
      kernels.combine(ring.rows(from: first, count: weights.count), weights: weights, into: line)
    }
    kernels.filterAcross(line.elements, weights: horizontal, into: sums)
    return true
  }
}
