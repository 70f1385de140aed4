#if !os(watchOS)
public import Vitrine
import VitrineRuntime

/// Loads images into an image view of UIKit or AppKit, or into a `RemoteImageView`.
///
/// ```swift
/// imageView.vitrine.load(url, placeholder: .resource("cat-outline"), failure: .symbol("photo"))
/// ```
/// Each view has one, `vitrine`, for as long as it lives. It follows the rules of ``Vitrine/ImageSlot``: an image
/// in memory is shown within the call, without a placeholder or a fade, and a view that has another request never shows
/// the first one's image. Neither the pipeline nor a running load keeps the view alive.
///
/// A request without a size is decoded at the size of the view, once it has one. A view whose size is that of its image
/// takes an image no larger than the window.
@MainActor
public final class ImageViewLoader: ImageDisplay {
  /// The slot that decides what is shown, for rarely needed settings.
  ///
  /// The loader sets its display, its sizing and its size, and `RemoteImageView` its visibility.
  public private(set) var slot: ImageSlot
  /// The pipeline; a change cancels the load and applies to later ones.
  ///
  /// Defaults to the shared one.
  public var pipeline: ImagePipeline {
    didSet { if pipeline !== oldValue { slot = makeSlot() } }
  }
  /// The range of brightness in which images are decoded and shown, as far as the display can.
  ///
  /// Applies to later loads. Defaults to ``DisplayRange/unspecified``: as each request and the view say.
  public var dynamicRange = DisplayRange.unspecified {
    didSet { if dynamicRange != oldValue { host?.allow(dynamicRange) } }
  }
  /// A Boolean value that indicates whether animated images move.
  ///
  /// Defaults to `true` in a `RemoteImageView`. Defaults to `false` in an image view, which shows their first frame.
  /// They stand still, too, if the user wants less motion. A change applies from the next load on. A moving image is
  /// another one in memory than its first frame, so prefetch it with ``Vitrine/ImageRequest/animates``.
  public var animates = false {
    didSet { slot.animates = animates }
  }
  /// A Boolean value that indicates whether images are templates, which have the tint of the view for their colours.
  ///
  /// Only the alpha of a template counts. Applies to later images, still ones and previews. Defaults to `false`.
  public var showsTemplates = false
  /// The content of the view.
  public private(set) var content = ImageSlot.Content.empty
  /// A closure that is called after each change of the content; defaults to an empty one.
  public var onChange: (ImageSlot.Content) -> Void = { _ in }
  /// The player of the animation that is shown; `nil` for a still image.
  public var player: AnimationPlayer? { playback?.player }

  private weak var host: (any PictureHost)?
  private var transition = ImageTransition.crossDissolve
  private var playback: Playback?
  private var watchesLayout = false

  init(_ host: any PictureHost, _ pipeline: ImagePipeline = .shared) {
    self.host = host
    self.pipeline = pipeline
    slot = ImageSlot(pipeline: pipeline)
    prepare(slot)
  }

  /// Shows an image: at once if it is in memory, otherwise when it has been loaded.
  ///
  /// The same request again changes nothing; `nil` clears the view.
  ///
  /// - Parameters:
  ///   - request: The request; `nil` for no image.
  ///   - placeholder: The content until then. Defaults to none, which clears the view;
  ///     ``Vitrine/Placeholder/keepCurrent`` leaves it as it is.
  ///   - failure: The content if loading fails. Defaults to the placeholder.
  ///   - transition: The way in which an image appears that was not in memory. Defaults to a short fade.
  public func load(
    _ request: ImageRequest?,
    placeholder: Placeholder = .none,
    failure: Placeholder? = nil,
    transition: ImageTransition = .crossDissolve,
  ) {
    self.transition = transition
    var request = request
    if let range = dynamicRange.decoded { request?.dynamicRange = range }
    if request != nil, !watchesLayout {
      watchesLayout = true
      host?.watchLayout(self)
    }
    updateSize()
    slot.load(request, placeholder: placeholder, failure: failure)
  }

  /// Shows the image of a URL; text that is none fails within this call.
  ///
  /// See ``load(_:placeholder:failure:transition:)-(ImageRequest?,_,_,_)``.
  @_disfavoredOverload
  public func load(
    _ url: (some URLConvertible)?,
    placeholder: Placeholder = .none,
    failure: Placeholder? = nil,
    transition: ImageTransition = .crossDissolve,
  ) {
    let request = url.map { ImageRequest($0.imageSource) }
    load(request, placeholder: placeholder, failure: failure, transition: transition)
  }

  /// Cancels the load, and leaves what is shown.
  public func cancel() { slot.cancel() }

  /// Shows nothing, and cancels the load.
  public func clear() { slot.prepareForReuse() }

  /// Shows content; called by the slot.
  public func show(_ content: ImageSlot.Content) {
    guard let host else { return }
    self.content = content
    let former = playback.take()
    let play = { (animation: AnimatedImage?) in
      self.playback = animation.map { Playback($0, after: former, on: host) { [weak host] in host?.show(frame: $0) } }
    }
    switch content {
    case .empty: host.show(standIn: .none)
    case .placeholder(.keepCurrent), .failure(_, shows: .keepCurrent): break
    case .placeholder(let placeholder), .failure(_, shows: let placeholder): host.show(standIn: placeholder)
    case .preview(let preview):
      host.show(preview, isTemplate: showsTemplates, duration: 0)
      play(preview.animation)
    case .image(let response, let fades):
      host.show(response.container, isTemplate: showsTemplates, duration: transition.duration(fades: fades))
      play(response.animation)
    }
    onChange(content)
  }

  /// Tells the slot the size of the view.
  func updateSize() {
    guard let host else { return }
    let size = host.pixelSize
    // A view without a size shows all of an image.
    slot.sizing = .view(size?.isBound == true ? .fit : host.fittingMode)
    guard let size else { return }
    slot.sizeChanged(width: size.width, height: size.height, scale: size.scale)
  }

  private func makeSlot() -> ImageSlot {
    let former = slot
    // The view keeps its content until the next load.
    former.display = nil
    former.prepareForReuse()
    let slot = ImageSlot(pipeline: pipeline)
    (slot.isVisible, slot.whenLeft) = (former.isVisible, former.whenLeft)
    (slot.showsPreviews, slot.onProgress) = (former.showsPreviews, former.onProgress)
    prepare(slot)
    return slot
  }

  private func prepare(_ slot: ImageSlot) {
    slot.sizing = .view(host?.fittingMode ?? .fill)
    slot.animates = animates
    slot.display = self
  }
}
#endif
