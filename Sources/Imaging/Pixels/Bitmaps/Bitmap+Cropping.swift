extension Bitmap {
  /// Returns a part of the bitmap, in pixels from the top left; returns itself if the part is the whole.
  ///
  /// Complexity: O(pixels of the part).
  ///
  /// - Throws: ``ImageError`` of code `.invalidSize` if the part is empty or not inside the bitmap.
  public func cropped(x: Int, y: Int, width: Int, height: Int) throws(ImageError) -> Bitmap {
    try cropped(to: PixelRegion(x: x, y: y, width: width, height: height))
  }

  /// Returns a part, like ``cropped(x:y:width:height:)``; `check` is called every few rows, and throws to stop.
  func cropped(to part: PixelRegion, check: () throws(ImageError) -> Void = {}) throws(ImageError) -> Bitmap {
    let (x, y, width, height) = (part.x, part.y, part.width, part.height)
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
    return try withElements { (source) throws(ImageError) in
      try Bitmap.writing(width: width, height: height, alpha: alpha, colorSpace: colorSpace) {
        (target) throws(ImageError) in
        for row in 0..<height {
          if row % 16 == 0 { try check() }
          let start = (y + row) * bytesPerRow + x * 4
          target.rows(from: row, count: 1, width: width).update(from: source.extracting(start..<start + width * 4))
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
    try cropped(to: part(width: width, height: height, anchor))
  }

  /// Returns the place of the part of at most `width` x `height` pixels at an anchor.
  func part(width: Int, height: Int, _ anchor: Anchor) throws(ImageError) -> PixelRegion {
    let (width, height) = (min(width, self.width), min(height, self.height))
    guard width > 0, height > 0 else {
      throw ImageError(.invalidSize, "the part to crop, \(width)x\(height), is empty")
    }
    let x = Int((Double(self.width - width) * anchor.x).rounded())
    let y = Int((Double(self.height - height) * anchor.y).rounded())
    return PixelRegion(x: x, y: y, width: width, height: height)
  }

  /// Returns the largest part at `anchor` whose width is `aspectRatio` times its height, within half a pixel.
  ///
  /// Complexity: O(pixels of the part).
  ///
  /// - Throws: ``ImageError`` of code `.invalidSize` if the ratio is not positive and finite.
  public func cropped(aspectRatio: Double, anchor: Anchor = .center) throws(ImageError) -> Bitmap {
    try cropped(to: part(aspectRatio: aspectRatio, anchor))
  }

  /// Returns the place of the largest part with an aspect ratio at an anchor.
  func part(aspectRatio: Double, _ anchor: Anchor) throws(ImageError) -> PixelRegion {
    let size = try size(ofAspectRatio: aspectRatio)
    return try part(width: size.width, height: size.height, anchor)
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
