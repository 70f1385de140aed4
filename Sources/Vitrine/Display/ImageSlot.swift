import VitrineCaching
import VitrineImaging
import VitrineRuntime

/// A place that shows one image at a time: the state behind a view or a reused cell.
///
/// A slot takes requests and sends its display the content to show: an image in memory at once, otherwise a
/// placeholder, then the image or the failure content. Results of earlier requests are never shown, in whatever order
/// they arrive.
///
/// ```swift
/// slot.load(request, placeholder: .color(.init(0xE0E0E0)), failure: .symbol("image-missing"))
/// ```
/// - A stale image in memory is shown at once, revalidated in the background, and replaced only if it changed.
/// - Loading the current request again restarts nothing, unless it had failed.
/// - After ``ImagePipeline/refresh(_:)-(ImageRequest)``, a slot with that source reloads it, and keeps its picture until
///   the new one arrives.
/// - A slot that failed tries again when another slot of the mailbox has loaded the same source, in any size; it shows
///   its failure content until then. ``retry()`` asks the server at once.
/// - The slot retains neither its display nor itself. Releasing it handles its load as ``whenLeft`` says.
///
/// ## Supporting a toolkit
///
/// A view owns a slot, conforms to ``ImageDisplay`` and reports its events, all on the main thread:
///
/// - Created: makes a slot with the ``FrameMailbox`` of its main loop, and sets ``display`` and ``sizing``. If it is
///   not on screen yet, sets ``isVisible`` to `false`.
/// - Bound to an item: calls ``load(_:placeholder:failure:)-(ImageRequest?,_,_)``. An image in memory is shown within
///   that call.
/// - Laid out, or its display's scale changed: calls ``sizeChanged(width:height:scale:)``; also before the first
///   layout, if the size is known from the cells around it.
/// - Enters or leaves the screen (mapped and unmapped, in GTK): sets ``isVisible``.
/// - Unbound, for reuse: calls ``prepareForReuse()``.
/// - Destroyed: releases the slot.
@MainActor
public final class ImageSlot {
  /// The display; while it is `nil`, nothing is shown.
  public weak var display: (any ImageDisplay)?

  /// The decoding size of images whose requests have no size; defaults to ``Sizing/asRequested``.
  ///
  /// A change applies from the next load on.
  public var sizing = Sizing.asRequested

  /// The handling of a load when the view is hidden, rebound or gone; defaults to ``Leaving/cancel``.
  public var whenLeft = Leaving.cancel

  /// A closure called with the load's progress, at most once a frame; a change applies from the next load on.
  public var onProgress: ((LoadProgress) -> Void)?

  /// A Boolean value that indicates whether previews are shown while an image loads; defaults to `false`.
  ///
  /// A change applies from the next load on.
  public var showsPreviews = false

  /// A Boolean value that indicates whether animations play, even if requests do not set ``ImageRequest/animates``;
  /// defaults to `false`.
  ///
  /// The display plays ``ImageResponse/animation``. A change applies from the next load on.
  public var animates = false

  /// A Boolean value that indicates whether the view is on screen; defaults to `true`.
  ///
  /// Loads start only while the view is visible; images in memory are shown either way. When the view is hidden, a
  /// running load is handled as ``whenLeft`` says; with ``Leaving/cancel`` it starts again once the view is visible.
  public var isVisible = true {
    didSet { if isVisible != oldValue { visibilityChanged() } }
  }

  /// A Boolean value that indicates whether loads wait although the view is visible, as in a fast scroll; defaults to
  /// `false`.
  ///
  /// Images in memory are shown either way. A running load continues.
  package var defersLoads = false {
    didSet { if oldValue, !defersLoads { visibilityChanged() } }
  }

  let loader: any ImageLoading
  let scope: LoadScope?
  let mailbox: FrameMailbox
  private var refreshes: (any Sendable)?

  /// The current request and its state.
  var binding: Binding?
  var shown = Shown.nothing
  var viewSize: PixelBox?
  /// The number of device pixels in a point of the view.
  var viewScale = 1.0
  /// The load whose results are shown; results of any other load are late.
  var current: SlotLoad? {
    didSet { if (current == nil) != (oldValue == nil) { loadingChanged?(current != nil) } }
  }
  /// The load of the placeholder's request; its image is shown until the slot's own arrives.
  var smallLoad: SlotLoad?

  /// The closure called when a load begins or ends, for the view's own indicator.
  package var loadingChanged: ((Bool) -> Void)?
  /// The closure called like ``onProgress``, for the view's own indicator.
  package var progressChanged: ((LoadProgress) -> Void)?
  /// The closure that replaces a request before its load, when its size is known.
  package var replace: ((ImageRequest) -> ImageRequest)?
  /// The number of calls so far, by which a re-entrant call is noticed.
  var generation = 0
  /// The wait for the view's size to settle.
  var rest: ScheduledAction?
  /// The number of waits so far, which distinguishes a finished wait from the current one.
  var restCount = 0

  /// Creates a visible slot without a size or content.
  ///
  /// - Parameters:
  ///   - pipeline: The pipeline.
  ///   - mailbox: The mailbox of the view's main loop. Defaults to ``FrameMailbox/main``.
  public convenience init(pipeline: ImagePipeline, mailbox: FrameMailbox = .main) {
    self.init(loader: pipeline, mailbox: mailbox)
  }

  /// Creates a slot whose loads belong to a scope; otherwise like ``init(pipeline:mailbox:)``.
  public convenience init(scope: LoadScope, mailbox: FrameMailbox = .main) {
    self.init(loader: scope.pipeline, scope: scope, mailbox: mailbox)
  }

