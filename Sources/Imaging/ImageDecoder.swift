import VitrineRuntime

/// Reads images of one or more formats.
///
/// A decoder is a value without state of its own: what belongs to one image lives in the ``RowSource`` it opens. All of
/// it runs on the thread that asks and blocks that thread; nothing is called twice at once for one source.
public protocol ImageDecoder: Sendable {
  /// The formats it may be asked for, as ``ImageFormat/sniff(_:)`` tells them.
  var formats: [ImageFormat] { get }

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

/// Rows of one frame, from top to bottom, as stored: not yet turned upright.
public protocol RowSource: AnyObject {
  /// Pixels of a row as delivered.
  var width: Int { get }
  /// Rows as delivered.
  var height: Int { get }
  /// How wide the whole image is in delivered pixels, where that is not a whole number: at a scale of 1/8 an image 1,003
  /// pixels wide is 125.375 wide, though 126 pixels are delivered.
  var extentWidth: Double { get }
  /// How high the whole image is in delivered pixels.
  var extentHeight: Double { get }
  /// The delivered pixel of the whole image at which the rows begin, where the decoder left out what was not asked for.
  var origin: (x: Int, y: Int) { get }
  /// Whether the fourth byte of a pixel is straight coverage; else it is 255.
  var hasAlpha: Bool { get }
  /// What the four bytes of a pixel are: inks for ``ColorModel/cmyk``, 255 where there is most; else red, green, blue and
  /// alpha.
  var colorModel: ColorModel { get }
  /// Whether the decoder shrank by taking means, so that each delivered pixel is the mean of the stored ones it covers;
  /// the filter that does the rest then restores what that has blurred.
  var isAveraged: Bool { get }
  /// What is wrong although every row came, such as a picture that is there only coarsely; asked behind the last row that
  /// is needed.
  var damage: ImageError? { get }

  /// Reads the next rows: RGBA, 8 bits a component, straight alpha, or what ``colorModel`` says.
  ///
  /// - Parameters:
  ///   - rows: Where they go; at least `bytesPerRow * (count - 1) + 4 * width` bytes.
  ///   - bytesPerRow: From one row to the next.
  ///   - count: How many at most.
  /// - Returns: How many rows were read: at least 1 until the last one has been.
  /// - Throws: ``ImageError``: `.truncated`, `.corrupt`, `.cancelled`, `.outOfTime`.
  func read(into rows: UnsafeMutableRawBufferPointer, bytesPerRow: Int, count: Int) throws(ImageError) -> Int
}

extension RowSource {
  /// The ``width``.
  public var extentWidth: Double { Double(width) }
  /// The ``height``.
  public var extentHeight: Double { Double(height) }
  /// The first pixel of the image.
  public var origin: (x: Int, y: Int) { (0, 0) }
  /// `false`.
  public var isAveraged: Bool { false }
  /// RGBA.
  public var colorModel: ColorModel { .rgb }
  /// Nothing.
  public var damage: ImageError? { nil }
}

/// Tells a decoder whether to go on: the caller's wish and the time limit in one.
public struct DecodeControl: Sendable {
  private let isCancelled: (@Sendable () -> Bool)?
  private let limit: Duration?
  private let start: ContinuousClock.Instant

  package init(isCancelled: (@Sendable () -> Bool)?, timeLimit: Duration?) {
    self.isCancelled = isCancelled
    limit = timeLimit
    start = .now
  }

  /// Returns if work is to go on.
  ///
  /// Cheap enough to be asked every few rows.
  ///
  /// - Throws: ``ImageError``: `.cancelled`, `.outOfTime`.
  public func check() throws(ImageError) {
    if let isCancelled, isCancelled() { throw ImageError(.cancelled, "cancelled") }
    if let limit, ContinuousClock.now - start >= limit {
      throw ImageError(.outOfTime, limit: .timeLimit, "decoding took longer than the limit of \(limit)")
    }
  }
}

/// How much care is taken over the pixels of a thumbnail.
///
/// A decoder that can shrink while it decodes, to 1/8, 2/8 or 4/8 of a JPEG's size, is asked for the smallest of these that
/// is still so many times the size wanted; a Lanczos filter does the rest and restores what the decoder's averaging has
/// blurred. The decibels are the signal-to-noise ratio against the whole photograph decoded and filtered in floating point,
/// for photographs of 8 to 12 megapixels; where that lies in a range, most fine detail and least margin make the lower
/// end. Images that are not shrunk while decoding look the same in all three.
public enum DecodeQuality: String, Hashable, Sendable, CaseIterable {
  /// The decoder leaves at least what is asked for: 37 dB and more.
  ///
  /// An eighth of the size serves thumbnails up to that eighth. A thumbnail in the file serves where it is large enough
  /// and has the image's shape; how good it is the camera decided.
  case fast
  /// The decoder leaves at least 4/3 of what is asked for: 41 dB and more, 45 and more to 300 pixels.
  ///
  /// The default. A photograph of 8 megapixels still comes to 300 pixels from an eighth of its size.
  case balanced
  /// The decoder leaves at least three times what is asked for: 50 dB and more, differences no one sees.
  case best

