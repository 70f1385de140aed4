import CGTK
import Vitrine
import VitrineGTK
import VitrineGalleryModel

/// The page with one photograph.
@MainActor
final class PhotoPage {
  let widget: Widget
  let view: PhotographView
  let pipeline: ImagePipeline
  /// The photograph; `nil` if the page is not shown.
  private(set) var item: GalleryItem?
  private let ahead: ImagePrefetcher
  private var aheadRequests: [ImageRequest] = []
  /// Returns the photographs around another one, the likeliest first.
  var neighbours: (GalleryItem) -> [GalleryItem] = { _ in [] }
  /// Called when the photograph's image, zoom or failure changes.
  var onChange: () -> Void = {}
  private let message: Widget

  init(_ pipeline: ImagePipeline) {
    self.pipeline = pipeline
    view = PhotographView(pipeline)
    ahead = ImagePrefetcher(pipeline, maxConcurrentLoads: 2)
    message = .label("", "message")
    // The button to try again is at the lower edge.
    message.aligned(GTK_ALIGN_CENTER, GTK_ALIGN_START).margins(24)
    message.set("wrap", true)
    message.set("selectable", true)
    message.isShown = false
    widget = Widget(of: gtk_overlay_get_type())
    widget.add(view.widget).add(message)
    view.onChange = { [weak self] in self?.changed() }
  }

  /// Opens a photograph, or none.
  func show(_ item: GalleryItem?, placeholder: Bitmap? = nil) {
    self.item = item
    view.load(item, placeholder: placeholder)
    if item == nil { stopLoadingAhead() }
    changed()
  }

  /// Shows a newer version of the photograph; the old one stays until it is there.
  func reload(_ item: GalleryItem) {
    self.item = item
    view.load(item, keepsView: true)
  }

  private func changed() {
    if let error = view.error, item != nil {
      message.text = error.shortText
      message.isShown = true
    } else if view.damage != nil, item != nil {
      message.text = translated("The file is damaged; a part of the picture is missing")
      message.isShown = true
    } else {
      message.isShown = false
    }
    // The photograph that is looked at comes first.
    if view.isLoaded || view.error != nil { loadAhead() }
    onChange()
  }

  private func loadAhead() {
    guard let item else { return }
    let wanted = neighbours(item).compactMap { view.request(for: $0) }
    guard wanted != aheadRequests else { return }
    ahead.start(wanted.filter { !aheadRequests.contains($0) })
    ahead.stop(aheadRequests.filter { !wanted.contains($0) })
    aheadRequests = wanted
  }

  private func stopLoadingAhead() {
    ahead.stopAll()
    aheadRequests = []
  }
}
