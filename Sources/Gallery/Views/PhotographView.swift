import CGTK
import Vitrine
import VitrineGTK
import VitrineGalleryModel

/// The view of one photograph, which can be enlarged and moved.
///
/// The rest of the gallery does not see the widgets inside.
@MainActor
@safe
final class PhotographView {
  let widget: Widget
  /// Called when the zoom or the content changes.
  var onChange: () -> Void = {}
  /// The image that is shown, with its origin.
  private(set) var response: ImageResponse?
  /// The error, if the photograph cannot be shown.
  private(set) var error: LoadError?

  private let pipeline: ImagePipeline
  private let picture: RemotePicture
  private let inner: Widget
  private var item: GalleryItem?
  private var turns = 0

  init(_ pipeline: ImagePipeline) {
    self.pipeline = pipeline
    picture = RemotePicture(pipeline, mode: .fit)
    picture.usesDesktopThumbnails = false
    picture.alternativeText = translated("Photograph")
    picture.showsProgress = true
    picture.showsRetry = true
    inner = unsafe Widget(picture.widget)
    inner.expands()
    inner.set("focusable", true)
    widget = .scrolled(inner, horizontal: GTK_POLICY_AUTOMATIC)
    widget.addClass("photograph").expands()
    picture.onChange = { [weak self] in self?.contentChanged($0) }
    for axis in 0...1 {
      unsafe connect(adjustment(axis), "changed") { [weak self] in self?.keepCenter(axis) }
      unsafe connect(adjustment(axis), "value-changed") { [weak self] in self?.noteCenter(axis) }
    }
    let drag = unsafe gtk_gesture_drag_new()
    var start = (0.0, 0.0)
    unsafe connect(drag, "drag-begin") { [weak self] (_: Double, _: Double) in start = self?.position ?? (0, 0) }
    unsafe connect(drag, "drag-update") { [weak self] (x: Double, y: Double) in
      self?.position = (start.0 - x, start.1 - y)
    }
    unsafe widget.addController(drag)
  }

  /// Shows a photograph; `nil` for none.
  ///
  /// - Parameters:
  ///   - item: The photograph.
  ///   - placeholder: Its pixels in another size, until it is there.
  ///   - keepsView: A Boolean value that indicates whether it is a newer version of what is shown.
  func load(_ item: GalleryItem?, placeholder: Bitmap? = nil, keepsView: Bool = false) {
    self.item = item
    picture.alternativeText = item?.name ?? translated("Photograph")
    if !keepsView {
      (response, error, turns) = (nil, nil, 0)
      zoomToFit()
    }
    load(placeholder: keepsView ? .keepCurrent : placeholder.map { .image($0) } ?? .cached)
  }

  private func load(placeholder: Placeholder) {
    guard let item else { return picture.clear() }
    var request = item.request
    if turns != 0 { request.processors = [.rotate(degrees: Double(90 * turns))] }
    picture.load(request, placeholder: placeholder, failure: .symbol("image-missing-symbolic"))
  }

  /// The request of a photograph that is not shown yet, at the size that it would have.
  func request(for item: GalleryItem) -> ImageRequest? {
    let (width, height) = widget.size
    guard width > 0, height > 0 else { return nil }
    var request = item.request
    request.size = .pixels(Double(width * widget.scale), Double(height * widget.scale), .fit)
    // As the view asks for it.
    request.animates = true
    return request
  }

  func focus() { inner.focus() }

  private func contentChanged(_ content: ImageSlot.Content) {
    switch content {
    case .image(let response, _): (self.response, error) = (response, nil)
    case .failure(let error, _): (response, self.error) = (nil, error)
    case .empty, .placeholder, .preview: return
    }
    onChange()
  }

  // MARK: Zoom

  /// The number of display pixels of a pixel of the photograph; 1 is its actual size.
  private(set) var zoom = 1.0
  /// True if the whole photograph is shown in the window.
  private(set) var isFitting = true

  private var pixels: (width: Double, height: Double)? {
    guard let info = response?.info else { return nil }
    return turns % 2 == 0
      ? (Double(info.width), Double(info.height)) : (Double(info.height), Double(info.width))
  }

  /// The zoom at which the whole photograph is shown.
  private var fittingZoom: Double {
    guard let pixels else { return 1 }
    let (width, height) = widget.size
    return min(1, Double(width * widget.scale) / pixels.width, Double(height * widget.scale) / pixels.height)
  }

  func zoomToFit() {
    isFitting = true
    centers = [0.5, 0.5]
    inner.minimumSize()
    onChange()
  }

  func zoomToActualSize() { zoom(to: 1) }

  func zoomIn() { zoom(to: (isFitting ? fittingZoom : zoom) * 1.25) }

  func zoomOut() { zoom(to: (isFitting ? fittingZoom : zoom) / 1.25) }

  private func zoom(to new: Double) {
    guard let pixels else { return }
    guard new > fittingZoom else { return zoomToFit() }
    // The picture is decoded anew at each size, and never enlarged: no more pixels than a large screen has, several
    // times over.
    zoom = min(new, 1, 8192 / max(pixels.width, pixels.height) * Double(widget.scale))
    isFitting = false
    let scale = zoom / Double(widget.scale)
    inner.minimumSize(width: Int(pixels.width * scale), height: Int(pixels.height * scale))
    onChange()
  }

  func rotate(quarters: Int) {
    turns = ((turns + quarters) % 4 + 4) % 4
    zoomToFit()
    load(placeholder: .none)
  }

  /// The upper left corner of what is visible, in points.
  private var position: (Double, Double) {
    get { unsafe (gtk_adjustment_get_value(adjustment(0)), gtk_adjustment_get_value(adjustment(1))) }
    set {
      unsafe gtk_adjustment_set_value(adjustment(0), newValue.0)
      unsafe gtk_adjustment_set_value(adjustment(1), newValue.1)
    }
  }

  /// The place in the middle of the window, across and down, as fractions of the photograph.
  private var centers = [0.5, 0.5]

  private func noteCenter(_ axis: Int) {
    let adjustment = unsafe adjustment(axis)
    let (page, upper) = unsafe (gtk_adjustment_get_page_size(adjustment), gtk_adjustment_get_upper(adjustment))
    if upper > page { centers[axis] = unsafe (gtk_adjustment_get_value(adjustment) + page / 2) / upper }
  }

  /// Keeps the middle where it was, once a photograph of another size is laid out.
  private func keepCenter(_ axis: Int) {
    let adjustment = unsafe adjustment(axis)
    let (page, upper) = unsafe (gtk_adjustment_get_page_size(adjustment), gtk_adjustment_get_upper(adjustment))
    unsafe gtk_adjustment_set_value(adjustment, centers[axis] * upper - page / 2)
  }

  private func adjustment(_ axis: Int) -> UnsafeMutablePointer<GtkAdjustment>? {
    let window: UnsafeMutablePointer<GtkWidget> = unsafe widget.pointer
    return unsafe axis == 0
      ? gtk_scrolled_window_get_hadjustment(cast(window)) : gtk_scrolled_window_get_vadjustment(cast(window))
  }
}
