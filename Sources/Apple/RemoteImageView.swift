#if !os(macOS) && !os(watchOS)
public import UIKit
public import Vitrine
import VitrineRuntime

/// A view that loads and shows images.
///
/// ```swift
/// let view = RemoteImageView()
/// view.load(url, placeholder: .thumbHash(hash), failure: .symbol("photo"))
/// ```
/// It has a layer for what stands for an image and one for the image, so that each fits as it should and an image that
/// was not in memory fades in over its placeholder. Only while it is in a window are images loaded, at exactly the
/// display's pixels, and again if the view grows. Animated images play while they are in a window, unless the user
/// wants less motion. After another request, the first one's image never appears.
open class RemoteImageView: UIView, ImageDisplay {
  /// The slot that decides what is shown, for rarely needed settings.
  ///
  /// The view sets its display, its size and its visibility.
  public let slot: ImageSlot
  /// The view of the image.
  ///
  /// Its `preferredImageDynamicRange` is that of ``dynamicRange``.
  public let imageView = UIImageView()
  /// The view of what stands for an image; symbols take its `preferredSymbolConfiguration`.
  public let placeholderView = UIImageView()
  /// The way in which an image appears that was not in memory; defaults to a short fade.
  public var transition = ImageTransition.crossDissolve
  /// The content of the view.
  public private(set) var content = ImageSlot.Content.empty
  /// A closure that is called after each change of the content; defaults to an empty one.
  public var onChange: (ImageSlot.Content) -> Void = { _ in }
  private var playback: Playback?

  /// Creates a view without an image.
  ///
  /// - Parameters:
  ///   - pipeline: The pipeline. Defaults to the shared one.
  ///   - mode: The way in which images fit. Defaults to `.fill`.
  public init(_ pipeline: ImagePipeline = .shared, mode: TargetSize.Mode = .fill) {
    slot = ImageSlot(pipeline: pipeline)
    self.mode = mode
    super.init(frame: .zero)
    setUp()
  }

  /// Creates a view of an archive, which uses the shared pipeline.
  public required init?(coder: NSCoder) {
    slot = ImageSlot(pipeline: .shared)
    mode = .fill
    super.init(coder: coder)
    setUp()
  }

  /// The way in which images fit; a change applies to the pixels of later loads.
  public var mode: TargetSize.Mode {
    didSet { updateMode() }
  }

  /// A Boolean value that indicates whether animated images move; defaults to `true`.
  ///
  /// A change applies from the next load on.
  public var animates: Bool {
    get { slot.animates }
    set { slot.animates = newValue }
  }

  /// The range of brightness in which images are decoded and shown; defaults to `.standard`.
  ///
  /// Applies to later loads.
  public var dynamicRange = DynamicRange.standard {
    didSet { imageView.allow(dynamicRange) }
  }

  /// The player of the animation that is shown; `nil` for a still image.
  public var player: AnimationPlayer? { playback?.player }

  /// Shows an image: at once if it is in memory, otherwise when it has been loaded; `nil` clears the view.
  ///
  /// - Parameters:
  ///   - request: The request; `nil` for no image.
  ///   - placeholder: The content until then. Defaults to none.
  ///   - failure: The content if loading fails. Defaults to the placeholder.
  public func load(_ request: ImageRequest?, placeholder: Placeholder = .none, failure: Placeholder? = nil) {
    var request = request
    if dynamicRange != .standard { request?.dynamicRange = dynamicRange }
    slot.load(request, placeholder: placeholder, failure: failure)
  }

  /// Shows the image of a URL; see ``load(_:placeholder:failure:)-(ImageRequest?,_,_)``.
  @_disfavoredOverload
  public func load(_ url: URL?, placeholder: Placeholder = .none, failure: Placeholder? = nil) {
    load(url.map { ImageRequest(url: $0) }, placeholder: placeholder, failure: failure)
  }

  /// Shows the image of a URL; text that is none fails within this call.
  @_disfavoredOverload
  public func load(_ url: String?, placeholder: Placeholder = .none, failure: Placeholder? = nil) {
    load(url.map { ImageRequest(url: $0) }, placeholder: placeholder, failure: failure)
  }

  /// Cancels the load, and leaves what is shown.
  public func cancel() { slot.cancel() }

  /// Shows nothing, and cancels the load.
  public func clear() { slot.prepareForReuse() }

  /// Shows content; called by the slot.
  public func show(_ content: ImageSlot.Content) {
    self.content = content
    playback = nil
    switch content {
    case .empty: show(standIn: .none)
    case .placeholder(let placeholder), .failure(_, let placeholder): show(standIn: placeholder)
    case .preview(let preview): show(preview, duration: 0)
    case .image(let response, let fades):
      show(response.container, duration: window == nil ? 0 : transition.duration(fades: fades))
      playback = response.animation.map { Playback($0, on: imageView) { [imageView] in imageView.show(frame: $0) } }
    }
    onChange(content)
  }

  private func show(standIn: Placeholder) {
    if case .keepCurrent = standIn { return }
    imageView.image = nil
    placeholderView.show(standIn: standIn)
    placeholderView.contentMode = standIn.isSymbol ? .center : mode.contentMode
  }

  private func show(_ image: ImageContainer, duration: TimeInterval) {
    let previous = imageView.image
    imageView.show(image, duration: 0)
    guard duration > 0 else {
      imageView.alpha = 1
      return placeholderView.show(standIn: .none)
    }
    // An image that was kept stays beneath the one that fades in.
    if let previous { (placeholderView.image, placeholderView.contentMode) = (previous, mode.contentMode) }
    imageView.alpha = 0
    UIView.animate(withDuration: duration, delay: 0, options: .allowUserInteraction) {
      self.imageView.alpha = 1
    } completion: { [weak self] isFinished in
      // A fade that another content has cut off must not take that away.
      guard isFinished, let self, case .image = self.content else { return }
      placeholderView.show(standIn: .none)
    }
  }

  private func setUp() {
    for view in [placeholderView, imageView] {
      view.frame = bounds
      view.autoresizingMask = [.flexibleWidth, .flexibleHeight]
      view.clipsToBounds = true
      addSubview(view)
    }
    updateMode()
    slot.isVisible = false
    slot.animates = true
    slot.display = self
  }

  private func updateMode() {
    imageView.contentMode = mode.contentMode
    slot.sizing = .view(mode)
  }

  /// Tells the slot the size.
  open override func layoutSubviews() {
    super.layoutSubviews()
    guard let size = hostSize, !size.isBound else { return }
    slot.sizeChanged(width: size.width, height: size.height, scale: size.scale)
  }

  /// Tells the slot whether the view is in a window.
  open override func didMoveToWindow() {
    super.didMoveToWindow()
    if window != nil { setNeedsLayout() }
    slot.isVisible = window != nil
  }
}

extension TargetSize.Mode {
  var contentMode: UIView.ContentMode {
    switch self {
    case .fit: .scaleAspectFit
    case .fill: .scaleAspectFill
    case .exact: .scaleToFill
    }
  }
}

extension Placeholder {
  /// True for what is shown at its own size.
  var isSymbol: Bool {
    if case .symbol = self { true } else { symbol != nil }
  }
}
#endif
