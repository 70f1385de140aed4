import VitrineRuntime

/// A decoder of one or more formats.
///
/// A decoder is a value without state; the state of decoding one image is in the ``RowSource`` that it opens. All its
/// functions run on the caller's thread and block it. No two calls to one source overlap.
public protocol ImageDecoder: Sendable {
  /// The formats it can decode, as ``ImageFormat/sniff(_:)`` or ``recognizes(_:)`` names them.
  var formats: [ImageFormat] { get }

  /// Returns the format of a file that begins with these bytes, for formats that Vitrine does not know.
  ///
  /// It is called only for bytes that ``ImageFormat/sniff(_:)`` does not recognise. The file may still be loading;
  /// then it is called again with more bytes. It must be fast. Defaults to `nil`.
  ///
  /// - Returns: One of ``formats``; `nil` if the bytes are of none, or too few to tell.
  func recognizes(_ bytes: UnsafeRawBufferPointer) -> ImageFormat?

  /// Reads the header without decoding a pixel.
  ///
  /// - Returns: The facts; `nil` to decline, so that the next decoder of the format is used.
  /// - Throws: ``ImageError``: `.truncated`, `.corrupt`, `.unsupported`.
  func info(
    of bytes: UnsafeRawBufferPointer,
    format: ImageFormat,
    limits: DecodeLimits,
  ) throws(ImageError) -> ImageInfo?

  /// Returns the facts of one frame, for files whose frames have sizes, orientations or profiles of their own.
  ///
  /// Defaults to `info`.
  ///
  /// - Throws: ``ImageError``: `.truncated`, `.corrupt`, `.unsupported`, `.noSuchFrame`.
  func info(
    ofFrame frame: Int,
    of bytes: UnsafeRawBufferPointer,
    _ info: ImageInfo,
    limits: DecodeLimits,
  ) throws(ImageError) -> ImageInfo

  /// Opens one frame for reading rows.
  ///
  /// The rows are read before the registry's call returns, while the memory of `bytes` is valid.
  ///
  /// - Returns: The rows; `nil` to decline.
  /// - Throws: ``ImageError``: `.truncated`, `.corrupt`, `.unsupported`, `.noSuchFrame`.
  func open(_ bytes: UnsafeRawBufferPointer, _ request: RowRequest) throws(ImageError) -> (any RowSource)?

  /// Reads the duration of each frame of an animation, in seconds.
  ///
  /// - Throws: ``ImageError``: `.truncated`, `.corrupt`.
  func frameDelays(of bytes: UnsafeRawBufferPointer, _ info: ImageInfo) throws(ImageError) -> [Double]

  /// Reads a file's metadata. Metadata larger than the limit is left out.
  ///
  /// - Throws: ``ImageError``: `.truncated`, `.corrupt`.
  func metadata(
    of bytes: UnsafeRawBufferPointer,
    _ info: ImageInfo,
    limits: DecodeLimits,
  ) throws(ImageError) -> ImageMetadata
}

extension ImageDecoder {
  /// Returns `nil`: no formats beyond Vitrine's own.
  public func recognizes(_ bytes: UnsafeRawBufferPointer) -> ImageFormat? { nil }

  /// Returns the same duration for all frames.
  public func frameDelays(of bytes: UnsafeRawBufferPointer, _ info: ImageInfo) throws(ImageError) -> [Double] {
    [Double](repeating: info.duration / Double(max(1, info.frameCount)), count: info.frameCount)
  }

  /// Returns the profile, and nothing else.
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
  /// Returns `info`: all frames are alike.
  public func info(
    ofFrame frame: Int,
    of bytes: UnsafeRawBufferPointer,
    _ info: ImageInfo,
    limits: DecodeLimits,
  ) throws(ImageError) -> ImageInfo { info }
}

/// A decoder of Vitrine's own: it runs no code of a user.
package protocol VitrineDecoder: ImageDecoder {
  /// Estimates the memory of opening one frame, from the header alone.
  ///
  /// Defaults to ``DecodeMemory/init(_:)``.
  func memory(for bytes: UnsafeRawBufferPointer, _ request: RowRequest) throws(ImageError) -> DecodeMemory
}

extension VitrineDecoder {
  package func memory(for bytes: UnsafeRawBufferPointer, _ request: RowRequest) throws(ImageError) -> DecodeMemory {
    DecodeMemory(request.info)
  }
}

extension ImageDecoder {
  /// Estimates the memory of opening one frame.
  package func memory(of bytes: UnsafeRawBufferPointer, _ request: RowRequest) throws(ImageError) -> DecodeMemory {
    guard let own = self as? any VitrineDecoder else { return DecodeMemory(request.info) }
    return try unsafe own.memory(for: bytes, request)
  }
}

