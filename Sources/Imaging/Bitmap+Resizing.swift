extension Bitmap {
  /// The same picture at another size: itself where nothing has to change.
  ///
  /// It goes the way of decoded rows, so the result is that of decoding to `size` but for what the decoder shrinks
  /// itself, and ``DecodeOptions`` says what `filter` and `usesLinearLight` mean. Straight or no alpha comes out. Blocks for as
  /// long as it takes; complexity O(pixels).
  ///
  /// - Throws: ``ImageError`` of code `.invalidSize`, `.overLimit`, `.cancelled`.
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

  /// What a plan for a larger source gives, made of this picture of all of that source.
  package func resampled(
    _ plan: SamplingPlan,
    of source: (width: Int, height: Int),
    filter: ResamplingFilter,
    usesLinearLight: Bool,
    limits: DecodeLimits,
    isCancelled: (@Sendable () -> Bool)?,
  ) throws(ImageError) -> Bitmap {
    let (x, y) = (Double(width) / Double(source.width), Double(height) / Double(source.height))
    var plan = plan
    plan.crop = PixelRect(
      x: plan.crop.x * x,
      y: plan.crop.y * y,
      width: plan.crop.width * x,
      height: plan.crop.height * y,
    )
    // A picture that is a pixel short for its rounding is not stretched by that.
    plan.width = min(plan.width, max(1, Int(plan.crop.width.rounded())))
    plan.height = min(plan.height, max(1, Int(plan.crop.height.rounded())))
    let options = ResamplingOptions(filter: filter, usesLinearLight: usesLinearLight)
    return try resampled(plan, options, limits: limits, isCancelled: isCancelled)
  }

  private func resampled(
    _ plan: SamplingPlan,
    _ options: ResamplingOptions,
    limits: DecodeLimits,
    isCancelled: (@Sendable () -> Bool)?,
  ) throws(ImageError) -> Bitmap {
    guard plan != SamplingPlan(width: width, height: height) else { return self }
    var info = ImageInfo(format: .bitmap, storedWidth: width, storedHeight: height)
    info.colorEncoding = colorSpace.encoding
    try limits.check(output: plan, of: info)
    let control = DecodeControl(isCancelled: isCancelled, timeLimit: limits.timeLimit)
    return try Renderer(info: info, plan: plan, control: control, resampling: options, colorSpace: colorSpace)
      .render(BitmapRows(straightened()), acceptsPartial: false).bitmap
  }
}

private final class BitmapRows: RowSource {
  var width: Int { bitmap.width }
  var height: Int { bitmap.height }
  var hasAlpha: Bool { bitmap.alpha != .opaque }
  private let bitmap: Bitmap
  private var row = 0

  init(_ bitmap: Bitmap) {
    self.bitmap = bitmap
  }

  func read(into rows: UnsafeMutableRawBufferPointer, bytesPerRow: Int, count: Int) throws(ImageError) -> Int {
    let count = min(count, height - row)
    guard count > 0 else { return 0 }
    precondition(rows.count >= bytesPerRow * (count - 1) + width * 4)
    unsafe bitmap.withUnsafeBytes { pixels in
      for index in 0..<count {
        let start = (row + index) * bitmap.bytesPerRow
        // Slices of a row each, checked on both sides.
        unsafe UnsafeMutableRawBufferPointer(rebasing: rows[index * bytesPerRow..<index * bytesPerRow + width * 4])
          .copyMemory(from: UnsafeRawBufferPointer(rebasing: pixels[start..<start + width * 4]))
      }
    }
    row += count
    return count
  }
}
