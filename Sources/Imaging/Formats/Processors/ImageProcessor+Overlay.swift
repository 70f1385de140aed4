import VitrineRuntime

// Another image on top.
extension ImageProcessor {
  /// The way in which the colours of an overlay and of the image below mix.
  ///
  /// The formulas are from W3C's "Compositing and Blending Level 1".
  public enum BlendMode: String, Hashable, Sendable, CaseIterable {
    /// The overlay's colours.
    case normal
    /// The product of both, which is darker.
    case multiply
    /// The inverse of the product of the inverses, which is lighter.
    case screen
  }

  /// Lays another image over this one, for example a watermark.
  ///
  /// ```swift
  /// .overlay(logo, at: .bottomRight, offset: (x: -16, y: -16), width: .fraction(0.2), opacity: 0.5)
  /// ```
  /// The part of the overlay outside the image is cut off. The identifier has a hash of the overlay's pixels, so make the processor
  /// once for many images. Complexity of making it: O(pixels of the overlay).
  ///
  /// - Parameters:
  ///   - overlay: The image on top. It is converted to the colour space of the one below.
  ///   - mode: The way in which colours mix. Defaults to `normal`.
  ///   - anchor: The place: the part of the free space to the left of the overlay, and above. Defaults to the centre.
  ///   - offset: The distance from there, to the right and down. Fractions are of the lower image's width and
  ///     height. Defaults to none.
  ///   - width: The width to which the overlay is resized, keeping its aspect ratio; a fraction is one of the lower
  ///     image's width. Defaults to `nil`: its own size.
  ///   - opacity: The opacity, from 0 to 1. Defaults to 1; 0 changes nothing.
  /// - Returns: The processor.
  public static func overlay(
    _ overlay: Bitmap,
    _ mode: BlendMode = .normal,
    at anchor: Anchor = .center,
    offset: (x: Length, y: Length) = (.zero, .zero),
    width: Length? = nil,
    opacity: Double = 1,
  ) -> ImageProcessor {
    let (offsetX, offsetY) = offset
    let isMoved = offsetX != .zero || offsetY != .zero
    return ImageProcessor(
      "overlay",
      ["\(overlay.width)x\(overlay.height) \(overlay.contentHash)"] + (mode == .normal ? [] : [mode.rawValue])
        + (anchor == .center ? [] : [StepName.anchor(anchor)]) + (isMoved ? ["by \(offsetX) \(offsetY)"] : [])
        + (width.map { ["width \($0)"] } ?? []) + (opacity == 1 ? [] : ["opacity \(StepName.number(opacity))"]),
      lengths: [offsetX, offsetY] + (width.map { [$0] } ?? []),
    ) { bitmap, context throws(ImageError) in
      try context.check(opacity, "opacity", in: 0...1)
      let x = try context.pixels(offsetX, of: bitmap.width, "offset", in: -1e9...1e9)
      let y = try context.pixels(offsetY, of: bitmap.height, "offset", in: -1e9...1e9)
      let top = try overlay.fitted(width, on: bitmap, context)
      let left = (Double(bitmap.width - top.width) * anchor.x + x).rounded()
      let upper = (Double(bitmap.height - top.height) * anchor.y + y).rounded()
      return try bitmap.covered(by: top, mode, x: Int(left), y: Int(upper), opacity: opacity, context)
    }
  }
}

extension Bitmap {
  /// A hash of all that a picture looks like, without known collisions.
  var contentHash: String {
    let shown = straightened()
    // As many bytes as the bitmap has.
    let digest = unsafe shown.withUnsafeBytes { unsafe SHA256.hash($0) }
    // The bytes mean something else with another alpha or colour space.
    let suffix = (alpha == .opaque ? " opaque" : "") + (colorSpace == .sRGB ? "" : " \(colorSpace.rawValue)")
    return digest.prefix(16).hexDigits + suffix
  }

  /// Returns the overlay at its width and in the colours of the image below.
  fileprivate func fitted(_ width: Length?, on base: Bitmap, _ context: ProcessingContext) throws(ImageError) -> Bitmap
  {
    guard let width else { return straightened().converted(to: base.colorSpace) }
    let side = try context.pixels(width, of: base.width, "width", in: .leastNonzeroMagnitude...1e9)
    let scale = side / Double(self.width)
    try context.check(width: side.rounded(.up), height: (Double(height) * scale).rounded(.up))
    return try resized(
      to: .pixels(width: side, enlarges: true),
      limits: context.limits,
      isCancelled: context.isCancelled,
    ).straightened().converted(to: base.colorSpace)
  }

