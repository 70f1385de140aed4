// The area around an image: adding to it, and taking it away.
extension ImageProcessor {
  /// Puts space around the image.
  ///
  /// Fractions are of the image's width for the left and the right, of its height for the others.
  ///
  /// - Parameters:
  ///   - top: The space above. Defaults to none.
  ///   - right: The space to the right. Defaults to none.
  ///   - bottom: The space below. Defaults to none.
  ///   - left: The space to the left. Defaults to none.
  ///   - color: The colour of the space. Defaults to ``PixelColor/clear``; with an opaque one, an opaque image stays
  ///     opaque.
  /// - Returns: The processor.
  public static func padding(
    top: Length = .zero,
    right: Length = .zero,
    bottom: Length = .zero,
    left: Length = .zero,
    color: PixelColor = .clear,
  ) -> ImageProcessor {
    let lengths = [top, right, bottom, left]
    return ImageProcessor(
      "padding",
      lengths.map(\.description) + (color == .clear ? [] : ["\(color)"]),
      lengths: lengths,
    ) { bitmap, context throws(ImageError) in
      let above = try context.pixels(top, of: bitmap.height, "top").rounded()
      let right = try context.pixels(right, of: bitmap.width, "right").rounded()
      let below = try context.pixels(bottom, of: bitmap.height, "bottom").rounded()
      let left = try context.pixels(left, of: bitmap.width, "left").rounded()
      return try bitmap.placed(
        x: left,
        y: above,
        width: left + Double(bitmap.width) + right,
        height: above + Double(bitmap.height) + below,
        color,
        context,
      )
    }
  }

  /// Puts the image on a canvas, if that is larger.
  ///
  /// A side of the canvas that is shorter than the image's is made as long; fractions are of the image's sides.
  ///
  /// - Parameters:
  ///   - width: The width of the canvas.
  ///   - height: The height of the canvas.
  ///   - anchor: The place: the part of the free space to the left of the image, and above. Defaults to the centre.
  ///   - offset: The distance from there, to the right and down; the image stays on the canvas. Fractions are of
  ///     the canvas' sides. Defaults to none.
  ///   - color: The colour of the canvas. Defaults to ``PixelColor/clear``; with an opaque one, an opaque image stays
  ///     opaque.
  /// - Returns: The processor.
  public static func canvas(
    width: Length,
    height: Length,
    at anchor: Anchor = .center,
    offset: (x: Length, y: Length) = (.zero, .zero),
    color: PixelColor = .clear,
  ) -> ImageProcessor {
    let (x, y) = offset
    return ImageProcessor(
      "canvas",
      [width, height].map(\.description) + placement(anchor, offset, color),
      lengths: [width, height, x, y],
    ) { bitmap, context throws(ImageError) in
      let width = try context.pixels(width, of: bitmap.width, "width").rounded()
      let height = try context.pixels(height, of: bitmap.height, "height").rounded()
      return try bitmap.placed(at: anchor, (x, y), width: width, height: height, color, context)
    }
  }

  /// Puts the image on the smallest canvas with an aspect ratio that it fits on.
  ///
  /// See ``canvas(width:height:at:offset:color:)``.
  public static func canvas(
    aspectRatio: Double,
    at anchor: Anchor = .center,
    offset: (x: Length, y: Length) = (.zero, .zero),
    color: PixelColor = .clear,
  ) -> ImageProcessor {
    let (x, y) = offset
    return ImageProcessor(
      "canvas",
      ["ratio \(StepName.number(aspectRatio))"] + placement(anchor, offset, color),
      lengths: [x, y],
    ) { bitmap, context throws(ImageError) in
      guard aspectRatio.isFinite, aspectRatio > 0 else {
        throw ImageError(.invalidSize, "the aspect ratio, \(aspectRatio), is not positive and finite")
      }
      let (w, h) = (Double(bitmap.width), Double(bitmap.height))
      return try bitmap.placed(
        at: anchor,
        (x, y),
        width: (h * aspectRatio).rounded(),
        height: (w / aspectRatio).rounded(),
        color,
        context,
      )
    }
  }

