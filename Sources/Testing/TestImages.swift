public import VitrineImaging

extension Bitmap {
  /// Makes a bitmap that looks different in each of the eight orientations: red, green, blue and yellow in its
  /// corners (top left, top right, bottom left, bottom right), with smooth gradients between them.
  ///
  /// The pixels in the corners have exactly ``testPatternCorners``. It survives lossy formats well. It is opaque.
  /// Complexity: O(pixels).
  public static func testPattern(width: Int, height: Int) -> Bitmap {
    let corners = testPatternCorners.map { SIMD4<Float>($0) }
    return pixels(width: width, height: height, alpha: .opaque) { x, y in
      let right = width > 1 ? Float(x) / Float(width - 1) : 0
      let bottom = height > 1 ? Float(y) / Float(height - 1) : 0
      let top = corners[0] * (1 - right) + corners[1] * right
      let low = corners[2] * (1 - right) + corners[3] * right
      return SIMD4<UInt8>((top * (1 - bottom) + low * bottom).rounded(.toNearestOrAwayFromZero))
    }
  }

  /// The colours of the corners of ``testPattern(width:height:)``: top left, top right, bottom left, bottom right.
  public static let testPatternCorners: [SIMD4<UInt8>] = [
    SIMD4(220, 40, 40, 255), SIMD4(40, 180, 60, 255), SIMD4(40, 60, 200, 255), SIMD4(240, 220, 60, 255),
  ]

  /// Makes a bitmap of one colour: red, green, blue and straight alpha.
  ///
  /// Complexity: O(pixels).
  public static func solid(_ color: SIMD4<UInt8>, width: Int, height: Int) -> Bitmap {
    pixels(width: width, height: height, alpha: color.w == 255 ? .opaque : .straight) { _, _ in color }
  }

  /// Makes a bitmap from a closure, row by row from the top left.
  ///
  /// Complexity: O(pixels).
  ///
  /// - Parameters:
  ///   - width: The number of pixels in a row, at least 1.
  ///   - height: The number of rows, at least 1.
  ///   - alpha: The meaning of the fourth component. Defaults to straight alpha.
  ///   - color: Returns red, green, blue and alpha of the pixel at `x`, `y`.
  /// - Returns: The bitmap.
  public static func pixels(
    width: Int,
    height: Int,
    alpha: Alpha = .straight,
    _ color: (_ x: Int, _ y: Int) -> SIMD4<UInt8>,
  ) -> Bitmap {
    unsafe Bitmap(width: width, height: height, alpha: alpha) { bytes in
      for y in 0..<height {
        for x in 0..<width {
          // The buffer holds `height` rows of `width` pixels.
          unsafe bytes.storeBytes(of: color(x, y), toByteOffset: (y * width + x) * 4, as: SIMD4<UInt8>.self)
        }
      }
    }
  }
}
