public import Observation
public import VitrineImaging
import VitrineRuntime

/// An image and how far it is, for code that binds views to state.
///
/// ```swift
/// let loader = ImageLoader()
/// loader.load(ImageRequest(url: url, size: .pixels(300, 300)))
/// // loader.image and loader.phase change, and whoever observes them is told.
/// ```
/// It follows the rules of ``ImageSlot``: what is in memory is there when ``load(_:)-(ImageRequest?)`` returns, and an image
/// that was asked for before never takes the place of one asked for later. Releasing it cancels what it loads.
@MainActor
@Observable
public final class ImageLoader {
  /// How far the image is.
  public enum Phase: Sendable {
    /// Nothing was asked for.
    case empty
    /// It is being loaded.
    case loading
    /// It is there.
    case success(ImageResponse)
    /// It does not come.
    case failure(LoadError)
  }

  /// How far the image is.
  public private(set) var phase = Phase.empty
  /// What is to be shown: the image, a preview of it, or what was shown before while ``keepsImage`` says so.
  public private(set) var image: Bitmap?
  /// How many bytes have come of how many; `nil` before the first and after the end.
  public private(set) var progress: LoadProgress?
  /// Whether what is shown stays until the next image is there; `false` by default.
  @ObservationIgnored
  public var keepsImage = false

  @ObservationIgnored
  private let slot: ImageSlot
  @ObservationIgnored
  private let screen = Screen()

  /// Makes a loader that shows nothing.
  ///
  /// - Parameters:
  ///   - pipeline: What loads; the program's shared one by default.
  ///   - mailbox: That of the main loop; ``FrameMailbox/main`` unless told.
  public convenience init(_ pipeline: ImagePipeline = .shared, mailbox: FrameMailbox = .main) {
    self.init(ImageSlot(pipeline: pipeline, mailbox: mailbox))
  }

  /// Makes a loader whose loads are those of a scope.
  public convenience init(in scope: LoadScope, mailbox: FrameMailbox = .main) {
    self.init(ImageSlot(scope: scope, mailbox: mailbox))
  }

  package init(_ slot: ImageSlot) {
    self.slot = slot
    slot.showsPreviews = true
    slot.display = screen
    slot.onProgress = { [weak self] in self?.progress = $0 }
    screen.owner = self
  }

  /// Loads an image; `nil` clears, and the request that was made last changes nothing.
  public func load(_ request: ImageRequest?) {
    guard let request else { return slot.load(nil as ImageRequest?) }
    screen.hasAnswered = false
    slot.load(request, placeholder: keepsImage ? .keepCurrent : .none)
    if !screen.hasAnswered, slot.isLoading { phase = .loading }
  }

  /// Loads the image of an address; see ``load(_:)-(ImageRequest?)``.
  public func load(_ url: URL?) { load(url.map { ImageRequest(url: $0) }) }

  /// Stops loading, and leaves what is shown.
  public func cancel() {
    slot.cancel()
    progress = nil
    if case .loading = phase { phase = .empty }
  }

  private func show(_ content: ImageSlot.Content) {
    switch content {
    case .empty:
      (phase, image, progress) = (.empty, nil, nil)
    case .placeholder: break
    case .preview(let preview): image = preview.bitmap
    case .image(let response, _):
      (phase, image, progress) = (.success(response), response.image, nil)
    case .failure(let error, _):
      (phase, progress) = (.failure(error), nil)
      if !keepsImage { image = nil }
    }
  }

  /// What the slot shows things on; apart, so that a loader does not show them to everyone.
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
