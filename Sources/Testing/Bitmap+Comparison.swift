public import VitrineImaging
import VitrineRuntime

extension Bitmap {
  /// Returns the peak signal-to-noise ratio against another bitmap of the same size, in decibels.
  ///
  /// Compares red, green and blue; infinite for equal pixels. Complexity: O(pixels).
  public func psnr(against other: Bitmap) -> Double {
    var sum = 0
    forEachDifference(from: other) { difference in
      var color = difference
      color.w = 0
      sum += Int((color &* color).wrappedSum())
    }
    let mean = Double(sum) / Double(3 * width * height)
    return sum == 0 ? .infinity : 10 * log10(255 * 255 / mean)
  }

  /// Returns the largest difference, from 0 to 255, between any component, including alpha, of this bitmap and
  /// another of the same size.
  ///
  /// Complexity: O(pixels).
  public func largestDifference(from other: Bitmap) -> Int {
    var largest: Int32 = 0
    forEachDifference(from: other) { difference in
      largest = max(largest, difference.max(), -difference.min())
    }
    return Int(largest)
  }

  /// Calls `body` with the differences that are not zero.
  private func forEachDifference(from other: Bitmap, _ body: (SIMD4<Int32>) -> Void) {
    precondition(width == other.width && height == other.height, "bitmaps of different sizes cannot be compared")
    unsafe withUnsafeBytes { ours in
      unsafe other.withUnsafeBytes { theirs in
        for y in 0..<height {
          for x in 0..<width {
            // Both have `height` rows of at least `width` pixels.
            let mine = unsafe ours.loadUnaligned(fromByteOffset: y * bytesPerRow + x * 4, as: SIMD4<UInt8>.self)
            let other = unsafe theirs.loadUnaligned(
              fromByteOffset: y * other.bytesPerRow + x * 4,
              as: SIMD4<UInt8>.self,
            )
            guard mine != other else { continue }
            body(SIMD4<Int32>(truncatingIfNeeded: mine) &- SIMD4<Int32>(truncatingIfNeeded: other))
          }
        }
      }
    }
  }
}
