import VitrineCaching
import VitrineImaging
public import VitrineRuntime

/// The place where one image at a time is shown: what is behind a view, or a cell that is used again and again.
///
/// It is given requests, and tells its display what to show: what is in memory at once, otherwise a placeholder, then the
/// image or what stands for a failure. Whatever the order in which answers come, a display never shows what it was asked to
/// show before.
///
/// ```swift
/// slot.load(request, placeholder: .color(.init(0xE0E0E0)), failure: .symbol("image-missing"))
/// ```
/// - A stale image in memory is shown at once, revalidated behind it, and replaced only if it changed.
/// - The request that the slot has already restarts nothing, unless it had failed.
/// - The slot keeps neither its display nor itself alive; dropping it lets its load go, as ``whenLeft`` says.
///
/// ## Making a front door
///
/// A view of any toolkit owns a slot, conforms to ``ImageDisplay`` and says what happens to it, all on the main thread:
///
/// - Created: makes a slot with the ``FrameMailbox`` of its main loop, sets ``display``, and ``sizing`` to the way it fits
///   images in. If it is not on screen yet, sets ``isVisible`` to `false`.
/// - Bound to an item: calls ``load(_:placeholder:failure:)-(ImageRequest?,_,_)``. What is in memory is shown within that call.
/// - Laid out, or its display's scale changed: calls ``sizeChanged(width:height:)``; also before the first layout, where
///   the size is known from the cells around it.
/// - Comes on screen or leaves it (mapped and unmapped, in GTK): sets ``isVisible``.
/// - Unbound, to be used again: calls ``prepareForReuse()``.
/// - Destroyed: drops the slot.
@MainActor
public final class ImageSlot {
  /// What shows; nothing is told while it is `nil`.
  public weak var display: (any ImageDisplay)?

  /// How large an image is decoded whose request names no size; ``Sizing/asRequested`` unless told.
  ///
  /// A change counts from the next load on.
  public var sizing = Sizing.asRequested

  /// What becomes of a load when the view is hidden, bound to something else or gone; it is cancelled unless told otherwise.
  public var whenLeft = Leaving.cancel

  /// Is told how much of the image has been loaded, at most once a frame; counts from the next load on.
  public var onProgress: ((LoadProgress) -> Void)?

  /// Whether an image is shown as far as it is known while it comes; no, unless told.
  ///
  /// Counts from the next load on.
  public var showsPreviews = false

  /// Whether the view is on screen, which it is unless told.
  ///
  /// Only then loads are begun; what is in memory is shown either way. A load that is under way when the view is hidden is
  /// dealt with as ``whenLeft`` says; where that is ``Leaving/cancel`` it is begun again when the view is visible again.
  public var isVisible = true {
    didSet { if isVisible != oldValue { visibilityChanged() } }
  }

  let loader: any ImageLoading
  let scope: LoadScope?
  let mailbox: FrameMailbox

  /// What the slot was asked for.
  var binding: Binding?
  /// What the display shows.
  var shown = Shown.nothing
  /// The size of the view, once it is known.
  var viewSize: PixelBox?
  /// The load that may show something; any other is late.
  var current: SlotLoad?
  /// Counts what the slot was asked to do, so that a call that was made in between is noticed.
  var generation = 0
  /// The wait for the view's size to rest.
  var rest: ScheduledAction?
  /// Counts the waits, so that one that is over is told apart from the one that goes on.
  var restCount = 0

  /// Makes a slot without a size, visible, that shows nothing.
  ///
  /// - Parameters:
  ///   - pipeline: What loads.
  ///   - mailbox: That of the main loop of the view; ``FrameMailbox/main`` unless told.
  public convenience init(pipeline: ImagePipeline, mailbox: FrameMailbox = .main) {
    self.init(loader: pipeline, mailbox: mailbox)
  }

