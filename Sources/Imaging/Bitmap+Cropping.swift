extension Bitmap {
  /// Returns a part of the bitmap, in pixels from the top left; returns itself if the part is the whole.
  ///
  /// Complexity: O(pixels of the part).
  ///
  /// - Throws: ``ImageError`` of code `.invalidSize` if the part is empty or not inside the bitmap.
  public func cropped(x: Int, y: Int, width: Int, height: Int) throws(ImageError) -> Bitmap {
    // Compared without sums, which could overflow.
    guard width > 0, height > 0, x >= 0, y >= 0, width <= self.width, height <= self.height,
      x <= self.width - width, y <= self.height - height
    else {
      throw ImageError(
        .invalidSize,
        "the part to crop, \(width)x\(height) at \(x), \(y), is not inside \(self.width)x\(self.height) pixels",
      )
    }
    guard width < self.width || height < self.height else { return self }
    return unsafe withUnsafeBytes { source in
      unsafe Bitmap(width: width, height: height, alpha: alpha, colorSpace: colorSpace) { target in
        for row in 0..<height {
          let start = (y + row) * bytesPerRow + x * 4
          // One row each; the slices check the bounds.
          unsafe target.rows(from: row, count: 1, width: width)
            .copyMemory(from: UnsafeRawBufferPointer(rebasing: source[start..<start + width * 4]))
        }
      }
    }
  }

  /// Returns the part of at most `width` x `height` pixels at `anchor`.
  ///
  /// Nothing is resized. Complexity: O(pixels of the part).
  ///
  /// - Throws: ``ImageError`` of code `.invalidSize` if a length is below 1.
  public func cropped(width: Int, height: Int, anchor: Anchor = .center) throws(ImageError) -> Bitmap {
    let (width, height) = (min(width, self.width), min(height, self.height))
    guard width > 0, height > 0 else {
      throw ImageError(.invalidSize, "the part to crop, \(width)x\(height), is empty")
    }
    let x = Int((Double(self.width - width) * anchor.x).rounded())
    let y = Int((Double(self.height - height) * anchor.y).rounded())
    return try cropped(x: x, y: y, width: width, height: height)
  }

  /// Returns the largest part at `anchor` whose width is `aspectRatio` times its height, within half a pixel.
  ///
  /// Complexity: O(pixels of the part).
  ///
  /// - Throws: ``ImageError`` of code `.invalidSize` if the ratio is not positive and finite.
  public func cropped(aspectRatio: Double, anchor: Anchor = .center) throws(ImageError) -> Bitmap {
    let size = try size(ofAspectRatio: aspectRatio)
    return try cropped(width: size.width, height: size.height, anchor: anchor)
  }

  /// Returns the size of the largest part whose width is `aspectRatio` times its height.
  func size(ofAspectRatio aspectRatio: Double) throws(ImageError) -> (width: Int, height: Int) {
    guard aspectRatio.isFinite, aspectRatio > 0 else {
      throw ImageError(.invalidSize, "the aspect ratio, \(aspectRatio), is not positive and finite")
    }
    let (width, height) = (Double(width), Double(height))
    return (
      width: Int(max(1, min(width, height * aspectRatio).rounded())),
      height: Int(max(1, min(height, width / aspectRatio).rounded())),
    )
  }
}
