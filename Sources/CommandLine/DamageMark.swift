import VitrineImaging

/// The mark on the thumbnail of a damaged file: an exclamation mark on an amber disc, in the lower right corner.
enum DamageMark {
  /// The length of the mark's sides before it is resized, in pixels.
  private static let side = 64

  /// Returns an image with the mark, which takes a fifth of the shorter side.
  ///
  /// - Throws: ``ImageError`` if the image is too large to be changed.
  static func drawn(on image: ImageContainer) throws(ImageError) -> ImageContainer {
    let length = max(8, min(image.bitmap.width, image.bitmap.height) / 5)
    let overlay = ImageProcessor.overlay(mark, at: .bottomRight, width: .pixels(Double(length)))
    return try overlay.process(image, ProcessingContext())
  }

  private static var mark: Bitmap {
    Bitmap.writing(width: side, height: side, alpha: .straight, colorSpace: .sRGB) { pixels in
      for y in 0..<side {
        for x in 0..<side {
          let (dx, dy) = (2 * x + 1 - side, 2 * y + 1 - side)
          let isInside = dx * dx + dy * dy <= side * side
          let isSign = (28..<36).contains(x) && ((12..<38).contains(y) || (44..<52).contains(y))
          let color: SIMD4<UInt8> = isSign ? SIMD4(40, 30, 0, 255) : SIMD4(245, 194, 17, 255)
          pixels.store(isInside ? color : SIMD4(), at: 4 * (y * side + x))
        }
      }
    }
  }
}
