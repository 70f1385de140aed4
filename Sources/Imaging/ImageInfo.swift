public import VitrineRuntime

/// What the header of an encoded image says, without a pixel decoded.
public struct ImageInfo: Sendable, Hashable {
  /// The format, told from the bytes.
  public let format: ImageFormat
  /// The width in pixels of the image as stored, before ``orientation`` is applied.
  public let storedWidth: Int
  /// The height in pixels of the image as stored, before ``orientation`` is applied.
  public let storedHeight: Int
  /// How the stored pixels are turned to be upright.
  public let orientation: Orientation
  /// Frames of an animation; 1 for a still image.
  public var frameCount = 1
  /// How long an animation takes once through, in seconds; 0 for a still image.
  public var duration = 0.0
  /// How often an animation plays, 0 for without end; 1 for a still image and where the file says nothing.
  public var loopCount = 1
  /// Whether the file has a way to say that pixels are transparent.
  public var hasAlpha = false
  /// Bits of one component of a pixel, as stored; for a palette, those of its colours.
  public var bitsPerComponent = 8
  /// The embedded ICC profile.
  public var colorProfile: ColorProfile?
  /// Whether the picture is drawn at the size asked for, which may be larger than the one that the file says; `false` unless
  /// told.
  public var isVector = false
  /// What the stored numbers count; ``ColorModel/rgb``, which palettes hold too, unless told.
  public var colorModel = ColorModel.rgb
  /// What the file says of its colours where it has no profile.
  package var colorEncoding: ColorEncoding?
  /// Whether the decoder gives rows as it reads them, so that the image is never held whole.
  public var streamsRows = false

  /// The width of the upright image, in pixels.
  public var width: Int { orientation.applied(width: storedWidth, height: storedHeight).width }
  /// The height of the upright image, in pixels.
  public var height: Int { orientation.applied(width: storedWidth, height: storedHeight).height }

  /// Makes the least a header says; for decoders of your own.
  public init(format: ImageFormat, storedWidth: Int, storedHeight: Int, orientation: Orientation = .up) {
    self.format = format
    self.storedWidth = storedWidth
    self.storedHeight = storedHeight
    self.orientation = orientation
  }
}

/// An ICC colour profile as it stands in a file.
public struct ColorProfile: Sendable, Hashable {
  /// The profile's bytes (ICC.1).
  public let data: Data

  /// Keeps the bytes of a profile.
  public init(data: Data) {
    self.data = data
  }
}
