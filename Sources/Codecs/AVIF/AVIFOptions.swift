public import VitrineImaging

/// The options for encoding AVIF.
public struct AVIFOptions: EncodingOptions {
  /// The resolution of colour, relative to the resolution of brightness.
  public typealias Subsampling = ImageEncoding.Subsampling

  /// The quality of lossy encoding, from 1 to 100, on the scale of libavif and avifenc.
  ///
  /// Defaults to 75, which looks about as good as JPEG at 85.
  public let quality: Int
  /// A Boolean value that indicates whether every pixel is kept.
  ///
  /// Defaults to `false`. Quality and subsampling then have no effect, and photographs take more bytes than as PNG.
  public let isLossless: Bool
  /// The resolution of colour.
  ///
  /// Defaults to `Subsampling.yuv420`.
  public let subsampling: Subsampling
  /// The speed, from 0 (smallest) to 10 (fastest), on the scale of libavif and avifenc.
  ///
  /// Defaults to 8: half the time of avifenc's 6, for 1 to 3 % more bytes at equal quality. At 9 it takes a third of
  /// that time, for another 10 %; below 6 it takes five times as long and more, for a few percent less.
  /// Animations are encoded at 6 at most.
  public let speed: Int

  /// Makes options; numbers outside their ranges are clamped.
  public init(quality: Int = 75, isLossless: Bool = false, subsampling: Subsampling = .yuv420, speed: Int = 8) {
    (self.quality, self.isLossless) = (min(max(quality, 1), 100), isLossless)
    (self.subsampling, self.speed) = (subsampling, min(max(speed, 0), 10))
  }

  /// Makes options with a quality.
  public init(quality: Int?, isLossless: Bool) { self.init(quality: quality ?? 75, isLossless: isLossless) }

  /// The quality.
  public var commonQuality: Int? { quality }

  /// A Boolean value that indicates whether every pixel is kept.
  public var commonIsLossless: Bool { isLossless }

  /// The options as text.
  public var identifier: String { isLossless ? "lossless \(speed)" : "\(quality) \(subsampling.rawValue) \(speed)" }
}

extension ImageEncoding {
  /// AVIF, still or animated.
  ///
  /// It needs an ``AVIFEncoder`` in the encoders.
  ///
  /// - Parameters:
  ///   - quality: The quality of lossy encoding, from 1 to 100. Defaults to 75.
  ///   - isLossless: A Boolean value that indicates whether every pixel is kept. Defaults to `false`.
  ///   - subsampling: The resolution of colour. Defaults to 4:2:0.
  ///   - speed: The speed, from 0 (smallest) to 10 (fastest). Defaults to 8.
  /// - Returns: The encoding.
  public static func avif(
    quality: Int = 75,
    isLossless: Bool = false,
    subsampling: AVIFOptions.Subsampling = .yuv420,
    speed: Int = 8,
  ) -> ImageEncoding {
    ImageEncoding(
      .avif,
      AVIFOptions(quality: quality, isLossless: isLossless, subsampling: subsampling, speed: speed),
    )
  }
}
