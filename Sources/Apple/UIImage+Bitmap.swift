#if !os(macOS)
public import UIKit
public import Vitrine
import VitrineImaging

extension UIImage {
  /// Makes an image of a bitmap's pixels, which it shares; `nil` if the system refuses, for lack of memory.
  ///
  /// Nothing is copied, and nothing is decoded when the image is shown. May be called on any thread. Complexity: O(1).
  ///
  /// - Parameters:
  ///   - bitmap: The pixels.
  ///   - scale: The number of pixels to a point. Defaults to 1.
  public convenience init?(_ bitmap: Bitmap, scale: CGFloat = 1) {
    guard let image = bitmap.cgImage else { return nil }
    self.init(cgImage: image, scale: scale, orientation: .up)
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
    self.init(cgImage: pixels, scale: scale, orientation: .up)
  }

  /// Returns the image decoded and upright, at a size in pixels or its own.
  ///
  /// Without a size it is prepared for display, with one it is a thumbnail, made with the filter that all of Vitrine
  /// uses. Blocks until done, so do not call it on the main thread. The scale stays.
  ///
  /// - Parameter size: The requested size. Defaults to `nil`: the image's own.
  /// - Returns: The image.
  /// - Throws: ``VitrineImaging/ImageError`` of code `.unsupported` for an image without pixels of its own, such as a
  ///   symbol; `.overLimit`, `.invalidSize`.
  public func decoded(at size: TargetSize? = nil) throws(ImageError) -> UIImage {
    let source = try Pixels(self)
    return try source.image(Bitmap(source.image, orientation: source.orientation, size: size))
  }

  /// Decodes the image on a background thread; see ``decoded(at:)``.
  ///
  /// Returns at once.
  ///
  /// - Parameters:
  ///   - size: The requested size. Defaults to `nil`: the image's own.
  ///   - completion: Called once, on any thread.
  /// - Returns: The task, for cancelling; `nil` for an image without pixels, after the call of `completion`.
  @discardableResult
  public func decode(
    at size: TargetSize? = nil,
    completion: @escaping @Sendable (Result<UIImage, ImageError>) -> Void,
  ) -> DecodeTask? {
    do throws(ImageError) {
      let source = try Pixels(self)
      return Bitmap.prepare(source.image, orientation: source.orientation, size: size) { result in
        completion(result.flatMap { bitmap in Result { () throws(ImageError) in try source.image(bitmap) } })
      }
    } catch {
      completion(.failure(error))
      return nil
    }
  }

  /// Decodes the image on a background thread without blocking the caller's; see ``decoded(at:)``.
  ///
  /// Cancelling the awaiting task stops the work.
  ///
  /// - Throws: ``VitrineImaging/ImageError``, as ``decoded(at:)``, and `.cancelled`.
  public func byDecoding(at size: TargetSize? = nil) async throws(ImageError) -> UIImage {
    let source = try Pixels(self)
    return try source.image(await Bitmap.byPreparing(source.image, orientation: source.orientation, size: size))
  }
}

/// The pixels of an image, with their orientation and scale; may be used on any thread.
private struct Pixels: Sendable {
  let image: CGImage
  let orientation: Orientation
  let scale: CGFloat

  init(_ source: UIImage) throws(ImageError) {
    guard let pixels = source.cgImage else { throw ImageError(.unsupported, "the image has no pixels of its own") }
    (image, orientation, scale) = (pixels, Orientation(source.imageOrientation), source.scale)
  }

  func image(_ bitmap: Bitmap) throws(ImageError) -> UIImage {
    guard let image = UIImage(bitmap, scale: scale) else {
      throw ImageError(.overLimit, "not enough memory for an image of \(bitmap.width)x\(bitmap.height) pixels")
    }
    return image
  }
}

extension Bitmap {
  /// Makes a bitmap of an image, decoded, upright and in a colour space of Vitrine's.
  ///
  /// Pixels are copied once. Blocks until done.
  ///
  /// - Parameters:
  ///   - image: The image.
  ///   - size: The requested size. Defaults to `nil`: the image's, in pixels.
  ///   - colorSpace: The colour space of the result. Defaults to sRGB.
  /// - Throws: ``VitrineImaging/ImageError`` of code `.unsupported` for an image without pixels of its own, such as a
  ///   symbol; `.overLimit`, `.invalidSize`.
  public init(_ image: UIImage, size: TargetSize? = nil, colorSpace: ColorSpace = .sRGB) throws(ImageError) {
    let source = try Pixels(image)
    try self.init(source.image, orientation: source.orientation, size: size, colorSpace: colorSpace)
  }
}

extension Orientation {
  /// Makes the orientation that UIKit gives the same name.
  init(_ orientation: UIImage.Orientation) {
    self =
      switch orientation {
      case .up: .up
      case .down: .down
      case .left: .left
      case .right: .right
      case .upMirrored: .upMirrored
      case .downMirrored: .downMirrored
      case .leftMirrored: .leftMirrored
      case .rightMirrored: .rightMirrored
      @unknown default: .up
      }
  }
}
#endif
