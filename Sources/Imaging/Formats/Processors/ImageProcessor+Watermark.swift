/// The place, the pattern and the size of a watermark on a result, as imgproxy documents them.
struct WatermarkLayout: Sendable, Hashable {
  /// The number of times that the picture is shown.
  enum Pattern: Sendable, Hashable {
    /// At a place, from which distances are counted.
    case once(Gravity.Place)
    /// In rows and columns from the centre, with distances between.
    case tiles
    /// Like ``tiles``, without every other one.
    case chessboard

    /// The names of patterns that repeat the picture.
    static let names = ["re", "ch"]

    /// Finds the pattern with imgproxy's name.
    init?(name: String) {
      switch name {
      case "re": self = .tiles
      case "ch": self = .chessboard
      default: return nil
      }
    }

    fileprivate var name: String {
      switch self {
      case .once(let place): place.rawValue
      case .tiles: "re"
      case .chessboard: "ch"
      }
    }
  }

  let pattern: Pattern
  /// The distances; below 1 they are fractions of the result's sides.
  let (x, y): (Double, Double)
  /// The part of the result's sides into which the picture is fitted; 0 for its own size.
  let scale: Double
  /// The factor of distances of 1 and more.
  let ratio: Double

  init(_ pattern: Pattern, x: Double = 0, y: Double = 0, scale: Double = 0, ratio: Double = 1) {
    (self.pattern, self.x, self.y, self.scale, self.ratio) = (pattern, x, y, scale, ratio)
  }

  /// A text that equal layouts have in common.
  fileprivate var text: String {
    ([pattern.name] + [x, y, scale, ratio].map(DecimalText.of)).joined(separator: " ")
  }
}

extension ImageProcessor {
  /// Lays a watermark over the image.
  ///
  /// The part outside the image is cut off; of a picture at a place at least a pixel remains. Complexity of a pattern:
  /// O(pixels of the image), however small the picture is.
  static func watermark(_ mark: Bitmap, _ layout: WatermarkLayout, opacity: Double) -> ImageProcessor {
    let size = "\(mark.width)x\(mark.height)"
    let names = ["\(size) \(mark.contentHash)", layout.text, "opacity \(StepName.number(opacity))"]
    return ImageProcessor("watermark", names) { (bitmap, context) throws(ImageError) in
      let whole = (width: Double(bitmap.width), height: Double(bitmap.height))
      let mark = try mark.scaled(layout.scale, of: whole, context).straightened().converted(to: bitmap.colorSpace)
      guard case .once(let place) = layout.pattern else {
        return try bitmap.covered(byTiles: mark, layout, opacity: opacity, context)
      }
      let own = (width: Double(mark.width), height: Double(mark.height))
      let origin = Gravity.place(place, x: layout.x, y: layout.y)
        .origin(of: own, in: whole, ratio: layout.ratio, overflows: true)
      return try bitmap.covered(by: mark, x: Int(origin.x), y: Int(origin.y), opacity: opacity, context)
    }
  }
}

extension Bitmap {
  /// Returns the bitmap as large as a part of an image allows.
  fileprivate func scaled(
    _ scale: Double,
    of whole: (width: Double, height: Double),
    _ context: ProcessingContext,
  ) throws(ImageError) -> Bitmap {
    guard scale > 0 else { return self }
    let box = (width: max(1, Gravity.even(whole.width * scale)), height: max(1, Gravity.even(whole.height * scale)))
    let factor = min(box.width / Double(width), box.height / Double(height))
    try context.check(width: (Double(width) * factor).rounded(), height: (Double(height) * factor).rounded())
    return try resized(
      to: .pixels(box.width, box.height, enlarges: true),
      limits: context.limits,
      isCancelled: context.isCancelled,
    )
  }

  /// Returns the bitmap with another one over it, again and again, of the same colour space and with straight or no alpha.
  fileprivate func covered(
    byTiles mark: Bitmap,
    _ layout: WatermarkLayout,
    opacity: Double,
    _ context: ProcessingContext,
  ) throws(ImageError) -> Bitmap {
    let columns = Tiling(mark.width, gap: Gravity.distance(layout.x, Double(width), layout.ratio), on: width)
    let rows = Tiling(mark.height, gap: Gravity.distance(layout.y, Double(height), layout.ratio), on: height)
    let skips = layout.pattern == .chessboard
    return try self.rows(context) { (y, old, row) throws(ImageError) in
      row.update(from: old)
      guard let tile = rows.tile(at: y) else { return }
      mark.withElements { cover in
        for x in 0..<width {
          guard let column = columns.tile(at: x), !skips || (tile.index + column.index) % 2 == 0 else { continue }
          // A tile's offsets are below the sides of the watermark.
          var pixel = SIMD4<Float>(cover.four(at: tile.offset &* mark.bytesPerRow &+ column.offset &* 4))
          pixel.w *= Float(opacity)
          row.store(PixelMath.bytes(PixelMath.over(pixel, SIMD4<Float>(row.four(at: x &* 4)))), at: x &* 4)
        }
      }
    }
  }
}

/// Copies of a picture side by side along one axis, the middle one in the middle of the whole.
private struct Tiling {
  private let side: Int
  private let period: Int
  /// The position of the middle picture.
  private let start: Int

  init(_ side: Int, gap: Double, on whole: Int) {
    // A gap wider than the image leaves one picture.
    let gap = Int(min(max(0, gap), Double(whole)))
    (self.side, period) = (side, side + gap)
    let count = (whole + period - 1) / period
    let middle = count / 2
    let odd = middle * 2 + 1
    start = middle * period - (odd * period - whole) / 2 + gap / 2
  }

  /// Returns the picture that covers a position, from the middle one, and the position within it; `nil` for a gap.
  func tile(at position: Int) -> (index: Int, offset: Int)? {
    let distance = position - start
    let index = distance >= 0 ? distance / period : (distance + 1) / period - 1
    let offset = distance - index * period
    return offset < side ? (index, offset) : nil
  }
}
