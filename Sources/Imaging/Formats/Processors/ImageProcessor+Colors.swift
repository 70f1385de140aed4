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
      // The weights of BT.709 add up to 1.
      let (weights, factor) = (SIMD4<Float>(0.2126, 0.7152, 0.0722, 0), Float(factor))
      return try bitmap.mapped(context) { pixel in
        let old = SIMD4<Float>(pixel)
        let gray = SIMD4<Float>(repeating: (old * weights).sum())
        var color = gray + (old - gray) * factor
        color.w = old.w
        return PixelMath.bytes(color)
      }
    }
  }

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
