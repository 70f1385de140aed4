extension Bitmap {
  /// Makes a bitmap of one colour.
  ///
  /// ```swift
  /// var card = try Bitmap(width: 400, height: 300, color: .white)
  /// card.draw(photo, at: (x: 20, y: 20))
  /// ```
  /// It is opaque if the colour is, otherwise it has straight alpha. Complexity: O(pixels).
  ///
  /// - Parameters:
  ///   - width: The number of pixels in a row, at least 1.
  ///   - height: The number of rows, at least 1.
  ///   - color: The colour of all pixels. Defaults to ``PixelColor/clear``.
  ///   - colorSpace: The colour space of the components, to which the colour is converted. Defaults to sRGB.
  ///   - limits: The limits: ``DecodeLimits/side`` and ``DecodeLimits/outputByteCount``. Defaults to ``DecodeLimits``'
  ///     defaults.
  /// - Throws: ``ImageError`` of code `.invalidSize` for a length below 1, `.overLimit` for a bitmap over the limits.
  public init(
    width: Int,
    height: Int,
    color: PixelColor = .clear,
    colorSpace: ColorSpace = .sRGB,
    limits: DecodeLimits = DecodeLimits(),
  ) throws(ImageError) {
    guard width > 0, height > 0 else {
      throw ImageError(.invalidSize, "a bitmap of \(width)x\(height) pixels is empty")
    }
    try limits.check(processedWidth: Double(width), height: Double(height))
    let pixel = color.pixel(in: colorSpace)
    self = Bitmap.writing(
      width: width,
      height: height,
      alpha: color.alpha == 255 ? .opaque : .straight,
      colorSpace: colorSpace,
    ) { $0.updateEachPixel { _ in pixel } }
  }

  /// Returns a bitmap of the results of `transform` for each pixel, row by row.
  ///
  /// ```swift
  /// let negative = bitmap.map { SIMD4(255 - $0.x, 255 - $0.y, 255 - $0.z, $0.w) }
  /// ```
  /// Pixels are red, green, blue and alpha, with straight alpha, in the bitmap's colour space. The result has straight
  /// alpha; if this bitmap is opaque and all results are, it is opaque. Blocks until done. Complexity: O(pixels).
  ///
  /// - Parameter transform: Returns the new pixel for an old one, with straight alpha.
  /// - Returns: The bitmap of the new pixels.
  /// - Throws: The error of `transform`.
  public func map<E: Error>(
    _ transform: (SIMD4<UInt8>) throws(E) -> SIMD4<UInt8>
  ) throws(E) -> Bitmap {
    let source = straightened()
    // The alpha of all results, of which an opaque bitmap has 255.
    var common: UInt8 = 255
    let result = try source.withElements { (pixels) throws(E) in
      try Bitmap.writing(width: width, height: height, alpha: source.alpha, colorSpace: colorSpace) {
        (target) throws(E) in
        for index in stride(from: 0, to: pixels.count, by: 4) {
          let pixel = try transform(pixels.four(at: index))
          common &= pixel.w
          target.store(pixel, at: index)
        }
      }
    }
    return source.alpha == .opaque && common < 255 ? result.declared(.straight) : result
  }
}
