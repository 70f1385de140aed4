/// The options for encoding GIF.
package struct GIFOptions: EncodingOptions {
  /// The number of colours, from 2 to 256, with the transparent one.
  ///
  /// Defaults to 256.
  package let colorCount: Int
  /// What is done about colours that the palette lacks.
  ///
  /// Defaults to `nil`: ``ImageEncoding/Dithering/diffusion`` for a still picture, ``ImageEncoding/Dithering/ordered``
  /// for an animation.
  package let dithering: ImageEncoding.Dithering?

  /// Makes options; a number of colours outside its range is clamped.
  package init(colorCount: Int = 256, dithering: ImageEncoding.Dithering? = nil) {
    (self.colorCount, self.dithering) = (min(max(colorCount, 2), 256), dithering)
  }

  /// Makes options; the quality has no effect.
  package init(quality: Int?, isLossless: Bool) { self.init() }

  /// The options as text.
  package var identifier: String { "\(colorCount) \(dithering?.rawValue ?? "automatic")" }
}

extension ImageEncoding {
  /// What is done about colours that the palette lacks.
  public enum Dithering: String, Sendable, Hashable, CaseIterable {
    /// Each pixel gets the nearest colour. Drawings stay clean; smooth areas show bands.
    case none
    /// The error of each pixel is spread over its neighbours (Floyd and Steinberg, 1976). Best for photographs; what
    /// stands still in an animation may shimmer.
    case diffusion
    /// A fixed pattern decides between the two nearest colours (Bayer, 1973). What stands still in an animation stays.
    case ordered
  }

  /// GIF, still or animated.
  ///
  /// A picture of no more colours than the palette has loses none. Pixels that are less than half covered become
  /// transparent.
  ///
  /// - Parameters:
  ///   - colorCount: The number of colours, from 2 to 256. Defaults to 256.
  ///   - dithering: What is done about colours that the palette lacks. Defaults to `nil`, which depends on the picture.
  /// - Returns: The encoding.
  public static func gif(colorCount: Int = 256, dithering: Dithering? = nil) -> ImageEncoding {
    ImageEncoding(.gif, GIFOptions(colorCount: colorCount, dithering: dithering))
  }
}
