import Vitrine
import VitrineHTTP
public import VitrineImaging

/// The cost and the benefit of formats beside JPEG.
public struct FormatCosts: Sendable, Hashable {
  /// The cost and the benefit of one format.
  public struct Cost: Sendable, Hashable {
    /// The time of encoding a megapixel, on one core.
    public var timePerMegapixel: Duration
    /// The size of a file, relative to a JPEG that looks as good.
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

  /// The cost of a format; `nil` for a format that is never chosen.
  public subscript(format: ImageFormat) -> Cost? {
    get { costs[format.name] }
    set { costs[format.name] = newValue }
  }

  /// The costs of Vitrine's encoders at their default qualities, on one core of a common server.
  public static let measured: FormatCosts = {
    var costs = FormatCosts([:])
    for format in ImageFormat.negotiated {
      guard case .negotiated(let milliseconds, let size) = format.row.web else { continue }
      costs[format] = Cost(timePerMegapixel: .milliseconds(milliseconds), relativeSize: size)
    }
    return costs
  }()

  /// Returns the format of the smallest files among the formats that a client prefers, or `nil` for none.
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
      guard let cost = self[format], accepted.weight(of: format) > 0, cost.relativeSize < 1,
        cost.timePerMegapixel.inSeconds * pixels / 1e6 <= limit.inSeconds
      else { return nil }
      return (format, accepted.weight(of: format), cost.relativeSize)
    }
    return candidates.min { ($1.weight, $0.size) < ($0.weight, $1.size) }?.format
  }
}

extension Duration {
  fileprivate var inSeconds: Double { Double(components.seconds) + Double(components.attoseconds) / 1e18 }
}
