extension Bitmap {
  /// Returns the bitmap with straight or no alpha; returns itself unless it is premultiplied.
  ///
  /// Complexity: O(1) for itself, otherwise O(pixels).
  public func straightened() -> Bitmap {
    guard alpha == .premultiplied else { return self }
    return mapped(to: .straight) { pixel in
      guard pixel.w > 0 else { return SIMD4<UInt32>() }
      var color = (pixel &* 255 &+ pixel.w / 2) / pixel.w
      color.w = pixel.w
      return color
    }
  }

  /// Returns the bitmap with colours multiplied by their coverage; returns itself unless its alpha is straight.
  ///
  /// Complexity: O(1) for itself, otherwise O(pixels).
  public func premultiplied() -> Bitmap {
    guard alpha == .straight else { return self }
    return mapped(to: .premultiplied) { pixel in
      var color = (pixel &* pixel.w &+ 127) / 255
      color.w = pixel.w
      return color
    }
  }

  /// Returns the bitmap composited over white; returns itself if nothing is transparent.
  ///
  /// Complexity: O(pixels).
  public func flattenedOverWhite() -> Bitmap {
    guard hasTransparency else { return self }
    return straightened().mapped(to: .opaque) { pixel in
      let white = SIMD4<UInt32>(repeating: 255 &* (255 &- pixel.w) &+ 127)
      var color = (pixel &* pixel.w &+ white) / 255
      color.w = 255
      return color
    }
  }

  /// `change` maps components from 0 to 255; larger results are clamped to 255.
  @inline(__always)
  private func mapped(to alpha: Alpha, _ change: (SIMD4<UInt32>) -> SIMD4<UInt32>) -> Bitmap {
    withElements { source in
      Bitmap.writing(width: width, height: height, alpha: alpha, colorSpace: colorSpace) { target in
        target.update(with: source) { pixel, _ in
          let changed = change(SIMD4<UInt32>(truncatingIfNeeded: pixel))
          return SIMD4<UInt8>(truncatingIfNeeded: changed.replacing(with: 255, where: changed .> 255))
        }
      }
    }
  }
}
