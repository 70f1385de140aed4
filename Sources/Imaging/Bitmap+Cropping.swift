extension Bitmap {
  /// A part of the picture, in pixels from the top left: itself where that is all of it.
  ///
  /// Complexity: O(pixels of the part).
  ///
  /// - Throws: ``ImageError`` of code `.invalidSize` where the part is empty or not within the picture.
  public func cropped(x: Int, y: Int, width: Int, height: Int) throws(ImageError) -> Bitmap {
    // Compared without sums, which might not fit.
    guard width > 0, height > 0, x >= 0, y >= 0, width <= self.width, height <= self.height,
      x <= self.width - width, y <= self.height - height
    else {
      throw ImageError(
        .invalidSize,
        "the part asked for, \(width)x\(height) at \(x), \(y), is not within \(self.width)x\(self.height) pixels",
      )
    }
    guard width < self.width || height < self.height else { return self }
    return unsafe withUnsafeBytes { source in
      unsafe Bitmap(width: width, height: height, alpha: alpha, colorSpace: colorSpace) { target in
        for row in 0..<height {
          let start = (y + row) * bytesPerRow + x * 4
          // A row each, checked by the slices.
          unsafe target.rows(from: row, count: 1, width: width)
            .copyMemory(from: UnsafeRawBufferPointer(rebasing: source[start..<start + width * 4]))
        }
      }
    }
  }

  /// A part of `width` x `height` pixels, or as much of these as there is, where `anchor` says.
  ///
  /// Nothing is resized. Complexity: O(pixels of the part).
  ///
  /// - Throws: ``ImageError`` of code `.invalidSize` where a length is below 1.
  public func cropped(width: Int, height: Int, anchor: Anchor = .center) throws(ImageError) -> Bitmap {
    let (width, height) = (min(width, self.width), min(height, self.height))
    guard width > 0, height > 0 else {
      throw ImageError(.invalidSize, "the part asked for, \(width)x\(height), is empty")
    }
    let x = Int((Double(self.width - width) * anchor.x).rounded())
    let y = Int((Double(self.height - height) * anchor.y).rounded())
    return try cropped(x: x, y: y, width: width, height: height)
  }

  /// The largest part whose width is `aspectRatio` times its height, within half a pixel, where `anchor` says.
  ///
  /// Complexity: O(pixels of the part).
  ///
  /// - Throws: ``ImageError`` of code `.invalidSize` where the ratio is not positive and finite.
  public func cropped(aspectRatio: Double, anchor: Anchor = .center) throws(ImageError) -> Bitmap {
    guard aspectRatio.isFinite, aspectRatio > 0 else {
      throw ImageError(.invalidSize, "the aspect ratio asked for, \(aspectRatio), is not positive and finite")
    }
    let (width, height) = (Double(width), Double(height))
    return try cropped(
      width: Int(max(1, min(width, height * aspectRatio).rounded())),
      height: Int(max(1, min(height, width / aspectRatio).rounded())),
      anchor: anchor,
    )
  }
}

extension ImageProcessor {
  /// Keeps a part, in pixels from the top left; see ``Bitmap/cropped(x:y:width:height:)``.
  public static func crop(x: Int, y: Int, width: Int, height: Int) -> ImageProcessor {
    ImageProcessor(identifier: "cropPart(\(x),\(y),\(width),\(height))") { bitmap in
      try bitmap.cropped(x: x, y: y, width: width, height: height)
    }
  }

  /// Keeps so many pixels; see ``Bitmap/cropped(width:height:anchor:)``.
  public static func crop(width: Int, height: Int, anchor: Anchor = .center) -> ImageProcessor {
    ImageProcessor(identifier: "cropSize(\(width),\(height),\(anchor.x),\(anchor.y))") { bitmap in
      try bitmap.cropped(width: width, height: height, anchor: anchor)
    }
  }

  /// Keeps the largest part of an aspect ratio; see ``Bitmap/cropped(aspectRatio:anchor:)``.
  public static func crop(aspectRatio: Double, anchor: Anchor = .center) -> ImageProcessor {
    ImageProcessor(identifier: "cropRatio(\(aspectRatio),\(anchor.x),\(anchor.y))") { bitmap in
      try bitmap.cropped(aspectRatio: aspectRatio, anchor: anchor)
    }
  }
}
