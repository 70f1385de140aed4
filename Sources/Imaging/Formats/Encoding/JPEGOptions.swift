/// The options for encoding JPEG.
package struct JPEGOptions: EncodingOptions {
  /// The quality, from 1 to 100.
  ///
  /// Defaults to 85.
  package let quality: Int
  /// The resolution of colour.
  ///
  /// Defaults to ``ImageEncoding/Subsampling/yuv420``.
  package let subsampling: ImageEncoding.Subsampling
  /// A Boolean value that indicates whether the picture comes in scans of growing detail.
  ///
  /// Defaults to `false`. Such files are a few percent smaller, and take several times as long to write and to read.
  package let isProgressive: Bool
  /// True for brightness alone, where the encoder can leave out colours.
  private(set) var isGray = false

  /// Makes options; a quality outside 1 to 100 is clamped.
  package init(quality: Int = 85, subsampling: ImageEncoding.Subsampling = .yuv420, isProgressive: Bool = false) {
    self.quality = min(max(quality, 1), 100)
    (self.subsampling, self.isProgressive) = (subsampling, isProgressive)
  }

  /// Makes options with a quality; JPEG is never lossless.
  package init(quality: Int?, isLossless: Bool) { self.init(quality: quality ?? 85) }

  /// Returns the options for a gain map: faults in it are seen as patches of another brightness.
  ///
  /// Equal gains are written as brightness alone, since some readers apply three components in another way.
  func ofGainMap(_ gains: Bitmap) -> JPEGOptions {
    var options = JPEGOptions(quality: max(quality, 85), subsampling: .yuv444)
    options.isGray = gains.withElements { pixels in
      stride(from: 0, to: pixels.count, by: 4).allSatisfy {
        pixels[$0] == pixels[$0 + 1] && pixels[$0] == pixels[$0 + 2]
      }
    }
    return options
  }

  /// The quality.
  package var commonQuality: Int? { quality }

  /// The options as text.
  package var identifier: String { "\(quality) \(subsampling.rawValue)\(isProgressive ? " progressive" : "")" }
}

extension ImageEncoding {
  /// The resolution of colour beside the resolution of brightness.
  public enum Subsampling: String, Sendable, Hashable, CaseIterable {
    /// Half of the resolution in both directions: 4:2:0. Small, and the usual choice of cameras and of the web.
    case yuv420 = "420"
    /// Half of the resolution in width: 4:2:2.
    case yuv422 = "422"
    /// Full resolution: 4:4:4. For text, drawings and red edges.
    case yuv444 = "444"
  }

  /// JPEG, with optimised Huffman tables.
  ///
  /// Transparent pixels are composited over white.
  ///
  /// - Parameters:
  ///   - quality: The quality, from 1 to 100. Defaults to 85.
  ///   - subsampling: The resolution of colour. Defaults to 4:2:0.
  ///   - isProgressive: A Boolean value that indicates whether the picture comes in scans of growing detail. Defaults
  ///     to `false`.
  /// - Returns: The encoding.
  public static func jpeg(
    quality: Int = 85,
    subsampling: Subsampling = .yuv420,
    isProgressive: Bool = false,
  ) -> ImageEncoding {
    let options = JPEGOptions(quality: quality, subsampling: subsampling, isProgressive: isProgressive)
    return ImageEncoding(.jpeg, options)
  }
}
