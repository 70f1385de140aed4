import VitrineRuntime

// Flipping and rotating.
extension ImageProcessor {
  /// The direction of a flip.
  public enum FlipAxis: String, Hashable, Sendable, CaseIterable {
    /// Left and right change places.
    case horizontal
    /// Top and bottom change places.
    case vertical
  }

  /// Mirrors the image.
  public static func flip(_ axis: FlipAxis) -> ImageProcessor {
    turning("flip", [axis.rawValue], axis == .horizontal ? .upMirrored : .downMirrored)
  }

  /// Rotates the image clockwise by an angle.
  ///
  /// Multiples of 90 degrees only move pixels. For other angles the result is as large as the rotated image's bounding
  /// box, and pixels are interpolated with a cubic of two pixels to each side (Catmull and Rom).
  ///
  /// - Parameters:
  ///   - degrees: The angle in degrees, clockwise. Angles that differ by 360 are equal.
  ///   - background: The colour of the corners. Defaults to ``PixelColor/clear``; with an opaque one, an opaque image
  ///     stays opaque.
  /// - Returns: The processor.
  public static func rotate(degrees: Double, background: PixelColor = .clear) -> ImageProcessor {
    let rest = degrees.remainder(dividingBy: 360)
    let angle = rest < 0 ? rest + 360 : rest
    // A tiny negative angle is rounded to a whole turn.
    let degrees = angle == 360 ? 0 : angle
    let name = [StepName.number(degrees)]
    // Nothing shows behind quarter turns.
    let turns: [Double: Orientation] = [0: .up, 90: .right, 180: .down, 270: .left]
    guard let turn = turns[degrees] else {
      return ImageProcessor("rotate", name + (background == .clear ? [] : ["\(background)"])) {
        (bitmap, context) throws(ImageError) in
        try bitmap.rotated(degrees, background, context)
      }
    }
    return turning("rotate", name, turn)
  }

  /// Rotates the image clockwise by quarter turns; negative numbers turn it back.
  public static func rotate(quarterTurns: Int) -> ImageProcessor {
    rotate(degrees: Double((quarterTurns % 4 + 4) % 4 * 90))
  }
}

extension ImageProcessor {
  /// Turns an upright image back to the orientation in which its metadata says that it is stored.
  static let storedOrientation = container("container(stored orientation)") { (image, context) throws(ImageError) in
    // Some external formats, such as AVIF, describe the upright image: the orientation is a part of the coding.
    guard ![.avif, .heic, .jxl].contains(image.info.format) else { return image }
    let steps: [ImageProcessor] =
      switch image.info.orientation {
      case .up: []
      case .upMirrored: [.flip(.horizontal)]
      case .down: [.rotate(quarterTurns: 2)]
      case .downMirrored: [.flip(.vertical)]
      case .leftMirrored: [.rotate(quarterTurns: 1), .flip(.horizontal)]
      case .right: [.rotate(quarterTurns: 3)]
      case .rightMirrored: [.rotate(quarterTurns: 3), .flip(.horizontal)]
      case .left: [.rotate(quarterTurns: 1)]
      }
    var result = image
    for step in steps { result = try step.process(result, context) }
    return result
  }
}

extension Bitmap {
  /// Returns the upright bitmap, given the orientation in which this one is stored.
  func turned(_ orientation: Orientation, _ context: ProcessingContext) throws(ImageError) -> Bitmap {
    guard orientation != .up else { return self }
    let source = straightened()
    let (newWidth, newHeight) = orientation.applied(width: width, height: height)
    let alpha = source.alpha
    return try source.withElements { (pixels) throws(ImageError) in
      try Bitmap.rows(width: newWidth, height: newHeight, alpha: alpha, colorSpace: colorSpace, context) { y, row in
        // The first pixel of a row, and the step to the next.
        let (first, step) =
          switch orientation {
          case .up: (y * width, 1)
          case .upMirrored: (y * width + width - 1, -1)
          case .downMirrored: ((height - 1 - y) * width, 1)
          case .leftMirrored: (y, width)
          case .rightMirrored: ((height - 1) * width + width - 1 - y, -width)
          case .down: ((height - 1 - y) * width + width - 1, -1)
          case .right: ((height - 1) * width + y, -width)
          case .left: (width - 1 - y, width)
          }
        row.update(of: pixels, from: first, step: step, as: UInt32.self)
      }
    }
  }

