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
  public var usesLinearLight = false
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
  var allowsShortcut: Bool { quality == .fast && frame == 0 && region == nil && !usesLinearLight }

  package var resampling: ResamplingOptions { ResamplingOptions(filter: filter, usesLinearLight: usesLinearLight) }

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
      minimumScale: usesLinearLight ? 1 : min(1, plan.scale * quality.oversampling),
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
