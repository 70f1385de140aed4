// Blurring and sharpening.
extension ImageProcessor {
  /// Blurs with a Gaussian.
  ///
  /// Beyond its edges, the image is continued by its mirror image. The cost per pixel does not depend on the radius.
  ///
  /// - Parameter radius: The standard deviation. A fraction is one of the shorter side. 0 changes nothing.
  /// - Returns: The processor.
  public static func blur(radius: Length) -> ImageProcessor {
    ImageProcessor("blur", ["\(radius)"], lengths: [radius]) { bitmap, context throws(ImageError) in
      let sigma = try context.pixels(radius, of: min(bitmap.width, bitmap.height), "radius")
      return try bitmap.blurred(sigma, context)
    }
  }

  /// Sharpens by unsharp masking: moves colours away from those of a blurred copy.
  ///
  /// - Parameters:
  ///   - amount: The factor of the difference, from 0 to 100. Defaults to 0.5; 0 changes nothing.
  ///   - radius: The standard deviation of the blur. A fraction is one of the shorter side. Defaults to 1 pixel; 0
  ///     changes nothing.
  ///   - threshold: The smallest difference that counts, in levels from 0 to 255. Defaults to 0.
  /// - Returns: The processor.
  public static func sharpen(amount: Double = 0.5, radius: Length = 1, threshold: Double = 0) -> ImageProcessor {
    ImageProcessor(
      "sharpen",
      [StepName.number(amount), "\(radius)"] + (threshold == 0 ? [] : ["threshold \(StepName.number(threshold))"]),
      lengths: [radius],
    ) { bitmap, context throws(ImageError) in
      try context.check(amount, "amount", in: 0...100)
      try context.check(threshold, "threshold", in: 0...255)
      let sigma = try context.pixels(radius, of: min(bitmap.width, bitmap.height), "radius")
      guard amount > 0, sigma > 0 else { return bitmap }
      let soft = try bitmap.blurred(sigma, context)
      return try bitmap.sharpened(from: soft, Float(amount), Float(threshold), context)
    }
  }
}

extension Bitmap {
  /// Returns the bitmap blurred with a standard deviation in pixels.
  func blurred(_ sigma: Double, _ context: ProcessingContext) throws(ImageError) -> Bitmap {
    // Below that, a pixel keeps all but a thousandth of a level.
    guard sigma > 0.05 else { return self }
    try context.check(width: Double(width), height: Double(height))
    return try GaussianBlur(width: width, height: height, sigma: sigma, context).blurred(self)
  }

  fileprivate func sharpened(
    from soft: Bitmap,
    _ amount: Float,
    _ threshold: Float,
    _ context: ProcessingContext,
  ) throws(ImageError) -> Bitmap {
    let least = SIMD4<Float>(repeating: threshold)
    return try unsafe soft.withUnsafeBytes { (softPixels) throws(ImageError) in
      try unsafe rows(context) { y, oldRow, row in
        for x in 0..<width {
          // All three have `height` rows of `width` pixels.
          let old = unsafe oldRow.loadUnaligned(fromByteOffset: x &* 4, as: SIMD4<UInt8>.self)
          let around = unsafe softPixels.loadUnaligned(
            fromByteOffset: (y &* width &+ x) &* 4,
            as: SIMD4<UInt8>.self,
          )
          let color = SIMD4<Float>(old)
          let difference = color - SIMD4<Float>(around)
          let size = difference.replacing(with: -difference, where: difference .< 0)
          let change = (difference * amount).replacing(with: 0, where: size .< least)
          var result = PixelMath.bytes(color + change)
          result.w = old.w
          unsafe row.storeBytes(of: result, toByteOffset: x &* 4, as: SIMD4<UInt8>.self)
        }
      }
    }
  }
}