  /// Rotates by an angle between quarter turns.
  fileprivate func rotated(
    _ degrees: Double,
    _ background: PixelColor,
    _ context: ProcessingContext,
  ) throws(ImageError) -> Bitmap {
    guard degrees.isFinite else { throw ImageError(.processingFailed, "the angle, \(degrees), is not finite") }
    let (sine, cosine) = (sin(degrees * .pi / 180), cos(degrees * .pi / 180))
    let (w, h) = (Double(width), Double(height))
    // Sides that are whole but for rounding stay what they are.
    let newWidth = (abs(w * cosine) + abs(h * sine) - 1e-6).rounded(.up)
    let newHeight = (abs(w * sine) + abs(h * cosine) - 1e-6).rounded(.up)
    try context.check(width: newWidth, height: newHeight)
    let source = straightened()
    let backdrop = SIMD4<Float>(background.pixel(in: colorSpace))
    let staysOpaque = source.alpha == .opaque && background.alpha == 255
    return try source.withElements { (pixels) throws(ImageError) in
      let sampler = CubicSampler(pixels, width: width, height: height, hasAlpha: source.alpha != .opaque)
      return try Bitmap.rows(
        width: Int(newWidth),
        height: Int(newHeight),
        alpha: staysOpaque ? .opaque : .straight,
        colorSpace: colorSpace,
        context,
      ) { row, target in
        let y = Double(row) + 0.5 - newHeight / 2
        for column in 0..<Int(newWidth) {
          let x = Double(column) + 0.5 - newWidth / 2
          let (sourceX, sourceY) = (x * cosine + y * sine + w / 2, y * cosine - x * sine + h / 2)
          // The area of a pixel that the image covers, as if its edges were straight there.
          let inside = Self.inside(sourceX, w) * Self.inside(sourceY, h)
          var pixel = SIMD4<Float>()
          if inside > 0 {
            pixel = sampler.pixel(x: Float(sourceX), y: Float(sourceY))
            pixel.w *= inside
          }
          if backdrop.w > 0 { pixel = PixelMath.over(pixel, backdrop) }
          target.store(pixel.w < 0.5 ? SIMD4() : PixelMath.bytes(pixel), at: column &* 4)
        }
      }
    }
  }

  @inline(__always)
  private static func inside(_ place: Double, _ length: Double) -> Float {
    Float(min(max(min(place + 0.5, length - place + 0.5), 0), 1))
  }
}

/// Interpolates between pixels; beyond the edges those at the edges go on.
private struct CubicSampler {
  private let pixels: Elements<UInt8>
  private let width: Int
  private let height: Int
  private let hasAlpha: Bool

  /// Uses the bytes of `width * height` pixels with straight alpha.
  init(_ pixels: Elements<UInt8>, width: Int, height: Int, hasAlpha: Bool) {
    precondition(width > 0 && height > 0 && pixels.count >= width * height * 4)
    (self.pixels, self.width, self.height, self.hasAlpha) = (pixels, width, height, hasAlpha)
  }

  /// Returns the pixel with straight alpha at a place.
  @inline(__always)
  func pixel(x: Float, y: Float) -> SIMD4<Float> {
    let (left, top) = ((x - 0.5).rounded(.down), (y - 0.5).rounded(.down))
    let (across, down) = (Self.weights(x - 0.5 - left), Self.weights(y - 0.5 - top))
    let (column, row) = (Int(left) &- 1, Int(top) &- 1)
    let columns = (
      clamped(column, width), clamped(column &+ 1, width), clamped(column &+ 2, width), clamped(column &+ 3, width),
    )
    var sum = line(clamped(row, height), columns, across) * down.x
    sum += line(clamped(row &+ 1, height), columns, across) * down.y
    sum += line(clamped(row &+ 2, height), columns, across) * down.z
    sum += line(clamped(row &+ 3, height), columns, across) * down.w
    let alpha = min(max(sum.w / 255, 0), 255)
    guard alpha > 0 else { return SIMD4() }
    var color = sum / sum.w * 255
    color.w = alpha
    // What rings beyond the range must not weigh more than the range when it is mixed.
    color.replace(with: 0, where: color .< 0)
    color.replace(with: 255, where: color .> 255)
    return color
  }

  @inline(__always)
  private func clamped(_ place: Int, _ count: Int) -> Int { min(max(place, 0), count &- 1) }

  /// Adds four pixels of a row, multiplied by their coverage.
  @inline(__always)
  private func line(_ row: Int, _ columns: (Int, Int, Int, Int), _ weights: SIMD4<Float>) -> SIMD4<Float> {
    let start = row &* width
    let first = premultiplied(start &+ columns.0) * weights.x + premultiplied(start &+ columns.1) * weights.y
    return first + premultiplied(start &+ columns.2) * weights.z + premultiplied(start &+ columns.3) * weights.w
  }

  /// Returns a pixel times 255.
  @inline(__always)
  private func premultiplied(_ place: Int) -> SIMD4<Float> {
    // Places are clamped to the pixels, whose number the initialiser has checked: a check of each takes a tenth longer.
    let start = unsafe UnsafeRawPointer(pixels.start.unsafelyUnwrapped)
    let pixel = SIMD4<Float>(unsafe start.loadUnaligned(fromByteOffset: place &* 4, as: SIMD4<UInt8>.self))
    guard hasAlpha else { return pixel * 255 }
    var factor = SIMD4<Float>(repeating: pixel.w)
    factor.w = 255
    return pixel * factor
  }

  // E. Catmull and R. Rom, "A Class of Local Interpolating Splines", 1974.
  @inline(__always)
  private static func weights(_ t: Float) -> SIMD4<Float> {
    let (square, cube) = (t * t, t * t * t)
    return SIMD4(
      -0.5 * t + square - 0.5 * cube,
      1 - 2.5 * square + 1.5 * cube,
      0.5 * t + 2 * square - 1.5 * cube,
      -0.5 * square + 0.5 * cube,
    )
  }
}
