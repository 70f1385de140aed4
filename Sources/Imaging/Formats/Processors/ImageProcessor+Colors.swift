import VitrineRuntime

// Changes of colour. All of them keep the alpha.
extension ImageProcessor {
  /// Replaces colours by gray levels: the luma of Recommendation ITU-R BT.709-6, item 3.2.
  public static func grayscale() -> ImageProcessor {
    ImageProcessor("grayscale", []) { bitmap, context throws(ImageError) in
      try bitmap.mapped(context) { pixel in
        let level = GrayBitmap.level(of: pixel)
        return SIMD4(level, level, level, pixel.w)
      }
    }
  }

  /// Covers the image's shape with a colour.
  ///
  /// An opaque colour replaces all others, as for symbols. With a coverage of half, half of the image's own colours
  /// shows through. A clear colour changes nothing.
  public static func tint(_ color: PixelColor) -> ImageProcessor {
    ImageProcessor("tint", ["\(color)"]) { bitmap, context throws(ImageError) in
      guard color.alpha > 0 else { return bitmap }
      let ink = SIMD4<Float>(color.pixel(in: bitmap.colorSpace))
      let share = ink.w / 255
      return try bitmap.mapped(context) { pixel in
        let old = SIMD4<Float>(pixel)
        var mixed = old + (ink - old) * share
        mixed.w = old.w
        return PixelMath.bytes(mixed)
      }
    }
  }

  /// Makes the image lighter or darker by adding to its components.
  ///
  /// - Parameter amount: The part of the full range that is added, from -1 (black) to 1 (white). 0 changes nothing.
  /// - Returns: The processor.
  public static func brightness(_ amount: Double) -> ImageProcessor {
    curve("brightness", amount, neutral: 0, in: -1...1) { level in level + amount }
  }

  /// Moves components away from the middle gray, or towards it.
  ///
  /// - Parameter factor: The factor of the distance from 0.5, from 0 (gray) to 100. 1 changes nothing.
  /// - Returns: The processor.
  public static func contrast(_ factor: Double) -> ImageProcessor {
    curve("contrast", factor, neutral: 1, in: 0...100) { level in (level - 0.5) * factor + 0.5 }
  }

  /// Multiplies the light, as a longer or shorter exposure does.
  ///
  /// - Parameter stops: The logarithm of the factor to base 2, from -16 to 16. 0 changes nothing.
  /// - Returns: The processor.
  public static func exposure(_ stops: Double) -> ImageProcessor {
    curve("exposure", stops, neutral: 0, in: -16...16) { level in
      // IEC 61966-2-1, which Display P3 shares.
      let light = (level <= 0.04045 ? level / 12.92 : pow((level + 0.055) / 1.055, 2.4)) * pow(2, stops)
      return light <= 0.0031308 ? light * 12.92 : 1.055 * pow(light, 1 / 2.4) - 0.055
    }
  }

  /// Moves colours away from the gray of the same luma, or towards it.
  ///
  /// - Parameter factor: The factor of the distance, from 0 (gray) to 100. 1 changes nothing.
  /// - Returns: The processor.
  public static func saturation(_ factor: Double) -> ImageProcessor {
    ImageProcessor("saturation", [StepName.number(factor)]) { bitmap, context throws(ImageError) in
      try context.check(factor, "factor", in: 0...100)
      guard factor != 1 else { return bitmap }
      let (weights, factor) = (SIMD4<Float>(luma.map(Float.init) + [0]), Float(factor))
      return try bitmap.mapped(context) { pixel in
        let old = SIMD4<Float>(pixel)
        let gray = SIMD4<Float>(repeating: (old * weights).sum())
        var color = gray + (old - gray) * factor
        color.w = old.w
        return PixelMath.bytes(color)
      }
    }
  }

  /// Multiplies colours by a matrix.
  ///
  /// ```swift
  /// // Exchanges red and blue.
  /// .colorMatrix([0, 0, 1, 0, 0,  0, 1, 0, 0, 0,  1, 0, 0, 0, 0,  0, 0, 0, 1, 0])
  /// ```
  /// As in SVG's `feColorMatrix`, there is a row for each of the new red, green, blue and alpha, with factors of the old red,
  /// green, blue and alpha, and a number that is added. Components go from 0 to 1, have straight alpha and are
  /// encoded as sRGB is, not linear light; an image of Display P3 keeps its own components. Results are clamped. The
  /// unit matrix changes nothing.
  ///
  /// - Parameter values: The twenty numbers, row by row, each from -1,000,000 to 1,000,000.
  /// - Returns: The processor.
  public static func colorMatrix(_ values: [Double]) -> ImageProcessor {
    let name = values.map(StepName.number).joined(separator: " ")
    return ImageProcessor("matrix", [name]) { bitmap, context throws(ImageError) in
      guard values.count == 20 else {
        throw ImageError(.processingFailed, "the matrix has \(values.count) numbers, not 20")
      }
      for value in values { try context.check(value, "number", in: -1e6...1e6) }
      return try bitmap.multiplied(by: values, context)
    }
  }

