/// The options for encoding JPEG.
public struct JPEGOptions: EncodingOptions {
  /// The resolution of colour beside that of brightness.
  public enum Subsampling: String, Sendable, Hashable, CaseIterable {
    /// Half of the resolution in both directions: 4:2:0. Small, and what cameras and the web use.
    case yuv420 = "420"
    /// Half of the resolution in width: 4:2:2.
    case yuv422 = "422"
    /// Full resolution: 4:4:4. For text, drawings and red edges.
    case yuv444 = "444"
  }

  /// The quality, from 1 to 100.
  ///
  /// Defaults to 85.
  public let quality: Int
  /// The resolution of colour.
  ///
  /// Defaults to ``Subsampling/yuv420``.
  public let subsampling: Subsampling
  /// A Boolean value that indicates whether the picture comes in scans of growing detail.
  ///
  /// Defaults to `false`. Such files are a few percent smaller, and take several times as long to write and to read.
  public let isProgressive: Bool

  /// Makes options; a quality outside 1 to 100 is clamped.
  public init(quality: Int = 85, subsampling: Subsampling = .yuv420, isProgressive: Bool = false) {
    self.quality = min(max(quality, 1), 100)
    (self.subsampling, self.isProgressive) = (subsampling, isProgressive)
  }

  /// Makes options with a quality; JPEG is never lossless.
  public init(quality: Int?, isLossless: Bool) { self.init(quality: quality ?? 85) }

  /// The quality.
  public var commonQuality: Int? { quality }

  /// The options as text.
  public var identifier: String { "\(quality) \(subsampling.rawValue)\(isProgressive ? " progressive" : "")" }
}

extension ImageEncoding {
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
    subsampling: JPEGOptions.Subsampling = .yuv420,
    isProgressive: Bool = false,
  ) -> ImageEncoding {
    let options = JPEGOptions(quality: quality, subsampling: subsampling, isProgressive: isProgressive)
    return ImageEncoding(.jpeg, options)
  }
}