  /// Returns the bitmap with another one over it, whose first pixel is at `x`, `y`.
  ///
  /// `top` has the same colour space, and straight or no alpha.
  package func covered(
    by top: Bitmap,
    _ mode: ImageProcessor.BlendMode = .normal,
    x: Int,
    y: Int,
    opacity: Double = 1,
    _ context: ProcessingContext,
  ) throws(ImageError) -> Bitmap {
    guard let cover = Cover(top, mode, x: x, y: y, opacity, over: self) else { return self }
    return try self.rows(context) { y, old, row in
      row.update(from: old)
      cover.draw(y, on: row, isPremultiplied: false)
    }
  }

  /// Draws another bitmap over this one, in place, with its first pixel at a point.
  ///
  /// The part of it outside this bitmap is cut off. Colours mix as Porter and Duff's "source over" says, and the other
  /// bitmap is converted to this one's colour space. This bitmap keeps its kind of alpha, and its memory if it shares it
  /// with no other. Blocks until done. Complexity: O(pixels of the other bitmap).
  ///
  /// - Parameters:
  ///   - top: The bitmap on top, with any kind of alpha.
  ///   - point: The distance of its first pixel from this bitmap's, in pixels to the right and down; may be negative.
  ///   - opacity: The opacity, from 0 to 1. Others are clamped, and an undefined one becomes 1. Defaults to 1.
  public mutating func draw(_ top: Bitmap, at point: (x: Int, y: Int), opacity: Double = 1) {
    let top = top.straightened().converted(to: colorSpace)
    let opacity = opacity.isNaN ? 1 : min(max(opacity, 0), 1)
    guard let cover = Cover(top, .normal, x: point.x, y: point.y, opacity, over: self) else { return }
    let (width, isPremultiplied) = (width, alpha == .premultiplied)
    withElementsForWriting { pixels in
      for y in cover.rows {
        cover.draw(y, on: pixels.rows(from: y, count: 1, width: width), isPremultiplied: isPremultiplied)
      }
    }
  }
}

/// A bitmap with straight or no alpha at its place over another one of the same colour space.
private struct Cover {
  private let top: Bitmap
  private let mode: ImageProcessor.BlendMode
  private let (left, upper): (Int, Int)
  private let opacity: Float
  private let columns: Range<Int>
  /// The rows of the bitmap below that are covered.
  let rows: Range<Int>

  /// Makes a cover; `nil` if it changes nothing.
  init?(
    _ top: Bitmap,
    _ mode: ImageProcessor.BlendMode,
    x left: Int,
    y upper: Int,
    _ opacity: Double,
    over below: Bitmap,
  ) {
    func overlap(_ start: Int, _ length: Int, _ side: Int) -> Range<Int>? {
      let (first, end) = (max(0, start), min(side, start.addingSaturating(length)))
      return first < end ? first..<end : nil
    }
    guard opacity > 0, let columns = overlap(left, top.width, below.width),
      let rows = overlap(upper, top.height, below.height)
    else { return nil }
    (self.top, self.mode, self.left, self.upper, self.opacity) = (top, mode, left, upper, Float(opacity))
    (self.columns, self.rows) = (columns, rows)
  }

  /// Draws on row `y` of the bitmap below.
  func draw(_ y: Int, on row: MutableElements<UInt8>, isPremultiplied: Bool) {
    guard rows.contains(y) else { return }
    top.withElements { cover in
      let start = (y &- upper) &* top.bytesPerRow &- left &* 4
      for x in columns {
        // `columns` and `rows` are those where both images have pixels.
        var pixel = SIMD4<Float>(cover.four(at: start &+ x &* 4))
        pixel.w *= opacity
        var below = SIMD4<Float>(row.four(at: x &* 4))
        guard isPremultiplied else {
          row.store(PixelMath.bytes(mode.mixed(pixel, below)), at: x &* 4)
          continue
        }
        let alpha = below.w
        below = alpha > 0 ? below * (255 / alpha) : SIMD4()
        below.w = alpha
        var mixed = mode.mixed(pixel, below)
        let coverage = mixed.w
        mixed *= coverage / 255
        mixed.w = coverage
        row.store(PixelMath.bytes(mixed), at: x &* 4)
      }
    }
  }
}

extension ImageProcessor.BlendMode {
  /// Mixes two pixels with straight alpha from 0 to 255.
  @inline(__always)
  fileprivate func mixed(_ top: SIMD4<Float>, _ below: SIMD4<Float>) -> SIMD4<Float> {
    var color: SIMD4<Float>
    switch self {
    case .normal: return PixelMath.over(top, below)
    case .multiply: color = top * below / 255
    case .screen: color = top + below - top * below / 255
    }
    // Only what covers something mixes with it.
    color = top + (color - top) * (below.w / 255)
    color.w = top.w
    return PixelMath.over(color, below)
  }
}
