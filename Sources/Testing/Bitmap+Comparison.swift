import VitrineRuntime
public import VitrineImaging

extension Bitmap {
  /// The peak signal-to-noise ratio of this picture against another of the same size, in decibels.
  ///
  /// Compares red, green and blue; infinite for equal pixels. Complexity: O(pixels).
  public func psnr(against other: Bitmap) -> Double {
    precondition(width == other.width && height == other.height, "pictures of one size are compared")
    var sum = 0.0
    for y in 0..<height {
      for x in 0..<width {
        let (ours, theirs) = (self[x, y], other[x, y])
        for component in 0..<3 {
          let difference = Double(ours[component]) - Double(theirs[component])
          sum += difference * difference
        }
      }
    }
    let mean = sum / Double(3 * width * height)
    return mean == 0 ? .infinity : 10 * log10(255 * 255 / mean)
  }
}
