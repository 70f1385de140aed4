import CVitrineKernels

/// The inner loops over pixels.
///
/// They are loops over vectors, which compile to the same code as C, and check the range of their memory once: checked
/// spans cost four times as much here (27.8 ms against 7.4 for 8 megapixels). With AVX2 the slowest run in C, two of
/// them 1.6 and 3.3 times as fast. They do so with NEON too, where their speed is not measured. Their loops in Swift are for
/// all other processors and give the same bits.
struct PixelKernels {
  /// The fastest kernels for this processor.
  static let best = PixelKernels(isNative: vitrine_kernels_are_native() != 0)
  /// The Swift loops on every processor, for tests.
  static let scalar = PixelKernels(isNative: false)

  let isNative: Bool

  /// True if rows should stay bytes until they are added.
  ///
  /// With AVX2 the conversion is one instruction, and with NEON two; without them each tap needs a conversion that takes
  /// four times as long as the addition.
  var prefersBytes: Bool { isNative }
}

// Loops that take little time have no version in C. Memory has four elements for each pixel.
extension PixelKernels {
  /// Adds bytes to sums.
  ///
  /// A sum has room for 65,536 rows and more.
  static func add(_ source: Elements<UInt8>, into sums: MutableElements<UInt32>) {
    sums.update(with: source) { bytes, old in
      old &+ SIMD16<UInt32>(truncatingIfNeeded: bytes)
    } four: { bytes, old in
      old &+ SIMD4<UInt32>(truncatingIfNeeded: bytes)
    }
  }

  /// Adds colours times their coverage, and coverage times 255, to sums, pixel by pixel.
  static func addPremultiplied(_ source: Elements<UInt8>, into sums: MutableElements<UInt32>) {
    sums.update(with: source) { bytes, old in
      let pixel = SIMD4<UInt32>(truncatingIfNeeded: bytes)
      var factor = SIMD4<UInt32>(repeating: pixel.w)
      factor.w = 255
      return old &+ pixel &* factor
    }
  }

  /// Averages sums over blocks of `factor` pixels (the last may be smaller) to floats from 0 to 255.
  static func average(
    _ sums: Elements<UInt32>,
    factor: Int,
    rows: Int,
    into line: MutableElements<Float>,
    isPremultiplied: Bool,
  ) {
    let unit: Float = isPremultiplied ? 1 / 255 : 1
    forEachBlock(of: sums, factor) { output, block in
      var sum = SIMD4<Float>()
      // Below 2^31 for up to 33,000 rows of 65,025, so they convert in one instruction as signed numbers.
      sums.forEachFour(in: block) { sum += SIMD4<Float>(SIMD4<Int32>(truncatingIfNeeded: $0)) }
      line.store(sum * (unit / Float(block.count / 4 &* rows)), at: output)
    }
  }

  /// Averages sums in floats over blocks of `factor` pixels; the last may be smaller.
  static func average(_ sums: Elements<Float>, factor: Int, rows: Int, into line: MutableElements<Float>) {
    forEachBlock(of: sums, factor) { output, block in
      var sum = SIMD4<Float>()
      sums.forEachFour(in: block) { sum += $0 }
      line.store(sum / Float(block.count / 4 &* rows), at: output)
    }
  }

  /// Calls `body` with the place of each output pixel, and with the places of the elements that make it.
  @inline(__always)
  private static func forEachBlock<Sum>(of sums: Elements<Sum>, _ factor: Int, _ body: (Int, Range<Int>) -> Void) {
    var (start, output) = (0, 0)
    while start < sums.count {
      let end = min(start &+ factor &* 4, sums.count)
      body(output, start..<end)
      (start, output) = (end, output &+ 4)
    }
  }

  /// Converts bytes to floats.
  static func widen(_ source: Elements<UInt8>, into line: MutableElements<Float>) {
    line.update(with: source) { bytes, _ in
      SIMD16<Float>(bytes)
    } four: { bytes, _ in
      SIMD4<Float>(bytes)
    }
  }

  /// Converts bytes to floats, colours times their coverage.
  static func premultiply(_ source: Elements<UInt8>, into line: MutableElements<Float>) {
    line.update(with: source) { bytes, _ in
      let pixel = SIMD4<Float>(bytes)
      var factor = SIMD4<Float>(repeating: pixel.w / 255)
      factor.w = 1
      return pixel * factor
    }
  }

  /// Adds linear light of 0 to 255, times coverage if there is any, to sums.
  static func addLinear(_ source: Elements<UInt8>, into sums: MutableElements<Float>, hasAlpha: Bool) {
    TransferCurve.sRGB.levels.withElements { table in
      // A place for each byte, so that no look-up needs a check.
      precondition(table.count == 256)
      sums.update(with: source) { pixel, old in
        var light = SIMD4(table[Int(pixel.x)], table[Int(pixel.y)], table[Int(pixel.z)], 1)
        light *= hasAlpha ? Float(pixel.w) : 255
        return old + light
      }
    }
  }