  package init(loader: any ImageLoading, scope: LoadScope? = nil, mailbox: FrameMailbox) {
    (self.loader, self.scope, self.mailbox) = (loader, scope, mailbox)
    refreshes = loader.observeRefreshes { [weak self, mailbox] isRefreshed in
      mailbox.post { self?.refreshed(isRefreshed) }
    }
  }

  deinit {
    rest?.cancel()
    current?.leave(whenLeft)
    smallLoad?.leave(.cancel)
  }

  /// A Boolean value that indicates whether an image is loading or waits to be loaded.
  package var isLoading: Bool {
    binding.map { [.waitingForSize, .waitingToBeVisible, .loading].contains($0.stage) } ?? false
  }

  // MARK: Calls from the view

  /// Shows an image: at once if it is in memory, otherwise when it has loaded.
  ///
  /// Loading the current request again changes only its priority, unless it has failed. A failed request is loaded
  /// again, but a remembered failure may answer it (``PipelineConfiguration/remembersFailures``); ``retry()``
  /// skips remembered failures.
  ///
  /// - Parameters:
  ///   - request: The image to show; `nil` is the same as ``prepareForReuse()``.
  ///   - placeholder: The content while the image loads, unless the request has one of its own
  ///     (``ImageRequest/placeholder``). Defaults to nothing.
  ///   - failure: The content after a failure. Defaults to the placeholder, or to nothing if that is
  ///     ``Placeholder/keepCurrent``. A failure is never shown as a picture that resembles the image: a cached variant
  ///     and a request are replaced by their alternatives, a hash by its average colour.
  public func load(_ request: ImageRequest?, placeholder: Placeholder = .none, failure: Placeholder? = nil) {
    guard let request else { return prepareForReuse() }
    mailbox.statistics.binds += 1
    let isAgain = binding?.request.isSame(as: request) ?? false
    if isAgain, let binding, binding.stage != .failed {
      current?.setPriority(request.priority)
      binding.request.priority = request.priority
      return
    }
    let placeholder = request.placeholder ?? placeholder
    let failure =
      failure.map { failure in
        switch failure {
        case .cachedVariant, .request, .thumbHash, .blurHash: failure.forFailure
        case .none, .keepCurrent, .color, .image, .resource, .symbol, .native: failure
        }
      } ?? placeholder.forFailure
    bind(Binding(request: request, placeholder: placeholder, failure: failure), isAgain: isAgain)
  }

  /// Shows the image at a URL; text that is not a URL fails within this call.
  ///
  /// See ``load(_:placeholder:failure:)-(ImageRequest?,_,_)``.
  @_disfavoredOverload
  public func load<Address: URLConvertible>(
    _ url: Address?,
    placeholder: Placeholder = .none,
    failure: Placeholder? = nil,
  ) {
    load(url.map { ImageRequest($0.imageSource) }, placeholder: placeholder, failure: failure)
  }

  /// Loads the current image again after it has failed, as a button beside the failure content does.
  ///
  /// The server is asked even if the pipeline remembers the failure. The placeholder is shown meanwhile. Does nothing
  /// if the load has not failed.
  public func retry() {
    guard let failed = binding, failed.stage == .failed else { return }
    loader.forgetFailure(of: sized(failed) ?? failed.request)
    bind(Binding(again: failed, isReload: failed.isReload), isAgain: true)
  }

  /// Loads the current image again from its source and not from the caches, and keeps the picture meanwhile.
  ///
  /// The server is asked, unless the request is of policy `.cacheOnly`. If that fails, the picture stays, and the
  /// display receives the error with ``Placeholder/keepCurrent``; without a picture, it shows the failure content. A slot
  /// that is not visible reloads when it becomes visible. Does nothing if the slot has no request.
  ///
  /// It is for this slot alone: ``ImagePipeline/refresh(_:)-(ImageRequest)`` also empties the caches, and reloads every
  /// other slot with the same source.
  public func reload() {
    guard let binding else { return }
    bind(Binding(again: binding, isReload: true), isAgain: true)
  }

  /// Cancels the load, regardless of ``whenLeft``, and keeps the current content.
  ///
  /// Does nothing if no image is loading or waiting to be loaded.
  public func cancel() {
    guard isLoading else { return }
    self.binding = nil
    leaveSmall()
    leave(takeCurrent(), .cancel)
  }

  /// Clears the display and handles the load as ``whenLeft`` says.
  ///
  /// The view's size is kept for the next image.
  public func prepareForReuse() {
    binding = nil
    leaveSmall()
    leave(takeCurrent(), whenLeft)
    clear()
  }

  /// Sets the size of the view in device pixels; a size without an area is ignored.
  ///
  /// Starts a load that waited for the size. An image is loaded again only if the view has outgrown the size it was
  /// made for by more than a pixel; meanwhile it stays. While the view keeps growing, only a few sizes are loaded; the
  /// exact size follows when the view has not grown for a quarter of a second.
  ///
  /// - Parameters:
  ///   - width: The width in device pixels.
  ///   - height: The height in device pixels.
  ///   - scale: The number of device pixels in a point, for the processors of later loads. Defaults to 1.
  public func sizeChanged(width: Int, height: Int, scale: Double = 1) {
    guard width > 0, height > 0 else { return }
    viewScale = scale
    let size = PixelBox(width: width, height: height)
    guard size != viewSize else { return }
    viewSize = size
    viewSizeChanged(to: size)
  }
}
