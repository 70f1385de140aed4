import CGTK
import Vitrine
import VitrineGTK
import VitrineGalleryModel

/// The view of one photograph, which can be enlarged, moved and turned; an animation plays meanwhile.
///
/// The rest of the gallery does not see the widgets inside.
@MainActor
@safe
final class PhotographView {
  let widget: Widget
  /// Called when the zoom or the content changes.
  var onChange: () -> Void = {}
  /// The error, if the photograph cannot be shown.
  private(set) var error: LoadError?

  private let photograph: ZoomPicture
  private let animation: AnimationView
  private let zoomed: Widget
  private var item: GalleryItem?
  /// True once the file has turned out to be an animation.
  private var isMoving = false
  /// The content and zoom that the window was last told of.
  private var told = ""

  init(_ pipeline: ImagePipeline) {
    photograph = ZoomPicture(pipeline)
    photograph.showsRetry = true
    photograph.memoryLimit = GalleryPipeline.photographLimit
    photograph.zoomDescription = { "\(Int(($0 * 100).rounded())) %" }
    animation = AnimationView(pipeline)
    zoomed = Widget(photograph)
    animation.widget.isShown = false
    widget = .box(GTK_ORIENTATION_VERTICAL, [zoomed.expands(), animation.widget.expands()])
    widget.addClass("photograph").expands()
    name(translated("Photograph"))
    photograph.changed = { [weak self] in self?.photographChanged() }
    animation.onChange = { [weak self] in
      guard let self, isMoving else { return }
      error = animation.error
      tell()
    }
  }

  private func name(_ name: String) {
    photograph.alternativeText = name
    animation.name = name
  }

  /// Shows a photograph; `nil` for none.
  ///
  /// - Parameters:
  ///   - item: The photograph.
  ///   - placeholder: Its pixels in another size, until it is there.
  ///   - keepsView: A Boolean value that indicates whether it is a newer version of the shown one.
  func load(_ item: GalleryItem?, placeholder: Bitmap? = nil, keepsView: Bool = false) {
    self.item = item
    name(item?.name ?? translated("Photograph"))
    error = nil
    showAnimation(false)
    // A neighbour that was loaded ahead is in memory at the size of the window.
    let other = placeholder.map { Placeholder.image($0) } ?? .none
    photograph.load(
      item?.request,
      placeholder: keepsView ? .keepCurrent : .cachedVariant(else: other),
      failure: .symbol("image-missing-symbolic"),
    )
    onChange()
  }

  /// The request of a photograph that is not shown yet, at the size that it would have.
  func request(for item: GalleryItem) -> ImageRequest? {
    let (width, height) = widget.size
    guard width > 0, height > 0 else { return nil }
    var request = item.request
    request.size = .pixels(Double(width * widget.scale), Double(height * widget.scale), .fit)
    return request
  }

  func focus() {
    if isMoving { animation.focus() } else { zoomed.focus() }
  }

  /// True once there is something of the photograph itself.
  var isLoaded: Bool {
    switch photograph.content {
    case .partial, .complete: true
    case .empty, .loading, .failure: false
    }
  }

  /// Where the file came from, and whether it was out of date; `nil` until it is known.
  var origin: (ImageResponse.Origin, isStale: Bool)? { photograph.origin.map { ($0, photograph.isStale) } }

  /// The reason why a part of the photograph is missing; `nil` if it is whole, and until it has been read.
  var damage: ImageError? { photograph.damage }

  private func photographChanged() {
    if case .failure(let error) = photograph.content { self.error = error } else if !isMoving { error = nil }
    if let info = photograph.info, info.frameCount > 1, isLoaded { showAnimation(true) }
    tell()
  }

  private func tell() {
    // The window shows none of the places that the photograph is moved to.
    let new = "\(photograph.content) \(isFitting ? 0 : zoom) \(damage?.detail ?? "")"
    guard new != told else { return }
    told = new
    onChange()
  }

  private func showAnimation(_ isMoving: Bool) {
    guard isMoving != self.isMoving else { return }
    let hadFocus = widget.hasFocusWithin
    self.isMoving = isMoving
    // The first frame stays until the window has made room for the animation.
    animation.widget.isShown = isMoving
    zoomed.isShown = !isMoving
    let info = photograph.info
    animation.load(isMoving ? item?.request : nil, width: info?.width ?? 1, height: info?.height ?? 1)
    if hadFocus { focus() }
  }

  // MARK: Zoom

  /// The number of display pixels of a pixel of the photograph; 1 is its actual size.
  var zoom: Double { isMoving ? animation.zoom : photograph.zoom }
  /// True if the whole photograph is shown in the window.
  var isFitting: Bool { isMoving ? animation.isFitting : photograph.isFitting }
  /// True if it can be turned; an animation cannot.
  var canRotate: Bool { !isMoving }

  func zoomToFit() {
    if isMoving { animation.zoomToFit() } else { photograph.zoomToFit() }
  }

  func zoomToActualSize() {
    if isMoving { animation.zoom(to: 1) } else { photograph.zoomToActualSize() }
  }

  func zoomIn() {
    if isMoving { animation.zoomIn() } else { photograph.zoomIn() }
  }

  func zoomOut() {
    if isMoving { animation.zoomOut() } else { photograph.zoomOut() }
  }

  func rotate(quarters: Int) { photograph.rotate(quarters: quarters) }
}
