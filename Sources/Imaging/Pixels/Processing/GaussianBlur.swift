/// Blurs a bitmap with a Gaussian, and may sharpen it by the difference.
struct GaussianBlur {
  private let width: Int
  private let height: Int
  private let sigma: Double
  private let kernels: PixelKernels
  private let context: ProcessingContext

  /// What becomes of blurred pixels.
  enum Result {
    case blurred
    /// Colours are moved away from the blurred ones, by `amount` times the difference, if that is at least `threshold`.
    case sharpened(amount: Float, threshold: Float)
  }

  init(
    width: Int,
    height: Int,
    sigma: Double,
    _ context: ProcessingContext,
    kernels: PixelKernels = .best,
  ) {
    (self.width, self.height, self.sigma) = (width, height, sigma)
    (self.kernels, self.context) = (kernels, context)
  }

  /// Returns the bitmap blurred or sharpened, with straight alpha or opaque.
  func callAsFunction(_ bitmap: Bitmap, _ result: Result = .blurred) throws(ImageError) -> Bitmap {
    let source = bitmap.straightened()
    let layout: PixelLayout = source.alpha == .opaque ? .color : .colorAndAlpha
    let isNarrow = sigma <= NarrowBlur.most
    return isNarrow ? try narrow(source, layout, result) : try wide(source, layout, result)
  }

  private func narrow(_ source: Bitmap, _ layout: PixelLayout, _ result: Result) throws(ImageError) -> Bitmap {
    let blur = NarrowBlur(sigma: sigma)
    let memory = OwnedElements<Float>(repeating: 0, count: width * 4)
    let line = memory.elements
    return try Bitmap.writing(width: width, height: height, alpha: source.alpha, colorSpace: source.colorSpace) {
      (pixels) throws(ImageError) in
      try blur.run(on: source, layout, kernels, context) { row, numbers in
        if case .blurred = result, layout == .color {
          PixelKernels.round(numbers, into: pixels.rows(from: row, count: 1, width: width))
        } else {
          PixelKernels.widen(numbers, into: line)
          finish(line, row, source, layout, result, into: pixels)
        }
      }
    }
  }

  private func wide(_ source: Bitmap, _ layout: PixelLayout, _ result: Result) throws(ImageError) -> Bitmap {
    let x = BlurWeights(count: width, sigma: sigma)
    let y = width == height ? x : BlurWeights(count: height, sigma: sigma)
    var passes: [Pass] = []
    for level in 0..<max(x.reductions.count, y.reductions.count) {
      passes.append(Pass(x: Self.entry(x.reductions, level), y: Self.entry(y.reductions, level), acrossFirst: false))
    }
    if x.middle != nil || y.middle != nil { passes.append(Pass(x: x.middle, y: y.middle, acrossFirst: false)) }
    for level in (0..<max(x.enlargements.count, y.enlargements.count)).reversed() {
      // The last ones belong to the full size.
      passes.append(
        Pass(
          x: Self.entry(x.enlargements.reversed(), level),
          y: Self.entry(y.enlargements.reversed(), level),
          acrossFirst: true,
        )
      )
    }
    let last = passes.popLast() ?? Pass(x: nil, y: nil, acrossFirst: false)
    var input = BlurInput.bitmap(source)
    for pass in passes {
      let (width, height) = (pass.x?.starts.count ?? input.width, pass.y?.starts.count ?? input.height)
      // New memory takes longer than the copies of a few rows.
      let image = input.image(width: width, height: height) ?? FloatImage(width: width, height: height)
      try run(pass, on: input, layout) { row in
        image.row(row)
      } done: { _ in
      }
      input = .floats(image)
    }
    let memory = OwnedElements<Float>(repeating: 0, count: width * 4)
    let line = memory.elements
    return try Bitmap.writing(width: width, height: height, alpha: source.alpha, colorSpace: source.colorSpace) {
      (pixels) throws(ImageError) in
      try run(last, on: input, layout) { _ in
        line
      } done: { row in
        finish(line, row, source, layout, result, into: pixels)
      }
    }
  }

  /// Makes a row of the result from one of blurred, premultiplied pixels.
  private func finish(
    _ line: MutableElements<Float>,
    _ row: Int,
    _ source: Bitmap,
    _ layout: PixelLayout,
    _ result: Result,
    into pixels: MutableElements<UInt8>,
  ) {
    let target = pixels.rows(from: row, count: 1, width: width)
    switch result {
    case .blurred: PixelKernels.round(line, into: target, layout: layout)
    case .sharpened(let amount, let threshold):
      source.withElements { target.update(from: $0.rows(from: row, count: 1, width: width)) }
      PixelKernels.sharpen(target, line, amount: amount, threshold: threshold, layout: layout)
    }
  }

  private static func entry(_ weights: [FilterWeights], _ index: Int) -> FilterWeights? {
    index < weights.count ? weights[index] : nil
  }

  private struct Pass {
    let x: FilterWeights?
    let y: FilterWeights?
    /// True if rows are filtered before columns, which is less work if that enlarges.
    let acrossFirst: Bool
  }