  private static func placement(
    _ anchor: Anchor,
    _ offset: (x: Length, y: Length),
    _ color: PixelColor,
  ) -> [String] {
    (anchor == .center ? [] : [StepName.anchor(anchor)])
      + (offset == (.zero, .zero) ? [] : ["by \(offset.x) \(offset.y)"]) + (color == .clear ? [] : ["\(color)"])
  }

  /// Removes edges of one colour.
  ///
  /// An image of nothing but that colour stays as it is. Of an animation, all frames lose what the first one does.
  ///
  /// - Parameters:
  ///   - tolerance: The largest difference of a component to the colour that is removed, from 0 to 255. Defaults to 10.
  ///   - color: The colour. Defaults to `nil`, the colour of the top left pixel.
  ///   - isEqualHorizontally: A Boolean value that indicates whether as much is removed on the left as on the right.
  ///     Defaults to `false`.
  ///   - isEqualVertically: A Boolean value that indicates whether as much is removed at the top as at the bottom.
  ///     Defaults to `false`.
  /// - Returns: The processor.
  public static func trim(
    tolerance: Double = 10,
    color: PixelColor? = nil,
    isEqualHorizontally: Bool = false,
    isEqualVertically: Bool = false,
  ) -> ImageProcessor {
    trim(
      tolerance: tolerance,
      color: color,
      onto: nil,
      isEqualHorizontally: isEqualHorizontally,
      isEqualVertically: isEqualVertically,
    )
  }

  /// Removes edges of one colour, like ``trim(tolerance:color:isEqualHorizontally:isEqualVertically:)``.
  ///
  /// With a `backdrop`, pixels have the colours that they show on it, and no alpha.
  static func trim(
    tolerance: Double,
    color: PixelColor?,
    onto backdrop: PixelColor?,
    isEqualHorizontally: Bool,
    isEqualVertically: Bool,
  ) -> ImageProcessor {
    ImageProcessor(
      "trim",
      [StepName.number(tolerance)] + (color.map { ["\($0)"] } ?? []) + (backdrop.map { ["onto \($0)"] } ?? [])
        + (isEqualHorizontally ? ["equal left"] : []) + (isEqualVertically ? ["equal top"] : []),
      part: { (bitmap, context) throws(ImageError) in
        try context.check(tolerance, "tolerance", in: 0...255)
        let source = bitmap.straightened()
        let backdrop = source.alpha == .opaque ? nil : backdrop?.pixel(in: bitmap.colorSpace)
        let first = source[0, 0]
        let edge = color?.pixel(in: bitmap.colorSpace) ?? backdrop.map { first.shown(on: $0) } ?? first
        guard let part = try source.content(on: edge, tolerance, backdrop, context) else {
          return PixelRegion(x: 0, y: 0, width: bitmap.width, height: bitmap.height)
        }
        func span(_ start: Int, _ length: Int, of side: Int, _ isEqual: Bool) -> (start: Int, length: Int) {
          let least = min(start, side - start - length)
          return isEqual ? (least, side - 2 * least) : (start, length)
        }
        let columns = span(part.x, part.width, of: bitmap.width, isEqualHorizontally)
        let rows = span(part.y, part.height, of: bitmap.height, isEqualVertically)
        return PixelRegion(x: columns.start, y: rows.start, width: columns.length, height: rows.length)
      },
    )
  }
}

