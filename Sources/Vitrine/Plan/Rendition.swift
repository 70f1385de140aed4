import VitrineImaging

/// What makes one decoded image of a source serve a request for another: all but its size, which its pixels say.
struct Rendition: Sendable, Hashable {
  let frame: Int
  let quality: DecodeQuality
  /// Whether it shows all of the source, in its aspect.
  let isWhole: Bool
  var filter = ResamplingFilter.lanczos3
  var usesLinearLight = false
  var colorSpace = ColorSpace.sRGB
}

extension Rendition {
  init(of info: ImageInfo, _ options: DecodeOptions) {
    (frame, quality) = (options.frame, options.quality)
    (filter, usesLinearLight, colorSpace) = (options.filter, options.usesLinearLight, options.colorSpace)
    let plan = try? SamplingPlan(options.size, width: info.width, height: info.height)
    let whole = SamplingPlan(width: info.width, height: info.height).crop
    isWhole = plan?.crop == whole && options.size?.mode != .exact
  }
}

/// An image in memory that has all that is asked for, and how to make that of it.
struct LargerVariant: Sendable {
  let image: LoadedImage
  let plan: SamplingPlan
  let rendition: Rendition

  /// Finds out whether `image` shows all of its source, in pixels enough for `options`, with one to spare for rounding.
  init?(_ image: LoadedImage, for options: DecodeOptions) {
    let info = image.info
    let wanted = Rendition(of: info, options)
    guard let known = image.rendition, known.isWhole, known.frame == wanted.frame, known.filter == wanted.filter,
      known.usesLinearLight == wanted.usesLinearLight, known.colorSpace == wanted.colorSpace,
      known.quality.oversampling >= wanted.quality.oversampling,
      let plan = try? SamplingPlan(options.size, width: info.width, height: info.height)
    else { return nil }
    let bitmap = image.container.bitmap
    guard Double(bitmap.width) + 1 >= Double(info.width) * plan.scales.x,
      Double(bitmap.height) + 1 >= Double(info.height) * plan.scales.y
    else { return nil }
    (self.image, self.plan, rendition) = (image, plan, wanted)
  }
}
