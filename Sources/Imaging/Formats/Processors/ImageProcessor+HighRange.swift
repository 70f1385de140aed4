extension ImageProcessor {
  /// Adds the pixels that are brighter than white, made of the image and its gain map: ``ImageContainer/highRange``.
  ///
  /// ```swift
  /// request.dynamicRange = .high
  /// request.processors = [.highRange(headroom: 4)]
  /// ```
  /// The image and its map stay as they are. An image without a map, of which there is one only on request
  /// (``DecodeOptions/dynamicRange``), stays without such pixels, which take eight bytes each. See
  /// ``HighRangeBitmap/init(_:_:headroom:_:)``.
  ///
  /// - Parameter headroom: The brightest that the display can show, as a multiple of white, from 1 to 65,504.
  /// - Returns: The processor.
  public static func highRange(headroom: Double) -> ImageProcessor {
    container("highRange(\(StepName.number(headroom)))") { (image, context) throws(ImageError) in
      try context.check(headroom, "headroom", in: 1...65_504)
      guard let map = image.gainMap, headroom > 1 else { return image }
      var image = image
      image.highRange = try HighRangeBitmap(image.bitmap, map, headroom: headroom, context)
      return image
    }
  }
}
