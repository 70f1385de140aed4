public import VitrineImaging

/// The options for encoding JPEG XL.
public struct JXLOptions: EncodingOptions {
  /// The quality of lossy encoding, from 1 to 100, on the scale of cjxl.
  ///
  /// Defaults to 85, which looks about as good as JPEG at 85. At 100 every pixel is kept.
  public let quality: Int
  /// A Boolean value that indicates whether every pixel is kept.
  ///
  /// Defaults to `false`. The quality then has no effect.
  public let isLossless: Bool
  /// The time spent on fewer bytes, from 1 (fastest) to 9 (smallest), on the scale of cjxl.
  ///
  /// Defaults to 5. At 3 it takes half the time, for about 8 % more bytes at equal quality; at 7 twice the time, for no
  /// fewer bytes if lossy.
  public let effort: Int
  /// A Boolean value that indicates whether the picture comes in passes of growing detail.
  ///
  /// Defaults to `false`.
  public let isProgressive: Bool

  /// Makes options; numbers outside their ranges are clamped.
  public init(quality: Int = 85, isLossless: Bool = false, effort: Int = 5, isProgressive: Bool = false) {
    self.quality = min(max(quality, 1), 100)
    self.isLossless = isLossless || self.quality == 100
    (self.effort, self.isProgressive) = (min(max(effort, 1), 9), isProgressive)
  }

  /// Makes options with a quality.
  public init(quality: Int?, isLossless: Bool) { self.init(quality: quality ?? 85, isLossless: isLossless) }

  /// The quality.
  public var commonQuality: Int? { quality }

  /// A Boolean value that indicates whether every pixel is kept.
  public var commonIsLossless: Bool { isLossless }

  /// The options as text.
  public var identifier: String {
    "\(isLossless ? "lossless" : "\(quality)") \(effort)\(isProgressive ? " progressive" : "")"
  }

  /// The distance from the original as Butteraugli measures it: libjxl's `JxlEncoderDistanceFromQuality` (0.8), which
  /// older versions do not have.
  var distance: Float {
    guard !isLossless else { return 0 }
    let quality = Float(quality)
    return quality >= 30 ? 0.1 + (100 - quality) * 0.09 : 53 / 3000 * quality * quality - 23 / 20 * quality + 25
  }
}

extension ImageEncoding {
  /// JPEG XL, still or animated.
  ///
  /// It needs a ``JXLEncoder`` in the encoders.
  ///
  /// - Parameters:
  ///   - quality: The quality of lossy encoding, from 1 to 100. Defaults to 85.
  ///   - isLossless: A Boolean value that indicates whether every pixel is kept. Defaults to `false`.
  ///   - effort: The time spent on fewer bytes, from 1 (fastest) to 9 (smallest). Defaults to 5.
  ///   - isProgressive: A Boolean value that indicates whether the picture comes in passes of growing detail. Defaults
  ///     to `false`.
  /// - Returns: The encoding.
  public static func jxl(
    quality: Int = 85,
    isLossless: Bool = false,
    effort: Int = 5,
    isProgressive: Bool = false,
  ) -> ImageEncoding {
    let options = JXLOptions(quality: quality, isLossless: isLossless, effort: effort, isProgressive: isProgressive)
    return ImageEncoding(.jxl, options)
  }
}
