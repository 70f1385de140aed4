#if os(macOS) || os(Linux)
public import AppKit
public import Vitrine

extension NSImage {
  /// Makes an image of a bitmap's pixels, which it shares; `nil` if the system refuses, for lack of memory.
  ///
  /// Nothing is copied, and nothing is decoded when the image is shown. Complexity: O(1).
  ///
  /// - Parameters:
  ///   - bitmap: The pixels.
  ///   - scale: The number of pixels to a point. Defaults to 1.
  public convenience init?(_ bitmap: Bitmap, scale: CGFloat = 1) {
    guard let image = bitmap.cgImage else { return nil }
    self.init(
      cgImage: image,
      size: CGSize(width: CGFloat(bitmap.width) / scale, height: CGFloat(bitmap.height) / scale),
    )
  }

  /// Makes an image of what was decoded, brighter than white where it is; `nil` if the system refuses.
  ///
  /// Nothing is copied. A view shows it so if its `preferredImageDynamicRange` is high and the display can.
  ///
  /// - Parameters:
  ///   - image: What was decoded.
  ///   - scale: The number of pixels to a point. Defaults to 1.
  public convenience init?(_ image: ImageContainer, scale: CGFloat = 1) {
    guard let pixels = image.highRange?.cgImage ?? image.bitmap.cgImage else { return nil }
    self.init(
      cgImage: pixels,
      size: CGSize(width: CGFloat(pixels.width) / scale, height: CGFloat(pixels.height) / scale),
    )
  }
}

extension Bitmap {
  /// Makes a bitmap of an image, decoded and in a colour space of Vitrine's.
  ///
  /// The largest of its representations is used. Pixels are copied once. Blocks until done.
  ///
  /// - Parameters:
  ///   - image: The image.
  ///   - size: The requested size. Defaults to `nil`: the image's, in pixels.
  ///   - colorSpace: The colour space of the result. Defaults to sRGB.
  /// - Throws: ``VitrineImaging/ImageError`` of code `.unsupported` for an image without pixels; `.overLimit`,
  ///   `.invalidSize`.
  public init(_ image: NSImage, size: TargetSize? = nil, colorSpace: ColorSpace = .sRGB) throws(ImageError) {
    // An image draws itself from the representation that suits the rectangle.
    let sizes = image.representations.map { CGSize(width: $0.pixelsWide, height: $0.pixelsHigh) }
    let largest = sizes.max { $0.width * $0.height < $1.width * $1.height }
    var all = CGRect(origin: .zero, size: largest.flatMap { $0.width > 0 && $0.height > 0 ? $0 : nil } ?? image.size)
    // The rectangle is only read and written within the call.
    guard let pixels = unsafe image.cgImage(forProposedRect: &all, context: nil, hints: nil) else {
      throw ImageError(.unsupported, "the image has no pixels of its own")
    }
    try self.init(pixels, size: size, colorSpace: colorSpace)
  }
}
#endif
