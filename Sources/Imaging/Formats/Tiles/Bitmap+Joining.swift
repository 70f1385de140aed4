extension Bitmap {
  /// Makes a bitmap of parts that cover it, each of the size of its region; `nil` if there are none, or of other sizes.
  package init?(width: Int, height: Int, joining parts: [(region: PixelRegion, bitmap: Bitmap)]) {
    guard let first = parts.first,
      parts.allSatisfy({ part in
        part.bitmap.width == part.region.width && part.bitmap.height == part.region.height
          && part.region.clipped(width: width, height: height) == part.region
          && part.bitmap.colorSpace == first.bitmap.colorSpace
      })
    else { return nil }
    let isOpaque = parts.allSatisfy { $0.bitmap.alpha == .opaque }
    unsafe self.init(
      width: width,
      height: height,
      alpha: isOpaque ? .opaque : .straight,
      colorSpace: first.bitmap.colorSpace,
    ) { pixels in
      unsafe pixels.initializeMemory(as: UInt8.self, repeating: 0)
      for (region, bitmap) in parts {
        unsafe bitmap.withUnsafeBytes { source in
          for row in 0..<region.height {
            let start = 4 * ((region.y + row) * width + region.x)
            let from = row * bitmap.bytesPerRow
            // The slices check the bounds.
            unsafe UnsafeMutableRawBufferPointer(rebasing: pixels[start..<start + 4 * region.width])
              .copyMemory(from: UnsafeRawBufferPointer(rebasing: source[from..<from + 4 * region.width]))
          }
        }
      }
    }
  }
}
