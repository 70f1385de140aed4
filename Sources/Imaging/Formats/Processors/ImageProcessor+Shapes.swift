// Corners and borders.
extension ImageProcessor {
  /// Rounds the corners; what is outside becomes transparent.
  ///
  /// A fraction is one of the shorter side.
  public static func roundedCorners(radius: Length) -> ImageProcessor { roundedCorners(CornerRadii(radius)) }

  /// Rounds the corners, each with a radius of its own.
  public static func roundedCorners(_ radii: CornerRadii) -> ImageProcessor {
    ImageProcessor("corners", [radii.description], lengths: radii.all) { bitmap, context throws(ImageError) in
      let shape = try RoundedRectangle(radii, width: bitmap.width, height: bitmap.height, context)
      return shape.isSharp ? bitmap : try bitmap.shaped(shape, border: nil, context)
    }
  }

  /// Crops to a square and rounds it to a circle.
  public static func circle(anchor: Anchor = .center) -> ImageProcessor {
    ImageProcessor("circle", anchor == .center ? [] : [StepName.anchor(anchor)]) { bitmap, context throws(ImageError) in
      let part = try bitmap.part(aspectRatio: 1, anchor)
      let square = try bitmap.cropped(to: part) { () throws(ImageError) in try context.checkCancellation() }
      let radii = CornerRadii(.fraction(0.5))
      let shape = try RoundedRectangle(radii, width: square.width, height: square.height, context)
      return try square.shaped(shape, border: nil, context)
    }
  }

  /// Draws a border inside the edges.
  ///
  /// With a radius, the image is rounded as well, and the border follows it: the border of a circle has the radius
  /// `.fraction(0.5)`.
  ///
  /// - Parameters:
  ///   - width: The width of the border; a fraction is one of the shorter side. 0 draws none.
  ///   - color: The colour.
  ///   - radii: The radii of its outer corners. Defaults to sharp corners.
  /// - Returns: The processor.
  public static func border(
    width: Length,
    color: PixelColor,
    radii: CornerRadii = CornerRadii(),
  ) -> ImageProcessor {
    ImageProcessor(
      "border",
      ["\(width)", "\(color)"] + (radii == CornerRadii() ? [] : ["radius \(radii)"]),
      lengths: [width] + radii.all,
    ) { bitmap, context throws(ImageError) in
      let side = min(bitmap.width, bitmap.height)
      let width = try context.pixels(width, of: side, "width")
      let shape = try RoundedRectangle(radii, width: bitmap.width, height: bitmap.height, context)
      let isVisible = width > 0 && color.alpha > 0
      if !isVisible, shape.isSharp { return bitmap }
      return try bitmap.shaped(shape, border: isVisible ? (shape.inset(by: width), color) : nil, context)
    }
  }

  /// Draws a border inside the edges, with equal radii.
  public static func border(width: Length, color: PixelColor, radius: Length) -> ImageProcessor {
    border(width: width, color: color, radii: CornerRadii(radius))
  }
}

extension Bitmap {
  /// Returns what is inside a shape, with a border between that and an inner shape.
  fileprivate func shaped(
    _ shape: RoundedRectangle,
    border: (inner: RoundedRectangle?, color: PixelColor)?,
    _ context: ProcessingContext,
  ) throws(ImageError) -> Bitmap {
    let ink = border.map { SIMD4<Float>($0.color.pixel(in: colorSpace)) }
    var (outer, inner) = ([Float](repeating: 0, count: width), [Float](repeating: 0, count: width))
    return try rows(alpha: shape.isSharp ? nil : .straight, context) { y, old, row in
      row.update(from: old)
      let whole = shape.cover(y, &outer)
      let untouched = border.map { $0.inner?.cover(y, &inner) ?? 0..<0 } ?? whole
      if border != nil, border?.inner == nil { for x in 0..<width { inner[x] = 0 } }
      for x in 0..<width where !untouched.contains(x) {
        guard outer[x] > 0 else {
          row.store(SIMD4<UInt8>(), at: x * 4)
          continue
        }
        var pixel = SIMD4<Float>(row.four(at: x * 4))
        if let ink {
          // The border's share of the visible part of this pixel.
          let share = outer[x] > 0 ? max(0, outer[x] - inner[x]) / outer[x] : 0
          pixel = PixelMath.mixed(pixel, PixelMath.over(ink, pixel), share)
        }
        pixel.w *= outer[x]
        row.store(pixel.w < 0.5 ? SIMD4() : PixelMath.bytes(pixel), at: x * 4)
      }
    }
  }
}

extension PixelMath {
  /// Mixes pixels with straight alpha: the second pixels cover `share` of the area.
  @inline(__always)
  static func mixed(_ first: SIMD4<Float>, _ second: SIMD4<Float>, _ share: Float) -> SIMD4<Float> {
    let (firstPart, secondPart) = (first.w * (1 - share), second.w * share)
    let alpha = firstPart + secondPart
    guard alpha > 0 else { return SIMD4() }
    var color = (first * firstPart + second * secondPart) / alpha
    color.w = alpha
    return color
  }
}
