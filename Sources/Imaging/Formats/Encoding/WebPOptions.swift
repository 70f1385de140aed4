/// The options for encoding WebP.
package struct WebPOptions: EncodingOptions {
  /// The quality of lossy encoding, from 1 to 100.
  ///
  /// Defaults to 85.
  package let quality: Int
  /// A Boolean value that indicates whether every pixel is kept, save the colours of fully transparent ones.
  ///
  /// Defaults to `false`. The quality then has no effect.
  package let isLossless: Bool
  /// The time spent on fewer bytes, from 0 (fastest) to 6 (smallest), as libwebp's method.
  ///
  /// Defaults to 4.
  package let effort: Int

  /// Makes options; numbers outside their ranges are clamped.
  package init(quality: Int = 85, isLossless: Bool = false, effort: Int = 4) {
    (self.quality, self.isLossless) = (min(max(quality, 1), 100), isLossless)
    self.effort = min(max(effort, 0), 6)
  }

  /// Makes options with a quality.
  package init(quality: Int?, isLossless: Bool) { self.init(quality: quality ?? 85, isLossless: isLossless) }

  /// The quality.
  package var commonQuality: Int? { quality }

  /// A Boolean value that indicates whether every pixel is kept.
  package var commonIsLossless: Bool { isLossless }

  /// The options as text.
  package var identifier: String { "\(isLossless ? "lossless" : "\(quality)") \(effort)" }
}

extension ImageEncoding {
  /// WebP, still or animated.
  ///
  /// - Parameters:
  ///   - quality: The quality of lossy encoding, from 1 to 100. Defaults to 85.
  ///   - isLossless: A Boolean value that indicates whether every pixel is kept. Defaults to `false`.
  ///   - effort: The time spent on fewer bytes, from 0 (fastest) to 6 (smallest). Defaults to 4.
  /// - Returns: The encoding.
  public static func webp(quality: Int = 85, isLossless: Bool = false, effort: Int = 4) -> ImageEncoding {
    ImageEncoding(.webp, WebPOptions(quality: quality, isLossless: isLossless, effort: effort))
  }
}

extension ImageEncoding {
  /// The Quite OK Image format: lossless, larger than PNG, and several times as fast.
  public static func qoi() -> ImageEncoding { ImageEncoding(.qoi) }
}
