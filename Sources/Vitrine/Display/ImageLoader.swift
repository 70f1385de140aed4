public import Observation
public import VitrineImaging
import VitrineRuntime

/// An observable image and its loading state, for code that binds views to state.
///
/// ```swift
/// let loader = ImageLoader()
/// loader.load(ImageRequest(url: url, size: .pixels(300, 300)))
/// // loader.image and loader.phase change, and their observers are notified.
/// ```
/// It follows the rules of ``ImageSlot``: an image in memory is set when ``load(_:)-(ImageRequest?)`` returns, and an
/// earlier request's image never replaces a later one's. Releasing the loader cancels its load.
@MainActor
@Observable
public final class ImageLoader {
  /// The state of a load.
  public enum Phase: Sendable {
    /// Nothing was requested.
    case empty
    /// The image is loading.
    case loading
    /// The image has loaded.
    case success(ImageResponse)
    /// The load has failed.
    case failure(LoadError)
  }

  /// The state of the load.
  public private(set) var phase = Phase.empty
  /// The bitmap to show: the image, a preview of it, or the previous image if ``keepsImage`` is `true`.
  public private(set) var image: Bitmap?
  /// The progress of the download; `nil` before its first bytes and after its end.
  public private(set) var progress: LoadProgress?
  /// A Boolean value that indicates whether the previous image stays until the next has loaded; defaults to `false`.
  @ObservationIgnored
  public var keepsImage = false

  /// A Boolean value that indicates whether animations play, even if requests do not set `animates`; defaults to
  /// `false`.
  @ObservationIgnored
  public var animates: Bool {
    get { slot.animates }
    set { slot.animates = newValue }
  }

  @ObservationIgnored
  private let slot: ImageSlot
  @ObservationIgnored
  private let screen = Screen()

  /// Creates a loader that shows nothing.
  ///
  /// - Parameters:
  ///   - pipeline: The pipeline. Defaults to ``ImagePipeline/shared``.
  ///   - mailbox: The mailbox of the main loop. Defaults to ``FrameMailbox/main``.
  public convenience init(_ pipeline: ImagePipeline = .shared, mailbox: FrameMailbox = .main) {
    self.init(ImageSlot(pipeline: pipeline, mailbox: mailbox))
  }

  /// Creates a loader whose loads belong to a scope.
  public convenience init(in scope: LoadScope, mailbox: FrameMailbox = .main) {
    self.init(ImageSlot(scope: scope, mailbox: mailbox))
  }

  package init(_ slot: ImageSlot) {
    self.slot = slot
    slot.showsPreviews = true
    slot.display = screen
    slot.onProgress = { [weak self] in self?.progress = $0 }
    slot.loadingChanged = { [weak self] isLoading in if !isLoading { self?.ended() } }
    screen.owner = self
  }

  /// Loads an image; `nil` clears the loader, and the current request has no effect unless it has failed.
  public func load(_ request: ImageRequest?) {
    guard let request else { return slot.load(nil as ImageRequest?) }
    again { slot.load(request, placeholder: keepsImage ? .keepCurrent : .none) }
  }

  /// Loads the image at a URL; see ``load(_:)-(ImageRequest?)``.
  public func load(_ url: (some URLConvertible)?) { load(url.map { ImageRequest($0.imageSource) }) }

  /// Loads the image again after a failure, with a request to the server even if the failure is remembered; see
  /// ``ImageSlot/retry()``.
  public func retry() { again { slot.retry() } }

  /// Loads the current image again from its source, and keeps it meanwhile, and also if that fails; see
  /// ``ImageSlot/reload()``.
  public func reload() { again { slot.reload() } }

  private func again(_ load: () -> Void) {
    screen.hasAnswered = false
    load()
    if !screen.hasAnswered, slot.isLoading { phase = .loading }
  }

  /// Stops loading, and keeps the current image.
  public func cancel() {
    slot.cancel()
    progress = nil
    if case .loading = phase { phase = .empty }
  }

  /// Leaves the state of loading if the load has ended without a result, since its scope has cancelled it.
  private func ended() {
    if case .loading = phase, !slot.isLoading { (phase, progress) = (.empty, nil) }
  }

  private func show(_ content: ImageSlot.Content) {
    switch content {
    case .empty:
      (phase, image, progress) = (.empty, nil, nil)
    case .placeholder: break
    case .preview(let preview): image = preview.bitmap
    case .image(let response, _):
      (phase, image, progress) = (.success(response), response.image, nil)
    case .failure(let error, let content):
      (phase, progress) = (.failure(error), nil)
      if case .keepCurrent = content { return }
      if !keepsImage { image = nil }
    }
  }

  /// The slot's display; it is a separate type, so that `show(_:)` is not a public method of the loader.
  private final class Screen: ImageDisplay {
    weak var owner: ImageLoader?
    var hasAnswered = false

    func show(_ content: ImageSlot.Content) {
      switch content {
      case .image, .failure: hasAnswered = true
      case .empty, .placeholder, .preview: break
      }
      owner?.show(content)
    }
  }
}
