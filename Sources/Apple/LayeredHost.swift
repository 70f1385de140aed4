#if !os(watchOS)
import Vitrine
import VitrineRuntime

/// A view of Vitrine's own: an image view for what stands for an image, and one above it for the image.
@MainActor
protocol LayeredHost: PictureHost {
  associatedtype Picture: PictureHost

  /// The view of the image.
  var imageView: Picture { get }
  /// The way in which images fit.
  var mode: TargetSize.Mode { get }
  /// The size in pixels, or that of the window if the view has none.
  var hostSize: HostSize? { get }
  /// True if the view is in a window.
  var isInWindow: Bool { get }
}

extension LayeredHost {
  var fittingMode: TargetSize.Mode { mode }

  /// Outside of a window neither the scale nor the layout is known.
  var pixelSize: HostSize? { isInWindow ? hostSize.flatMap { $0.isBound ? nil : $0 } : nil }

  func show(frame: Bitmap) { imageView.show(frame: frame) }

  func allow(_ range: DisplayRange) { imageView.allow(range) }

  /// The view reports its layout by itself.
  func watchLayout(_ loader: ImageViewLoader) {}

  func makeFrameLink(_ tick: @escaping @MainActor (Duration) -> Void) -> any FrameLink {
    imageView.makeFrameLink(tick)
  }
}
#endif
