extension GainMap {
  /// Returns the map of the part of a picture that a plan shows.
  ///
  /// - Parameters:
  ///   - plan: The plan, in pixels of the picture.
  ///   - picture: The size of the picture, upright.
  ///   - scale: The size of the whole map as a multiple of the picture's, which the result keeps. Defaults to `nil`: as the
  ///     map is, which may be a smaller copy of the whole one.
  ///   - orientation: The orientation of the map's pixels. Defaults to ``Orientation/up``.
  ///   - context: The limits, and the check that stops the work.
  /// - Returns: The map.
  /// - Throws: ``ImageError``: `.cancelled`, `.overLimit`.
  func showing(
    _ plan: SamplingPlan,
    of picture: (width: Int, height: Int),
    scale: (x: Double, y: Double)? = nil,
    orientation: Orientation = .up,
    _ context: ProcessingContext,
  ) throws(ImageError) -> GainMap {
    let (width, height) = orientation.applied(width: bitmap.width, height: bitmap.height)
    let x = scale?.x ?? Double(width) / Double(picture.width)
    let y = scale?.y ?? Double(height) / Double(picture.height)
    var plan = plan
    plan.width = max(1, Int((Double(plan.width) * min(x, 1)).rounded()))
    plan.height = max(1, Int((Double(plan.height) * min(y, 1)).rounded()))
    return GainMap(
      try bitmap.resampled(
        plan,
        of: picture,
        orientation: orientation,
        filter: .bilinear,
        usesLinearLight: false,
        limits: context.limits,
        isCancelled: context.isCancelled,
      ),
      formula,
    )
  }
}
