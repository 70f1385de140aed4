import VitrineImaging

/// The properties that a decoded image must share with a request to serve it, except the size, which the pixels show.
struct DecodeParameters: Sendable, Hashable {
  let frame: Int
  let quality: DecodeQuality
  /// A Boolean value that indicates whether the image shows all of the source, in its aspect ratio.
  let isWhole: Bool
  var filter = ResamplingFilter.lanczos3
  var usesLinearLight = false
  var colorSpace = ColorSpace.sRGB
  var dynamicRange = DynamicRange.standard
  var animates = false
}

extension DecodeParameters {
  init(of info: ImageInfo, _ options: DecodeOptions) {
    (frame, quality) = (options.frame, options.quality)
    (filter, usesLinearLight, colorSpace) = (options.filter, options.usesLinearLight, options.colorSpace)
    (dynamicRange, animates) = (options.dynamicRange, options.animates)
    let plan = try? SamplingPlan(options.size, width: info.width, height: info.height)
    let whole = SamplingPlan(width: info.width, height: info.height).crop
    isWhole = plan?.crop == whole && options.size?.mode != .exact
  }
}

/// An image in memory from which a requested one can be made, and the plan for that.
struct LargerVariant: Sendable {
  let image: LoadedImage
  let plan: SamplingPlan
  let parameters: DecodeParameters

  /// Creates a variant; returns `nil` unless `image` shows all of its source in enough pixels for `options`, give or
  /// take one for rounding.
  init?(_ image: LoadedImage, for options: DecodeOptions) {
    let info = image.info
    let wanted = DecodeParameters(of: info, options)
    guard let known = image.parameters, known.isWhole, known.frame == wanted.frame, known.filter == wanted.filter,
      known.usesLinearLight == wanted.usesLinearLight, known.colorSpace == wanted.colorSpace,
      known.quality.oversampling >= wanted.quality.oversampling,
      // Highlights, which are brighter than white, are not resampled.
      known.dynamicRange == wanted.dynamicRange, image.container.highRange == nil, image.container.gainMap == nil,
      // A still image does not serve a request for an animation, and frames are not resampled.
      known.animates == wanted.animates, image.container.animation == nil,
      // A damaged image serves only requests for it.
      image.container.damage == nil,
      let plan = try? SamplingPlan(options.size, width: info.width, height: info.height)
    else { return nil }
    let bitmap = image.container.bitmap
    guard Double(bitmap.width) + 1 >= Double(info.width) * plan.scales.x,
      Double(bitmap.height) + 1 >= Double(info.height) * plan.scales.y
    else { return nil }
    (self.image, self.plan, parameters) = (image, plan, wanted)
  }
}
