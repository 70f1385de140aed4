// Resizing and cropping.
extension ImageProcessor {
  /// Resizes to a size.
  ///
  /// Enlarges only if the size says so. See ``Bitmap/resized(to:filter:usesLinearLight:limits:isCancelled:)``.
  public static func resize(
    _ size: TargetSize,
    filter: ResamplingFilter = .lanczos3,
    usesLinearLight: Bool = false,
  ) -> ImageProcessor {
    showing("resize", [size.box] + shape(size) + options(filter, usesLinearLight)) {
      (bitmap, context) throws(ImageError) in
      try bitmap.resized(size, ResamplingOptions(filter: filter, usesLinearLight: usesLinearLight), context)
    }
  }

  /// Resizes to a box whose sides have units.
  ///
  /// Fractions are of the image's own sides.
  ///
  /// - Parameters:
  ///   - width: The width of the box. Defaults to `nil`: any width.
  ///   - height: The height of the box. Defaults to `nil`: any height.
  ///   - mode: The way in which the image is fitted into the box. Defaults to `fit`.
  ///   - anchor: The part that stays when `fill` crops. Defaults to the centre.
  ///   - enlarges: A Boolean value that indicates whether a smaller image is enlarged. Defaults to `false`.
  ///   - filter: The filter. Defaults to ``ResamplingFilter/lanczos3``.
  /// - Returns: The processor.
  public static func resize(
    width: Length? = nil,
    height: Length? = nil,
    _ mode: TargetSize.Mode = .fit,
    anchor: Anchor = .center,
    enlarges: Bool = false,
    filter: ResamplingFilter = .lanczos3,
  ) -> ImageProcessor {
    let box = "\(width?.description ?? "")x\(height?.description ?? "")"
    let shape = shape(.pixels(1, 1, mode, anchor: anchor, enlarges: enlarges))
    let lengths = [width, height].compactMap { $0 }
    return showing("resize", [box] + shape + options(filter, false), lengths: lengths) {
      (bitmap, context) throws(ImageError) in
      func side(_ length: Length?, of side: Int, _ name: String) throws(ImageError) -> Double? {
        guard let length else { return nil }
        return try context.pixels(length, of: side, name, in: .leastNonzeroMagnitude...1e9)
      }
      let size = TargetSize(
        width: try side(width, of: bitmap.width, "width"),
        height: try side(height, of: bitmap.height, "height"),
        mode: mode,
        anchor: anchor,
        enlarges: enlarges,
      )
      return try bitmap.resized(size, ResamplingOptions(filter: filter, usesLinearLight: false), context)
    }
  }

  /// Only `fill` depends on the anchor.
  private static func shape(_ size: TargetSize) -> [String] {
    (size.mode == .fit ? [] : [size.mode.rawValue])
      + (size.mode == .fill && size.anchor != .center ? [StepName.anchor(size.anchor)] : [])
      + (size.enlarges ? ["enlarging"] : [])
  }

  private static func options(_ filter: ResamplingFilter, _ usesLinearLight: Bool) -> [String] {
    (filter == .lanczos3 ? [] : [filter.rawValue]) + (usesLinearLight ? ["linear"] : [])
  }

  /// Keeps a part of the image, in pixels from the top left.
  ///
  /// Fails if the part is not inside the image. See ``Bitmap/cropped(x:y:width:height:)``.
  public static func crop(_ region: PixelRegion) -> ImageProcessor {
    crop(
      x: .pixels(Double(region.x)),
      y: .pixels(Double(region.y)),
      width: .pixels(Double(region.width)),
      height: .pixels(Double(region.height)),
    )
  }

  /// Keeps a part of the image, measured from the top left and rounded to whole pixels.
  ///
  /// Fractions are of the image's width and height. Fails if the part is not inside the image.
  public static func crop(x: Length, y: Length, width: Length, height: Length) -> ImageProcessor {
    let names = [width, height].map(\.description) + ["from \(x) \(y)"]
    return ImageProcessor(
      "crop",
      names,
      lengths: [x, y, width, height],
      part: { (bitmap, context) throws(ImageError) in
        let columns = try context.range(x, width, of: bitmap.width, "left edge", "width")
        let rows = try context.range(y, height, of: bitmap.height, "top edge", "height")
        return PixelRegion(x: columns.lowerBound, y: rows.lowerBound, width: columns.count, height: rows.count)
      },
    )
  }