  /// Replaces colours by shades of brown, as old photographs have them.
  ///
  /// It is the `sepia()` of the W3C's "Filter Effects Module Level 1".
  ///
  /// - Parameter amount: The part of the effect, from 0, which changes nothing, to 1. Defaults to 1.
  /// - Returns: The processor.
  public static func sepia(_ amount: Double = 1) -> ImageProcessor {
    ImageProcessor("sepia", [StepName.number(amount)]) { bitmap, context throws(ImageError) in
      let sepia = [
        0.393, 0.769, 0.189, 0, 0,
        0.349, 0.686, 0.168, 0, 0,
        0.272, 0.534, 0.131, 0, 0,
        0, 0, 0, 1, 0,
      ]
      return try bitmap.multiplied(by: sepia, amount: amount, context)
    }
  }

  /// Replaces colours by those between two, by their luma.
  ///
  /// The luma is the same as in ``grayscale()``.
  ///
  /// - Parameters:
  ///   - shadows: The colour for black. Its opacity makes no difference.
  ///   - highlights: The colour for white. Its opacity makes no difference.
  ///   - amount: The part of the effect, from 0, which changes nothing, to 1. Defaults to 1.
  /// - Returns: The processor.
  public static func duotone(shadows: PixelColor, highlights: PixelColor, amount: Double = 1) -> ImageProcessor {
    let colors = [shadows, highlights].map { $0.opacity(1) }
    return ImageProcessor(
      "duotone",
      colors.map(\.description) + (amount == 1 ? [] : [StepName.number(amount)]),
    ) { bitmap, context throws(ImageError) in
      let ends = colors.map { SIMD4<Double>($0.pixel(in: bitmap.colorSpace)) / 255 }
      let duotone = (0..<3).flatMap { component in
        let (dark, light) = (ends[0][component], ends[1][component])
        return luma.map { $0 * (light - dark) } + [0, dark]
      }
      return try bitmap.multiplied(by: duotone + [0, 0, 0, 1, 0], amount: amount, context)
    }
  }

  /// The weights of red, green and blue in the luma of BT.709, which add up to 1.
  private static let luma = [0.2126, 0.7152, 0.0722]

  /// Flattens the image onto a colour.
  ///
  /// The result is opaque if the colour is.
  public static func background(_ color: PixelColor) -> ImageProcessor {
    ImageProcessor("background", ["\(color)"]) { bitmap, context throws(ImageError) in
      guard bitmap.alpha != .opaque, color.alpha > 0 else { return bitmap }
      let backdrop = SIMD4<Float>(color.pixel(in: bitmap.colorSpace))
      return try bitmap.mapped(to: color.alpha == 255 ? .opaque : nil, context) { pixel in
        PixelMath.bytes(PixelMath.over(SIMD4<Float>(pixel), backdrop))
      }
    }
  }

  /// Makes a processor that changes each component by itself; `change` maps values from 0 to 1.
  private static func curve(
    _ name: String,
    _ amount: Double,
    neutral: Double,
    in range: ClosedRange<Double>,
    _ change: @escaping @Sendable (Double) -> Double,
  ) -> ImageProcessor {
    ImageProcessor(name, [StepName.number(amount)]) { bitmap, context throws(ImageError) in
      try context.check(amount, "amount", in: range)
      guard amount != neutral else { return bitmap }
      let table = (0...255).map { UInt8((min(max(change(Double($0) / 255), 0), 1) * 255).rounded()) }
      return try table.withElements { (table) throws(ImageError) in
        try bitmap.mapped(context) { pixel in
          // One check for three look-ups.
          precondition(table.count == 256)
          return SIMD4(table[Int(pixel.x)], table[Int(pixel.y)], table[Int(pixel.z)], pixel.w)
        }
      }
    }
  }
}

extension Bitmap {
  /// Returns the bitmap with colours multiplied by a matrix of five columns, as ``ImageProcessor/colorMatrix(_:)`` does, or
  /// a part of the way there.
  fileprivate func multiplied(
    by matrix: [Double],
    amount: Double = 1,
    _ context: ProcessingContext,
  ) throws(ImageError) -> Bitmap {
    try context.check(amount, "amount", in: 0...1)
    // From the unit matrix to the whole effect.
    let mixed = matrix.enumerated().map { index, value in
      let unit = index % 6 == 0 ? 1.0 : 0
      return Float(unit + (value - unit) * amount)
    }
    let columns = (0..<5).map { column in SIMD4<Float>((0..<4).map { mixed[$0 * 5 + column] }) }
    let unit = (0..<5).map { column in SIMD4<Float>((0..<4).map { $0 == column ? 1 : 0 }) }
    guard columns != unit else { return self }
    let keepsAlpha = zip(columns, unit).allSatisfy { $0.w == $1.w }
    let (red, green, blue, alpha, added) = (columns[0], columns[1], columns[2], columns[3], columns[4] * 255)
    return try mapped(to: keepsAlpha ? nil : .straight, context) { pixel in
      let old = SIMD4<Float>(pixel)
      return PixelMath.bytes(red * old.x + green * old.y + blue * old.z + alpha * old.w + added)
    }
  }
}
