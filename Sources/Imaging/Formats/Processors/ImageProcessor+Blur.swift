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

  /// Sharpens by unsharp masking: moves colours away from the colours of a blurred copy.
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
      return try bitmap.blurred(sigma, context, .sharpened(amount: Float(amount), threshold: Float(threshold)))
    }
  }
}

extension Bitmap {
  /// Returns the bitmap blurred with a standard deviation in pixels, or sharpened by the difference.
  func blurred(
    _ sigma: Double,
    _ context: ProcessingContext,
    _ result: GaussianBlur.Result = .blurred,
  ) throws(ImageError) -> Bitmap {
    // Below that, a pixel keeps all but a thousandth of a level.
    guard sigma > 0.05 else { return self }
    try context.check(width: Double(width), height: Double(height))
    return try GaussianBlur(width: width, height: height, sigma: sigma, context)(self, result)
  }
}
