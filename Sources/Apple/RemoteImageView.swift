#if !os(macOS) && !os(watchOS)
public import UIKit
public import Vitrine
import VitrineRuntime

/// A view that loads and shows images.
///
/// ```swift
/// let view = RemoteImageView()
/// view.vitrine.load(url, placeholder: .thumbHash(hash), failure: .symbol("photo"))
/// ```
/// It has a layer for what stands for an image and one for the image, so that each fits as it should and an image that
/// was not in memory fades in over its placeholder. Only while it is in a window are images loaded, at exactly the
/// display's pixels, and again if the view grows. Animated images play while they are in a window, unless the user
/// wants less motion. After another request, the first one's image never appears.
open class RemoteImageView: UIView {
  /// The loader of this view.
  public private(set) lazy var vitrine = ImageViewLoader(self)
  /// The view of the image.
  ///
  /// Its `preferredImageDynamicRange` is that of the loader's ``ImageViewLoader/dynamicRange``.
  public let imageView = UIImageView()
  /// The view of what stands for an image; symbols take its `preferredSymbolConfiguration`.
  public let placeholderView = UIImageView()
  /// The number of the last fade, by which the end of an earlier one is told.
  private var fadeCount = 0

  /// Creates a view without an image.
  ///
  /// - Parameters:
  ///   - pipeline: The pipeline. Defaults to the shared one.
  ///   - mode: The way in which images fit. Defaults to `.fill`.
  public init(_ pipeline: ImagePipeline = .shared, mode: TargetSize.Mode = .fill) {
    self.mode = mode
    super.init(frame: .zero)
    vitrine = ImageViewLoader(self, pipeline)
    setUp()
  }

  /// Creates a view of an archive, which uses the shared pipeline.
  public required init?(coder: NSCoder) {
    mode = .fill
    super.init(coder: coder)
    setUp()
  }

  /// The way in which images fit; a change applies to the pixels of later loads.
  public var mode: TargetSize.Mode {
    didSet { imageView.contentMode = mode.contentMode }
  }

  private func setUp() {
    for view in [placeholderView, imageView] {
      view.frame = bounds
      view.autoresizingMask = [.flexibleWidth, .flexibleHeight]
      view.clipsToBounds = true
      addSubview(view)
    }
    imageView.contentMode = mode.contentMode
    (vitrine.slot.isVisible, vitrine.animates) = (false, true)
  }

  /// Tells the loader the size.
  open override func layoutSubviews() {
    super.layoutSubviews()
    vitrine.updateSize()
  }

  /// Tells the loader whether the view is in a window.
  open override func didMoveToWindow() {
    super.didMoveToWindow()
    if isInWindow { setNeedsLayout() }
    vitrine.slot.isVisible = isInWindow
  }
}

extension RemoteImageView: LayeredHost {
  var isInWindow: Bool { window != nil }

  func show(_ image: ImageContainer, isTemplate: Bool, duration: TimeInterval) {
    let previous = imageView.image
    let fade = endFade()
    imageView.show(image, isTemplate: isTemplate, duration: 0)
    guard duration > 0, isInWindow else { return placeholderView.show(standIn: .none) }
    // An image that was kept stays beneath the one that fades in.
    if let previous {
      placeholderView.show(standIn: .image(previous))
      placeholderView.contentMode = mode.contentMode
    }
    imageView.alpha = 0
    UIView.animate(withDuration: duration, delay: 0, options: .allowUserInteraction) {
      self.imageView.alpha = 1
    } completion: { [weak self] _ in
      // What lies beneath a later image, or stands for one, is not this fade's to take away.
      guard let self, fade == fadeCount else { return }
      placeholderView.show(standIn: .none)
    }
  }

  /// Ends the fade of an earlier image, and returns the number of the next one.
  private func endFade() -> Int {
    fadeCount += 1
    imageView.layer.removeAllAnimations()
    imageView.alpha = 1
    return fadeCount
  }

  func show(standIn: Placeholder) {
    _ = endFade()
    imageView.image = nil
    placeholderView.show(standIn: standIn)
    placeholderView.contentMode = standIn.isSymbol ? .center : mode.contentMode
  }
}

extension TargetSize.Mode {
  fileprivate var contentMode: UIView.ContentMode {
    switch self {
    case .fit: .scaleAspectFit
    case .fill: .scaleAspectFill
    case .exact: .scaleToFill
    }
  }
}

extension Placeholder {
  /// True for what is shown at its own size.
  fileprivate var isSymbol: Bool {
    if case .symbol = self { true } else { symbol != nil }
  }
}
#endif
