#if os(macOS) || VITRINE_STUBS
public import AppKit
public import Vitrine
import VitrineRuntime

#if os(macOS)
/// A view that loads and shows images.
public typealias RemoteImageView = MacRemoteImageView
#endif

/// A view of AppKit that loads and shows images; on macOS its name is `RemoteImageView`.
///
/// Only while it is in a window are images loaded, at exactly the display's pixels, and again if the view grows or moves
/// to a sharper display. An image that was not in memory fades in. Animated images play while they are in a window,
/// unless the user wants less motion. After another request, the first one's image never appears.
open class MacRemoteImageView: NSView, ImageDisplay {
  /// The slot that decides what is shown, for rarely needed settings.
  ///
  /// The view sets its display, its size and its visibility.
  public let slot: ImageSlot
  /// The view of the image.
  public let imageView = NSImageView()
  /// The view of what stands for an image; symbols take its `symbolConfiguration`.
  public let placeholderView = NSImageView()
  /// The way in which an image appears that was not in memory; defaults to a short fade.
  public var transition = ImageTransition.crossDissolve
  /// The content of the view.
  public private(set) var content = ImageSlot.Content.empty
  /// A closure that is called after each change of the content; defaults to an empty one.
  public var onChange: (ImageSlot.Content) -> Void = { _ in }
  /// The player of the animation that is shown; `nil` for a still image.
  public var player: AnimationPlayer? { playback?.player }
  private var playback: Playback?

  /// Creates a view without an image.
  ///
  /// - Parameters:
  ///   - pipeline: The pipeline. Defaults to the shared one.
  ///   - mode: The way in which images fit. Defaults to `.fill`: the decoder cuts them to the view.
  public init(_ pipeline: ImagePipeline = .shared, mode: TargetSize.Mode = .fill) {
    slot = ImageSlot(pipeline: pipeline)
    super.init(frame: .zero)
    setUp(mode)
  }

  /// Creates a view of an archive, which uses the shared pipeline.
  public required init?(coder: NSCoder) {
    slot = ImageSlot(pipeline: .shared)
    super.init(coder: coder)
    setUp(.fill)
  }

  /// The range of brightness in which images are decoded and shown; defaults to `.standard`.
  ///
  /// Applies to later loads.
  public var dynamicRange = DynamicRange.standard {
    didSet { imageView.allow(dynamicRange) }
  }

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
  }

  private func show(_ image: ImageContainer, duration: TimeInterval) {
    // The transition of the layer shows what was there beneath the image.
    if duration > 0 { fadeContents(duration) }
    imageView.show(image, duration: 0)
    placeholderView.show(standIn: .none)
  }

  private func setUp(_ mode: TargetSize.Mode) {
    wantsLayer = true
    for view in [placeholderView, imageView] {
      view.frame = bounds
      view.autoresizingMask = [.width, .height]
      view.imageScaling = mode == .exact ? .scaleAxesIndependently : .scaleProportionallyUpOrDown
      addSubview(view)
    }
    (slot.sizing, slot.animates, slot.isVisible) = (.view(mode), true, false)
    slot.display = self
  }

  private func updateSize() {
    guard let size = hostSize, !size.isBound else { return }
    slot.sizeChanged(width: size.width, height: size.height, scale: size.scale)
  }

  /// Tells the slot the size.
  open override func layout() {
    super.layout()
    updateSize()
  }

  /// Tells the slot the size in pixels of another display.
  open override func viewDidChangeBackingProperties() {
    super.viewDidChangeBackingProperties()
    updateSize()
  }

  /// Tells the slot whether the view is in a window.
  open override func viewDidMoveToWindow() {
    super.viewDidMoveToWindow()
    if window != nil { needsLayout = true }
    slot.isVisible = window != nil
  }
}
#endif
