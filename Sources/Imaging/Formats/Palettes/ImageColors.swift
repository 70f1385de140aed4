/// The colours of an image: their mean, and a palette with the part of the image that each of its colours covers.
///
/// Pixels that are less than half covered do not count.
package struct ImageColors: Sendable {
  /// A colour, and the part of the visible pixels that it stands for, from 0 to 1.
  package struct Share: Sendable {
    package let color: PixelColor
    package let share: Double
  }

  /// The maximum number of colours of a palette.
  package static let paletteCount = 6

  /// The mean in linear light; `nil` if no pixel is visible.
  package let average: PixelColor?
  /// The palette, the largest share first; empty if no pixel is visible.
  package let palette: [Share]

  /// The colour of the palette with the largest share; `nil` if no pixel is visible.
  package var dominant: PixelColor? { palette.first?.color }

  /// Finds the colours of an image, which is made as small as for a hash, and converted to sRGB first.
  ///
  /// Complexity: O(pixels).
  package init(_ bitmap: Bitmap) throws(ImageError) {
    let small = bitmap.reducedForHashing().straightened()
    var counts = ColorCounts(pixelCount: small.width * small.height)
    try counts.add(DrawnPixels(small)) { () throws(ImageError) in }
    let points = counts.points
    guard !points.isEmpty else {
      (average, palette) = (nil, [])
      return
    }
    let colors = try Palette(counts, count: Self.paletteCount) { () throws(ImageError) in }
    var nearest = NearestColors(colors.components, bits: 2)
    var shares = [Float](repeating: 0, count: colors.colors.count)
    let levels = TransferCurve.sRGB.levels
    var light = SIMD4<Float>()
    for point in points {
      var color = point
      color.w = 0
      shares[nearest.index(of: color)] += point.w
      // So few pixels are counted one by one: the components are whole.
      light += SIMD4(levels[Int(point.x)], levels[Int(point.y)], levels[Int(point.z)], 1) * point.w
    }
    let places = TransferCurve.place(light / light.w)
    let encoded = TransferCurve.sRGB.encoded
    average = PixelColor(
      red: encoded[Int(places.x)],
      green: encoded[Int(places.y)],
      blue: encoded[Int(places.z)],
    )
    // A component of a palette has red in its lowest byte, a number of a colour in its highest.
    palette = zip(colors.colors, shares).filter { $0.1 > 0 }.sorted { $0.1 > $1.1 }
      .map { Share(color: PixelColor($0.0.byteSwapped >> 8), share: Double($0.1 / light.w)) }
  }
}
