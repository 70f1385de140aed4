extension Bitmap {
  /// Returns the bitmap at another size; returns itself if nothing has to change.
  ///
  /// The pixels take the path of decoded rows. The result equals a decode to `size`, except where the decoder
  /// itself downsamples. The result has straight or no alpha. Blocks until done. Complexity: O(pixels).
  ///
  /// - Parameters:
  ///   - size: The size of the result.
  ///   - filter: The filter. Defaults to ``ResamplingFilter/lanczos3``.
  ///   - usesLinearLight: A Boolean value that indicates whether colours are averaged as light; see
  ///     ``DecodeOptions/usesLinearLight``. Defaults to `false`.
  ///   - limits: The limits to check the result against. Defaults to ``DecodeLimits``' defaults.
  ///   - isCancelled: Called now and then; `true` stops the work. Defaults to `nil`.
  /// - Returns: The resized bitmap.
  /// - Throws: ``ImageError`` of code `.invalidSize`, `.overLimit`, `.outOfTime` or `.cancelled`.
  public func resized(
    to size: TargetSize,
    filter: ResamplingFilter = .lanczos3,
    usesLinearLight: Bool = false,
    limits: DecodeLimits = DecodeLimits(),
    isCancelled: (@Sendable () -> Bool)? = nil,
  ) throws(ImageError) -> Bitmap {
    try resampled(
      SamplingPlan(size, width: width, height: height),
      ResamplingOptions(filter: filter, usesLinearLight: usesLinearLight),
      limits: limits,
      isCancelled: isCancelled,
    )
  }

  /// Carries out a plan for a larger source on this bitmap, which shows all of that source.
  package func resampled(
    _ plan: SamplingPlan,
    of source: (width: Int, height: Int),
    orientation: Orientation = .up,
    filter: ResamplingFilter,
    usesLinearLight: Bool,
    limits: DecodeLimits,
    isCancelled: (@Sendable () -> Bool)?,
  ) throws(ImageError) -> Bitmap {
    let (width, height) = orientation.applied(width: width, height: height)
    let (x, y) = (Double(width) / Double(source.width), Double(height) / Double(source.height))
    var plan = plan
    plan.crop = PixelRect(
      x: plan.crop.x * x,
      y: plan.crop.y * y,
      width: plan.crop.width * x,
      height: plan.crop.height * y,
    )
    // A bitmap that is one pixel short from rounding is not stretched.
    plan.width = min(plan.width, max(1, Int(plan.crop.width.rounded())))
    plan.height = min(plan.height, max(1, Int(plan.crop.height.rounded())))
    let options = ResamplingOptions(filter: filter, usesLinearLight: usesLinearLight)
    return try resampled(plan, options, orientation, limits: limits, isCancelled: isCancelled)
  }

  private func resampled(
    _ plan: SamplingPlan,
    _ options: ResamplingOptions,
    _ orientation: Orientation = .up,
    limits: DecodeLimits,
    isCancelled: (@Sendable () -> Bool)?,
  ) throws(ImageError) -> Bitmap {
    guard orientation != .up || plan != SamplingPlan(width: width, height: height) else { return self }
    var info = ImageInfo(format: .bitmap, storedWidth: width, storedHeight: height, orientation: orientation)
    info.colorEncoding = colorSpace.encoding
    try limits.check(output: plan, of: info)
    let control = DecodeControl(isCancelled: isCancelled, timeLimit: limits.timeLimit)
    return try Renderer(info: info, plan: plan, control: control, resampling: options, colorSpace: colorSpace)
      .render(BitmapRows(straightened()), acceptsPartial: false).bitmap
  }
}

/// The rows of a bitmap whose alpha is not premultiplied.
final class BitmapRows: RowSource {
  var width: Int { bitmap.width }
  var height: Int { bitmap.height }
  var hasAlpha: Bool { bitmap.alpha != .opaque }
  var colorSpace: ColorSpace? { bitmap.colorSpace }
  private let bitmap: Bitmap
  private var row = 0

  init(_ bitmap: Bitmap) {
    self.bitmap = bitmap
  }

  func read(into rows: UnsafeMutableRawBufferPointer, bytesPerRow: Int, count: Int) throws(ImageError) -> Int {
    let count = min(count, height - row)
    guard count > 0 else { return 0 }
    // As long as its memory; the rows of both are within it by their checks.
    let target = unsafe MutableElements(rows)
    bitmap.withElements { pixels in
      for index in 0..<count {
        target.extracting(index * bytesPerRow..<index * bytesPerRow + width * 4)
          .update(from: pixels.rows(from: row + index, count: 1, width: width))
      }
    }
    row += count
    return count
  }
}
