import VitrineRuntime

extension HighRangeBitmap {
  /// Makes the picture of high dynamic range of a picture and its gain map (ISO 21496-1, 6.3).
  ///
  /// The map is interpolated between its pixels. Blocks until done, and takes 8 bytes a pixel.
  ///
  /// - Parameters:
  ///   - bitmap: The picture, of any size.
  ///   - map: Its gain map.
  ///   - headroom: The brightest that the display can show, as a multiple of white. Defaults to `nil`: all that the map
  ///     has.
  ///   - context: The limits of the result, and the check that stops the work. Defaults to ``DecodeLimits``'
  ///     defaults.
  /// - Throws: ``ImageError``: `.cancelled`; `.overLimit`; `.processingFailed` if the numbers of the formula make no sense.
  public init(
    _ bitmap: Bitmap,
    _ map: GainMap,
    headroom: Double? = nil,
    _ context: ProcessingContext = ProcessingContext(),
  ) throws(ImageError) {
    guard map.formula.isValid else { throw ImageError(.processingFailed, GainMapFormula.isInvalid) }
    let stops = headroom.map { log2(max(1, $0)) } ?? map.formula.alternateHeadroom
    let (width, height) = (bitmap.width, bitmap.height)
    try context.limits.check(processedWidth: Double(width), height: Double(height), bytesPerPixel: 8)
    let gain = GainSampler(map, weight: map.formula.weight(onHeadroom: stops), width, height)
    let source = bitmap.straightened()
    let (before, after) = (SIMD4<Float>(map.formula.baseOffset), SIMD4<Float>(map.formula.alternateOffset))
    let gainSpace = map.formula.colorSpace.encoding
    let toGains = ColumnMatrix(from: bitmap.colorSpace.encoding, to: gainSpace)
    let toResult = ColumnMatrix(from: gainSpace, to: ColorSpace.displayP3.encoding)
    let levels = TransferCurve.sRGB.levels
    try unsafe self.init(
      width: width,
      height: height,
      headroom: Float(exp2(min(max(stops, map.formula.baseHeadroom), map.formula.alternateHeadroom))),
    ) { (target) throws(ImageError) in
      // As long as its memory.
      let result = unsafe MutableElements<UInt8>(target)
      try source.withElements { (pixels) throws(ImageError) in
        for y in 0..<height {
          if y % 16 == 0 { try context.checkCancellation() }
          for x in 0..<width {
            let place = 4 * (y * width + x)
            var light = SIMD4<Float>(
              levels[Int(pixels[place])],
              levels[Int(pixels[place + 1])],
              levels[Int(pixels[place + 2])],
              0,
            )
            light = toGains.product(light)
            light = (light + before) * gain.factor(x, y) - after
            light = toResult.product(light.replacing(with: 0, where: light .< 0))
            let alpha = Float(pixels[place + 3]) / 255
            light *= alpha
            light.w = alpha
            for component in 0..<4 {
              result.store(Self.half(light[component]), at: 8 * (y * width + x) + 2 * component)
            }
          }
        }
      }
    }
  }

  /// Returns the nearest binary16 of a number of 0 to 65,504.
  private static func half(_ value: Float) -> UInt16 {
    // Below the smallest normal number, fractions are counted in units of 2^-24.
    guard value >= 0x1p-14 else { return UInt16(max(0, value) * 0x1p24 + 0.5) }
    let bits = min(value, 65_504).bitPattern
    // Rounded to ten places, whose carry may go into the exponent.
    return UInt16(truncatingIfNeeded: (bits &+ 0x0FFF &+ (bits >> 13 & 1)) >> 13 &- 112 << 10)
  }
}

/// The factors of a gain map at the pixels of a picture.
private struct GainSampler {
  private let pixels: [UInt8]
  private let (width, height): (Int, Int)
  private let (stepX, stepY): (Float, Float)
  /// The weighted logarithms of gains, four to a byte: red, green, blue, nothing.
  private let logarithms: [SIMD4<Float>]
  private let isUniform: Bool

  init(_ map: GainMap, weight: Double, _ pictureWidth: Int, _ pictureHeight: Int) {
    (width, height) = (map.bitmap.width, map.bitmap.height)
    (stepX, stepY) = (Float(width) / Float(pictureWidth), Float(height) / Float(pictureHeight))
    pixels = map.bitmap.withElements { $0.array }
    let gains = map.formula.gains
    logarithms = (0...255).map { byte in
      SIMD4(Float(gains[0][byte] * weight), Float(gains[1][byte] * weight), Float(gains[2][byte] * weight), 0)
    }
    isUniform = map.formula.isUniform
  }

  /// Returns the factors of red, green and blue.
  func factor(_ x: Int, _ y: Int) -> SIMD4<Float> {
    let (left, across) = Self.place(x, stepX, width)
    let (top, down) = Self.place(y, stepY, height)
    let (right, bottom) = (min(left + 1, width - 1), min(top + 1, height - 1))
    let upper = logarithm(left, top) * (1 - across) + logarithm(right, top) * across
    let lower = logarithm(left, bottom) * (1 - across) + logarithm(right, bottom) * across
    let value = upper * (1 - down) + lower * down
    if isUniform, value.x == value.y, value.y == value.z { return SIMD4(repeating: exp2(value.x)) }
    return SIMD4(exp2(value.x), exp2(value.y), exp2(value.z), 0)
  }

  private static func place(_ index: Int, _ step: Float, _ count: Int) -> (Int, Float) {
    let place = min(max((Float(index) + 0.5) * step - 0.5, 0), Float(count - 1))
    return (Int(place), place - place.rounded(.down))
  }

  private func logarithm(_ x: Int, _ y: Int) -> SIMD4<Float> {
    let start = 4 * (y * width + x)
    let (red, green, blue) = (pixels[start], pixels[start + 1], pixels[start + 2])
    if red == green, green == blue { return logarithms[Int(red)] }
    return SIMD4(logarithms[Int(red)].x, logarithms[Int(green)].y, logarithms[Int(blue)].z, 0)
  }
}

extension SIMD4<Float> {
  fileprivate init(_ values: SIMD3<Double>) { self.init(Float(values.x), Float(values.y), Float(values.z), 0) }
}
