#if os(macOS) || os(Linux)
public import AppKit
public import Vitrine
import VitrineRuntime

#if os(macOS)
/// A view that loads and shows images.
public typealias RemoteImageView = MacRemoteImageView
#endif

/// A view of AppKit that loads and shows images; on macOS its name is `RemoteImageView`.
///
/// ```swift
/// let view = RemoteImageView()
/// view.vitrine.load(url, placeholder: .thumbHash(hash), failure: .symbol("photo"))
/// ```
/// Only while it is in a window are images loaded, at exactly the display's pixels, and again if the view grows or moves
/// to a sharper display. An image that was not in memory fades in. Animated images play while they are in a window,
/// unless the user wants less motion. After another request, the first one's image never appears.
open class MacRemoteImageView: NSView {
  /// The loader of this view.
  public private(set) lazy var vitrine = ImageViewLoader(self)
  /// The view of the image.
  public let imageView = NSImageView()
  /// The view of what stands for an image; symbols take its `symbolConfiguration`.
  public let placeholderView = NSImageView()

  /// Creates a view without an image.
  ///
  /// - Parameters:
  ///   - pipeline: The pipeline. Defaults to the shared one.
  ///   - mode: The way in which images fit. Defaults to `.fill`: the decoder cuts them to the view.
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
    didSet { updateMode() }
  }

  private func setUp() {
    wantsLayer = true
    for view in [placeholderView, imageView] {
      view.frame = bounds
      view.autoresizingMask = [.width, .height]
      addSubview(view)
    }
    updateMode()
    (vitrine.slot.isVisible, vitrine.animates) = (false, true)
  }

  private func updateMode() {
    let scaling: NSImageScaling = mode == .exact ? .scaleAxesIndependently : .scaleProportionallyUpOrDown
    for view in [placeholderView, imageView] { view.imageScaling = scaling }
  }

  /// Tells the loader the size.
  open override func layout() {
    super.layout()
    vitrine.updateSize()
  }

  /// Tells the loader the size in pixels of another display.
  open override func viewDidChangeBackingProperties() {
    super.viewDidChangeBackingProperties()
    vitrine.updateSize()
  }

  /// Tells the loader whether the view is in a window.
  open override func viewDidMoveToWindow() {
    super.viewDidMoveToWindow()
    if isInWindow { needsLayout = true }
    vitrine.slot.isVisible = isInWindow
  }
}

extension MacRemoteImageView: LayeredHost {
  var isInWindow: Bool { window != nil }

  func show(_ image: ImageContainer, isTemplate: Bool, duration: TimeInterval) {
    // The transition of the layer shows what was there beneath the image.
    if duration > 0, isInWindow { fadeContents(duration) } else { endFade() }
    imageView.show(image, isTemplate: isTemplate, duration: 0)
    placeholderView.show(standIn: .none)
  }

  func show(standIn: Placeholder) {
    endFade()
    imageView.image = nil
    placeholderView.show(standIn: standIn)
  }
}
#endif