  /// Keeps at most `width` x `height` pixels at `anchor`.
  ///
  /// Fractions are of the image's width and height. See ``Bitmap/cropped(width:height:anchor:)``.
  public static func crop(width: Length, height: Length, anchor: Anchor = .center) -> ImageProcessor {
    let names = [width, height].map(\.description) + (anchor == .center ? [] : [StepName.anchor(anchor)])
    return ImageProcessor(
      "crop",
      names,
      lengths: [width, height],
      part: { (bitmap, context) throws(ImageError) in
        try bitmap.part(
          width: context.whole(width, of: bitmap.width, "width"),
          height: context.whole(height, of: bitmap.height, "height"),
          anchor,
        )
      },
    )
  }

  /// Keeps the largest part with the given aspect ratio.
  ///
  /// See ``Bitmap/cropped(aspectRatio:anchor:)``.
  public static func crop(aspectRatio: Double, anchor: Anchor = .center) -> ImageProcessor {
    let names = ["ratio \(StepName.number(aspectRatio))"] + (anchor == .center ? [] : [StepName.anchor(anchor)])
    return ImageProcessor(
      "crop",
      names,
      part: { (bitmap, _) throws(ImageError) in
        try bitmap.part(aspectRatio: aspectRatio, anchor)
      },
    )
  }

  /// Keeps at most `width` x `height` pixels where the image shows the most.
  ///
  /// Fractions are of the image's width and height. Of an animation, all frames keep the part that is chosen for
  /// the first one.
  ///
  /// - Parameters:
  ///   - width: The width of the part.
  ///   - height: The height of the part.
  ///   - interest: The measure of how much a part shows. Defaults to ``Interest/attention``.
  /// - Returns: The processor.
  public static func smartCrop(width: Length, height: Length, by interest: Interest = .attention) -> ImageProcessor {
    let names = [width, height].map(\.description) + [interest.rawValue]
    return ImageProcessor(
      "smartCrop",
      names,
      lengths: [width, height],
      part: { (bitmap, context) throws(ImageError) in
        try bitmap.part(
          width: context.whole(width, of: bitmap.width, "width"),
          height: context.whole(height, of: bitmap.height, "height"),
          interest,
          context,
        )
      },
    )
  }

  /// Keeps the largest part with the given aspect ratio, where the image shows the most; see
  /// ``smartCrop(width:height:by:)``.
  ///
  /// Of an animation, all frames keep the part that is chosen for the first one.
  public static func smartCrop(aspectRatio: Double, by interest: Interest = .attention) -> ImageProcessor {
    let names = ["ratio \(StepName.number(aspectRatio))", interest.rawValue]
    return ImageProcessor(
      "smartCrop",
      names,
      part: { (bitmap, context) throws(ImageError) in
        let size = try bitmap.size(ofAspectRatio: aspectRatio)
        return try bitmap.part(width: size.width, height: size.height, interest, context)
      },
    )
  }
}

extension ProcessingContext {
  /// Converts a length to whole pixels, 0 or more; a length that is not zero has at least one.
  fileprivate func whole(_ length: Length, of side: Int, _ name: String) throws(ImageError) -> Int {
    let pixels = try pixels(length, of: side, name)
    return pixels > 0 ? max(1, Int(pixels.rounded())) : 0
  }

  /// Rounds both ends of a part, so that parts which touch still do.
  fileprivate func range(
    _ start: Length,
    _ length: Length,
    of side: Int,
    _ startName: String,
    _ name: String,
  ) throws(ImageError) -> Range<Int> {
    let (start, length) = (try pixels(start, of: side, startName), try pixels(length, of: side, name))
    let (first, end) = (Int(start.rounded()), Int((start + length).rounded()))
    return first..<max(end, length > 0 ? first + 1 : first)
  }
}

extension Bitmap {
  func resized(
    _ size: TargetSize,
    _ options: ResamplingOptions,
    _ context: ProcessingContext,
  ) throws(ImageError) -> (bitmap: Bitmap, plan: SamplingPlan) {
    let plan = try SamplingPlan(size, width: width, height: height)
    try context.check(width: Double(plan.width), height: Double(plan.height))
    let bitmap = try resized(
      to: size,
      filter: options.filter,
      usesLinearLight: options.usesLinearLight,
      limits: context.limits,
      isCancelled: context.isCancelled,
    )
    return (bitmap, plan)
  }
}
