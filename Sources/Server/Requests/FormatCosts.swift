public import VitrineImaging

/// The cost and the benefit of formats beside JPEG.
public struct FormatCosts: Sendable, Hashable {
  /// The cost and the benefit of one format.
  public struct Cost: Sendable, Hashable {
    /// The time of encoding a megapixel, on one core.
    public var timePerMegapixel: Duration
    /// The size of a file beside that of a JPEG that looks as good.
    public var relativeSize: Double

    /// Makes a cost.
    public init(timePerMegapixel: Duration, relativeSize: Double) {
      (self.timePerMegapixel, self.relativeSize) = (timePerMegapixel, relativeSize)
    }
  }

  private var costs: [String: Cost] = [:]

  /// Makes costs of formats.
  public init(_ costs: [ImageFormat: Cost]) {
    for (format, cost) in costs { self.costs[format.name] = cost }
  }

  /// The cost of a format; `nil` for one that is never chosen.
  public subscript(format: ImageFormat) -> Cost? {
    get { costs[format.name] }
    set { costs[format.name] = newValue }
  }

  /// The costs of Vitrine's encoders at their default qualities, on one core of a common server.
  ///
  /// Measured by `make bench NAME=encoding` (`Benchmarks/Results/encoding.txt`). Times are those of small pictures, which take
  /// longer for each pixel: 280, 190 and 110 ms a megapixel at 300x225, 160, 150 and 85 at 1200x900; JPEG takes 8.
  /// Sizes are the means of both, brought to the PSNR of the JPEG by a ninth of the bytes for a decibel.
  public static let measured = FormatCosts([
    .avif: Cost(timePerMegapixel: .milliseconds(280), relativeSize: 0.65),
    .jxl: Cost(timePerMegapixel: .milliseconds(190), relativeSize: 0.75),
    .webp: Cost(timePerMegapixel: .milliseconds(110), relativeSize: 0.77),
  ])

  /// Returns the format of the smallest files among those that a client prefers, or `nil` for none.
  ///
  /// - Parameters:
  ///   - formats: The formats that may be chosen.
  ///   - accepted: The client's preferences, which come first.
  ///   - pixels: The number of pixels of the image.
  ///   - limit: The maximum time of encoding.
  /// - Returns: The format.
  func best(
    of formats: [ImageFormat],
    _ accepted: AcceptedTypes,
    pixels: Double,
    within limit: Duration,
  ) -> ImageFormat? {
    let candidates = formats.compactMap { format -> (format: ImageFormat, weight: Int, size: Double)? in
      guard let cost = self[format], accepted.weight(format) > 0, cost.relativeSize < 1,
        cost.timePerMegapixel.inSeconds * pixels / 1e6 <= limit.inSeconds
      else { return nil }
      return (format, accepted.weight(format), cost.relativeSize)
    }
    return candidates.min { ($1.weight, $0.size) < ($0.weight, $1.size) }?.format
  }
}

extension Duration {
  fileprivate var inSeconds: Double { Double(components.seconds) + Double(components.attoseconds) / 1e18 }
}
