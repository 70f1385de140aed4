package import VitrineRuntime

/// Encodes GIF, still or animated.
///
/// It needs no library. Memory beside the file: 2 MB for a still picture; for an animation two frames and two bytes a
/// pixel more.
package struct GIFEncoder: ImageEncoder {
  /// Makes the encoder.
  package init() {}

  /// GIF.
  package var format: ImageFormat { .gif }

  /// Animations and XMP, but not alpha, since coverage is none or all.
  package var features: EncoderFeatures { [.animation, .xmp] }

  /// Encodes a picture, whose sides may have up to 65,535 pixels.
  ///
  /// Blocks until done. Pixels that are less than half covered become transparent, all others opaque. Durations are
  /// rounded to hundredths of a second such that each frame begins at the right time. Of more than 50 frames a second
  /// some are left out, because browsers show none for less than 0.02 s. Equal frames become one.
  package func encode(_ input: EncoderInput, _ options: GIFOptions) throws(ImageError) -> Data {
    try Self.check(input.bitmap, .gif, longestSide: 0xFFFF)
    guard let animation = input.animation else { return try Self.still(input, options) }
    var frames = try input.frames(of: animation)
    var writer: GIFAnimationWriter?
    while let frame = try frames.next() {
      try input.checkCancellation()
      let bitmap = frame.bitmap.converted(to: .sRGB).straightened()
      if writer == nil { writer = GIFAnimationWriter(bitmap, loopCount: animation.info.loopCount, input, options) }
      try writer?.add(bitmap, delay: frame.delay)
    }
    // An animation without frames is a still picture.
    guard var writer else { return try Self.still(input, options) }
    return try writer.finish()
  }

  private static func still(_ input: EncoderInput, _ options: GIFOptions) throws(ImageError) -> Data {
    let pixels = DrawnPixels(input.bitmap)
    let isTransparent = pixels.leavesOut()
    let check = { () throws(ImageError) in try input.checkCancellation() }
    var counts = ColorCounts(pixelCount: pixels.area.width * pixels.area.height)
    try counts.add(pixels, check)
    let count = options.colorCount - (isTransparent ? 1 : 0)
    let colors = try GIFColors(counts, count: count, withTransparent: isTransparent, check)
    let dithering = colors.palette.isExact ? .none : options.dithering ?? .diffusion
    let picture = try colors.picture(pixels, dithering, check)
    var blocks = GIFBlocks(width: pixels.area.width, height: pixels.area.height, colors.table)
    if let xmp = input.xmp { blocks.append(xmp: xmp) }
    blocks.append(picture, at: pixels.area, nil, delay: nil, .keep)
    return blocks.finish()
  }
}

extension GIFEncoder: MeasuredEncoder {
  /// Indices, and the frames between which differences are taken.
  package var byteCountPerPixel: Int { 12 }
}