  /// Makes the rows of a pass, each into the memory that `target` returns for it.
  private func run(
    _ pass: Pass,
    on input: BlurInput,
    _ layout: PixelLayout,
    target: (Int) -> MutableElements<Float>,
    done: (Int) -> Void,
  ) throws(ImageError) {
    let across = pass.acrossFirst ? pass.x : nil
    let afterwards = pass.acrossFirst ? nil : pass.x
    let (count, height) = (pass.x?.starts.count ?? input.width, pass.y?.starts.count ?? input.height)
    let isInPlace = input.image(width: count, height: height) != nil
    let rows = BlurRows(input, across: across, y: pass.y, copies: isInPlace, layout, kernels)
    let memory = OwnedElements<Float>(repeating: 0, count: afterwards == nil ? 0 : input.width * 4)
    let line = memory.elements
    for row in 0..<height {
      try context.checkCancellation()
      let output = target(row)
      rows.combine(row, into: afterwards == nil ? output : line)
      if let afterwards { kernels.filterAcross(line.elements, weights: afterwards, into: output) }
      done(row)
    }
  }
}

/// The pixels of a pass: premultiplied floats of 0 to 255, except at first.
enum BlurInput {
  case bitmap(Bitmap)
  case floats(FloatImage)

  var width: Int {
    switch self {
    case .bitmap(let bitmap): bitmap.width
    case .floats(let image): image.width
    }
  }

  var height: Int {
    switch self {
    case .bitmap(let bitmap): bitmap.height
    case .floats(let image): image.height
    }
  }

  /// Returns the image itself, if it is one of floats of that size.
  func image(width: Int, height: Int) -> FloatImage? {
    guard case .floats(let image) = self, image.width == width, image.height == height else { return nil }
    return image
  }
}

/// Pixels in floats, written once by one thread.
final class FloatImage {
  let width: Int
  let height: Int
  private let memory: OwnedElements<Float>

  init(width: Int, height: Int) {
    (self.width, self.height) = (width, height)
    memory = OwnedElements(repeating: 0, count: width * height * 4)
  }

  /// Returns the memory of a row, of `4 * width` elements.
  func row(_ index: Int) -> MutableElements<Float> {
    memory.elements.extracting(index * width * 4..<(index + 1) * width * 4)
  }
}

/// The rows of a pass, filtered along columns.
private final class BlurRows {
  private let input: BlurInput
  private let across: FilterWeights?
  private let y: FilterWeights?
  private let layout: PixelLayout
  private let kernels: PixelKernels
  /// The rows that had to be converted or filtered before; `nil` if the input's rows are used.
  private let ring: RowRing<Float>?
  /// The rows of the input that are added.
  private let bytes: RowTable<UInt8>
  private let floats: RowTable<Float>
  private var nextRow = 0
  private static let unit: ArraySlice<Float> = [1]

  /// With `copies`, rows of the input may be replaced once the same rows have been made.
  init(
    _ input: BlurInput,
    across: FilterWeights?,
    y: FilterWeights?,
    copies: Bool,
    _ layout: PixelLayout,
    _ kernels: PixelKernels,
  ) {
    (self.input, self.across, self.y, self.layout, self.kernels) = (input, across, y, layout, kernels)
    let rowLength = (across?.starts.count ?? input.width) * 4
    (bytes, floats) = (RowTable(rowLength: rowLength), RowTable(rowLength: rowLength))
    var isDirect = across == nil && !copies
    // Bytes are added as they are where that is fast and coverage does not matter.
    if case .bitmap = input { isDirect = isDirect && kernels.prefersBytes && layout == .color }
    ring = isDirect ? nil : RowRing(capacity: y?.mostTaps ?? 1, count: rowLength)
  }

  /// Makes a row of the output.
  func combine(_ row: Int, into output: MutableElements<Float>) {
    let (first, weights) = (y?.starts[row] ?? row, y?[row] ?? Self.unit)
    let rows = first..<first + weights.count
    guard let ring else { return combine(rows, weights, into: output) }
    while nextRow < rows.upperBound {
      // Rows that no output row needs are skipped.
      if nextRow >= first { fill(ring.row(nextRow), from: nextRow) }
      nextRow += 1
    }
    kernels.combine(ring.rows(from: first, count: weights.count), weights: weights, into: output)
  }

  /// Adds the input's own rows.
  private func combine(_ rows: Range<Int>, _ weights: ArraySlice<Float>, into output: MutableElements<Float>) {
    switch input {
    case .bitmap(let bitmap):
      bitmap.withElements { pixels in
        bytes.fill(rows) { pixels.rows(from: $0, count: 1, width: bitmap.width) }
        kernels.combine(bytes, weights: weights, into: output)
      }
    case .floats(let image):
      floats.fill(rows) { image.row($0).elements }
      kernels.combine(floats, weights: weights, into: output)
    }
  }

  /// Converts or filters a row of the input.
  private func fill(_ target: MutableElements<Float>, from row: Int) {
    switch input {
    case .bitmap(let bitmap):
      bitmap.withElements { pixels in
        let line = pixels.rows(from: row, count: 1, width: bitmap.width)
        if layout == .colorAndAlpha {
          PixelKernels.premultiply(line, into: target)
        } else {
          PixelKernels.widen(line, into: target)
        }
      }
    case .floats(let image):
      let line = image.row(row).elements
      guard let across else { return target.update(from: line) }
      kernels.filterAcross(line, weights: across, into: target)
    }
  }
}
