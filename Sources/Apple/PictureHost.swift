#if !os(watchOS)
import CoreGraphics
import Vitrine
import VitrineRuntime

/// The view of an ``ImageViewLoader``, in the terms that UIKit and AppKit have in common.
@MainActor
protocol PictureHost: AnyObject {
  /// The way in which the view fits images.
  var fittingMode: TargetSize.Mode { get }
  /// The size in pixels, or the window's size if the view has none; `nil` outside of windows without a size.
  var pixelSize: HostSize? { get }

  /// Shows an image that may be brighter than white; it fades in if that takes any time.
  ///
  /// A template has the tint of the view for its colours.
  func show(_ image: ImageContainer, isTemplate: Bool, duration: TimeInterval)
  /// Shows a frame of the animation that is shown.
  func show(frame: Bitmap)
  /// Shows what stands for an image; never `keepCurrent`.
  func show(standIn: Placeholder)
  /// Sets how bright the view may show images.
  func allow(_ range: DisplayRange)
  /// Reports each layout to the loader from now on.
  func watchLayout(_ loader: ImageViewLoader)
  /// Makes the clock of animations.
  func makeFrameLink(_ tick: @escaping @MainActor (Duration) -> Void) -> any FrameLink
}

/// The size of a view.
struct HostSize: Equatable {
  let width: Int
  let height: Int
  let scale: Double
  /// True if it is the size of the window, which bounds that of the view.
  let isBound: Bool

  /// Returns `nil` for a size without an area.
  init?(_ size: CGSize, scale: CGFloat, isBound: Bool = false) {
    guard size.width > 0, size.height > 0 else { return nil }
    width = Int((size.width * scale).rounded())
    height = Int((size.height * scale).rounded())
    (self.scale, self.isBound) = (Double(scale), isBound)
  }
}

extension Bitmap {
  /// Makes a small bitmap of one colour.
  static func filled(with color: PixelColor) -> Bitmap {
    let alpha = UInt16(color.alpha)
    func scaled(_ component: UInt8) -> UInt8 { UInt8((UInt16(component) * alpha + 127) / 255) }
    let pixel = SIMD4<UInt8>(scaled(color.red), scaled(color.green), scaled(color.blue), color.alpha)
    return unsafe Bitmap(width: 8, height: 8, alpha: color.alpha == 255 ? .opaque : .premultiplied) { pixels in
      // 8 rows of 8 pixels of 4 bytes.
      for offset in stride(from: 0, to: pixels.count, by: 4) {
        unsafe pixels.storeBytes(of: pixel, toByteOffset: offset, as: SIMD4<UInt8>.self)
      }
    }
  }
}
#endif
