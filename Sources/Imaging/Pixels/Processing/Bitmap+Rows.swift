extension Bitmap {
  /// The most pixels that a step makes between two checks for cancellation: well under 10 ms for every one of them.
  private static let batch = 1 << 15

  /// Makes the result of a processor row by row, within the limits and until it is cancelled.
  ///
  /// `write` receives the index of a row and its memory of `4 * width` bytes.
  static func rows(
    width: Int,
    height: Int,
    alpha: Alpha,
    colorSpace: ColorSpace,
    _ context: ProcessingContext,
    _ write: (Int, MutableElements<UInt8>) throws(ImageError) -> Void,
  ) throws(ImageError) -> Bitmap {
    try context.check(width: Double(width), height: Double(height))
    let rowsPerCheck = max(1, batch / width)
    return try Bitmap.writing(width: width, height: height, alpha: alpha, colorSpace: colorSpace) {
      (pixels) throws(ImageError) in
      for y in 0..<height {
        if y % rowsPerCheck == 0 { try context.checkCancellation() }
        try write(y, pixels.rows(from: y, count: 1, width: width))
      }
    }
  }

  /// Makes a bitmap of the same size row by row, each from this bitmap's row with straight alpha, or an opaque one.
  ///
  /// `write` receives the index of a row, the old row and the memory of the new one, both of `4 * width` bytes.
  ///
  /// `alpha` is the new bitmap's; by default the old rows'.
  func rows(
    alpha: Alpha? = nil,
    _ context: ProcessingContext,
    _ write: (Int, Elements<UInt8>, MutableElements<UInt8>) throws(ImageError) -> Void,
  ) throws(ImageError) -> Bitmap {
    try context.check(width: Double(width), height: Double(height))
    let source = straightened()
    let alpha = alpha ?? source.alpha
    return try source.withElements { (pixels) throws(ImageError) in
      try Bitmap.rows(width: width, height: height, alpha: alpha, colorSpace: colorSpace, context) {
        (y, row) throws(ImageError) in try write(y, pixels.rows(from: y, count: 1, width: width), row)
      }
    }
  }

  /// Returns the bitmap with each pixel changed.
  ///
  /// `change` receives pixels with straight alpha, or opaque ones.
  @inline(__always)
  func mapped(
    to alpha: Alpha? = nil,
    _ context: ProcessingContext,
    _ change: (SIMD4<UInt8>) -> SIMD4<UInt8>,
  ) throws(ImageError) -> Bitmap {
    try rows(alpha: alpha, context) { _, old, row in row.update(with: old) { pixel, _ in change(pixel) } }
  }
}

/// Pixels with straight alpha in floats from 0 to 255.
enum PixelMath {
  /// Rounds to bytes; values below 0 or above 255 are clamped.
  @inline(__always)
  static func bytes(_ pixel: SIMD4<Float>) -> SIMD4<UInt8> { PixelKernels.rounded(pixel) }

  /// Puts `source` over `backdrop`, both with straight alpha from 0 to 255.
  @inline(__always)
  static func over(_ source: SIMD4<Float>, _ backdrop: SIMD4<Float>) -> SIMD4<Float> {
    let (top, bottom) = (source.w / 255, backdrop.w / 255)
    let alpha = top + bottom * (1 - top)
    guard alpha > 0 else { return SIMD4() }
    var color = (source * top + backdrop * (bottom * (1 - top))) / alpha
    color.w = alpha * 255
    return color
  }
}
