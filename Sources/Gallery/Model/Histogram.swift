package import VitrineImaging

/// How often each brightness occurs in a picture, for red, green and blue.
package struct Histogram: Sendable, Equatable {
  /// The number of pixels of each brightness from 0 to 255: in `x` of red, in `y` of green, in `z` of blue.
  package private(set) var counts = [SIMD3<Int>](repeating: SIMD3(0, 0, 0), count: 256)

  /// Counts the pixels of a picture; transparent ones are left out.
  package init(_ bitmap: Bitmap) {
    unsafe bitmap.withUnsafeBytes { bytes in
      for y in 0..<bitmap.height {
        let row = y * bitmap.bytesPerRow
        for start in stride(from: row, to: row + 4 * bitmap.width, by: 4)
        where unsafe bitmap.alpha == .opaque || bytes[start + 3] > 0 {
          // Four bytes a pixel, in rows of `bytesPerRow`.
          unsafe counts[Int(bytes[start])].x += 1
          unsafe counts[Int(bytes[start + 1])].y += 1
          unsafe counts[Int(bytes[start + 2])].z += 1
        }
      }
    }
  }

  /// Draws the three as areas that mix their colours, in 256 columns, over a transparent ground.
  package func drawn(height: Int) -> Bitmap {
    // Black and white borders and backgrounds would leave the rest flat.
    let inner = counts[1..<255].map { max($0.x, $0.y, $0.z) }.max() ?? 0
    let most = max(1, inner)
    func reaches(_ count: Int, _ y: Int) -> Bool { min(count, most) * height > (height - 1 - y) * most }
    return Bitmap.writing(width: 256, height: height, alpha: .straight, colorSpace: .sRGB) { bytes in
      for y in 0..<height {
        for x in 0..<256 {
          let (count, place) = (counts[x], 4 * (y * 256 + x))
          let parts = [count.x, count.y, count.z].map { $0 > 0 && reaches($0, y) }
          let isSet = parts.contains(true)
          for component in 0..<3 { bytes[place + component] = isSet ? (parts[component] ? 224 : 48) : 0 }
          bytes[place + 3] = isSet ? 255 : 0
        }
      }
    }
  }
}