  /// Adds components of 16 bits as 0 to 255, times coverage if there is any, to sums.
  static func addWide(_ source: Elements<UInt16>, into sums: MutableElements<Float>, hasAlpha: Bool) {
    sums.update(with: source) { pixel, old in
      var value = SIMD4<Float>(pixel) * (1 / 257)
      guard hasAlpha else { return old + value }
      let coverage = value.w
      value *= coverage / 255
      value.w = coverage
      return old + value
    }
  }

  /// Rounds pixels of 0 to 255 to 16 bits a component with straight alpha.
  static func round(_ line: Elements<Float>, into output: MutableElements<UInt16>, hasAlpha: Bool) {
    output.update(with: line) { pixel, _ in
      var value = hasAlpha ? straightened(pixel) : pixel
      if !hasAlpha { value.w = 255 }
      let scaled = (value * 257).clamped(lowerBound: SIMD4(repeating: 0), upperBound: SIMD4(repeating: 65_535))
      return SIMD4<UInt16>(scaled.rounded(.toNearestOrEven))
    }
  }

  /// Rounds pixels of 0 to 255 to bytes with straight alpha; the contents of `line` are lost.
  static func round(_ line: MutableElements<Float>, into output: MutableElements<UInt8>, layout: PixelLayout) {
    if layout == .colorAndAlpha { straighten(line) }
    let opaque = SIMD4<UInt8>(0, 0, 0, layout == .color ? 255 : 0)
    let fourOpaque = fourTimes(opaque)
    // Four pixels at once take a fifth of the time of one by one: 0.4 ms against 2.3 for 0.6 megapixels.
    output.update(with: line.elements) { pixels, _ in
      rounded(pixels) | fourOpaque
    } four: { pixel, _ in
      rounded(pixel) | opaque
    }
  }

  /// Encodes linear light of 0 to 255 as bytes of sRGB with straight alpha.
  static func encode(_ line: Elements<Float>, into output: MutableElements<UInt8>, hasAlpha: Bool) {
    TransferCurve.sRGB.encoded.withElements { table in
      // A byte for each place, so that no look-up needs a check.
      precondition(table.count == TransferCurve.placeCount)
      output.update(with: line) { pixel, _ in
        let value = hasAlpha ? straightened(pixel) : pixel
        let place = TransferCurve.place(value * (1 / 255))
        let alpha = hasAlpha ? rounded(value).w : 255
        return SIMD4(table[Int(place.x)], table[Int(place.y)], table[Int(place.z)], alpha)
      }
    }
  }

  /// Divides colours by their coverage, in floats of 0 to 255.
  static func straighten(_ pixels: MutableElements<Float>) {
    pixels.update(with: pixels.elements) { pixel, _ in straightened(pixel) }
  }

  @inline(__always)
  private static func straightened(_ value: SIMD4<Float>) -> SIMD4<Float> {
    let coverage = value.w
    var color = coverage < 0.5 ? SIMD4<Float>() : value * (255 / coverage)
    color.w = coverage
    return color
  }

  /// Returns the same pixel four times.
  @inline(__always)
  static func fourTimes(_ pixel: SIMD4<UInt8>) -> SIMD16<UInt8> {
    let two = SIMD8(lowHalf: pixel, highHalf: pixel)
    return SIMD16(lowHalf: two, highHalf: two)
  }

  /// 1.5 * 2^23: adding it leaves the rounded number in a float's last bits.
  ///
  /// The conversions of the standard library are not vectorised.
  private static let roundingBias: Float = 12_582_912

  /// Clamps to 0...255 and rounds to the nearest.
  @inline(__always)
  static func rounded(_ value: SIMD16<Float>) -> SIMD16<UInt8> {
    let atLeast = value.replacing(with: 0, where: value .< 0)
    let clamped = atLeast.replacing(with: 255, where: atLeast .> 255) + roundingBias
    // Sixteen floats and sixteen integers of 32 bits have the same size.
    return SIMD16<UInt8>(truncatingIfNeeded: unsafe unsafeBitCast(clamped, to: SIMD16<UInt32>.self))
  }

  /// Clamps to 0...255 and rounds to the nearest.
  @inline(__always)
  static func rounded(_ value: SIMD4<Float>) -> SIMD4<UInt8> {
    let atLeast = value.replacing(with: 0, where: value .< 0)
    let clamped = atLeast.replacing(with: 255, where: atLeast .> 255) + roundingBias
    return SIMD4<UInt8>(truncatingIfNeeded: clamped.bits)
  }
}
