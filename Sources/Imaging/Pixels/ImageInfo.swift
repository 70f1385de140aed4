/// The facts in the header of an encoded image, read without decoding a pixel.
public struct ImageInfo: Sendable, Hashable {
  /// The format, detected from the bytes.
  public let format: ImageFormat
  /// The stored width in pixels, before ``orientation`` is applied.
  public let storedWidth: Int
  /// The stored height in pixels, before ``orientation`` is applied.
  public let storedHeight: Int
  /// The transform from the stored pixels to the upright image.
  public let orientation: Orientation
  /// The number of frames of an animation; 1 for a still image.
  public var frameCount = 1
  /// The duration of one loop of an animation, in seconds; 0 for a still image.
  public var duration = 0.0
  /// The number of times an animation plays; 0 for endless.
  ///
  /// 1 for a still image and if the file does not say.
  public var loopCount = 1
  /// A Boolean value that indicates whether pixels of the file can be transparent.
  public var hasAlpha = false
  /// The number of bits of a stored component; for a palette, of its colours.
  public var bitsPerComponent = 8
  /// The embedded ICC profile.
  public var colorProfile: ColorProfile?
  /// A Boolean value that indicates whether the picture can be drawn at any size, also one larger than the file's.
  ///
  /// Defaults to `false`.
  public var isVector = false
  /// The meaning of the stored components.
  ///
  /// Defaults to ``ColorModel/rgb``, also for palettes.
  public var colorModel = ColorModel.rgb
  /// The colours that the file declares without a profile.
  package var colorEncoding: ColorEncoding?
  /// The colours of a file of high dynamic range, which decoders deliver as ``HighRangeRows``.
  package var highRangeColors: HighRangeColors?
  /// A Boolean value that indicates whether the decoder streams rows, so that the image is never held as a whole.
  public var streamsRows = false

  /// The number of bytes that decoding holds besides the result, if the decoder knows.
  ///
  /// Defaults to `nil`, which counts as none if ``streamsRows`` is set, and otherwise as four bytes a pixel. It counts
  /// towards ``DecodeLimits/memoryByteCount``.
  public var workingByteCount: Int?

  /// The dynamic range of the file, by its curve: high for PQ and HLG.
  ///
  /// On Apple's platforms, where ImageIO reads the other formats, it is known of PNG alone.
  public var dynamicRange: DynamicRange { highRangeColors == nil ? .standard : .high }
  /// The brightest content as a multiple of white (203 nits), at least 1; `nil` if the file does not say, and for
  /// standard range.
  public var headroom: Double? { highRangeColors?.headroom }
  /// The curve of a file of high dynamic range: `pq` (SMPTE ST 2084) or `hlg` (ARIB STD-B67); `nil` for others.
  public var transferFunction: String? { highRangeColors?.transfer.rawValue }

  /// The width of the upright image, in pixels.
  public var width: Int { orientation.applied(width: storedWidth, height: storedHeight).width }
  /// The height of the upright image, in pixels.
  public var height: Int { orientation.applied(width: storedWidth, height: storedHeight).height }

  /// The facts of the same image stored upright.
  var upright: ImageInfo {
    var other = ImageInfo(format: format, storedWidth: width, storedHeight: height)
    (other.colorModel, other.colorProfile, other.colorEncoding) = (colorModel, colorProfile, colorEncoding)
    other.highRangeColors = highRangeColors
    return other
  }

  /// Makes the required facts, for decoders of your own.
  public init(format: ImageFormat, storedWidth: Int, storedHeight: Int, orientation: Orientation = .up) {
    self.format = format
    self.storedWidth = storedWidth
    self.storedHeight = storedHeight
    self.orientation = orientation
  }
}
