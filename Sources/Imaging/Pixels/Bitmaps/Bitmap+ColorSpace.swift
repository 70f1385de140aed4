extension Bitmap {
  /// Returns the bitmap in another colour space; returns itself if it is already in that space.
  ///
  /// Colours outside the space are clamped to it. The result has straight or no alpha. Complexity: O(pixels).
  public func converted(to space: ColorSpace) -> Bitmap {
    guard space != colorSpace else { return self }
    let source = straightened()
    return Bitmap.writing(width: width, height: height, alpha: source.alpha, colorSpace: space) { target in
      source.withElements { target.update(from: $0) }
      ColorTransform(from: colorSpace.encoding.matrixShaper, to: space)?.apply(to: target)
    }
  }
}
