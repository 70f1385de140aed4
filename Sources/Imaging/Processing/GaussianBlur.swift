/// Blurs a bitmap with a Gaussian, and may sharpen it by what that takes away.
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
    let line = FloatRow(count: width * 4)
    return try unsafe Bitmap(width: width, height: height, alpha: source.alpha, colorSpace: source.colorSpace) {
      (pixels) throws(ImageError) in
      try unsafe blur.run(on: source, layout, kernels, context) { row, numbers in
        if case .blurred = result, layout == .color {
          // One row; the slice checks the bounds.
          guard let start = unsafe pixels.rows(from: row, count: 1, width: width).baseAddress else { return }
          unsafe PixelKernels.round(numbers, into: start, count: width)
        } else {
          unsafe PixelKernels.widen(numbers, into: line.pointer, count: width)
          unsafe finish(line, row, source, layout, result, into: pixels)
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
      // A row of the image has room for as many pixels as the pass makes.
      try unsafe run(pass, on: input, layout) { row in
        unsafe image.row(row)
      } done: { _ in
      }
      input = .floats(image)
    }
    let line = FloatRow(count: width * 4)
    return try unsafe Bitmap(width: width, height: height, alpha: source.alpha, colorSpace: source.colorSpace) {
      (pixels) throws(ImageError) in
      try unsafe run(last, on: input, layout) { _ in
        unsafe line.pointer
      } done: { row in
        unsafe finish(line, row, source, layout, result, into: pixels)
      }
    }
  }

  /// Makes a row of the result from one of blurred, premultiplied pixels.
  private func finish(
    _ line: FloatRow,
    _ row: Int,
    _ source: Bitmap,
    _ layout: PixelLayout,
    _ result: Result,
    into pixels: UnsafeMutableRawBufferPointer,
  ) {
    // One row each; the slices check the bounds.
    guard let start = unsafe pixels.rows(from: row, count: 1, width: width).baseAddress else { return }
    switch result {
    case .blurred: unsafe PixelKernels.round(line.pointer, into: start, count: width, layout: layout)
    case .sharpened(let amount, let threshold):
      unsafe source.withUnsafeBytes { bytes in
        let old = unsafe UnsafeRawBufferPointer(rebasing: bytes[row * width * 4..<(row + 1) * width * 4])
        unsafe PixelKernels.sharpen(
          old,
          line.pointer,
          amount: amount,
          threshold: threshold,
          into: start,
          count: width,
          layout: layout,
        )
      }
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
    target: (Int) -> UnsafeMutablePointer<Float>,
    done: (Int) -> Void,
  ) throws(ImageError) {
    let across = pass.acrossFirst ? pass.x : nil
    let afterwards = pass.acrossFirst ? nil : pass.x
    let (count, height) = (pass.x?.starts.count ?? input.width, pass.y?.starts.count ?? input.height)
    let isInPlace = input.image(width: count, height: height) != nil
    let rows = BlurRows(input, across: across, y: pass.y, copies: isInPlace, layout, kernels)
    let line = FloatRow(count: afterwards == nil ? 0 : input.width * 4)
    for row in 0..<height {
      try context.checkCancellation()
      let output = unsafe target(row)
      if let afterwards {
        // The line is as long as a row of the input, for which the weights were made.
        unsafe rows.combine(row, into: line.pointer)
        unsafe kernels.filterAcross(line.pointer, weights: afterwards, into: output, count: count)
      } else {
        unsafe rows.combine(row, into: output)
      }
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
@safe
final class FloatImage {
  let width: Int
  let height: Int
  private let memory: FloatRow

  init(width: Int, height: Int) {
    (self.width, self.height) = (width, height)
    memory = FloatRow(count: width * height * 4)
  }

  /// Returns the memory of a row, of `4 * width` elements.
  func row(_ index: Int) -> UnsafeMutablePointer<Float> {
    precondition((0..<height).contains(index))
    // In bounds by the line above.
    return unsafe memory.pointer + index * width * 4
  }
}

/// The rows of a pass, filtered along columns.
@safe
private final class BlurRows {
  private let input: BlurInput
  private let across: FilterWeights?
  private let y: FilterWeights?
  private let layout: PixelLayout
  private let kernels: PixelKernels
  /// The rows that had to be converted or filtered before; `nil` if those of the input are used.
  private let ring: RowRing?
  private let element: PixelKernels.Element
  private let rowLength: Int
  private var nextRow = 0
  // The addresses of the rows to be added, which outlive every use: the rows belong to `input`.
  private var table: [UnsafeRawPointer?]
  private static let unit: [Float] = [1]

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
    rowLength = (across?.starts.count ?? input.width) * 4
    let taps = y?.mostTaps ?? 1
    unsafe table = [UnsafeRawPointer?](repeating: nil, count: taps)
    var isDirect = across == nil && !copies
    var element = PixelKernels.Element.float
    if case .bitmap = input {
      // Bytes are added as they are where that is fast and coverage does not matter.
      isDirect = isDirect && kernels.prefersBytes && layout == .color
      if isDirect { element = .byte }
    }
    self.element = element
    ring = isDirect ? nil : RowRing(capacity: taps, count: rowLength, element: .float)
  }

  /// Makes a row of the output.
  func combine(_ row: Int, into output: UnsafeMutablePointer<Float>) {
    let first = y?.starts[row] ?? row
    let taps = y?.counts[row] ?? 1
    guard let ring else {
      return unsafe withRows(from: first, taps) { rows in unsafe add(rows, row, taps, into: output) }
    }
    while nextRow < first + taps {
      // Rows that no output row needs are skipped.
      if nextRow >= first { unsafe fill(ring.row(nextRow).assumingMemoryBound(to: Float.self), from: nextRow) }
      nextRow += 1
    }
    unsafe add(ring.rows(from: first, count: taps), row, taps, into: output)
  }

  private func add(
    _ rows: UnsafeMutablePointer<UnsafeRawPointer?>,
    _ row: Int,
    _ taps: Int,
    into output: UnsafeMutablePointer<Float>,
  ) {
    // There are `stride` weights for each row; every row has `rowLength` elements.
    let weights = y?.weights ?? Self.unit
    unsafe weights.withUnsafeBufferPointer { weights in
      guard let start = weights.baseAddress else { return }
      unsafe kernels.combine(
        rows,
        of: element,
        weights: start + row * (y?.stride ?? 0),
        taps: taps,
        into: output,
        count: rowLength,
      )
    }
  }

  /// Calls `body` with the addresses of the input's own rows.
  private func withRows(from first: Int, _ count: Int, _ body: (UnsafeMutablePointer<UnsafeRawPointer?>) -> Void) {
    switch input {
    case .bitmap(let bitmap):
      unsafe bitmap.withUnsafeBytes { bytes in
        guard let start = bytes.baseAddress else { return }
        // Weights are made for the rows that there are.
        for index in 0..<count { unsafe table[index] = start + (first + index) * bitmap.bytesPerRow }
        unsafe table.withUnsafeMutableBufferPointer { table in
          if let rows = table.baseAddress { unsafe body(rows) }
        }
      }
    case .floats(let image):
      for index in 0..<count { unsafe table[index] = UnsafeRawPointer(image.row(first + index)) }
      unsafe table.withUnsafeMutableBufferPointer { table in
        if let rows = table.baseAddress { unsafe body(rows) }
      }
    }
  }

  /// Converts or filters a row of the input.
  private func fill(_ target: UnsafeMutablePointer<Float>, from row: Int) {
    switch input {
    case .bitmap(let bitmap):
      unsafe bitmap.withUnsafeBytes { bytes in
        let start = row * bitmap.bytesPerRow
        // The slice checks the bounds; a row of the ring has as many elements.
        let pixels = unsafe UnsafeRawBufferPointer(rebasing: bytes[start..<start + bitmap.width * 4])
        if layout == .colorAndAlpha {
          unsafe PixelKernels.premultiply(pixels, into: target, count: bitmap.width)
        } else {
          unsafe PixelKernels.widen(pixels, into: target, count: bitmap.width)
        }
      }
    case .floats(let image):
      guard let across else { return unsafe target.update(from: image.row(row), count: rowLength) }
      unsafe kernels.filterAcross(image.row(row), weights: across, into: target, count: across.starts.count)
    }
  }
}