  /// How many times the size asked for the decoder is to deliver at least.
  package var oversampling: Double {
    switch self {
    case .fast: 1
    case .balanced: 4 / 3
    case .best: 3
    }
  }
}

/// How an image is to be decoded.
public struct DecodeOptions: Sendable {
  /// The size wanted; `nil`, the default, for the image's own.
  public var size: TargetSize?
  /// The part of the upright image that is wanted, in its pixels, cut to what there is; `nil`, the default, for all of it.
  ///
  /// ``size`` is the size of that part. Decoders leave out what lies around it where they can, and the result is the same
  /// as that part of the whole image.
  public var region: PixelRegion?
  /// The care taken over pixels; ``DecodeQuality/balanced`` unless told.
  public var quality = DecodeQuality.balanced
  /// How the pixels of the size asked for are made of the decoder's; ``ResamplingFilter/lanczos3`` unless told.
  public var filter = ResamplingFilter.lanczos3
  /// Whether pixels are added up as light instead of as the numbers that stand for it, by sRGB's curve; `false` unless told.
  ///
  /// Fine bright detail keeps its brightness then: a checkerboard of black and white becomes the gray of level 188, not 128.
  /// Nothing can be shrunk while it is decoded, so the decoder does all the work there is. Inks are not light and are added
  /// as they are.
  public var linearLight = false
  /// What colours the result is in; ``ColorSpace/sRGB`` unless told.
  ///
  /// ``ColorSpace/displayP3`` keeps colours that sRGB lacks.
  public var colorSpace = ColorSpace.sRGB
  /// Which frame of an animation, from 0, the default.
  public var frame = 0
  /// The bounds to keep.
  public var limits = DecodeLimits()
  /// Whether the part of a damaged image that could be decoded is a result rather than an error; `false` unless told.
  ///
  /// What is missing is transparent.
  public var acceptsPartial = false
  /// Asked every few rows; `true` ends decoding with `.cancelled`.
  ///
  /// `nil`, the default, for no such question.
  public var isCancelled: (@Sendable () -> Bool)?

  /// How much of the result a pixel takes.
  var bytesPerPixel = 4

  /// Whether something smaller in the file may stand for the image.
  var allowsShortcut: Bool { quality == .fast && frame == 0 && region == nil && !linearLight }

  package var resampling: ResamplingOptions { ResamplingOptions(filter: filter, linearLight: linearLight) }

  /// The defaults named at each property, at `size`.
  public init(size: TargetSize? = nil) {
    self.size = size
  }

  /// What is to be made of an image whose header is known; checks what can be checked by then.
  func plan(for info: ImageInfo) throws(ImageError) -> SamplingPlan {
    var size = size
    if info.isVector { size?.enlarges = true }
    let plan: SamplingPlan
    if let region {
      guard let part = region.clipped(width: info.width, height: info.height) else {
        throw ImageError(
          .invalidSize,
          format: info.format,
          "nothing of \(info.width)x\(info.height) pixels is in \(region)",
        )
      }
      plan = try SamplingPlan(size, part)
    } else {
      plan = try SamplingPlan(size, width: info.width, height: info.height)
    }
    try limits.check(output: plan, of: info, bytesPerPixel: bytesPerPixel)
    return plan
  }

  func request(for info: ImageInfo, _ plan: SamplingPlan, _ control: DecodeControl) -> RowRequest {
    RowRequest(
      info: info,
      frame: frame,
      // Decoders average numbers, not light.
      minimumScale: linearLight ? 1 : min(1, plan.scale * quality.oversampling),
      // A drawing of which a part is wanted is drawn whole, and no larger than it says.
      scales: region == nil ? plan.scales : (min(1, plan.scales.x), min(1, plan.scales.y)),
      region: region.map { _ in plan.needed(of: info) },
      limits: limits,
      control: control,
    )
  }

  /// What makes the bitmap of a decoder's rows.
  func renderer(for info: ImageInfo, _ plan: SamplingPlan, _ control: DecodeControl) -> Renderer {
    Renderer(info: info, plan: plan, control: control, resampling: resampling, colorSpace: colorSpace)
  }
}