/// A decoder that can decode pixels brighter than white.
package protocol HighRangeDecoding: ImageDecoder {
  /// Decodes one frame upright at the size of a plan; returns `nil` if nothing in it is brighter than white.
  func highRange(
    of bytes: UnsafeRawBufferPointer,
    _ info: ImageInfo,
    frame: Int,
    _ plan: SamplingPlan,
  ) throws(ImageError) -> HighRangeBitmap?
}

/// A request to a decoder to open an image.
public struct RowRequest: Sendable {
  /// The result of ``ImageDecoder/info(of:format:limits:)``, which is within the limits.
  public let info: ImageInfo
  /// The index of the frame, counted from 0.
  public let frame: Int
  /// The smallest scale at which the caller can use the image, above 0 and at most 1.
  ///
  /// A decoder that can downsample delivers any scale between this and 1. The caller resamples the rest.
  public let minimumScale: Double
  /// The smallest scale at which the caller can use pixels that are means of linear light, encoded as sRGB is.
  ///
  /// It is 1 if the caller wants the mean of encoded values, or all pixels.
  package let lightScale: Double
  /// The number of pixels that the caller needs for each of the upright picture, across and down.
  ///
  /// A drawing is drawn at this scale, which may be above 1.
  package let scales: (x: Double, y: Double)
  /// The part of a drawing that is delivered as if it were the picture, in pixels at ``scales``; `nil` for all of it.
  package let drawnPart: PixelRegion?
  /// The part that is needed, in stored pixels and inside the image; `nil` for all of it.
  ///
  /// It includes the reach of the filter. A decoder may skip pixels outside and report so in ``RowSource/origin``.
  public let region: PixelRegion?
  /// The colour space of the result, which a decoder that converts colours may deliver.
  public let colorSpace: ColorSpace
  /// The limits.
  public let limits: DecodeLimits
  /// The maximum number of threads to decode with, the caller's included.
  ///
  /// Above 1 where cores are idle, and only for formats that can be decoded on several.
  package let threadCount: Int
  /// The check that work other than reading rows must call now and then, to stop when asked to.
  public let control: DecodeControl

  package init(
    info: ImageInfo,
    frame: Int = 0,
    minimumScale: Double,
    lightScale: Double = 1,
    scales: (x: Double, y: Double) = (1, 1),
    drawnPart: PixelRegion? = nil,
    region: PixelRegion? = nil,
    colorSpace: ColorSpace = .sRGB,
    limits: DecodeLimits = DecodeLimits(),
    threadCount: Int = 1,
    control: DecodeControl = DecodeControl(isCancelled: nil, timeLimit: nil),
  ) {
    (self.info, self.frame, self.scales) = (info, frame, scales)
    (self.minimumScale, self.lightScale) = (minimumScale, lightScale)
    (self.drawnPart, self.region, self.colorSpace) = (drawnPart, region, colorSpace)
    (self.limits, self.threadCount, self.control) = (limits, threadCount, control)
  }

  /// The bytes of a whole drawing at the requested scale.
  package var drawnByteCount: Int {
    let (width, height) = (Double(info.storedWidth) * scales.x, Double(info.storedHeight) * scales.y)
    return Int(min(4 * (width.rounded(.up) + 1) * (height.rounded(.up) + 1), 1e18))
  }

  /// Returns the side of the largest blocks of pixels whose means are enough for the request.
  ///
  /// The caller's filter gets at least twice the requested size, as from the box filter that it would use itself.
  ///
  /// - Parameter unit: The number of which the side is a multiple, such as the pixels that share a sample of chroma.
  /// - Returns: The side in pixels; 1 for no blocks.
  package func meanFactor(unit: Int) -> Int {
    // The mean of colours is weighted with their coverage, which the caller's filter does.
    guard region == nil, !info.hasAlpha else { return 1 }
    let scale = max(minimumScale, 2 * max(scales.x, scales.y))
    guard scale > 0, scale <= 1 else { return 1 }
    let factor = Int(min(Double(PlaneMeans.factorLimit), 1 / scale)) / unit * unit
    return factor < PlaneMeans.leastFactor ? 1 : factor
  }

  /// The request for all pixels at their own size, to be drawn onto a canvas, which has the file's colours, or sRGB in place
  /// of high dynamic range.
  package var unscaled: RowRequest {
    RowRequest(
      info: info,
      frame: frame,
      minimumScale: 1,
      colorSpace: info.highRangeColors == nil ? colorSpace : .sRGB,
      limits: limits,
      threadCount: threadCount,
      control: control,
    )
  }

  /// The request without a region.
  package var ofWhole: RowRequest {
    RowRequest(
      info: info,
      frame: frame,
      minimumScale: minimumScale,
      lightScale: lightScale,
      scales: scales,
      drawnPart: drawnPart,
      colorSpace: colorSpace,
      limits: limits,
      threadCount: threadCount,
      control: control,
    )
  }
}