  /// Makes a slot whose loads are those of a scope; otherwise as ``init(pipeline:mailbox:)``.
  public convenience init(scope: LoadScope, mailbox: FrameMailbox = .main) {
    self.init(loader: scope.pipeline, scope: scope, mailbox: mailbox)
  }

  package init(loader: any ImageLoading, scope: LoadScope? = nil, mailbox: FrameMailbox) {
    (self.loader, self.scope, self.mailbox) = (loader, scope, mailbox)
  }

  deinit {
    rest?.cancel()
    current?.leave(whenLeft)
  }

  /// Whether an image is being loaded, or waited with until it can be.
  package var isLoading: Bool {
    binding.map { [.waitingForSize, .waitingToBeVisible, .loading].contains($0.stage) } ?? false
  }

  // MARK: What a view calls

  /// Shows an image: now if it is in memory, otherwise when it comes.
  ///
  /// The slot's own request again changes nothing but its priority, unless it had failed: then it is tried again.
  ///
  /// - Parameters:
  ///   - request: What to show; `nil` is the same as ``prepareForReuse()``.
  ///   - placeholder: What is shown until the image is there; by default nothing.
  ///   - failure: What is shown if it does not come. By default the placeholder; nothing, if that is
  ///     ``Placeholder/keepCurrent``. A picture out of the cache stands for no failure: then it is what would stand for that.
  public func load(_ request: ImageRequest?, placeholder: Placeholder = .none, failure: Placeholder? = nil) {
    guard let request else { return prepareForReuse() }
    mailbox.statistics.binds += 1
    let isAgain = binding?.request.isSame(as: request) ?? false
    if isAgain, let binding, binding.stage != .failed {
      current?.setPriority(request.priority)
      binding.request.priority = request.priority
      return
    }
    let failure = failure.map { if case .cachedVariant = $0 { $0.forFailure } else { $0 } } ?? placeholder.forFailure
    bind(Binding(request: request, placeholder: placeholder, failure: failure), isAgain: isAgain)
  }

  /// Shows the image of an address; text that is none fails within this call.
  ///
  /// See ``load(_:placeholder:failure:)-(ImageRequest?,_,_)``.
  @_disfavoredOverload
  public func load(_ url: String?, placeholder: Placeholder = .none, failure: Placeholder? = nil) {
    load(url.map { ImageRequest(url: $0) }, placeholder: placeholder, failure: failure)
  }

  /// Shows the image of an address.
  ///
  /// See ``load(_:placeholder:failure:)-(ImageRequest?,_,_)``.
  @_disfavoredOverload
  public func load(_ url: URL?, placeholder: Placeholder = .none, failure: Placeholder? = nil) {
    load(url.map { ImageRequest(url: $0) }, placeholder: placeholder, failure: failure)
  }

  /// Cancels what is being loaded, whatever ``whenLeft`` says, and leaves what is shown.
  ///
  /// Does nothing when nothing is being loaded or waited for.
  public func cancel() {
    guard isLoading else { return }
    self.binding = nil
    leave(takeCurrent(), .cancel)
  }

  /// Lets go of what is shown and of what is being loaded, as ``whenLeft`` says; the display is told to show nothing.
  ///
  /// The size stays known: it is that of the next image, too.
  public func prepareForReuse() {
    binding = nil
    leave(takeCurrent(), whenLeft)
    clear()
  }

  /// Says how large the view is, in device pixels; a size without an area is ignored.
  ///
  /// Begins what waited for it. An image is loaded again only if the view has become larger than what it is made for, by
  /// more than a pixel; meanwhile what is shown stays. While the view goes on growing that is done for a few sizes only, and
  /// for its very own when it has rested for a quarter of a second.
  public func sizeChanged(width: Int, height: Int) {
    guard width > 0, height > 0 else { return }
    let size = PixelBox(width: width, height: height)
    guard size != viewSize else { return }
    viewSize = size
    viewSizeChanged(to: size)
  }
}
