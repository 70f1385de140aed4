// Pixels in fixed-point numbers of 16 bits: levels times 128. Memory has four elements for each pixel.
extension PixelKernels {
  /// Converts bytes to multiples of 1/128, if wanted colours times their coverage.
  static func widen(_ source: Elements<UInt8>, into line: MutableElements<Int16>, premultiplies: Bool) {
    guard premultiplies else {
      return line.update(with: source) { bytes, _ in
        SIMD16<Int16>(truncatingIfNeeded: bytes) &<< 7
      } four: { bytes, _ in
        SIMD4<Int16>(truncatingIfNeeded: bytes) &<< 7
      }
    }
    line.update(with: source) { pixel, _ in
      var wide = SIMD4<Int32>(truncatingIfNeeded: pixel) &<< 7
      let alpha = wide.w
      wide = (wide &* Int32(pixel.w) &+ 127) / 255
      wide.w = alpha
      return SIMD4<Int16>(truncatingIfNeeded: wide)
    }
  }

  /// Converts multiples of 1/128 to floats.
  static func widen(_ source: Elements<Int16>, into line: MutableElements<Float>) {
    line.update(with: source) { pixel, _ in SIMD4<Float>(pixel) * (1 / 128) }
  }

  /// Rounds opaque pixels to bytes.
  static func round(_ source: Elements<Int16>, into output: MutableElements<UInt8>) {
    let opaque = SIMD4<UInt8>(0, 0, 0, 255)
    let fourOpaque = fourTimes(opaque)
    output.update(with: source) { values, _ in
      SIMD16<UInt8>(truncatingIfNeeded: (values &+ 64) &>> 7) | fourOpaque
    } four: { values, _ in
      SIMD4<UInt8>(truncatingIfNeeded: (values &+ 64) &>> 7) | opaque
    }
  }

  /// Moves the straight colours in `output` away from the colours of blurred pixels, which are premultiplied floats of 0 to
  /// 255.
  ///
  /// Differences below `threshold` do not count. The contents of `line` are lost.
  static func sharpen(
    _ output: MutableElements<UInt8>,
    _ line: MutableElements<Float>,
    amount: Float,
    threshold: Float,
    layout: PixelLayout,
  ) {
    if layout == .colorAndAlpha { straighten(line) }
    let coverage = SIMD4<UInt8>(0, 0, 0, 255)
    let fourCoverages = fourTimes(coverage)
    output.update(with: line.elements) { around, pixels in
      let color = SIMD16<Float>(pixels)
      let difference = color - around
      let size = difference.replacing(with: -difference, where: difference .< 0)
      let bytes = rounded(color + (difference * amount).replacing(with: 0, where: size .< threshold))
      return (bytes & ~fourCoverages) | (pixels & fourCoverages)
    } four: { around, pixel in
      let color = SIMD4<Float>(pixel)
      let difference = color - around
      let size = difference.replacing(with: -difference, where: difference .< 0)
      let bytes = rounded(color + (difference * amount).replacing(with: 0, where: size .< threshold))
      return (bytes & ~coverage) | (pixel & coverage)
    }
  }
}
