import VitrineRuntime

/// Reads images of one or more formats.
///
/// A decoder is a value without state of its own: what belongs to one image lives in the ``RowSource`` it opens. All of
/// it runs on the thread that asks and blocks that thread; nothing is called twice at once for one source.
public protocol ImageDecoder: Sendable {
  /// The formats it may be asked for, as ``ImageFormat/sniff(_:)`` or ``recognizes(_:)`` tells them.
  var formats: [ImageFormat] { get }

  /// Tells the format of a file that begins with these bytes, for formats that Vitrine does not know.
  ///
  /// Asked only about bytes that ``ImageFormat/sniff(_:)`` knows nothing of, and perhaps of a file that is still coming:
  /// again when there are more. It must be short. Defaults to `nil`.
  ///
  /// - Returns: One of ``formats``; `nil` where the bytes are of none, or too few to say.
  func recognizes(_ bytes: UnsafeRawBufferPointer) -> ImageFormat?

  /// Reads the header, and no pixel.
  ///
  /// - Returns: `nil` to decline: the next decoder of the format is asked.
  /// - Throws: ``ImageError``: `.truncated`, `.corrupt`, `.unsupported`.
  func info(
    of bytes: UnsafeRawBufferPointer,
    format: ImageFormat,
    limits: DecodeLimits,
  ) throws(ImageError) -> ImageInfo?

  /// Says what is different about one frame of a file whose frames have sizes, orientations or profiles of their own.
  ///
  /// - Returns: `info`, unless the decoder has more to say.
  /// - Throws: ``ImageError``: `.truncated`, `.corrupt`, `.unsupported`, `.noSuchFrame`.
  func info(
    ofFrame frame: Int,
    of bytes: UnsafeRawBufferPointer,
    _ info: ImageInfo,
    limits: DecodeLimits,
  ) throws(ImageError) -> ImageInfo

  /// Opens one frame for reading rows, which must be done before the memory of `bytes` goes: within the call to the
  /// registry that led here.
  ///
  /// - Returns: `nil` to decline.
  /// - Throws: ``ImageError``: `.truncated`, `.corrupt`, `.unsupported`, `.noSuchFrame`.
  func open(_ bytes: UnsafeRawBufferPointer, _ request: RowRequest) throws(ImageError) -> (any RowSource)?

  /// Reads how long each frame of an animation is shown, in seconds.
  ///
  /// - Throws: ``ImageError``: `.truncated`, `.corrupt`.
  func frameDelays(of bytes: UnsafeRawBufferPointer, _ info: ImageInfo) throws(ImageError) -> [Double]

  /// Reads what a file says beside its pixels; what takes more than the limit is left out.
  ///
  /// - Throws: ``ImageError``: `.truncated`, `.corrupt`.
  func metadata(
    of bytes: UnsafeRawBufferPointer,
    _ info: ImageInfo,
    limits: DecodeLimits,
  ) throws(ImageError) -> ImageMetadata
}

extension ImageDecoder {
  /// Nothing that Vitrine does not.
  public func recognizes(_ bytes: UnsafeRawBufferPointer) -> ImageFormat? { nil }

  /// The same for all frames.
  public func frameDelays(of bytes: UnsafeRawBufferPointer, _ info: ImageInfo) throws(ImageError) -> [Double] {
    [Double](repeating: info.duration / Double(max(1, info.frameCount)), count: info.frameCount)
  }

  /// The profile, and nothing else.
  public func metadata(
    of bytes: UnsafeRawBufferPointer,
    _ info: ImageInfo,
    limits: DecodeLimits,
  ) throws(ImageError) -> ImageMetadata {
    var metadata = ImageMetadata()
    metadata.colorProfile = info.colorProfile
    return metadata
  }
}

extension ImageDecoder {
  /// The same for all frames.
  public func info(
    ofFrame frame: Int,
    of bytes: UnsafeRawBufferPointer,
    _ info: ImageInfo,
    limits: DecodeLimits,
  ) throws(ImageError) -> ImageInfo { info }
}

/// A decoder of Vitrine's own: no code of a user's runs in it.
package protocol VitrineDecoder: ImageDecoder {}

/// What a decoder is asked to open.
public struct RowRequest: Sendable {
  /// What ``ImageDecoder/info(of:format:limits:)`` said; within the limits.
  public let info: ImageInfo
  /// Which frame, from 0.
  public let frame: Int
  /// The smallest scale at which the caller can use the image, above 0 and at most 1.
  ///
  /// A decoder that can shrink while it decodes delivers any scale between this and 1; what is left to shrink the
  /// caller does.
  public let minimumScale: Double
  /// How many pixels the caller wants for one of the upright picture, across and down.
  ///
  /// A drawing is drawn at this scale, which may be above 1.
  package let scales: (x: Double, y: Double)
  /// The part that is needed, in stored pixels and within the image; `nil` for all of it.
  ///
  /// A decoder may leave out what lies beyond and say so in ``RowSource/origin``. Filters' reach is in it.
  public let region: PixelRegion?
  /// The bounds to keep.
  public let limits: DecodeLimits
  /// To be asked now and then, in work that is not reading rows, whether to go on.
  public let control: DecodeControl

  package init(
    info: ImageInfo,
    frame: Int = 0,
    minimumScale: Double,
    scales: (x: Double, y: Double) = (1, 1),
    region: PixelRegion? = nil,
    limits: DecodeLimits = DecodeLimits(),
    control: DecodeControl = DecodeControl(isCancelled: nil, timeLimit: nil),
  ) {
    (self.info, self.frame, self.minimumScale, self.scales) = (info, frame, minimumScale, scales)
    (self.region, self.limits, self.control) = (region, limits, control)
  }

  /// The same without a region.
  package var ofWhole: RowRequest {
    RowRequest(info: info, frame: frame, minimumScale: minimumScale, scales: scales, limits: limits, control: control)
  }
}
