import VitrineRuntime

extension ImageProcessor {
  /// The measure of how much a part of an image shows.
  public enum Interest: String, Hashable, Sendable, CaseIterable {
    /// The strength of edges: prefers what is sharp and detailed.
    case edges
    /// The entropy of the gray levels: prefers what is varied.
    case entropy
  }
}

extension Bitmap {
  /// The longer side at which an image is searched.
  private static let searchedSide = 96

  /// Returns the part of at most `width` x `height` pixels that shows the most.
  ///
  /// Of equal parts, the one closest to the centre is taken.
  func part(
    width: Int,
    height: Int,
    _ interest: ImageProcessor.Interest,
    _ context: ProcessingContext,
  ) throws(ImageError) -> PixelRegion {
    let (width, height) = (min(width, self.width), min(height, self.height))
    guard width > 0, height > 0, width < self.width || height < self.height else {
      // The whole, or an empty part, which is rejected where it is cropped.
      return PixelRegion(x: 0, y: 0, width: width, height: height)
    }
    let small = try resized(
      to: .pixels(Double(Self.searchedSide)),
      filter: .box,
      limits: context.limits,
      isCancelled: context.isCancelled,
    )
    let map = InterestMap(GrayBitmap(small, over: 128))
    let (scaleX, scaleY) = (Double(small.width) / Double(self.width), Double(small.height) / Double(self.height))
    let part = (width: Self.cells(width, scaleX, small.width), height: Self.cells(height, scaleY, small.height))
    let best = try map.best(part, interest, context)
    // The share of the rest, so that both ends are reached exactly.
    func start(_ cell: Int, _ cells: Int, _ pixels: Int) -> Int {
      cells > 0 ? Int((Double(cell) / Double(cells) * Double(pixels)).rounded()) : pixels / 2
    }
    return PixelRegion(
      x: start(best.x, small.width - part.width, self.width - width),
      y: start(best.y, small.height - part.height, self.height - height),
      width: width,
      height: height,
    )
  }

  private static func cells(_ length: Int, _ scale: Double, _ limit: Int) -> Int {
    min(limit, max(1, Int((Double(length) * scale).rounded())))
  }
}

/// The gray levels of a small image, and the sums of its edges.
private struct InterestMap {
  let width: Int
  let height: Int
  private var levels: [UInt8] = []
  /// The sum of the edges above and to the left of each corner of a cell.
  private var sums: [Int]

  init(_ gray: GrayBitmap) {
    (width, height) = (gray.width, gray.height)
    for y in 0..<height { for x in 0..<width { levels.append(gray[x, y]) } }
    sums = [Int](repeating: 0, count: (width + 1) * (height + 1))
    for y in 0..<height {
      var row = 0
      for x in 0..<width {
        let right = level(min(x + 1, width - 1), y) - level(max(x - 1, 0), y)
        let down = level(x, min(y + 1, height - 1)) - level(x, max(y - 1, 0))
        row += abs(right) + abs(down)
        sums[(y + 1) * (width + 1) + x + 1] = sums[y * (width + 1) + x + 1] + row
      }
    }
  }

  private func level(_ x: Int, _ y: Int) -> Int { Int(levels[y * width + x]) }

  /// Returns the start of the part that shows the most.
  func best(
    _ part: (width: Int, height: Int),
    _ interest: ImageProcessor.Interest,
    _ context: ProcessingContext,
  ) throws(ImageError) -> (x: Int, y: Int) {
    let (lastX, lastY) = (width - part.width, height - part.height)
    var best = (x: lastX / 2, y: lastY / 2)
    var most = -1.0
    var nearest = Int.max
    // A twelfth of the way at a time where every start would take too long.
    let (stepX, stepY) = interest == .edges ? (1, 1) : (max(1, lastX / 12), max(1, lastY / 12))
    for y in Set(stride(from: 0, through: lastY, by: stepY)).union([lastY]).sorted() {
      try context.checkCancellation()
      for x in Set(stride(from: 0, through: lastX, by: stepX)).union([lastX]).sorted() {
        let amount = interest == .edges ? edges(x, y, part) : entropy(x, y, part)
        let distance = (2 * x - lastX) * (2 * x - lastX) + (2 * y - lastY) * (2 * y - lastY)
        guard amount > most || amount == most && distance < nearest else { continue }
        (best, most, nearest) = ((x, y), amount, distance)
      }
    }
    return best
  }

  private func edges(_ x: Int, _ y: Int, _ part: (width: Int, height: Int)) -> Double {
    let (top, bottom) = (y * (width + 1), (y + part.height) * (width + 1))
    return Double(sums[bottom + x + part.width] - sums[bottom + x] - sums[top + x + part.width] + sums[top + x])
  }

  /// Shannon's entropy of 64 classes of levels.
  private func entropy(_ x: Int, _ y: Int, _ part: (width: Int, height: Int)) -> Double {
    var counts = [Int](repeating: 0, count: 64)
    for row in y..<y + part.height {
      for column in x..<x + part.width { counts[level(column, row) >> 2] += 1 }
    }
    let total = Double(part.width * part.height)
    return counts.reduce(0) { sum, count in
      guard count > 0 else { return sum }
      let share = Double(count) / total
      return sum - share * log2(share)
    }
  }
}