extension Bitmap {
  /// Returns the image on a canvas that is at least as large.
  fileprivate func placed(
    at anchor: Anchor,
    _ offset: (x: Length, y: Length),
    width: Double,
    height: Double,
    _ color: PixelColor,
    _ context: ProcessingContext,
  ) throws(ImageError) -> Bitmap {
    let (width, height) = (max(width, Double(self.width)), max(height, Double(self.height)))
    // Before they become whole numbers.
    try context.check(width: width, height: height)
    let x = try context.pixels(offset.x, of: Int(width), "offset", in: -1e9...1e9)
    let y = try context.pixels(offset.y, of: Int(height), "offset", in: -1e9...1e9)
    let (spaceX, spaceY) = (width - Double(self.width), height - Double(self.height))
    return try placed(
      x: min(max((spaceX * anchor.x + x).rounded(), 0), spaceX),
      y: min(max((spaceY * anchor.y + y).rounded(), 0), spaceY),
      width: width,
      height: height,
      color,
      context,
    )
  }

  /// Returns the image on a canvas, inside of it, with its first pixel at `x`, `y`.
  func placed(
    x left: Double,
    y top: Double,
    width: Double,
    height: Double,
    _ color: PixelColor,
    _ context: ProcessingContext,
  ) throws(ImageError) -> Bitmap {
    try context.check(width: width, height: height)
    let (left, top, columns, rows) = (Int(left), Int(top), Int(width), Int(height))
    precondition(left >= 0 && top >= 0 && left + self.width <= columns && top + self.height <= rows)
    guard columns > self.width || rows > self.height else { return self }
    let source = straightened()
    let pixel = color.pixel(in: colorSpace)
    return try source.withElements { (pixels) throws(ImageError) in
      try Bitmap.rows(
        width: columns,
        height: rows,
        alpha: source.alpha == .opaque && color.alpha == 255 ? .opaque : .straight,
        colorSpace: colorSpace,
        context,
      ) { y, row in
        row.updateEachPixel { _ in pixel }
        guard (top..<top + source.height).contains(y) else { return }
        // One row of the image, which ends within the canvas' row.
        row.extracting(left * 4..<(left + source.width) * 4)
          .update(from: pixels.rows(from: y - top, count: 1, width: source.width))
      }
    }
  }

  /// Returns the smallest part outside of which all pixels are like `edge`; `nil` if all are.
  ///
  /// Alpha must be straight.
  fileprivate func content(
    on edge: SIMD4<UInt8>,
    _ tolerance: Double,
    _ backdrop: SIMD4<UInt8>?,
    _ context: ProcessingContext,
  ) throws(ImageError) -> PixelRegion? {
    let color = SIMD4<Int16>(truncatingIfNeeded: edge)
    let limit = SIMD4<Int16>(repeating: Int16(tolerance))
    return try withElements { (pixels) throws(ImageError) -> PixelRegion? in
      func isContent(_ x: Int, _ y: Int) -> Bool {
        let own = pixels.four(at: y &* bytesPerRow &+ x &* 4)
        let pixel = SIMD4<Int16>(truncatingIfNeeded: backdrop.map { own.shown(on: $0) } ?? own)
        // What is transparent looks the same in all colours.
        if pixel.w == 0, color.w == 0 { return false }
        let difference = pixel &- color
        return any(difference .> limit) || any(difference .< (0 &- limit))
      }
      var (left, right, top, bottom) = (width, -1, height, -1)
      for y in 0..<height {
        if y % 64 == 0 { try context.checkCancellation() }
        // Between the known ends nothing can be learnt but that the row has content.
        guard let first = (0..<width).first(where: { isContent($0, y) }) else { continue }
        (left, top, bottom) = (min(left, first), min(top, y), y)
        var last = width - 1
        while last > max(right, first), !isContent(last, y) { last -= 1 }
        right = max(right, last)
      }
      guard bottom >= 0 else { return nil }
      return PixelRegion(x: left, y: top, width: right - left + 1, height: bottom - top + 1)
    }
  }
}

extension SIMD4<UInt8> {
  /// Returns the opaque pixel that this one, with straight alpha, makes of an opaque backdrop.
  fileprivate func shown(on backdrop: SIMD4<UInt8>) -> SIMD4<UInt8> {
    w == 255 ? self : PixelMath.bytes(PixelMath.over(SIMD4<Float>(self), SIMD4<Float>(backdrop)))
  }
}
