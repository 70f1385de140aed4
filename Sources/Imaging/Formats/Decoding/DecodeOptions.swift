/// The quality of downsampling.
///
/// Some decoders can downsample while they decode, a JPEG for example to 1/8, 2/8 or 4/8 of its size. They deliver
/// the smallest such size that is at least a given multiple of the requested size. The filter, Lanczos by default,
/// does the rest and restores what the decoder's averaging has blurred.
///
/// The decibels below are the signal-to-noise ratio against the whole photograph decoded and filtered in floating
/// point, for photographs of 8 to 12 megapixels. The lower end of a range applies to the finest detail and the
/// smallest margin. Images that are not downsampled while decoding look the same at all three levels.
public enum DecodeQuality: String, Hashable, Sendable, CaseIterable {
  /// The decoder delivers at least the requested size: 37 dB and more.
  ///
  /// An eighth of the size is used for thumbnails up to that eighth. A thumbnail embedded in the file is used if it
  /// is large enough, and has the image's shape and looks like its top; its quality is the camera's choice.
  case fast
  /// The decoder delivers at least 4/3 of the requested size: 41 dB and more, or 45 dB and more up to 300 pixels.
  /// This is the default.
  ///
  /// A photograph of 8 megapixels is still decoded at an eighth of its size for a thumbnail of 300 pixels.
  case balanced
  /// The decoder delivers at least three times the requested size: 50 dB and more, without visible differences.
  case best

  /// The minimum ratio of the decoder's size to the requested size.
  package var oversampling: Double {
    switch self {
    case .fast: 1
    case .balanced: 4 / 3
    case .best: 3
    }
  }
}

/// The options for decoding an image.
public struct DecodeOptions: Sendable {
  /// The requested size.
  ///
  /// Defaults to `nil`: the image's own size.
  public var size: TargetSize?
  /// The requested part of the upright image, in its pixels, clamped to the image.
  ///
  /// Defaults to `nil`: all of it.
  ///
  /// ``size`` is the size of that part. Decoders skip the pixels around it where they can. The result equals the same
  /// part of the whole image.
  public var region: PixelRegion?
  /// The quality of downsampling.
  ///
  /// Defaults to ``DecodeQuality/balanced``.
  public var quality = DecodeQuality.balanced
  /// The filter that resamples the decoder's pixels to the requested size.
  ///
  /// Defaults to ``ResamplingFilter/lanczos3``.
  public var filter = ResamplingFilter.lanczos3
  /// A Boolean value that indicates whether pixels are averaged as linear light, by sRGB's curve, rather than as
  /// encoded values.
  ///
  /// Defaults to `false`.
  ///
  /// With linear light, fine bright detail keeps its brightness: a checkerboard of black and white becomes gray at
  /// level 188, not 128. Thin dark text on white becomes lighter, so it is not the default. Inks are not light and are
  /// always averaged as encoded.
  ///
  /// The decoder then cannot downsample, and decodes every pixel: 58 ms for a JPEG of 12 megapixels at 300 pixels,
  /// where averaging as encoded takes 15. Below ``DecodeQuality/best``, a baseline JPEG at up to a tenth of its size takes
  /// 34 ms: the light of each 64 pixels then follows from their mean and their deviation. Beside the light of all pixels,
  /// photographs of 8 megapixels and more have 41 dB and more, small ones full of leaves 32, and text and fine patterns 27.
  public var usesLinearLight = false
  /// The colour space of the result.
  ///
  /// Defaults to ``ColorSpace/sRGB``.
  ///
  /// ``ColorSpace/displayP3`` keeps colours that sRGB lacks.
  public var colorSpace = ColorSpace.sRGB
  /// The dynamic range of the result.
  ///
  /// Defaults to ``DynamicRange/standard``.
  ///
  /// With ``DynamicRange/high`` the result also has ``ImageContainer/gainMap``, where the file has one, and
  /// ``ImageContainer/highRange``, where it is brighter than white and the system can decode that.
  public var dynamicRange = DynamicRange.standard
  /// A Boolean value that indicates whether an animation comes with its frames, as ``ImageContainer/animation``.
  ///
  /// Defaults to `false`: the first frame, or the one at ``frame``.
  ///
  /// It holds for whole images from their first frame on; ``frame`` and ``region`` other than the defaults give a still
  /// image.
  public var animates = false
  /// The index of the frame to decode, counted from 0.
  ///
  /// Defaults to 0.
  public var frame = 0
  /// The limits.
  ///
  /// Defaults to ``DecodeLimits``' defaults.
  public var limits = DecodeLimits()
  /// A Boolean value that indicates whether the decoded part of a damaged image is a result rather than an error.
  ///
  /// Defaults to `false`.
  ///
  /// The result then says so in ``ImageContainer/damage``, and the missing part is transparent. A progressive JPEG and an
  /// interlaced PNG are coarse where their details are missing. An animation has the frames before the damage; if its first
  /// frame is damaged, the result is a still image. A file of which no row can be decoded is an error.
  public var acceptsPartial = false
  /// A closure that is called every few rows; `true` stops decoding with `.cancelled`.
  ///
  /// Defaults to `nil`.
  public var isCancelled: (@Sendable () -> Bool)?

  /// The size of a pixel of the result, in bytes.
  package var bytesPerPixel = 4

  /// The part of a drawing that takes the place of the picture, without a size or a region; `nil` for all of it.
  ///
  /// Other pictures have none.
  package var drawnPart: DrawnPart?

  /// True if a smaller picture in the file may stand for the image.
  var allowsShortcut: Bool { quality == .fast && !animates && frame == 0 && region == nil && !usesLinearLight }

  package var resampling: ResamplingOptions { ResamplingOptions(filter: filter, usesLinearLight: usesLinearLight) }

  /// Makes options with the default values and the given size.
  public init(size: TargetSize? = nil) {
    self.size = size
  }

  /// Returns the plan for an image whose header is known, and checks all that can be checked at this point.
  package func plan(for info: ImageInfo) throws(ImageError) -> SamplingPlan {
    var size = size
    if info.isVector { size?.enlarges = true }
    let plan: SamplingPlan
    if info.isVector, let part = drawnPart?.region {
      guard part.width > 0, part.height > 0 else {
        throw ImageError(.invalidSize, format: info.format, "the part \(part) of a drawing is empty")
      }
      plan = SamplingPlan(width: part.width, height: part.height)
    } else if let region {
      guard let part = region.clipped(width: info.width, height: info.height) else {
        throw ImageError(
          .invalidSize,
          format: info.format,
          "the region \(region) is outside the image of \(info.width)x\(info.height) pixels",
        )
      }
      plan = try SamplingPlan(size, part)
    } else {
      plan = try SamplingPlan(size, width: info.width, height: info.height)
    }
    try limits.check(output: plan, of: info, bytesPerPixel: bytesPerPixel)
    return plan
  }
}
