public import VitrineImaging

/// The options for encoding an external format in a ``Sandbox``, whose program does not know their own.
public struct SandboxEncodingOptions: EncodingOptions {
  /// The quality of lossy encoding, from 1 to 100, on the format's own scale.
  ///
  /// Defaults to `nil`, the format's default.
  public let quality: Int?
  /// A Boolean value that indicates whether every pixel is kept.
  ///
  /// Defaults to `false`.
  public let isLossless: Bool
  /// The time spent on fewer bytes, from 0 (fastest) to 10 (smallest).
  ///
  /// Defaults to `nil`, the format's default. It is JPEG XL's effort, from 1 to 9; AVIF's speed is 10 minus it.
  public let effort: Int?
  /// The resolution of colour, for AVIF.
  ///
  /// Defaults to `nil`, the format's default.
  public let subsampling: ImageEncoding.Subsampling?

  /// Makes options; numbers outside their ranges are clamped.
  public init(
    quality: Int? = nil,
    isLossless: Bool = false,
    effort: Int? = nil,
    subsampling: ImageEncoding.Subsampling? = nil,
  ) {
    self.quality = quality.map { min(max($0, 1), 100) }
    self.effort = effort.map { min(max($0, 0), 10) }
    (self.isLossless, self.subsampling) = (isLossless, subsampling)
  }

  /// Makes options with a quality.
  public init(quality: Int?, isLossless: Bool) {
    self.init(quality: quality, isLossless: isLossless, effort: nil, subsampling: nil)
  }

  /// The quality.
  public var commonQuality: Int? { quality }

  /// A Boolean value that indicates whether every pixel is kept.
  public var commonIsLossless: Bool { isLossless }

  /// The options as text.
  public var identifier: String {
    let words = [quality.map { "\($0)" }, effort.map { "\($0)" }, subsampling?.rawValue].map { $0 ?? "-" }
    return ((isLossless ? ["lossless"] : []) + words).joined(separator: " ")
  }
}
