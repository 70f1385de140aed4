/// The circumstances in which a processor runs.
///
/// ```swift
/// let context = ProcessingContext(scale: 2, isCancelled: { Task.isCancelled })
/// let avatar = try ImageProcessor.roundedCorners(radius: .points(16)).process(photo, context)
/// ```
/// A pipeline makes one for each step, from the request and its own limits.
public struct ProcessingContext: Sendable {
  /// The number of pixels in a point.
  ///
  /// Defaults to 1.
  public var scale: Double
  /// The limits of the results: ``DecodeLimits/side`` and ``DecodeLimits/outputByteCount``.
  ///
  /// Defaults to ``DecodeLimits``' defaults.
  public var limits: DecodeLimits
  /// Returns `true` once the result is no longer wanted; called every few rows.
  ///
  /// Defaults to `nil`.
  public var isCancelled: (@Sendable () -> Bool)?
  /// The subjects of the image that is processed.
  var subjects: [SubjectRegion] = []

  /// Makes a context.
  public init(
    scale: Double = 1,
    limits: DecodeLimits = DecodeLimits(),
    isCancelled: (@Sendable () -> Bool)? = nil,
  ) {
    (self.scale, self.limits, self.isCancelled) = (scale, limits, isCancelled)
  }

  /// Returns the context of a step on an image with subjects.
  func processing(_ subjects: [SubjectRegion]) -> ProcessingContext {
    var context = self
    context.subjects = subjects
    return context
  }

  /// Returns if work may continue, which long processors of your own should ask every few rows.
  ///
  /// - Throws: ``ImageError`` of code `.cancelled`.
  public func checkCancellation() throws(ImageError) {
    if let isCancelled, isCancelled() { throw ImageError(.cancelled, "cancelled") }
  }

  /// Converts a length to pixels.
  ///
  /// `side` is the length of which fractions are taken. `name` is for the error of a length outside of `range`.
  package func pixels(
    _ length: Length,
    of side: Int,
    _ name: String,
    in range: ClosedRange<Double> = 0...1e9,
  ) throws(ImageError) -> Double {
    let pixels = length.pixels(scale: scale, of: side)
    // Not a number is in no range.
    guard range.contains(pixels) else {
      throw ImageError(.invalidSize, "the \(name), \(length), is not \(Self.rule(for: pixels, range))")
    }
    return pixels
  }

  /// Returns the rule of a range that a number of pixels breaks.
  private static func rule(for pixels: Double, _ range: ClosedRange<Double>) -> String {
    if !pixels.isFinite { return "finite" }
    if pixels > range.upperBound { return "at most \(StepName.number(range.upperBound))px" }
    let lower = range.lowerBound
    return lower < 0 ? "at least \(StepName.number(lower))px" : lower > 0 ? "above 0" : "at least 0"
  }

  /// Checks a parameter without a unit.
  func check(_ value: Double, _ name: String, in range: ClosedRange<Double>) throws(ImageError) {
    guard !range.contains(value) else { return }
    let (lower, upper) = (StepName.number(range.lowerBound), StepName.number(range.upperBound))
    throw ImageError(.processingFailed, "the \(name), \(StepName.number(value)), is not within \(lower)...\(upper)")
  }

  /// Checks the size of a result.
  func check(width: Double, height: Double) throws(ImageError) {
    try limits.check(processedWidth: width, height: height)
  }
}

extension DecodeLimits {
  /// Checks the size of a processor's result.
  package func check(processedWidth width: Double, height: Double, bytesPerPixel: Double = 4) throws(ImageError) {
    let size = "a result of \(StepName.number(width))x\(StepName.number(height)) pixels"
    guard max(width, height) <= Double(side) else {
      throw ImageError(.overLimit, limit: .side, "\(size), over the limit of \(side) on a side")
    }
    guard width * height * bytesPerPixel <= Double(outputByteCount) else {
      throw ImageError(
        .overLimit,
        limit: .outputByteCount,
        "\(size), over the limit of \(outputByteCount >> 20) MiB",
      )
    }
  }
}
